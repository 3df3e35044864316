"""Printing answers, with their secrets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.session import Session
from daemon.cli.show import describe_time, print_sources
from daemon.client.client import DaemonDownError
from daemon.terminal import count, describe_told, display_safe

if TYPE_CHECKING:
    from rich.console import Group

T = TypeVar("T")
LONGEST = 40  # characters


def print_answer(
    events: Iterable[wire.Event],
    as_json: bool = False,
    in_full: bool = False,
    shows_events: bool = False,
    more: str = "pal ask --all",
) -> wire.Answered:
    """Prints the answer as it comes, and its sources, `in_full` or without folded lines, which the command `more`
    shows; as JSON once and without the passages of its citations, or every event."""
    answered = _printed(events, as_json, in_full, shows_events)
    if as_json and not shows_events:
        citations = tuple(replace(cited, passage="") for cited in answered.citations)
        output.print_json(replace(answered, citations=citations))
    if not as_json:
        hidden = () if in_full else [line for line in answered.lines if line.kind == "folded"]
        if hidden:
            say_if(f"{count(len(hidden), 'more line')}: {more}")
        print_sources(answered.missing, tuple(cited for cited in answered.citations if in_full or not cited.folded))
        say_if(answered.note or None)
    return answered


def print_stored(answered: wire.Answered, in_full: bool = False) -> None:
    """Prints an answer that came before."""
    lines = (wire.Token(line) for line in answered.text.splitlines(keepends=True))
    print_answer([*answered.citations, *lines, answered], in_full=in_full, more="/more")


def _printed(events: Iterable[wire.Event], as_json: bool, in_full: bool, shows_events: bool) -> wire.Answered:
    last = ""
    cited: list[wire.Citation] = []
    is_asked = False
    for event in _wait_for_model(events) if output.use_colour() and not as_json else events:
        if as_json:
            if shows_events:
                output.print_json(event)
        elif isinstance(event, wire.Step):
            say_if(describe_time(event))
        elif isinstance(event, wire.Preview) and not is_asked:
            output.say("A model is asked, which may take a minute.")
            is_asked = True
        elif isinstance(event, wire.Citation):
            cited.append(event)
        elif isinstance(event, wire.Told) and event.source and event.besides:
            output.say(f"{describe_told(event)} To take it back: pal undo")
        elif isinstance(event, wire.Token) and (text := _styled(event.text, cited, in_full)):
            last = event.text
            click.echo(text, nl=False)
        if isinstance(event, wire.Answered):
            if not as_json and not last.endswith("\n"):
                click.echo()
            return event
    raise DaemonDownError("The answer was interrupted. Ask again; `pal daemon log` may show why.")


def _wait_for_model(events: Iterable[wire.Event]) -> Iterator[wire.Event]:
    """The events but previews. While a model works, its text is buffered, and shown by a `_ModelWait`."""
    wait: _ModelWait | None = None
    try:
        for event in events:
            if isinstance(event, wire.Preview):
                wait = wait or _ModelWait()
                wait.show(event)
            elif wait is None or isinstance(event, wire.Step | wire.Visit):
                yield event
            elif isinstance(event, wire.Writing):
                wait.is_writing = True
            elif isinstance(event, wire.Token | wire.Citation):
                wait.written.append(event)
            else:
                wait.live.stop()
                written, wait = wait.written, None
                yield from written
                yield event
    finally:
        if wait is not None:
            wait.keep_lines()


class _ModelWait:
    """On the terminal, until a model has answered: the lines that it has written, before that those that answer without
    it, dimmed, with what it does and for how many seconds."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self.preview = wire.Preview("")
        self.is_writing = False
        self.written: list[wire.Event] = []
        self._began = time.monotonic()
        console = Console(highlight=False)
        self.live = Live(get_renderable=self._render, console=console, refresh_per_second=2, transient=True)

    def show(self, preview: wire.Preview) -> None:
        """Shows the lines that answer without the model."""
        self.preview = preview
        self.live.start(refresh=True)

    def keep_lines(self) -> None:
        """It was broken off: the lines stay, with their sources."""
        self.live.stop()
        click.echo(self._lines())
        citations = [event for event in self.written if isinstance(event, wire.Citation)]
        print_sources((), tuple(citations) if self._text() else self.preview.citations)

    def _text(self) -> str:
        return "".join(event.text for event in self.written if isinstance(event, wire.Token))

    def _lines(self) -> str:
        if text := self._text():
            return display_safe(text)
        lines = (_styled(f"{line}\n", self.preview.citations, False) for line in self.preview.text.splitlines())
        return "".join(lines).rstrip("\n")

    def _render(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        model = display_safe(self.preview.model, line=True)
        doing = f"{model} is writing" if self.is_writing else "A model is asked"
        if self.preview.is_loading and not self.is_writing:
            doing = f"{model} is being loaded"
        lines = Text.from_ansi(self._lines(), style="" if self._text() else "dim")
        return Group(lines, Text(f"{doing}… {time.monotonic() - self._began:.0f} s", style="dim italic"))


def _styled(text: str, cited: Sequence[wire.Citation], in_full: bool) -> str:
    """A piece of an answer for the terminal: in a whole line the value is bold, an earlier value is dimmed below its
    replacement; "" if the line is folded."""
    line = next(iter(wire.split_lines(text, cited)), None)
    if not text.startswith("- ") or not text.endswith("\n") or line is None:
        return display_safe(text)
    if line.kind == "folded" and not in_full:
        return ""
    if line.kind == "earlier":
        return output.style_text(f"  {text[2:-1]}", dim=True) + "\n"
    before, value, after = text[:-1].partition(line.value) if line.value else (text[:-1], "", "")
    bold = output.style_text(value, bold=True) if value else ""
    return f"{display_safe(before)}{bold}{display_safe(after)}\n"


def say_if(sentence: str | None) -> None:
    if sentence is not None:
        output.say(sentence)


secrets_option = click.option(
    "--secrets", "shown", is_flag=True, help="Show passwords, keys and card numbers, which are masked by default."
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
        """The events; no placeholder is split across two of them."""
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
        """Says how to see masked secrets, if there were any."""
        if self._met and not self._shown:
            pronoun = "it" if len(self._met) == 1 else "them"
            output.say(f"{count(len(self._met), 'secret')} masked; to see {pronoun}: {command} --secrets")

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


def _cut(text: str) -> tuple[str, str]:
    """The text up to a placeholder that is not whole yet, and what there is of that."""
    begin = text.rfind("‹")
    if begin < 0 or "›" in text[begin:] or len(text) - begin > LONGEST:
        return text, ""
    return text[:begin], text[begin:]
