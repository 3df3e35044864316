"""pal ask, recall, context: questions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

import click

from daemon import wire
from daemon.calls.knowledge import Effort
from daemon.cli import output
from daemon.cli.answers import Secrets, print_answer, secrets_option
from daemon.cli.options import as_of_option, choose_word, json_command, scope_options, strategy_option
from daemon.cli.output import ONLY_CLOSE, NothingFound
from daemon.cli.session import Session
from daemon.cli.show import describe_time, explain_nothing, explain_reading

MAX_TAGS = 5  # that are named in place of one that nothing has
MAX_NEAREST = 3  # passages that are shown where none has a word of the question
MAX_UNKNOWN_WORDS = 5  # that are named; a text that was pasted has hundreds
OUT_OF_REACH = "No note is within these limits."


@click.command()
@click.argument("question", nargs=-1, required=True)
@scope_options
@as_of_option
@click.option(
    "--effort",
    type=choose_word(Effort),
    default="normal",
    show_default=True,
    help="How much work a language model may do.",
)
@strategy_option
@click.option(
    "--vertices",
    metavar="ETO",
    default="",
    help="Vertices to walk: E passages, T theses, O objects; a small letter: only at the end of a path.",
)
@click.option("--no-replay", is_flag=True, help="Ignore earlier questions, and learn nothing from this one.")
@secrets_option
@click.option("--all", "in_full", is_flag=True, help="Show all lines, also those that are folded.")
@click.option("--events", "shows_events", is_flag=True, help="Print all events of the question as JSON lines.")
@json_command
def ask(
    session: Session,
    question: tuple[str, ...],
    within: wire.Scope,
    as_of: datetime | None,
    effort: str,
    strategy: str,
    vertices: str,
    no_replay: bool,
    shown: bool,
    in_full: bool,
    shows_events: bool,
) -> None:
    """Answer QUESTION from the memory, with the source of every claim.

    The value that the answer replaced is shown below it. If one line is clearly the answer, the others are folded:
    --all shows them. If chat.remember is yes, what you state about yourself is saved; pal undo removes it. Secrets are
    masked: --secrets shows them. Exits with 5 if only the closest lines are shown, with 4 if there are none. --json
    prints the answer with its citations, --events all events as JSON lines.
    """
    text = _join_words(question)
    if vertices:
        strategy = f"{strategy}@{vertices}"
    events = session.reader.ask(
        text, as_of=as_of, within=within, effort=effort, replay=not no_replay, strategy=strategy, own_words=True
    )
    secrets = Secrets(session, shown)
    session.as_json = session.as_json or shows_events
    answered = print_answer(secrets.fill_events(events), session.as_json, in_full, shows_events)
    secrets.say("pal ask")
    if answered.kind != "answer":
        if not session.as_json:
            status = session.reader.status()
            hint = _describe_unknown_tags(session, within) if status.stats.episodes else explain_reading(status)
            output.say(hint)
        sys.exit(ONLY_CLOSE if answered.kind == "closest" else NothingFound.exit_code)


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("-k", type=click.IntRange(1, 200), default=10, show_default=True, help="The number of passages.")
@scope_options
@as_of_option
@strategy_option
@secrets_option
@json_command
def recall(
    session: Session,
    question: tuple[str, ...],
    k: int,
    within: wire.Scope,
    as_of: datetime | None,
    strategy: str,
    shown: bool,
) -> None:
    """Show the passages that match QUESTION, best first.

    If no note has any of its words, the nearest passages are shown, and a message tells why.
    """
    text = _join_words(question)
    secrets = Secrets(session, shown)
    reply = secrets.fill(session.reader.recall(text, k, as_of=as_of, within=within, strategy=strategy))
    if not session.shows_json(reply):
        for step in reply.steps:
            output.say(describe_time(step))
        if reply.unknown and reply.hits:
            there = " there" if within != wire.Scope() else ""
            output.say(f"No note{there} has {_quote_words(reply.unknown)}. What comes nearest in meaning:")
    hits = reply.hits[:MAX_NEAREST] if reply.unknown else reply.hits
    for number, hit in enumerate(hits if not session.as_json else (), start=1):
        passage = hit.passage
        place = output.locate(passage.uri, passage.line, passage.title, passage.speaker, output.format_day(passage.at))
        output.print_bold(f"{number}. {place}")
        output.print_text("\n".join(f"   {line}" for line in passage.text.strip().splitlines()))
        click.echo()
        secrets.meet(passage.text)
    secrets.say("pal recall")
    if reply.hits and reply.unknown:
        sys.exit(NothingFound.exit_code)
    if not reply.hits:
        raise NothingFound(
            _describe_unknown_tags(session, within)
            or explain_nothing(session, OUT_OF_REACH if _is_empty(reply) else "Nothing in the memory mentions that.")
        )


def _quote_words(words: Sequence[str]) -> str:
    named = [f'"{word}"' for word in words[:MAX_UNKNOWN_WORDS]]
    head = ", ".join(named[:-1])
    return f"the word {named[0]}" if not head else f"any of the words {head} and {named[-1]}"


def _is_empty(reply: wire.RecallReply) -> bool:
    return any(
        note is not None and note.episodes == 0 for note in (wire.ScopeNote.from_step(step) for step in reply.steps)
    )


def _join_words(words: tuple[str, ...]) -> str:
    text = " ".join(words).strip()
    if not text:
        raise click.UsageError('The question is empty. For example: pal ask "where is the harbour office?"')
    return text


def _describe_unknown_tags(session: Session, within: wire.Scope) -> str | None:
    """Says which tag of a limit nothing carries, with those it may have meant, else the most frequent; None if all are
    known. It is asked once nothing was found: the daemon lists the tags of most notes only."""
    if not within.tags or not (names := [tag.name for tag in session.reader.tags()]):
        return None
    from difflib import get_close_matches

    for tag in within.tags:
        if not any(name == tag or name.startswith(f"{tag}/") for name in names):
            near = get_close_matches(tag, names, MAX_TAGS) or names[:MAX_TAGS]
            return f"Nothing has the tag {tag!r}. There is: {', '.join(near)}."
    return None


@click.command()
@click.argument("task", nargs=-1, required=True)
@click.option(
    "--tokens", type=click.IntRange(100, 50_000), default=1000, show_default=True, help="The length in tokens, about."
)
@scope_options
@as_of_option
@json_command
def context(
    session: Session,
    task: tuple[str, ...],
    tokens: int,
    within: wire.Scope,
    as_of: datetime | None,
) -> None:
    """Print a short context for TASK, for an agent's prompt.

    The best sentences of notes, each with the number of its source. A token is counted as three bytes. The same memory
    prints the same text. What you give to an agent goes where that agent runs; --within limits it.

    \b
    claude "$(pal context 'prepare the meeting with Ana') Prepare the meeting with Ana."
    """
    words = " ".join(task).strip()
    if not words:
        raise click.UsageError('The task is empty. For example: pal context "prepare the meeting with Ana"')
    reply = session.client.context(words, tokens, as_of=as_of, within=within)
    if not session.shows_json(reply) and reply.lines:
        output.print_text(reply.text)
    if not reply.lines:
        raise NothingFound(explain_nothing(session, "Nothing in the memory bears on that."))
