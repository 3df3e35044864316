"""Statements in the chat: each is stored as a note in the person's words, with time and session, if the person agreed.

Answers of the memory are never stored as notes. Each statement is a separate source, so that it can be undone alone, as
any note can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.config.file import write_setting
from daemon.config.settings import SettingsError, load
from daemon.jobs.workers import Writer
from daemon.terminal import title_of
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import TOLD, Answer, AskEvent, Citation, Document, Episode, Fact, Token, Turn

PREFIX = "told:"  # of the uris of statements
SPEAKER = "me"
SETTING = "chat.remember"
NEWEST = 20  # revisions that are looked at
KEPT = "Kept, in your own words."
TAKE_BACK = "To take it back: /undo in the chat, or pal undo."
NOT_KEPT, HOW_TO_KEEP = "No note says this yet.", "To save it: /remember TEXT in the chat, or pal remember TEXT."


@dataclass
class StatementStore:
    """Stores a person's statements; `detect` reads the current setting from config.toml."""

    memory: Memory
    writer: Writer
    config: Path

    def detect(self, text: str) -> tuple[wire.SavedStatement | None, str]:
        """Returns the statement in a text, None without one, and whether the person agreed to keep such statements."""
        from memory.text.sentences import find_statement  # it makes many patterns, which a start need not wait for

        parts = find_statement(text)
        return (wire.SavedStatement(parts[0], besides=parts[1]), self._read_choice()) if parts else (None, "no")

    def keep(self, text: str, conversation: int | None) -> wire.SavedStatement:
        """Stores a statement, whatever the setting. InvalidInputError, NotFoundError for an unknown chat session."""
        if not text.strip():
            raise InvalidInputError("The statement is missing.")
        if (last := self._find_last()) is not None and last.text == text.strip():
            return last  # sent twice
        title = self.memory.conversations.get(conversation)[0].title if conversation is not None else ""
        return self.writer.write(partial(_keep, self.memory, text.strip(), title or title_of(text)))

    def set(self, remember: str) -> None:
        """Writes the setting into config.toml. InvalidInputError."""
        try:
            write_setting(self.config, SETTING, remember)
        except SettingsError as error:
            raise InvalidInputError(str(error)) from error

    def find_last(self, source: str = "") -> wire.SavedStatement:
        """Returns the statement stored last. NotFoundError if there is none, or if it is not this `source`."""
        if (last := self._find_last()) is None:
            raise NotFoundError("There is no statement of yours to take back. To undo a replaced fact: pal review")
        if source not in ("", last.source):
            raise NotFoundError("That is not your last statement: it was taken back, or you made another one since.")
        return last

    def _find_last(self) -> wire.SavedStatement | None:
        notes = self.memory.sources.list_under(PREFIX)
        if not notes:
            return None
        uri = max(notes, key=lambda source: source.id).uri  # local time goes back in autumn and on journeys
        ids = self.memory.browsing.read_source(uri).passages
        return wire.SavedStatement("\n".join(map(_read_words, self.memory.sources.episodes(ids))), uri, ids[0])

    def _read_choice(self) -> str:
        try:
            return load(self.config).chat.remember
        except SettingsError:
            return "no"


def _keep(memory: Memory, text: str, title: str) -> wire.SavedStatement:
    """Stores the note; a unit of the writer."""
    now = datetime.now().astimezone()
    uri = f"{PREFIX}{now:%Y%m%d-%H%M%S-%f}"
    turn = Turn(SPEAKER, text, now)
    [receipt] = memory.ingest.remember_many(
        [Document(uri, turns=(turn,), title=title, kind="chat", reader=TOLD, at=now, conversation=title)]
    )
    made = [
        pair
        for pair in memory.knowledge.revisions("all", NEWEST)
        if pair.new.uri == uri and pair.relation != "duplicates"
    ]
    return wire.SavedStatement(text, uri, receipt.episode_ids[0], changes=tuple(made))


def _read_words(episode: Episode) -> str:
    """Returns a statement's stored text: its secrets are masked."""
    return episode.text.removeprefix(f"{SPEAKER}: ")


def answer_statement(memory: Memory, note: wire.SavedStatement) -> Iterator[AskEvent]:
    """Yields the events of an answer to a text without a question: the stored statement, and its effects."""
    assert note.episode_id is not None
    [episode] = memory.sources.episodes([note.episode_id])
    words = _read_words(episode)
    cited = [
        Citation(
            1, episode.id, note.source, episode.title, words, at=episode.at, speaker=SPEAKER, passage=episode.text,
            message=1,
        )
    ]  # fmt: skip
    lines = [f"{KEPT}\n"] if note.changes else [f"{KEPT}\n", f"- {words} [1]\n"]
    for change in note.changes:
        cited.append(_cite(len(cited) + 1, change.old))
        lines.append(f"- From now on: {change.new.statement} [1]\n")
        lines.append(f"- earlier: {change.old.statement} [{len(cited)}]\n")
    yield from cited
    yield from map(Token, lines)
    yield Answer("".join(lines), tuple(cited), confidence=1.0, note=TAKE_BACK)


def answer_unsaved(events: Iterator[AskEvent]) -> Iterator[AskEvent]:
    """Yields the events of a question that is only a statement; instead of a refusal, how to save it."""
    lines: list[AskEvent] = []
    for event in events:
        if isinstance(event, (Token, Citation)):
            lines.append(event)
        elif isinstance(event, Answer) and event.kind != "answer":
            yield Token(f"{NOT_KEPT}\n")
            yield replace(event, text=f"{NOT_KEPT}\n", citations=(), no_answer=True, missing=(), note=HOW_TO_KEEP)
        else:
            yield from lines if isinstance(event, Answer) else ()
            yield event


def _cite(n: int, fact: Fact) -> Citation:
    return Citation(
        n, fact.episode_id, fact.uri, fact.title, fact.quote, line=fact.line, at=fact.valid_from, earlier=True
    )
