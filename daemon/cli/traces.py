"""pal traces, why, good, bad: what led to an answer, and a person's verdict on it."""

from __future__ import annotations

from collections.abc import Iterable

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_command
from daemon.cli.output import NothingFound
from daemon.cli.session import Session
from daemon.cli.show import format_span, format_time, print_source, print_sources, shorten
from daemon.terminal import count, describe_scores, describe_verdict, flatten, path_words

NOT_KEPT = "How it was answered is not kept any more. Ask it again: pal ask"
NONE_ASKED = 'No question was asked yet. Ask one: pal ask "where is the harbour office?"'
LOOKED_AT_ONCE = 50  # questions, for one that no agent asked


@click.command()
@click.option(
    "-n", "limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="The number of questions."
)
@json_command
def traces(session: Session, limit: int) -> None:
    """List the questions that were asked, newest first.

    Each with its number, time, result, the calls of language models and the duration. Forgetting a note also removes
    the questions that it answered.
    """
    reply = session.client.traces(limit)
    nothing = "" if reply.total else NONE_ASKED
    if session.show_rows(reply, map(_make_row, reply.traces), nothing, right=(0, 4, 5)):
        output.say_rest(len(reply.traces), reply.total, "-n shows more")


def _make_row(of: wire.AskedQuestion) -> tuple[str, ...]:
    question = " ".join(of.question.split())
    calls = "" if not of.calls else f"{of.calls} call{'s' if of.calls > 1 else ''}"
    by = f"{of.agent}: " if of.agent else ""
    end = describe_outcome(of), describe_tier(of), calls, format_duration(of.ms)
    return str(of.id), format_time(of.at), *end, f"{by}{question}"


@click.command()
@click.argument("id", required=False, type=int)
@click.option(
    "--steps", is_flag=True, help="Show the stages of the search, with their times; --json shows what it visited."
)
@click.option("--not", "words", metavar="WORDS", help="Show why WORDS are not in the answer.")
@json_command
def why(session: Session, id: int | None, steps: bool, words: str | None) -> None:
    """Show the evidence of an answer, the steps of its search, or why something is missing.

    ID is its number in `pal traces`; by default the newest. Without options: each cited line with its scores and facts,
    and the budget used. --not lists the nearest passages with these words, and what excluded each: the time or scope of
    the question, better passages, or a newer fact; it exits with 4 if no passage has them.
    """
    chosen = id if id is not None else find_newest(session)
    if words is not None:
        reply = session.client.whynot(chosen, words)
        session.show(reply, _print_missing)
        if not reply.lost:
            missing = shorten(", ".join(reply.missing) or reply.words)
            raise NothingFound(f"Nothing in your memory holds {missing!r}: it was never read, or it was forgotten.")
    elif steps:
        session.show(session.client.trace(chosen), _print_trace)
    else:
        session.show(session.client.why(chosen), _print_evidence)
        if not session.as_json:
            output.say(f"Why something is missing: pal why --not WORDS{'' if id is None else f' {id}'}")


def _print_trace(trace: wire.StoredTrace) -> None:
    asked = trace.asked
    output.print_bold(f"Trace {asked.id}: {' '.join(asked.question.split())}")
    rows = [("asked", ", ".join([format_time(asked.at), *list_conditions(trace)]))]
    if trace.plan.searched:
        rows.append(("searched", trace.plan.searched))
    rows += [("came to", f"{describe_outcome(asked)}, {describe_tier(asked)}"), ("took", describe_cost(asked))]
    output.print_table((f"   {name}", " ".join(value.split())) for name, value in rows)
    if not trace.steps:
        output.print_text(f"   {NOT_KEPT}")
        return
    _print_heading("Stages")
    output.print_table(
        ((f"   {step.name}", f"{step.ms:,.1f} ms", wire.describe_step(step)) for step in trace.steps), right=(1,)
    )
    if (answer := trace.answer) is not None:
        _print_heading("Answer")
        output.print_text("\n".join(f"   {line}" for line in answer.text.splitlines()))
        print_sources(answer.missing, answer.citations)
        if answer.note:
            output.print_text(answer.note)


def _print_heading(words: str) -> None:
    click.echo()
    output.print_bold(words)


def list_conditions(trace: wire.StoredTrace) -> Iterable[str]:
    """Yields unusual options of a question."""
    plan, within = trace.plan, trace.plan.within or wire.Scope()
    if plan.effort != "normal":
        yield f"effort {plan.effort}"
    if trace.asked.agent:
        yield f"asked by {trace.asked.agent}"
    if plan.strategy:
        yield f"strategy {plan.strategy}"
    if plan.as_of:
        yield f"as of {format_time(plan.as_of)}"
    for name in dict.fromkeys((*within.sources, *(folder.rstrip("/#") for folder in within.folders))):
        yield f"within {name}"
    yield from (f"tag {tag}" for tag in within.tags)
    if within.conversation:
        yield f"chat {within.conversation}"
    if within.since:
        yield f"since {format_time(within.since)}"
    if within.until:
        yield f"until {format_time(within.until)}"


def _print_evidence(evidence: wire.Why) -> None:
    asked = evidence.asked
    output.print_bold(f"{flatten(asked.question)}  (trace {asked.id})")
    for used in evidence.used:
        _print_used(used, evidence.shown)
    if not evidence.used:
        click.echo(f"   {_explain_unanswered(asked)}")
    rows = [("chain", way) for way in evidence.chain]
    rows += [("against", gap) for gap in evidence.gaps]
    rows += [("how far", reason) for reason in evidence.reasons if reason != evidence.note]
    shown = f"{count(evidence.shown, 'passage')} to answer from"
    rows.append(("went", f"{describe_tier(asked)}, {shown}, {describe_outcome(asked)}"))
    rows.append(("took", f"{describe_cost(asked)}; effort {evidence.effort} allows {_describe_allowance(evidence)}"))
    if evidence.note:
        rows.append(("note", evidence.note))
    click.echo()
    output.print_table((f"   {name}", flatten(value)) for name, value in rows)


def _explain_unanswered(asked: wire.AskedQuestion) -> str:
    """Explains why no answer is shown."""
    if asked.no_answer is None:
        return "Only passages were asked for."
    return "It was not answered." if asked.no_answer else NOT_KEPT


def _print_used(used: wire.UsedPassage, shown: int) -> None:
    cited = used.cited
    print_source(cited)
    output.print_text(f'    "{shorten(cited.quote)}"')
    if used.place is not None and used.score is not None:
        scores = f"; {describe_scores(used.channels)}" if used.channels else ""
        output.print_dim(f"    passage {used.place} of {shown}, score {used.score:.2f}{scores}")
    if len(used.path) > 1:
        output.print_text(f"    found by {path_words(used.path)}")
    for fact in used.facts:
        output.print_text(f"    fact {fact.id}: {fact.statement}  {format_span(fact)}".rstrip())


def _describe_allowance(of: wire.Why) -> str:
    calls = "1 call" if of.allowed_calls == 1 else f"{of.allowed_calls} calls"
    return f"{calls}, {of.allowed_tokens:,} tokens, {of.allowed_seconds:.0f} s"


def _print_missing(reply: wire.WhyNot) -> None:
    output.print_bold(f"{flatten(reply.asked.question)}  (trace {reply.asked.id})")
    for number, lost in enumerate(reply.lost, 1):
        passage = lost.passage
        place = output.locate(passage.uri, lost.line, passage.title, passage.speaker, output.format_day(passage.at))
        click.echo(output.style_text(f"{number}. ", bold=True) + output.style_text(place, dim=True))
        output.print_text(f'   "{shorten(lost.quote)}"')
        output.print_text(f"   {lost.reason}")
        if lost.by is not None:
            at = output.locate(lost.by.uri, lost.by.line)
            output.print_dim(f"   that is fact {lost.by.id}, {at}")
        if lost.place is not None and lost.score is not None:
            scores = f"; {describe_scores(lost.channels)}" if lost.channels else ""
            text = f"   passage {lost.place:,} of {lost.of:,}, score {lost.score:.2f}{scores}"
            output.print_dim(text)
    if reply.lost and reply.missing:
        output.say(f"Nowhere in your memory: {', '.join(reply.missing)}.")


undo_option = click.option("--undo", is_flag=True, help="Withdraw your mark.")


@click.command()
@click.argument("id", required=False, type=int)
@undo_option
@json_command
def good(session: Session, id: int | None, undo: bool) -> None:
    """Mark an answer as right: its evidence is preferred next time.

    ID is its number in `pal traces`; by default the newest. The opposite is `pal bad`.
    """
    _judge(session, id, "none" if undo else "good")


@click.command()
@click.argument("id", required=False, type=int)
@undo_option
@json_command
def bad(session: Session, id: int | None, undo: bool) -> None:
    """Mark an answer as wrong: its evidence is not reused.

    Its evidence is not reused from other answers either, until you mark a newer one as good. Nothing is forgotten, and
    other questions are answered as before. ID is its number in `pal traces`; by default the newest. The opposite is
    `pal good`.
    """
    _judge(session, id, "none" if undo else "bad")


def _judge(session: Session, id: int | None, verdict: str) -> None:
    judged = session.client.judge(id if id is not None else find_newest(session), verdict)
    asked = judged.asked
    session.show(judged, f'"{shorten(asked.question)}" (trace {asked.id}). {describe_verdict(judged)}')
    if asked.verdict == "bad" and not session.as_json:
        output.say(f"What led to it: pal why {asked.id}. What it misses: pal why --not WORDS {asked.id}")


def find_newest(session: Session) -> int:
    """Returns the number of the newest question of a person. NothingFound without one."""
    skip, total = 0, 1
    while skip < total:
        reply = session.client.traces(LOOKED_AT_ONCE, skip)
        for trace in reply.traces:
            if not trace.agent:
                return trace.id
        skip, total = skip + LOOKED_AT_ONCE, reply.total
    raise NothingFound(NONE_ASKED)


def describe_outcome(of: wire.AskedQuestion) -> str:
    """Describes the outcome of a question, and the person's verdict."""
    kind = "passages" if of.no_answer is None else "no answer" if of.no_answer else "answered"
    return f"{kind}, {of.verdict}" if of.verdict else kind


def describe_tier(of: wire.AskedQuestion) -> str:
    """Describes how far the search went."""
    return wire.TIERS.get(of.tier, of.tier)


def format_duration(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms < 10_000 else f"{ms / 1000:,.1f} s"


def describe_cost(of: wire.AskedQuestion) -> str:
    """Returns `14 ms, no model`, or `4,120 ms, 3 calls of a model, 2,310 tokens read, 120 written`."""
    parts = [format_duration(of.ms)]
    if of.calls:
        calls = f"{of.calls} call{'s' if of.calls > 1 else ''} of a model"
        parts += [calls, f"{of.read:,} tokens read", f"{of.written:,} written"]
    else:
        parts.append("no model")
    if of.model and of.calls:
        parts.append(f"written by {of.model}")
    return ", ".join(parts)
