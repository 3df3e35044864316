"""pal good, bad: what a person says of an answer."""

from __future__ import annotations

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.cli.traces import newest
from daemon.cli.why import short

WORDS = {  # of an answer, and of a refusal
    "good": ("was answered well", "was rightly not answered"),
    "bad": ("was answered badly", "should have been answered"),
}
undo_option = click.option("--undo", is_flag=True, help="Take back what you said of it.")


@click.command()
@click.argument("id", required=False, type=int)
@undo_option
@json_option
@pass_session
def good(session: Session, id: int | None, undo: bool, as_json: bool) -> None:
    """Say that an answer is right: what led to it comes first next time.

    ID is its number in `pal traces`; without one it is the newest question. `pal bad` says the opposite.
    """
    _judge(session, id, "none" if undo else "good", as_json)


@click.command()
@click.argument("id", required=False, type=int)
@undo_option
@json_option
@pass_session
def bad(session: Session, id: int | None, undo: bool, as_json: bool) -> None:
    """Say that an answer is wrong: what led to it is not brought back.

    Nor is what it cites brought back for such a question from another answer, older or newer, until you call a newer
    one good. Nothing is forgotten, and other questions are answered as before. ID is its number in `pal traces`;
    without one it is the newest question. `pal good` says the opposite.
    """
    _judge(session, id, "none" if undo else "bad", as_json)


def _judge(session: Session, id: int | None, verdict: str, as_json: bool) -> None:
    said = session.client.judge(id if id is not None else newest(session), verdict)
    if as_json:
        output.print_json(said)
    else:
        output.print_text(" ".join(describe_verdict(said).split()))


def describe_verdict(said: wire.Judged) -> str:
    """What was noted, and what follows from it."""
    asked, before = said.asked, said.before
    name = f'"{short(asked.question)}" (trace {asked.id})'
    if asked.verdict == before:
        return f"Nothing changed: {name} was called {before} before." if before else f"Nobody has judged {name}."
    if asked.verdict is None:
        return f"Taken back: {name} is not called {before} any more, and what was learnt from that is undone."
    return f"Noted: {name} {WORDS[asked.verdict][bool(asked.no_answer)]}. {_effect(said)}"


def _effect(said: wire.Judged) -> str:
    bad = said.asked.verdict == "bad"
    if not said.passages:
        where = " To see what became of a passage that has it: pal whynot WORDS" if bad else ""
        return f"It cites no passage, so nothing is learnt from it.{where}"
    if bad:
        return f"What it cites is not brought back for such a question. What led to it: pal why {said.asked.id}"
    return f"This answer's {'passage comes' if said.passages == 1 else 'passages come'} first next time."
