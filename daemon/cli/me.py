"""pal me: what the memory knows of the person whose memory it is."""

from __future__ import annotations

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import ListGroup, json_option
from daemon.cli.session import Session, pass_session

BY_HAND = "note:me/"  # as `daemon.api.profile` has it
NOBODY = "I do not know who you are. Say it: pal me set name 'YOUR NAME'"
NAMED_BY = {"person.names": "setting person.names", "mails": "whose mailbox was read"}


@click.group(cls=ListGroup, invoke_without_command=True)
@json_option
@click.pass_context
def me(ctx: click.Context, as_json: bool) -> None:
    """Show who you are to the memory: names, address, family, and what each was before.

    \b
    pal me                          what is known of you, with its sources
    pal me set phone "0161 496 07"  say something of yourself; the latest word counts
    pal me rm phone                 take back what you said here
    """
    if ctx.invoked_subcommand is None:
        _print(ctx.find_object(Session).client.profile(), as_json)  # type: ignore[union-attr]


@me.command("set")
@click.argument("key")
@click.argument("value")
@json_option
@pass_session
def set_value(session: Session, key: str, value: str, as_json: bool) -> None:
    """Say what your KEY is: name, phone, address, doctor, car, or any other word."""
    reply = session.client.set_profile(key, value)
    if as_json:
        output.print_json(reply)
        return
    output.say(f"Your {key} is {value}. Take it back: pal me rm {key!r}")
    for one in reply.revisions:
        output.say(f"It takes the place of {one.old.objects[-1]}. As it was before: pal undo {one.id}")


@me.command("rm")
@click.argument("key")
@json_option
@pass_session
def remove(session: Session, key: str, as_json: bool) -> None:
    """Take back what you said of your KEY; what notes say of it stays."""
    reply = session.client.remove_from_profile(key)
    if as_json:
        output.print_json(reply)
    else:
        output.say(f"Taken back: your {key}.")


def _print(reply: wire.ProfileReply, as_json: bool) -> None:
    profile = reply.profile
    if as_json:
        output.print_json(reply)
        return
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
            click.echo(output.style_text(f"   before: {fact.objects[-1]}{end}, {where}", dim=True))


def _say_source(uri: str, line: int | None = None, title: str = "your note") -> str:
    """Where something is known from, for a person."""
    if uri.startswith(BY_HAND):
        return "you said so"
    return title if uri.startswith("note:") else output.place(uri, line)
