"""pal sessions: the conversations of the chat, listed, searched, shown, renamed, deleted."""

from __future__ import annotations

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.answers import print_message
from daemon.cli.errors import NothingFound
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.cli.show import local_time
from daemon.terminal import count

NONE_KEPT = "No session is kept yet. Ask something in the chat: pal chat"


@click.group(invoke_without_command=True)
@click.option(
    "-n", "limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="The number of sessions."
)
@json_option
@click.pass_context
def sessions(ctx: click.Context, limit: int) -> None:
    """List the sessions of the chat, last used first.

    \b
    pal sessions                       the last ones, with their numbers
    pal sessions search compressor     those with this word
    pal sessions show 7                one of them
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.ensure_object(Session), limit)


def _list(session: Session, limit: int) -> None:
    kept = [conversation for conversation in session.client.conversations() if conversation.messages]
    shown = tuple(kept[:limit])
    if session.show_rows({"conversations": shown}, map(_row, shown), NONE_KEPT, right=(0,)):
        output.say_rest(len(shown), len(kept), "-n shows more")


def _row(of: wire.Conversation) -> tuple[str, ...]:
    return str(of.id), local_time(of.updated), count(of.messages, "message"), of.title or "Untitled"


@sessions.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "-n", "limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="The number of sessions."
)
@json_option
@pass_session
def search(session: Session, words: tuple[str, ...], limit: int) -> None:
    """Find sessions with all WORDS in one question, one answer or the title.

    Ignores case and accents. Exits with 4 if there is none.
    """
    matches = session.client.search_conversations(" ".join(words), limit)
    if session.as_json:
        output.print_json({"words": " ".join(words), "matches": matches})
    for match in matches if not session.as_json else ():
        number, *rest = _row(match.conversation)
        output.print_bold("  ".join([number, *rest]))
        if match.quote:
            who = "You" if match.role == "user" else "Memory"
            output.print_text(f"   {who}: {match.quote}")
            if match.messages > 1:
                output.print_dim(f"   and in {count(match.messages - 1, 'other message')}")
    if not matches:
        raise NothingFound("No session has these words.")


@sessions.command()
@click.argument("id", type=int)
@json_option
@pass_session
def show(session: Session, id: int) -> None:
    """Print a session with its sources. ID is its number in `pal sessions`."""
    kept = session.client.conversation(id)
    if session.shows_json(kept):
        return
    output.print_bold(kept.conversation.title or "Untitled")
    for message in kept.messages:
        click.echo()
        print_message(message, in_full=True)


@sessions.command()
@click.argument("id", type=int)
@click.argument("title", nargs=-1, required=True)
@json_option
@pass_session
def rename(session: Session, id: int, title: tuple[str, ...]) -> None:
    """Give a session another name: TITLE."""
    renamed = session.client.rename_conversation(id, " ".join(" ".join(title).split()))
    session.show(renamed, f"Session {id} is called {renamed.title or 'Untitled'} now.")


@sessions.command()
@click.argument("ids", type=int, nargs=-1, required=True, metavar="ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, ids: tuple[int, ...], yes: bool) -> None:
    """Delete sessions; the memory keeps what it knows."""
    kept = [session.client.conversation(id).conversation for id in dict.fromkeys(ids)]
    if not yes:
        what = f"“{kept[0].title or 'Untitled'}”" if len(kept) == 1 else count(len(kept), "session")
        messages = count(sum(conversation.messages for conversation in kept), "message")
        output.confirm(f"Delete {what} with {messages}?", "delete", "Nothing was deleted.")
    for conversation in kept:
        session.client.delete_conversation(conversation.id)
    click.echo(f"Deleted: {count(len(kept), 'session')}.")
