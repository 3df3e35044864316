"""pal facts, history, me: what is known of something."""

from __future__ import annotations

import shlex
from datetime import datetime

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import as_date, as_of_option, json_command, json_option
from daemon.cli.output import NothingFound
from daemon.cli.session import Session
from daemon.cli.show import describe_end, describe_fact, describe_place, explain_nothing, format_span
from daemon.terminal import count
from memory.text.predicates import subject_and_predicate

BY_HAND = "note:me/"  # as `daemon.api.facts` has it
NOBODY = "I do not know who you are. Say it: pal me set name 'YOUR NAME'"
MAX_NAMES = 20  # that are listed without one
NAMED_BY = {"memory.owner_names": "setting memory.owner_names", "mails": "whose mailbox was read"}


@click.command()
@click.argument("name", required=False)
@as_of_option
@click.option(
    "--as-known-on", "known_on", metavar="DATE", type=as_date("end"), help="As the memory knew it on this date."
)
@click.option("--history", is_flag=True, help="Also list earlier values, with their times.")
@json_command
def facts(session: Session, name: str | None, as_of: datetime | None, known_on: datetime | None, history: bool) -> None:
    """List the facts about NAME: a person, a place, a thing.

    First the facts and the lines of a note with that title, then the sentences that only mention it. Without a name:
    the names with the most facts and notes.
    """
    if name is None:
        known = session.client.search("objects", limit=MAX_NAMES)
        rows = (
            (thing.name, count(thing.facts, "fact") if thing.facts else "", count(thing.notes, "note"))
            for thing in known.objects
        )
        if session.show_rows(known, rows, explain_nothing(session, "No names are known yet."), right=(1, 2)):
            shown = f"{len(known.objects)} of {count(known.total, 'name')}"
            output.say(f"{shown}, those with most facts and notes. For one: pal facts NAME")
        return
    reply = session.reader.facts(name, as_of=as_of, history=history, known_on=known_on)
    if not session.shows_json(reply):
        mentions = [fact for fact in reply.facts if fact.predicate is None and fact.title.casefold() != name.casefold()]
        for fact in (*(fact for fact in reply.facts if fact not in mentions), *mentions):
            if mentions and fact is mentions[0]:
                if fact is not reply.facts[0]:
                    click.echo()
                output.print_bold(f"Sentences that mention {name}")
            output.print_text(fact.statement)
            output.print_dim(f"   fact {fact.id}  {format_span(fact)}{describe_place(fact)}")
        for dispute in reply.disputes:
            output.print_text(f"Two notes disagree: {describe_fact(dispute.old)}; {describe_fact(dispute.new)}")
            output.print_dim(f"   to decide: pal review {dispute.id}")
    if not reply.facts:
        when = "was known then" if known_on else "was valid at that time" if as_of else "is known"
        read = "" if known_on or as_of else _point_to_passages(name)
        raise NothingFound(explain_nothing(session, f"Nothing {when} of {name!r}{read or '.'}"))


def _point_to_passages(name: str) -> str:
    return f" but its name. Passages that have it: pal recall {shlex.quote(name)}"


@click.command()
@click.argument("name")
@json_command
def history(session: Session, name: str) -> None:
    """Show how the facts about NAME changed.

    Each value with the time in which it was valid, its line, and who replaced it: a rule, a model or you.
    """
    reply = session.reader.history(name)
    for timeline in () if session.shows_json(reply) else reply.timelines:
        name = subject_and_predicate(timeline.subject, timeline.predicate) if timeline.predicate else timeline.subject
        output.print_bold(name)
        for value in timeline.values:
            _print_value(value, timeline)
    if not reply.timelines:
        known = f"Nothing is known of {name!r}{_point_to_passages(name)}"
        if session.reader.facts(name).facts:
            known = f"No facts about {name!r} yet, only sentences that mention it: pal facts {shlex.quote(name)}"
        raise NothingFound(explain_nothing(session, known))


def _print_value(value: wire.TimelineValue, timeline: wire.FactTimeline) -> None:
    fact = value.fact
    other = f" ({fact.predicate})" if fact.predicate != timeline.predicate else ""
    words = f"{fact.objects[-1]}{other}{fact.remark}" if fact.predicate else f"“{fact.text}”"
    output.print_text(f"   {format_span(fact, 'at some time  ')}{' '.join(words.split())}")
    output.print_dim(f"      {describe_place(fact)}, fact {fact.id}")
    if value.ended:
        output.print_dim(f"      {describe_end(value.ended)} (revision {value.ended.id})")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def me(ctx: click.Context) -> None:
    """Show what the memory knows about you: names, address, family, and earlier values.

    \b
    pal me                          what is known about you, with sources
    pal me set phone "0161 496 07"  set a value; the latest one counts
    pal me rm phone                 withdraw it
    """
    if ctx.invoked_subcommand is None:
        session = ctx.ensure_object(Session)
        session.show(session.client.profile(), _print_profile)


@me.command("set")
@click.argument("key")
@click.argument("value")
@json_command
def set_value(session: Session, key: str, value: str) -> None:
    """Set KEY, such as name, phone, address or doctor, to VALUE."""
    reply = session.client.set_profile(key, value)
    if session.shows_json(reply):
        return
    output.say(f"Your {key} is {value}. Take it back: pal me rm {key!r}")
    for revision in reply.revisions:
        output.say(f"It replaces {revision.old.objects[-1]}. To revert it: pal undo {revision.id}")


@me.command("rm")
@click.argument("key")
@json_command
def remove(session: Session, key: str) -> None:
    """Withdraw what you said about your KEY; facts from notes stay."""
    reply = session.client.remove_from_profile(key)
    if not session.shows_json(reply):
        output.say(f"Taken back: your {key}.")


def _print_profile(reply: wire.ProfileReply) -> None:
    profile = reply.profile
    if profile.names:
        by = ", ".join(NAMED_BY.get(uri) or _say_source(uri) for uri in profile.named_by)
        called = output.style_text(", ".join(profile.names), bold=True)
        click.echo(f"{called}  {output.style_text(by, dim=True)}")
    else:
        output.say(NOBODY)
    for entry in profile.entries:
        for fact in entry.facts:
            since = f"since {fact.since}, " if fact.since else ""
            words = output.style_text(f"{entry.key}: {fact.objects[-1]}")
            click.echo(f"{words}  {output.style_text(since + _say_source(fact.uri, fact.line, fact.title), dim=True)}")
        for fact in entry.before:
            end = f" until {fact.until}" if fact.until else ""
            where = _say_source(fact.uri, fact.line, fact.title)
            output.print_dim(f"   before: {fact.objects[-1]}{end}, {where}")


def _say_source(uri: str, line: int | None = None, title: str = "your note") -> str:
    """Describes a source for a person."""
    if uri.startswith(BY_HAND):
        return "you said so"
    return title if uri.startswith("note:") else output.locate(uri, line)
