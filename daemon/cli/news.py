"""pal today, diff: what is new in the memory, and what of the day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.facts import describe_end, place
from daemon.cli.options import as_date, json_option
from daemon.cli.questions import explain_nothing
from daemon.cli.session import Session, pass_session
from daemon.terminal import count, modality, statement

SIGNS = {"added": "+", "edited": "~", "deleted": "-"}


@click.command()
@click.option("--date", "day", metavar="DATE", type=as_date("start"), help="Of that day, not of today.")
@click.option(
    "--since", metavar="DATE", type=as_date("start"), help="What changed since then.  [default: the day before]"
)
@json_option
@pass_session
def today(session: Session, day: datetime | None, since: datetime | None, as_json: bool) -> None:
    """Show what changed, what is due and what waits for you.

    \b
    pal today                           in a shell's startup file, or from cron
    pal today --date tomorrow           what is due then
    pal today --date 2026-03-09         what changed and was due on that day

    Exits with 4, and prints nothing on standard output, when there is nothing: cron then sends no mail.
    """
    first = (day or datetime.now().astimezone()).replace(hour=0, minute=0, second=0, microsecond=0)
    since = since or first - timedelta(days=1)
    reply = session.client.home(since, first.date().isoformat() if day else "")
    waiting = reply.review_total if day is None else 0
    models = session.client.status().enrichment if day is None else None
    unable = models.unable if models else ""
    if unable and not as_json:
        output.say(unable)
    if not (reply.changed_total or reply.planned_total or waiting):
        if as_json:
            output.print_json(reply)
        nothing = "No fact changed, nothing is due and nothing waits for you."
        if day is None and reply.read_total:
            nothing += f" {count(reply.read_total, 'note')} read since: pal diff {since:%Y-%m-%d}"
        raise NothingFound(explain_nothing(session, nothing))
    if as_json:
        output.print_json(reply)
        return
    date = first.date().isoformat()
    _print_entries("Overdue", [one for one in reply.planned if one.due and one.day < date], dated=True)
    _print_entries("Today" if day is None else date, [one for one in reply.planned if one.day == date])
    _print_entries("Coming", [one for one in reply.planned if one.day > date], dated=True)
    if more := reply.planned_total - len(reply.planned):
        output.say(f"and {more:,} more.")
    if reply.changed_total:
        _print_heading(f"Changed: {count(reply.changed_total, 'fact')}")
        _print_revisions(reply.changed)
        _print_more(len(reply.changed), reply.changed_total, f"pal diff {since:%Y-%m-%d}")
    if reply.read_total:
        _print_heading(f"Read: {count(reply.read_total, 'note')}")
        for source in reply.read:
            output.print_text(f"  {output.name(source.uri, source.title)}")
        _print_more(len(reply.read), reply.read_total, f"pal diff {since:%Y-%m-%d}")
    if waiting:
        _print_heading(f"Waiting: {count(waiting, 'changed fact')} to look at: pal review")


@click.command()
@click.argument("since", metavar="DATE", type=as_date("start"))
@click.argument("until", metavar="[DATE]", required=False, type=as_date("end"))
@click.option(
    "-n", "limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="At most so many of each."
)
@json_option
@pass_session
def diff(session: Session, since: datetime, until: datetime | None, limit: int, as_json: bool) -> None:
    """Show what changed in the memory from one DATE to another, by default now.

    \b
    pal diff yesterday                  since yesterday morning
    pal diff "last week" "last week"    in that week
    pal diff 2026-03 2026-04            from the beginning of March to the end of April

    It is about when the memory came to know something; when that was so: pal facts --as-of. What was forgotten is not
    in it. Exits with 4 when nothing changed.
    """
    if until is not None and until < since:
        raise click.BadParameter(
            "The second one lies before the first. Give the earlier date first.", param_hint="DATE"
        )
    if until is None and since > datetime.now().astimezone():
        raise click.BadParameter("It is still to come. What is due then: pal today --date DATE", param_hint="DATE")
    reply = session.client.diff(since, until, limit)
    if as_json:
        output.print_json(reply)
    if not any(reply.totals):
        raise NothingFound(explain_nothing(session, "Nothing changed in that time."))
    if not as_json:
        _print_diff(reply)


def _print_diff(of: wire.DiffReply) -> None:
    begun, replaced, ended, untold, sources = of.totals
    parts: tuple[tuple[str, int, Sequence[Any], Callable[[Any], None]], ...] = (
        (f"Replaced: {count(replaced, 'fact')}", replaced, of.replaced, _print_revisions),
        (f"New: {count(begun, 'fact')}", begun, of.begun, _print_facts),
        (f"Ended: {count(ended, 'fact')}", ended, of.ended, _print_revisions),
        (f"No longer in any note: {count(untold, 'fact')}", untold, of.untold, _print_facts),
        (f"Notes: {count(sources, 'note')}", sources, of.sources, _print_sources),
    )
    for heading, total, rows, print_rows in parts:
        if total:
            _print_heading(heading)
            print_rows(rows)
    if any(len(rows) < total for _, total, rows, _ in parts):
        output.say("There is more of it; -n shows more.")


def _print_heading(text: str) -> None:
    click.echo(output.style_text(text, bold=True))


def _print_more(shown: int, total: int, command: str) -> None:
    if shown < total:
        output.say(f"  and {total - shown:,} more: {command}")


def _print_entries(heading: str, entries: Sequence[wire.PlannedEntry], dated: bool = False) -> None:
    if not entries:
        return
    _print_heading(heading)
    for one in entries:
        when = " ".join(filter(None, (one.day if dated else "", one.time)))
        where = output.style_text(output.place(one.uri, one.line, one.title), dim=True)
        output.print_text(f"  {when}{'  ' if when else ''}{' '.join(one.text.split())}", nl=False)
        click.echo(f"  {where}")


def _print_facts(facts: Iterable[wire.Fact]) -> None:
    for fact in facts:
        since = f"  since {fact.since}" if fact.since else ""
        output.print_text(f"  {statement(fact)}{since}")
        click.echo(output.style_text(f"     {place(fact)}", dim=True))


def _print_revisions(revisions: Iterable[wire.Revision]) -> None:
    for one in revisions:
        output.print_text(f"  {_describe_change(one)}")
        click.echo(output.style_text(f"     {place(one.new)}; {describe_end(one)} (revision {one.id})", dim=True))


def _describe_change(of: wire.Revision) -> str:
    """`Harbour office lies in: Customs House → Old Ice House`; of sentences both."""
    old, new = of.old, of.new
    if of.relation == "negates":
        return f"{statement(old)}: no longer so"
    if old.predicate is None or new.predicate is None:
        return f"“{statement(old)}”\n  → “{statement(new)}”"
    return f"{old.objects[0]} {old.predicate}: {old.objects[-1]} → {new.objects[-1]}{modality(new)}"


def _print_sources(sources: Iterable[wire.ChangedSource]) -> None:
    for one in sources:
        came = f"{count(one.came, 'passage')} new" if one.came and one.change == "edited" else ""
        went = f"{one.went:,} gone" if one.went and one.change == "edited" else ""
        size = count(one.came - one.went, "passage") if one.change == "added" else ""
        told = ", ".join(filter(None, (size, came, went)))
        output.print_text(
            f"  {SIGNS.get(one.change, ' ')} {output.name(one.uri, one.title)}{f'  {told}' if told else ''}"
        )
