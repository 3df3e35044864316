"""Secrets in what a command prints: filled in with --secrets, else said how to see them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.session import Session
from daemon.terminal import count

T = TypeVar("T")

LONGEST = 40  # characters
QUESTION = "trace "  # what stands before the number of a question among places

secrets_option = click.option(
    "--secrets", "shown", is_flag=True, help="Show passwords, keys and card numbers, which are masked otherwise."
)


class Secrets:
    """Fills placeholders, if they are to be `shown`, and counts them."""

    def __init__(self, session: Session, shown: bool) -> None:
        self._session = session
        self._shown = shown
        self._known: dict[str, str] = {}
        self._met: set[str] = set()

    def fill(self, value: T) -> T:
        """The same value of the wire, or text, with the secrets in it if they are to be shown."""
        return cast(T, self._filled(value)) if self._shown else value

    def fill_events(self, events: Iterable[wire.Event]) -> Iterator[wire.Event]:
        """The events, of which a placeholder is never in two."""
        held = ""
        for event in events:
            if isinstance(event, wire.Token):
                text, held = _cut(held + event.text)
                self.meet(text)
                if text:
                    yield wire.Token(self.fill(text))
                continue
            if held:
                yield wire.Token(held)
                held = ""
            yield self.fill(event)

    def meet(self, text: str) -> None:
        """A text that is shown."""
        self._met |= {*wire.find_placeholders(text)}

    def say(self, command: str) -> None:
        """How to see what was masked, if anything was."""
        if self._met and not self._shown:
            one = "it" if len(self._met) == 1 else "them"
            output.say(f"{count(len(self._met), 'secret')} masked; to see {one}: {command} --secrets")

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            if not self._shown or "‹" not in value:
                return value
            if new := {*wire.find_placeholders(value)} - self._known.keys():
                self._known |= self._session.reader.secrets(tuple(sorted(new)))
            return wire.fill_placeholders(value, self._known)
        if isinstance(value, tuple):
            return tuple(map(self._filled, value))
        if isinstance(value, Mapping):
            return {key: self._filled(held) for key, held in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            changed = {item.name: self._filled(getattr(value, item.name)) for item in fields(value)}
            return replace(value, **changed)
        return value


def print_places(session: Session, as_json: bool) -> None:
    """Where secrets lie; exits with 1 if the memory holds any that are not masked."""
    found = session.client.secret_places()
    if as_json:
        output.print_json(found)
    else:
        for place in found.masked:
            output.print_text(f"masked: {_describe(place)}")
        for place in found.unmasked:
            output.print_text(f"Not masked: {_describe(place)}")
        if not found.masked and not found.unmasked:
            output.say("No secrets were found in what was read.")
        for remedy in _remedies(found.unmasked):
            output.say(remedy)
    if found.unmasked:
        sys.exit(1)


def _describe(place: wire.SecretPlace) -> str:
    return f"{output.place(place.uri, place.line, place.uri)}: {place.kind.replace('-', ' ')}"


def _remedies(unmasked: Sequence[wire.SecretPlace]) -> Iterator[str]:
    """What masks them: each source is forgotten with its earlier versions and what was answered from it, and read
    again."""
    uris = dict.fromkeys(place.uri for place in unmasked)
    questions = [uri for uri in uris if uri.startswith(QUESTION)]
    files = list(dict.fromkeys(uri.partition("#")[0] for uri in uris if Path(uri.partition("#")[0]).is_file()))
    if files or len(uris) > len(questions):
        yield "They were read before secrets were masked, or with memory.secrets.mask = false."
    for file in files:
        yield f"To mask: pal forget --yes --source {shlex.quote(file)} && pal add --again {shlex.quote(file)}"
    for uri in uris:
        if uri.partition("#")[0] not in files and uri not in questions:
            yield f"To have it gone: pal forget --source {shlex.quote(uri)}; what is still true of it, remember again."
    if questions:
        yield "Questions go with what they were answered from, when that is forgotten."


def _cut(text: str) -> tuple[str, str]:
    """The text up to a placeholder that is not whole yet, and what there is of that."""
    begin = text.rfind("‹")
    if begin < 0 or "›" in text[begin:] or len(text) - begin > LONGEST:
        return text, ""
    return text[:begin], text[begin:]
