"""Secrets: the values of placeholders, for the owner, and where unmasked secrets are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory.services import read_by
from memory.services.state import State
from memory.store import episodes, secrets, traces
from memory.views import SecretPlace

if TYPE_CHECKING:
    from memory.ingest.masking import Masker
    from memory.text.secrets import Secret

AT_ONCE = 500  # passages


class Secrets:
    """Only for who sits at this machine: for no model, agent or other program."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    find = read_by(secrets.find)
    list_places = read_by(secrets.list_places)

    @property
    def masker(self) -> Masker | None:
        """The masker for documents that are drafted elsewhere; None if masking is off."""
        return self._state.masker

    def mask(self, text: str) -> str:
        """The text without its secrets."""
        return self._state.mask(text)

    def list_unmasked(self) -> list[SecretPlace]:
        """Where secrets are in text from before masking, by uri and line: in passages, also of earlier versions, and in
        questions ("trace 12"). Reads the whole memory."""
        return sorted(
            {*self._find_in_passages(), *self._find_in_questions()}, key=lambda place: (place.uri, place.line or 0)
        )

    def _find(self, text: str) -> list[Secret]:
        from memory.text.secrets import find_secrets  # 35 ms, which a start should not pay

        return find_secrets(text)

    def _find_in_passages(self) -> Iterator[SecretPlace]:
        last = 0
        while ids := self._store.read(episodes.list_ids, last, AT_ONCE):
            for episode in self._store.read(episodes.by_ids, ids):
                for start, _, kind in self._find(episode.text):
                    yield SecretPlace(episode.source.uri, episode.line_at(start), kind)
                for _, _, kind in self._find(episode.title):
                    yield SecretPlace(episode.source.uri, episode.line, kind)
            last = ids[-1]

    def _find_in_questions(self) -> Iterator[SecretPlace]:
        for id, question in self._store.read(traces.list_questions):
            for _, _, kind in self._find(question):
                yield SecretPlace(f"trace {id}", None, kind)
