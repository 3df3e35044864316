"""pal today, review, undo, same, apart: what changed, and what a person decides about it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta

import click

from daemon import wire
from daemon.calls.knowledge import State, Verdict
from daemon.cli import output
from daemon.cli.options import as_date, choose_word, json_command
from daemon.cli.output import NothingFound
from daemon.cli.session import Session
from daemon.cli.show import AUTHOR, describe_end, describe_place, explain_nothing, format_span, print_suspects, shorten
from daemon.terminal import count

KEYS = {"k": "keep", "b": "both", "o": "old", "u": "undo"}
CHOICE = "[k]eep, [b]oth are true, [o]ld one is right, [u]ndo, [s]kip, [q]uit: "
HOW = (
    "To decide: pal review ID keep (the new one is right), both (both are true), "
    "old (the old one is right), undo (revert the change)."
)


@click.command()
@click.option("--date", "day", metavar="DATE", type=as_date("start"), help="Another day than today.")
@click.option(
    "--since", metavar="DATE", type=as_date("start"), help="What changed since then.  [default: the day before]"
)
@json_command
def today(session: Session, day: datetime | None, since: datetime | None) -> None:
    """Show what changed, what is due and what needs a decision.

    \b
    pal today                           in a shell's startup file, or from cron
    pal today --date tomorrow           what is due then
    pal today --date 2026-03-09         what changed and was due on that day

    Without any news it prints nothing on standard output and exits with 4, so that cron sends no mail.
    """
    first = (day or datetime.now().astimezone()).replace(hour=0, minute=0, second=0, microsecond=0)
    since = since or first - timedelta(days=1)
    reply = session.client.home(since, first.date().isoformat() if day else "")
    waiting = reply.review_total if day is None else 0
    enrichment = session.client.status().enrichment if day is None else None
    if enrichment and (unable := enrichment.unable) and not session.as_json:
        output.say(unable)
    if not (reply.changed_total or reply.planned_total or reply.overdue_total or waiting):
        if session.as_json:
            output.print_json(reply)
        nothing = "No fact changed, nothing is due and nothing waits for you."
        if day is None and reply.read_total:
            nothing += f"\n{count(reply.read_total, 'note')} read since: pal status --sources"
        raise NothingFound(explain_nothing(session, nothing))
    if session.shows_json(reply):
        return
    date = first.date().isoformat()
    _print_entries("Overdue", reply.overdue, dated=True)
    if more := reply.overdue_total - len(reply.overdue):
        output.say(f"  and {more:,} earlier.")
    _print_entries("Today" if day is None else date, [entry for entry in reply.planned if entry.day == date])
    _print_entries("Coming", [entry for entry in reply.planned if entry.day > date], dated=True)
    if more := reply.planned_total - len(reply.planned):
        output.say(f"and {more:,} more.")
    if reply.changed_total:
        output.print_bold(f"Changed: {count(reply.changed_total, 'fact')}")
        for revision in reply.changed:
            output.print_text(f"  {_describe_change(revision)}")
            output.print_dim(f"     {describe_place(revision.new)}; {describe_end(revision)} (revision {revision.id})")
        if more := reply.changed_total - len(reply.changed):
            output.say(f"  and {more:,} more: pal review --state all")
    if reply.read_total:
        is_folded = reply.read_total > len(reply.read)  # as on the first day, when everything is new
        output.print_bold(f"Read: {count(reply.read_total, 'note')}" + ": pal status --sources" * is_folded)
        for source in () if is_folded else reply.read:
            output.print_text(f"  {output.name(source.uri, source.title)}")
    if waiting:
        output.print_bold(f"Waiting: {count(waiting, 'changed fact')} to look at: pal review")


def _print_entries(heading: str, entries: Sequence[wire.PlannedEntry], dated: bool = False) -> None:
    if not entries:
        return
    output.print_bold(heading)
    for entry in entries:
        when = " ".join(filter(None, (entry.day if dated else "", entry.time)))
        where = output.style_text(output.locate(entry.uri, entry.line, entry.title), dim=True)
        output.print_text(f"  {when}{'  ' if when else ''}{' '.join(entry.text.split())}", nl=False)
        click.echo(f"  {where}")


def _describe_change(of: wire.Revision) -> str:
    """Returns `Harbour office lies in: Customs House → Old Ice House`; of sentences both."""
    old, new = of.old, of.new
    if of.relation == "negates":
        return f"{old.statement}: no longer so"
    if old.predicate is None or new.predicate is None:
        return f"“{old.statement}”\n  → “{new.statement}”"
    return f"{old.objects[0]} {old.predicate}: {old.objects[-1]} → {new.objects[-1]}{new.remark}"


@click.command()
@click.argument("id", required=False, type=int)
@click.argument("verdict", required=False, type=choose_word(Verdict))
@click.option(
    "--state",
    type=choose_word(State),
    default="open",
    show_default=True,
    help="open: not decided yet; settled: both are true.",
)
@click.option("--about", metavar="NAME", help="Only replacements about NAME.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="The number of replacements."
)
@json_command
def review(session: Session, id: int | None, verdict: str | None, state: str, about: str | None, limit: int) -> None:
    """Show which facts were replaced, and confirm or reject it.

    Two names whose facts replaced each other may mean one thing; `pal same` merges them.

    \b
    pal review              one after the other in a terminal, elsewhere a list
    pal review ID           one of them
    pal review ID keep      the new fact is right
    pal review ID both      both are true
    pal review ID old       the old one is right, the new one was never true
    pal review ID open      not decided yet
    pal review ID undo      undo the replacement
    """
    if id is not None and verdict is not None:
        _settle(session, id, verdict)
        return
    if id is not None:
        revision = session.client.revision(id)
        if session.shows_json(revision):
            return
        _print(revision)
        output.say(HOW.replace(" ID ", f" {id} "))
        return
    reply = session.client.revisions(state, about, limit)
    if session.as_json:
        output.print_json(reply)
    elif not reply.revisions:
        output.say(_explain_none(state, about))
    elif state == "open" and sys.stdin.isatty() and sys.stdout.isatty():
        _ask_each(session, reply)
    else:
        for revision in reply.revisions:
            _print(revision)
        if state == "open" and not about:
            output.say_rest(len(reply.revisions), reply.open, "--limit shows more")
        output.say(HOW)
    if not session.as_json and state == "open" and not about:
        print_suspects(reply.alias_suspects)


@click.command()
@click.argument("id", type=int, required=False)
@json_command
def undo(session: Session, id: int | None) -> None:
    """Undo the replacement of a fact.

    ID is its number in `pal review` and `pal history`. Without it, your last statement in the chat or in `pal ask` is
    forgotten.
    """
    if id is not None:
        _settle(session, id, "undo")
        return
    gone = session.client.undo_statement()
    session.show(gone, f"No longer saved: “{' '.join(gone.text.split())}”.")


def _settle(session: Session, id: int, verdict: str) -> None:
    before = session.client.revision(id)
    settled = session.client.settle(id, verdict)
    if not session.shows_json(settled):
        same = before.state != "open" and before.outcome == settled.outcome
        output.print_text(f"Revision {id}{' already has this verdict' if same else ''}: {settled.outcome}")


def _ask_each(session: Session, reply: wire.RevisionsReply) -> None:
    """Asks of each with a single key."""
    done = 0
    for number, revision in enumerate(reply.revisions, 1):
        _print(revision, f"  ({number} of {len(reply.revisions)})")
        while (key := _read_key()) not in (*KEYS, "s", "q"):
            pass
        if key == "q":
            break
        if key in KEYS:
            settled = session.client.settle(revision.id, KEYS[key])
            output.print_text(f"   {settled.outcome}\n")
            done += 1
        else:
            click.echo("   Left for later.\n")
    left = session.client.revisions(limit=1).open
    output.say(f"Decided: {done:,}. {f'Waiting: {left:,}.' if left else 'Nothing is left to decide.'}")


def _read_key() -> str:
    click.echo(CHOICE, nl=False)
    key = click.getchar().lower()
    click.echo(key if key.isprintable() else "")
    return key


def _print(revision: wire.Revision, suffix: str = "") -> None:
    state = "" if revision.state == "open" else f", {revision.outcome}"
    output.print_bold(f"Revision {revision.id}: {revision.title.lower()}{state}{suffix}")
    for name, fact in zip(revision.sides, (revision.old, revision.new), strict=True):
        output.print_text(f"   {name}: {fact.statement}")
        output.print_dim(f"      {format_span(fact, 'no date  ')}{describe_place(fact)}")
        if fact.quote and fact.quote != fact.text:
            output.print_dim(f'      "{shorten(fact.quote)}"')
    output.print_dim(f"   Why: {revision.reason} ({AUTHOR.get(revision.author, revision.author)})")


def _explain_none(state: str, about: str | None) -> str:
    of = f" about {about!r}" if about else ""
    if state == "open":
        listed = "Facts that an edit replaced, and notes that disagree, are listed here."
        return f"Nothing waits for your decision{of}. {listed}"
    return f"There is no such revision{of}."


@click.command()
@click.argument("name")
@click.argument("other")
@json_command
def same(session: Session, name: str, other: str) -> None:
    """Merge two names of one person, place or thing.

    Each name then finds both; no fact is replaced. `pal apart` undoes it.
    """
    _decide(session, name, other, True)


@click.command()
@click.argument("name")
@click.argument("other")
@json_command
def apart(session: Session, name: str, other: str) -> None:
    """Separate two names; undoes `pal same`.

    Also for names that a model merged wrongly.
    """
    _decide(session, name, other, False)


def _decide(session: Session, name: str, other: str, same: bool) -> None:
    reply = session.client.names(name, other, same)
    if session.shows_json(reply):
        return
    if same:
        output.print_text(f"Merged {name} and {other}.")
    else:
        output.print_text(f"Separated {name} and {other}; {count(reply.replaced, 'replacement')} undone.")
