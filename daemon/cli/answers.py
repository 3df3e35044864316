"""Printing answers, with their secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.session import Session
from daemon.cli.show import describe_time, print_sources
from daemon.client.client import DaemonDownError
from daemon.terminal import count, describe_statement, display_safe, name_note

T = TypeVar("T")
LONGEST = 40  # characters
INTERRUPTED = "The answer was interrupted. Ask again; `pal daemon log` may show why."


def print_answer(
    events: Iterable[wire.Event],
    as_json: bool = False,
    in_full: bool = False,
    shows_events: bool = False,
    more: str = "pal ask --all",
) -> wire.Answered:
    """Prints the answer as it arrives, and its sources, `in_full` or without folded lines, which the command `more`
    shows; as JSON without the passages of its citations, or every event."""
    if as_json:
        return _print_json(events, shows_events)
    answered = _print_lines(events, in_full)
    if hidden := () if in_full else [line for line in answered.lines if line.kind == "folded"]:
        output.say(f"{count(len(hidden), 'more line')}: {more}")
    print_sources(answered.missing, tuple(cited for cited in answered.citations if in_full or not cited.folded))
    output.say(answered.note or None)
    return answered


def _print_json(events: Iterable[wire.Event], shows_events: bool) -> wire.Answered:
    for event in events:
        if shows_events:
            output.print_json(event)
        if isinstance(event, wire.Answered):
            if not shows_events:
                citations = tuple(replace(cited, passage="") for cited in event.citations)
                output.print_json(replace(event, citations=citations))
            return event
    raise DaemonDownError(INTERRUPTED)


def print_stored(answered: wire.Answered, in_full: bool = False) -> None:
    """Prints a stored answer."""
    lines = (wire.Token(line) for line in answered.text.splitlines(keepends=True))
    print_answer([*answered.citations, *lines, answered], in_full=in_full, more="/more")


def print_message(message: wire.ChatMessage) -> wire.Answered | None:
    """Prints a message of a session; returns an answer."""
    if message.role == "user":
        output.print_text(f"You: {message.text}")
        return None
    answered = wire.Answered(
        message.text, message.citations, message.no_answer, trace_id=message.trace_id, model=message.model
    )
    print_stored(answered)
    return answered


def _print_lines(events: Iterable[wire.Event], in_full: bool) -> wire.Answered:
    """Prints the lines as they arrive, preceded by the extractive lines if a model writes."""
    last = doing = note = ""
    is_unsure = False
    cited: list[wire.Citation] = []
    previews: list[wire.Preview] = []
    clock = output.Clock()
    try:
        for event in events:
            clock.hide()
            match event:
                case wire.Step():
                    output.say(describe_time(event))
                case wire.Preview():
                    previews.append(event)
                    doing = "asking a model"
                    if len(previews) == 1:
                        _print_preview(event)
                case wire.Writing():
                    doing = "writing"
                case wire.Citation():
                    cited.append(event)
                case wire.Token():
                    line = next(wire.split_lines(event.text, cited), None)
                    is_unsure |= line is not None and line.is_doubt
                    above, note = note, name_note(line, cited) if line and is_unsure else ""
                    if text := _style_line(event.text, cited, in_full, note if note != above else ""):
                        last = event.text
                        click.echo(text, nl=False)
                case wire.Visit():
                    pass
                case wire.Answered():
                    if not last.endswith("\n"):
                        click.echo()
                    return event
                case wire.SavedStatement() if event.source and event.besides:  # last: its types take 10 ms
                    output.say(f"{describe_statement(event)} To take it back: pal undo")
            if doing and (last.endswith("\n") or not last):
                clock.show(doing)
    except KeyboardInterrupt:
        clock.close()
        _end_interrupted(last, cited or (previews[0].citations if previews else ()))
        raise
    finally:
        clock.close()
    raise DaemonDownError(INTERRUPTED)


def _end_interrupted(last: str, cited: Sequence[wire.Citation]) -> None:
    """Ends the line, and prints the sources of the lines so far."""
    if last and not last.endswith("\n"):
        click.echo()
    if output.use_colour():
        print_sources((), tuple(cited))


def _print_preview(preview: wire.Preview) -> None:
    """Prints on a terminal the extractive lines, dimmed, while a model is asked; elsewhere that it is asked."""
    if output.use_colour():
        for line in preview.text.splitlines():
            click.echo(output.style_text(line, dim=True), err=True)
    if preview.is_loading:
        output.say(f"{preview.model} is being loaded, which may take a minute.")
    else:
        output.say("A model is asked, which may take a minute.")


def _style_line(text: str, cited: Sequence[wire.Citation], in_full: bool, note: str) -> str:
    """Styles a piece of an answer for the terminal: in a whole line the value is bold, an earlier value dimmed below
    its replacement; "" if the line is folded. `note`: the name of its note, which is put before it."""
    line = next(iter(wire.split_lines(text, cited)), None)
    if not text.startswith("- ") or not text.endswith("\n") or line is None:
        return display_safe(text)
    if line.kind == "folded" and not in_full:
        return ""
    if line.kind == "earlier":
        return output.paint(output.fill_text(f"  {display_safe(text[2:-1], line=True)}"), dim=True) + "\n"
    named = f"- {note}: {text[2:-1]}" if note else text[:-1]
    shown, value = output.fill_text(display_safe(named, line=True)), display_safe(line.value, line=True)
    match = re.search(r"\s+".join(map(re.escape, value.split())), shown) if value else None
    start, end = match.span() if match else (0, 0)
    return f"{shown[:start]}{output.paint(shown[start:end], bold=True)}{shown[end:]}\n"


secrets_option = click.option(
    "--secrets", "shown", is_flag=True, help="Show passwords, keys and card numbers, which are masked by default."
)


class Secrets:
    """Fills placeholders, if secrets are to be `shown`, and counts them."""

    def __init__(self, session: Session, shown: bool) -> None:
        self._session = session
        self._shown = shown
        self._known: dict[str, str] = {}
        self._met: set[str] = set()

    def fill(self, value: T) -> T:
        """Returns the same wire value, or text, with secrets filled in if they are to be shown."""
        return cast(T, self._fill_value(value)) if self._shown else value

    def fill_events(self, events: Iterable[wire.Event]) -> Iterator[wire.Event]:
        """Yields the events with secrets filled in; no placeholder is split across two of them."""
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
        """Counts the placeholders in a shown text."""
        self._met |= {*wire.find_placeholders(text)}

    def say(self, command: str) -> None:
        """Prints how to see masked secrets, if there were any."""
        if self._met and not self._shown:
            pronoun = "it" if len(self._met) == 1 else "them"
            output.say(f"{count(len(self._met), 'secret')} masked; to see {pronoun}: {command} --secrets")

    def _fill_value(self, value: Any) -> Any:
        if isinstance(value, str):
            if not self._shown or "‹" not in value:
                return value
            if new := {*wire.find_placeholders(value)} - self._known.keys():
                self._known |= self._session.reader.secrets(tuple(sorted(new)))
            return wire.fill_placeholders(value, self._known)
        if isinstance(value, tuple):
            return tuple(map(self._fill_value, value))
        if isinstance(value, Mapping):
            return {key: self._fill_value(held) for key, held in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            changed = {item.name: self._fill_value(getattr(value, item.name)) for item in fields(value)}
            return replace(value, **changed)
        return value


def _cut(text: str) -> tuple[str, str]:
    """Splits a text before an incomplete placeholder at its end."""
    begin = text.rfind("‹")
    if begin < 0 or "›" in text[begin:] or len(text) - begin > LONGEST:
        return text, ""
    return text[:begin], text[begin:]
