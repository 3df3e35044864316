"""Output shared by commands: facts, questions, states, and why nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.output import HOW_TO_READ
from daemon.cli.session import Session
from daemon.paths import name_received
from daemon.terminal import cited_link, count, describe_forgotten, flatten

AUTHOR = {"rule": "a rule", "model": "a model", "user": "you"}
LONGEST_QUOTE = 200  # characters


def print_suspects(suspects: Sequence[wire.AliasSuspect]) -> None:
    """Prints names that may mean one thing, why, and the command to merge them; nothing without any."""
    if suspects:
        click.echo("\nNames that may be one; if they are: pal same NAME OTHER")
        output.print_table([(f"  {pair.one}", pair.other, _describe_likeness(pair)) for pair in suspects])


def _describe_likeness(pair: wire.AliasSuspect) -> str:
    if pair.facts:
        return f"called the same in {count(pair.facts, 'fact')}"
    is_first_name = pair.other.casefold().startswith(f"{pair.one.casefold()} ")
    return "the only full name with this first name" if is_first_name else "same phone, address or birthday"


def describe_end(revision: wire.Revision) -> str:
    """Describes who replaced a fact, and why."""
    what = "ended" if revision.relation == "negates" else "replaced"
    return f"{what} by {AUTHOR.get(revision.author, revision.author)}: {revision.reason}"


def describe_fact(fact: wire.Fact) -> str:
    """Describes a fact with its date and place, within a sentence."""
    return f'"{fact.statement}" ({fact.since or fact.until or "no date"}, {describe_place(fact)})'


def describe_place(fact: wire.Fact) -> str:
    """Returns the source of a fact, with its line."""
    return fact.place if wire.agent_of(fact.uri) else output.locate(fact.uri, fact.line, fact.title)


def format_span(fact: wire.Fact, never: str = "") -> str:
    """Formats the valid time of a fact, with two spaces at the end; `never` if no time is known."""
    since, until = fact.since, fact.until
    if since and until:
        return f"{since} to {until}  "
    since = f"{'from' if fact.valid_from and fact.valid_from > fact.recorded else 'since'} {since}" if since else ""
    return f"{since}  " if since else f"until {until}  " if until else never


def format_time(at: datetime) -> str:
    from memory.time.timestamps import from_ms, to_ms  # `pal ask` does without

    return from_ms(to_ms(at)).strftime("%Y-%m-%d %H:%M")


def shorten(quote: str) -> str:
    words = flatten(quote)
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE].rstrip()} …"


def print_sources(missing: tuple[str, ...], citations: tuple[wire.Citation, ...]) -> None:
    """Prints the end of an answer: what is missing, and the place of each citation."""
    if missing:
        output.print_text(f"Missing: {', '.join(missing)}")
    if citations:
        click.echo()
    for cited in citations:
        print_source(cited)


def print_source(cited: wire.Citation) -> None:
    """Prints `[1] museum/fog.md:14, 2026-03-09`; on a terminal it links to the file. An unproved line of a model is
    below."""
    place = output.link_text(output.style_text(describe_source(cited), dim=True), cited_link(cited))
    earlier = output.style_text("  (earlier)", dim=True) if cited.earlier else ""
    click.echo(f"{output.style_text(f'[{cited.n}] ', bold=True)}{place}{earlier}")
    if cited.verdict == "unproved":
        output.print_text(f"    “{' '.join(cited.quote.split())}”")


def describe_source(cited: wire.Citation) -> str:
    """Returns a citation's place and time."""
    place = output.locate(cited.uri, cited.line, cited.title, cited.speaker, cited.moment)
    return place if place.endswith(cited.moment) else f"{place}, {cited.moment}"


def explain_nothing(session: Session, sentence: str) -> str:
    """Explains why nothing was found: `sentence`, unless nothing has been read."""
    status = session.reader.status()
    return sentence if status.stats.episodes else f"Nothing has been read yet. {explain_reading(status)}"


def explain_reading(status: wire.Status) -> str:
    """Says what a person can do while nothing has been read."""
    is_begun = status.files.folders or status.files.queue
    return "Your folders are being read; `pal status` shows how far." if is_begun else HOW_TO_READ


def describe_time(step: wire.Step) -> str | None:
    """Returns the remark on the time in the question, or None."""
    if not step.detail.get("time") and not step.detail.get("any_time"):
        return None  # as of most steps: the types of notes take 5 ms
    text = wire.TextNote.from_step(step)
    if text is not None and text.any_time:
        return "No note of that time mentions it, so all times were searched."
    note = wire.AnalysisNote.from_step(step)
    time = note.time if note is not None else None
    if time is None or time.kind == "now":
        return None
    return f'Read "{time.words}" as {_describe_span(time)}.'


def _describe_span(time: wire.TimeNote) -> str:
    since, after = (datetime.fromisoformat(end) if end else None for end in (time.since, time.until))
    until = after and (after - timedelta(microseconds=1)).date()
    if time.kind == "as_of" and until:
        return f"the state on {_format_day(until)}"
    first = since and since.date()
    if first and until:
        return _format_day(first) if first == until else f"{_format_day(first)} to {_format_day(until)}"
    return f"{_format_day(first)} or later" if first else f"{_format_day(until)} or earlier" if until else "any time"


def _format_day(of: date) -> str:
    return f"{of.day} {of:%B %Y}"


def describe_work(done: wire.ConsolidationReport | wire.Night) -> str:
    """Describes what consolidation did; "" for nothing."""
    parts = [
        f"{count(done.joined, 'fact')} stated twice merged" if done.joined else "",
        f"{count(done.episodes, 'passage')} embedded" if done.episodes else "",
        f"{count(done.questions, 'question')} embedded" if done.questions else "",
        f"{count(done.stale, 'row')} of edge memory removed" if done.stale else "",
    ]
    return ", ".join(filter(None, parts))


def describe_folder(row: wire.Folder) -> tuple[str, ...]:
    """Returns a folder's path, state, number of sources, policy, tags and problem."""
    more = "; ".join(filter(None, (list_tags(row), row.detail)))
    return name_received(row.path), row.state, count(row.sources, "note"), row.policy, more


def list_tags(row: wire.Folder) -> str:
    return ", ".join(f"#{tag}" for tag in row.tags)


def print_forgotten(gone: wire.Forgotten) -> None:
    """Prints how much was forgotten, and the places where it still is."""
    output.print_text("\n".join(describe_forgotten(gone)))
    if not gone.pending and any((gone.sources, gone.episodes, gone.objects, gone.facts)):
        output.say("It is not found any more. Unused parts of the file are cleared tonight, or by pal tidy.")
