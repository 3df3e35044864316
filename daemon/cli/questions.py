"""pal ask, recall: what finds passages."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from daemon import wire
from daemon.cli import output, times
from daemon.cli.errors import HOW_TO_READ, NOTHING_READ, ONLY_CLOSE, NothingFound
from daemon.cli.options import as_of_option, json_option, scope_options, strategy_option
from daemon.cli.secrets import Secrets, secrets_option
from daemon.cli.session import Session, pass_session
from daemon.client import DaemonDownError
from daemon.terminal import cited_link, describe_told, display_safe

if TYPE_CHECKING:
    from rich.console import Group

MAX_TAGS = 5  # that are named in place of one that nothing has
MAX_NEAREST = 3  # passages that are shown where none has a word of the question
MAX_UNKNOWN_WORDS = 5  # that are named; a text that was pasted has hundreds
OUT_OF_REACH = "Nothing that was read lies in that time and place."


@click.command()
@click.argument("question", nargs=-1, required=True)
@scope_options
@as_of_option
@click.option(
    "--effort",
    type=click.Choice(["quick", "normal", "deep"]),
    default="normal",
    show_default=True,
    help="How far a language model may go where the answer is not found at once.",
)
@strategy_option
@click.option("--no-replay", is_flag=True, help="Use nothing of earlier questions, and learn nothing from this one.")
@secrets_option
@click.option("--all", "in_full", is_flag=True, help="Show the lines, too, that are folded behind a clear answer.")
@json_option
@pass_session
def ask(
    session: Session,
    question: tuple[str, ...],
    within: wire.Scope,
    as_of: datetime | None,
    effort: str,
    strategy: str,
    no_replay: bool,
    shown: bool,
    in_full: bool,
    as_json: bool,
) -> None:
    """Answer QUESTION from the memory, with the source of every claim.

    What the answer replaced stands under it. Where one line is clearly the answer the others are folded: --all shows
    them. What you tell of yourself in it is kept, if chat.remember is yes; pal undo takes that back.
    Passwords and other secrets are masked: --secrets shows them. Exits with 5 when nothing says it plainly and only
    the closest lines are shown, with 4 when there are none. With --json the question's events come as they happen,
    one a line.
    """
    text = _text(question)
    events = session.reader.ask(
        text, as_of=as_of, within=within, effort=effort, replay=not no_replay, strategy=strategy, own_words=True
    )
    secrets = Secrets(session, shown)
    answered = print_answer(secrets.fill_events(events), as_json, in_full)
    secrets.say("pal ask")
    if answered.no_answer:
        if not as_json and session.reader.status().episodes == 0:
            output.say(HOW_TO_READ)
        elif not as_json:
            _tell(_describe_unknown_tags(session, within))
        sys.exit(ONLY_CLOSE if answered.kind == "closest" else NothingFound.exit_code)


def print_answer(events: Iterable[wire.Event], as_json: bool, in_full: bool = False) -> wire.Answered:
    """Prints the answer as it comes, and its sources, `in_full` or without what is folded; with JSON every event."""
    answered = _printed(events, as_json, in_full)
    if not as_json:
        hidden = () if in_full else [line for line in answered.lines if line.kind == "folded"]
        if hidden:
            _tell(f"{len(hidden)} more line{'s' * (len(hidden) > 1)}: pal ask --all")
        print_sources(answered.missing, tuple(one for one in answered.citations if in_full or not one.folded))
        _tell(answered.note or None)
    return answered


def _printed(events: Iterable[wire.Event], as_json: bool, in_full: bool) -> wire.Answered:
    last = ""
    cited: list[wire.Citation] = []
    for event in _wait_for_model(events) if sys.stdout.isatty() and not as_json else events:
        if as_json:
            output.print_json(event)
        elif isinstance(event, wire.Step):
            _tell(times.describe_time(event))
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
    raise DaemonDownError("The answer broke off. Ask again; `pal daemon log` may say why.")


def _wait_for_model(events: Iterable[wire.Event]) -> Iterator[wire.Event]:
    """The events but previews. While a model is asked, what it wrote is held back, and shown by a `_ModelWait`."""
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
    """A piece of an answer as it is printed: of a whole line the value in bold, an earlier value dimmed under what took
    its place; "" if it is folded."""
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


def _tell(sentence: str | None) -> None:
    if sentence is not None:
        output.say(sentence)


def print_sources(missing: tuple[str, ...], citations: tuple[wire.Citation, ...]) -> None:
    """What stands under an answer: what is missing, and where each citation is from."""
    for one in missing:
        output.print_text(f"Missing: {one}")
    if citations:
        click.echo()
    for cited in citations:
        print_source(cited)


def print_source(cited: wire.Citation) -> None:
    """`[1] museum/fog.md:14, 2026-03-09`; on a terminal it leads to the file. An unproved line of a model is below."""
    place = output.link_text(output.style_text(where(cited), dim=True), cited_link(cited))
    earlier = output.style_text("  (earlier)", dim=True) if cited.earlier else ""
    click.echo(f"{output.style_text(f'[{cited.n}] ', bold=True)}{place}{earlier}")
    if cited.verdict == "unproved":
        output.print_text(f"    “{' '.join(cited.quote.split())}”")


def where(cited: wire.Citation) -> str:
    """Where a citation is from, and when that was."""
    place = output.place(cited.uri, cited.line, cited.title, cited.speaker, cited.moment)
    return place if place.endswith(cited.moment) else f"{place}, {cited.moment}"


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("-k", type=click.IntRange(1, 200), default=10, show_default=True, help="Passages at most.")
@scope_options
@as_of_option
@strategy_option
@secrets_option
@json_option
@pass_session
def recall(
    session: Session,
    question: tuple[str, ...],
    k: int,
    within: wire.Scope,
    as_of: datetime | None,
    strategy: str,
    shown: bool,
    as_json: bool,
) -> None:
    """Show the passages that speak of QUESTION, best first.

    Where no note has any of its words, that is said, with the few passages that come nearest in meaning.
    """
    text = _text(question)
    secrets = Secrets(session, shown)
    reply = secrets.fill(session.reader.recall(text, k, as_of=as_of, within=within, strategy=strategy))
    if as_json:
        output.print_json(reply)
    else:
        for step in reply.steps:
            _tell(times.describe_time(step))
        if reply.unknown and reply.hits:
            there = " there" if within != wire.Scope() else ""
            output.say(f"No note{there} has {_words_of(reply.unknown)}. What comes nearest in meaning:")
    hits = reply.hits[:MAX_NEAREST] if reply.unknown else reply.hits
    for number, hit in enumerate(hits if not as_json else (), start=1):
        passage = hit.passage
        place = output.place(passage.uri, passage.line, passage.title, passage.speaker, output.day(passage.at))
        click.echo(output.style_text(f"{number}. {place}", bold=True))
        output.print_text("\n".join(f"   {line}" for line in passage.text.strip().splitlines()))
        click.echo()
        secrets.meet(passage.text)
    secrets.say("pal recall")
    if reply.hits and reply.unknown:
        sys.exit(NothingFound.exit_code)
    if not reply.hits:
        raise NothingFound(
            _describe_unknown_tags(session, within)
            or explain_nothing(session, OUT_OF_REACH if _is_empty(reply) else "Nothing in the memory speaks of that.")
        )


def _words_of(words: Sequence[str]) -> str:
    named = [f'"{word}"' for word in words[:MAX_UNKNOWN_WORDS]]
    head = ", ".join(named[:-1])
    return f"the word {named[0]}" if not head else f"any of the words {head} and {named[-1]}"


def _is_empty(reply: wire.RecallReply) -> bool:
    return any(
        note is not None and note.episodes == 0 for note in (wire.ScopeNote.from_step(step) for step in reply.steps)
    )


def _text(words: tuple[str, ...]) -> str:
    text = " ".join(words).strip()
    if not text:
        raise click.UsageError('The question is empty. For example: pal ask "where is the harbour office?"')
    return text


def _describe_unknown_tags(session: Session, within: wire.Scope) -> str | None:
    """Which tag of a limit nothing carries, with those it may have meant, else the most frequent; None if all are
    known. It is asked once nothing was found: the daemon lists the tags of most notes only."""
    list_tags: Callable[[], tuple[wire.Tag, ...]] = getattr(session.reader, "tags", tuple)
    if not within.tags or not (names := [tag.name for tag in list_tags()]):
        return None
    from difflib import get_close_matches

    for tag in within.tags:
        if not any(name == tag or name.startswith(f"{tag}/") for name in names):
            near = get_close_matches(tag, names, MAX_TAGS) or names[:MAX_TAGS]
            return f"Nothing has the tag {tag!r}. There is: {', '.join(near)}."
    return None


def explain_nothing(session: Session, sentence: str) -> str:
    """Why nothing was found: `sentence`, unless nothing has been read."""
    if session.reader.status().episodes == 0:
        return NOTHING_READ
    return sentence


@click.command()
@json_option
@pass_session
def strategies(session: Session, as_json: bool) -> None:
    """List the ways to walk the graph, and what of a paper each has.

    One for a question: pal ask --strategy NAME; for all: pal config set memory.recall.strategy NAME. Those without a
    colon can be joined by +, as in spread+beam+synergy. Their settings are [traversers] in config.toml.
    """
    from daemon.settings import load as load_settings
    from plugins.manager import load as load_plugins

    described = load_plugins().describe_strategies()
    if as_json:
        output.print_json(described)
        return
    used = load_settings(session.paths.config).memory.recall.strategy.split("+")
    output.print_table(("*" if name in used else " ", name, sentence) for name, sentence in described.items())
