"""pal review, undo: facts that were replaced, and what a person says of it."""

from __future__ import annotations

import sys

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.facts import AUTHOR, place, print_suspects, span
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import describe_outcome, statement

# what was noticed -> its words, and what the two facts are called
WORDS = {
    "supersedes": ("replaced", "was", "now"),
    "negates": ("ended", "was", "told"),
    "contradicts": ("two notes disagree", "one", "other"),
    "duplicates": ("told twice", "first", "again"),
}
LONGEST_QUOTE = 200  # characters
KEYS = {"k": "keep", "b": "both", "o": "old", "u": "undo"}
CHOICE = "[k]eep, [b]oth are true, [o]ld one is right, [u]ndo, [s]kip, [q]uit: "
HOW = (
    "To decide: pal review ID keep (the new one stands), both (both are true), "
    "old (the old one is right), undo (as it was before)."
)


@click.command()
@click.argument("id", required=False, type=int)
@click.argument("verdict", required=False, type=click.Choice(["keep", "both", "old", "open", "undo"]))
@click.option(
    "--state",
    type=click.Choice(["open", "kept", "undone", "settled", "all"]),
    default="open",
    show_default=True,
    help="open: nobody has looked at it yet; settled: both are true.",
)
@click.option("--about", metavar="NAME", help="Only what is about NAME.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Revisions at most.")
@json_option
@pass_session
def review(
    session: Session, id: int | None, verdict: str | None, state: str, about: str | None, limit: int, as_json: bool
) -> None:
    """Show which facts were replaced, and decide whether that is right.

    Names whose facts took each other's place may mean one thing; `pal same` says so.

    \b
    pal review              one after the other in a terminal, elsewhere a list
    pal review ID           one of them
    pal review ID keep      the new fact stands
    pal review ID both      both are true
    pal review ID old       the old one is right, the new one was never true
    pal review ID open      nothing was said yet, and it waits again
    pal review ID undo      everything is as it was before
    """
    if id is not None and verdict is not None:
        _decide(session, id, verdict, as_json)
        return
    if id is not None:
        found = session.client.revision(id)
        if as_json:
            output.print_json(found)
            return
        _print(found)
        output.say(HOW.replace(" ID ", f" {id} "))
        return
    reply = session.client.revisions(state, about, limit)
    if as_json:
        output.print_json(reply)
    elif not reply.revisions:
        output.say(_none(state, about))
    elif state == "open" and sys.stdin.isatty() and sys.stdout.isatty():
        _one_by_one(session, reply)
    else:
        for one in reply.revisions:
            _print(one)
        if state == "open" and not about and reply.open > len(reply.revisions):
            output.say(f"{len(reply.revisions):,} of {reply.open:,} are shown; --limit shows more.")
        output.say(HOW)
    if not as_json and state == "open" and not about:
        print_suspects(reply.told_as_one)


@click.command()
@click.argument("id", type=int, required=False)
@json_option
@pass_session
def undo(session: Session, id: int | None, as_json: bool) -> None:
    """Take the replacement of a fact back: both facts are as they were before.

    ID is the number of the revision, which `pal review` and `pal history` show. Without it what was kept last of what
    you told in the chat, or to `pal ask`, is forgotten.
    """
    if id is not None:
        _decide(session, id, "undo", as_json)
        return
    gone = session.client.take_back_told()
    if as_json:
        output.print_json(gone)
    else:
        output.print_text(f"Not kept any more: “{' '.join(gone.text.split())}”.")


def _decide(session: Session, id: int, verdict: str, as_json: bool) -> None:
    before = session.client.revision(id)
    settled = session.client.settle(id, verdict)
    if as_json:
        output.print_json(settled)
    else:
        same = before.state != "open" and describe_outcome(before) == describe_outcome(settled)
        output.print_text(f"Revision {id}{' was so already' if same else ''}: {describe_outcome(settled)}")


def _one_by_one(session: Session, reply: wire.RevisionsReply) -> None:
    """Asks of each with a single key."""
    done = 0
    for number, one in enumerate(reply.revisions, 1):
        _print(one, f"  ({number} of {len(reply.revisions)})")
        while (key := _key()) not in (*KEYS, "s", "q"):
            pass
        if key == "q":
            break
        if key in KEYS:
            settled = session.client.settle(one.id, KEYS[key])
            output.print_text(f"   {describe_outcome(settled)}\n")
            done += 1
        else:
            click.echo("   Left for later.\n")
    output.say(f"Decided: {done:,}. {_waiting(session)}")


def _key() -> str:
    click.echo(CHOICE, nl=False)
    key = click.getchar().lower()
    click.echo(key if key.isprintable() else "")
    return key


def _waiting(session: Session) -> str:
    left = session.client.revisions(limit=1).open
    return f"Waiting: {left:,}." if left else "Nothing waits any more."


def _print(one: wire.Revision, suffix: str = "") -> None:
    what, old, new = WORDS.get(one.relation, (one.relation, "old", "new"))
    state = "" if one.state == "open" else f", {describe_outcome(one)}"
    click.echo(output.style_text(f"Revision {one.id}: {what}{state}{suffix}", bold=True))
    for name, fact in ((old, one.old), (new, one.new)):
        output.print_text(f"   {name:<6} {statement(fact)}")
        click.echo(output.style_text(f"          {span(fact, 'no date  ')}{place(fact)}", dim=True))
        if fact.quote and fact.quote != fact.text:
            click.echo(output.style_text(f'          "{_short(fact.quote)}"', dim=True))
    click.echo(output.style_text(f"   why    {one.reason} ({AUTHOR.get(one.author, one.author)})", dim=True))


def _short(quote: str) -> str:
    words = " ".join(quote.split())
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE].rstrip()} …"


def _none(state: str, about: str | None) -> str:
    of = f" about {about!r}" if about else ""
    if state == "open":
        return f"Nothing waits for you{of}. Facts that an edit replaced, and notes that disagree, are listed here."
    return f"There is no such revision{of}."
