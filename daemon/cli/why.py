"""pal why, whynot: what an answer rests on, and what it left out."""

from __future__ import annotations

from collections.abc import Mapping

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.facts import span
from daemon.cli.options import json_option
from daemon.cli.questions import print_source
from daemon.cli.session import Session, pass_session
from daemon.cli.traces import NOT_KEPT, cost, newest, outcome, tier
from daemon.terminal import count, path_words, statement

CHANNELS = {"lexical": "full text", "vector": "meaning", "text": "both", "graph": "graph", "links": "links"}
LONGEST_QUOTE = 200  # characters


@click.command()
@click.argument("id", required=False, type=int)
@json_option
@pass_session
def why(session: Session, id: int | None, as_json: bool) -> None:
    """Show what an answer rests on.

    Each line it cites, with the scores that brought it there and the facts that are read out of it; how far the
    question went and why; what it took of what it might. ID is its number in `pal traces`; without one it is the newest
    question.
    """
    found = session.client.why(id if id is not None else newest(session))
    if as_json:
        output.print_json(found)
        return
    asked = found.asked
    click.echo(output.style_text(f"{_flat(asked.question)}  (trace {asked.id})", bold=True))
    for used in found.used:
        _print_used(used, found.shown)
    if not found.used:
        click.echo(f"   {_unanswered(asked)}")
    rows = [("chain", way) for way in found.chain]
    rows += [("against", gap) for gap in found.gaps]
    rows += [("how far", reason) for reason in found.reasons if reason != found.note]
    rows.append(("went", f"{tier(asked)}, {count(found.shown, 'passage')} to answer from, {outcome(asked)}"))
    rows.append(("took", f"{cost(asked)}; effort {found.effort} allows {_allowed(found)}"))
    if found.note:
        rows.append(("note", found.note))
    click.echo()
    output.print_table((f"   {name}", _flat(value)) for name, value in rows)
    output.say(f"What is missing in it: pal whynot WORDS{'' if id is None else f' --trace {id}'}")


def _unanswered(asked: wire.Asked) -> str:
    """Why nothing is shown of an answer."""
    if asked.no_answer is None:
        return "Only passages were asked for."
    return "It was not answered." if asked.no_answer else NOT_KEPT


def _print_used(used: wire.Used, shown: int) -> None:
    cited = used.cited
    print_source(cited)
    output.print_text(f'    "{short(cited.quote)}"')
    if used.place is not None and used.score is not None:
        scores = f"; {channels(used.channels)}" if used.channels else ""
        click.echo(output.style_text(f"    passage {used.place} of {shown}, score {used.score:.2f}{scores}", dim=True))
    if len(used.path) > 1:
        output.print_text(f"    found by {path_words(used.path)}")
    for fact in used.facts:
        output.print_text(f"    fact {fact.id}: {statement(fact)}  {span(fact)}".rstrip())


def _allowed(of: wire.Why) -> str:
    calls = "1 call" if of.allowed_calls == 1 else f"{of.allowed_calls} calls"
    return f"{calls}, {of.allowed_tokens:,} tokens, {of.allowed_seconds:.0f} s"


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--trace", "id", type=int, metavar="ID", help="The question's number in `pal traces`.  [default: newest]")
@json_option
@pass_session
def whynot(session: Session, words: tuple[str, ...], id: int | None, as_json: bool) -> None:
    """Show why WORDS are not in an answer.

    The nearest passages that hold these words, and what dropped each: that it lies outside the time or the part of the
    memory that was asked, that too much was better, that a newer fact took its place. The question is searched for once
    more, in the memory as it is now. Exits with 4 where no passage holds the words.
    """
    found = session.client.whynot(id if id is not None else newest(session), " ".join(words))
    if as_json:
        output.print_json(found)
    else:
        _print_whynot(found)
    if not found.lost:
        raise NothingFound(_nowhere(found))


def _print_whynot(found: wire.WhyNotReply) -> None:
    click.echo(output.style_text(f"{_flat(found.asked.question)}  (trace {found.asked.id})", bold=True))
    for number, lost in enumerate(found.lost, 1):
        passage = lost.passage
        place = output.place(passage.uri, lost.line, passage.title, passage.speaker, output.day(passage.at))
        click.echo(output.style_text(f"{number}. ", bold=True) + output.style_text(place, dim=True))
        output.print_text(f'   "{short(lost.quote)}"')
        output.print_text(f"   {lost.reason}")
        if lost.by is not None:
            at = output.place(lost.by.uri, lost.by.line)
            click.echo(output.style_text(f"   that is fact {lost.by.id}, {at}", dim=True))
        if lost.place is not None and lost.score is not None:
            scores = f"; {channels(lost.channels)}" if lost.channels else ""
            text = f"   passage {lost.place:,} of {lost.of:,}, score {lost.score:.2f}{scores}"
            click.echo(output.style_text(text, dim=True))
    if found.lost and found.missing:
        output.say(f"Nowhere in your memory: {', '.join(found.missing)}.")


def _nowhere(found: wire.WhyNotReply) -> str:
    words = short(", ".join(found.missing) or found.words)
    return f"Nothing in your memory holds {words!r}: it was never read, or it was forgotten."


def channels(scores: Mapping[str, float]) -> str:
    """The scores a ranking was made from: `full text 5.02, meaning 0.54`."""
    return ", ".join(f"{CHANNELS.get(name, name)} {score:.2f}" for name, score in scores.items())


def short(quote: str) -> str:
    words = _flat(quote)
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE].rstrip()} …"


def _flat(text: str) -> str:
    return " ".join(text.split())
