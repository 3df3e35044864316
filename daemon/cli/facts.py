"""pal facts, history: what is known of something, and how it changed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.options import as_date, as_of_option, json_option
from daemon.cli.questions import explain_nothing
from daemon.cli.session import Session, pass_session
from daemon.terminal import count, modality, statement
from memory.text.predicates import subject_and_predicate

AUTHOR = {"rule": "a rule", "model": "a model", "user": "you"}


@click.command()
@click.argument("name")
@as_of_option
@click.option(
    "--as-known-on", "known_on", metavar="DATE", type=as_date("end"), help="As the memory knew it on that day."
)
@click.option("--history", is_flag=True, help="Also what no longer holds, with the time it held.")
@json_option
@pass_session
def facts(
    session: Session, name: str, as_of: datetime | None, known_on: datetime | None, history: bool, as_json: bool
) -> None:
    """List what the memory holds of NAME: a person, a place, a thing.

    First the facts that were read out of your notes, then the other sentences that speak of it.
    """
    reply = session.reader.facts(name, as_of=as_of, history=history, known_on=known_on)
    if as_json:
        output.print_json(reply)
    else:
        for fact in reply.facts:
            _print_fact(fact)
        for one in reply.disputes:
            output.print_text(f"Two notes disagree: {describe_fact(one.old)}; {describe_fact(one.new)}")
            click.echo(output.style_text(f"   to decide: pal review {one.id}", dim=True))
    if not reply.facts:
        when = "was known then" if known_on else "held at that time" if as_of else "is known"
        read = "" if known_on or as_of else f" but its name. Passages that have it: pal recall {shlex.quote(name)}"
        raise NothingFound(explain_nothing(session, f"Nothing {when} of {name!r}{read or '.'}"))


def print_suspects(suspects: Sequence[wire.AliasSuspect]) -> None:
    """Names that may mean one thing, why, and how to say so; nothing if there are none."""
    if suspects:
        click.echo("\nNames that may be one; if they are: pal same NAME OTHER")
        output.print_table([(f"  {pair.one}", pair.other, _describe_likeness(pair)) for pair in suspects])


def _describe_likeness(pair: wire.AliasSuspect) -> str:
    if pair.facts:
        return f"called the same in {count(pair.facts, 'fact')}"
    is_first_name = pair.other.casefold().startswith(f"{pair.one.casefold()} ")
    return "the only full name with this first name" if is_first_name else "same phone, address or birthday"


def _print_fact(fact: wire.Fact) -> None:
    output.print_text(statement(fact))
    click.echo(output.style_text(f"   fact {fact.id}  {span(fact)}{place(fact)}", dim=True))


@click.command()
@click.argument("name")
@json_option
@pass_session
def history(session: Session, name: str, as_json: bool) -> None:
    """Show how what is known of NAME changed.

    Each value with the time it held, the line it stands in, and who replaced it: a rule, a model or you.
    """
    reply = session.reader.history(name)
    if as_json:
        output.print_json(reply)
    for strand in () if as_json else reply.strands:
        name = subject_and_predicate(strand.subject, strand.predicate) if strand.predicate else strand.subject
        click.echo(output.style_text(name, bold=True))
        for value in strand.values:
            _print_value(value, strand)
    if not reply.strands:
        see = f"pal facts {shlex.quote(name)}"
        known = f"Only sentences speak of {name!r}; no fact was read out of them. See them: {see}"
        raise NothingFound(explain_nothing(session, known))


def _print_value(value: wire.HeldValue, strand: wire.Strand) -> None:
    fact = value.fact
    other = f" ({fact.predicate})" if fact.predicate != strand.predicate else ""
    words = f"{fact.objects[-1]}{other}{modality(fact)}" if fact.predicate else f"“{fact.text}”"
    output.print_text(f"   {span(fact, 'at some time  ')}{' '.join(words.split())}")
    click.echo(output.style_text(f"      {place(fact)}, fact {fact.id}", dim=True))
    if value.ended:
        click.echo(output.style_text(f"      {describe_end(value.ended)} (revision {value.ended.id})", dim=True))


def describe_end(revision: wire.Revision) -> str:
    """Who replaced a fact, and why."""
    what = "ended" if revision.relation == "negates" else "replaced"
    return f"{what} by {AUTHOR.get(revision.author, revision.author)}: {revision.reason}"


def describe_fact(fact: wire.Fact) -> str:
    """The fact with its date and its place, for a sentence."""
    return f'"{statement(fact)}" ({fact.since or fact.until or "no date"}, {place(fact)})'


def place(fact: wire.Fact) -> str:
    """Where a fact stands."""
    return fact.place if wire.agent_of(fact.uri) else output.place(fact.uri, fact.line, fact.title)


def span(fact: wire.Fact, never: str = "") -> str:
    """From when and until when it held, two spaces behind; `never` if nothing says when."""
    since, until = fact.since, fact.until
    if since and until:
        return f"{since} to {until}  "
    since = f"{'from' if fact.valid_from and fact.valid_from > fact.recorded else 'since'} {since}" if since else ""
    return f"{since}  " if since else f"until {until}  " if until else never
