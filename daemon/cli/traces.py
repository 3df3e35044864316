"""pal traces, trace: what questions did."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.options import json_option
from daemon.cli.questions import print_answer, print_sources
from daemon.cli.session import Session, pass_session

NOT_KEPT = "How it was answered is not kept any more (retention.questions). To ask it again: pal trace ID --again"
NONE_ASKED = 'No question was asked yet. Ask one: pal ask "where is the harbour office?"'
TOP_VISITS = 20
LOOKED_AT_ONCE = 50  # questions, for one that no agent asked
_LABEL = 60


@click.command()
@click.option("-n", "limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Questions at most.")
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave out the newest so many.")
@json_option
@pass_session
def traces(session: Session, limit: int, skip: int, as_json: bool) -> None:
    """List the questions that were asked, newest first.

    Each with its number, when it was asked, whether it was answered, how far it went, the calls of language models and
    the time it took. What you forget takes the questions it answered with it.
    """
    reply = session.client.traces(limit, skip)
    if as_json:
        output.print_json(reply)
        return
    if not reply.total:
        output.say(NONE_ASKED)
        return
    output.print_table((_row(one) for one in reply.traces), right=(0, 4, 5))
    left = reply.total - skip - len(reply.traces)
    if left > 0:
        output.say(f"{len(reply.traces):,} of {reply.total:,} are shown; -n and --skip show more.")


def _row(of: wire.Asked) -> tuple[str, ...]:
    question = " ".join(of.question.split())
    calls = "" if not of.calls else f"{of.calls} call{'s' if of.calls > 1 else ''}"
    by = f"{of.agent}: " if of.agent else ""
    return str(of.id), local_time(of.at), outcome(of), tier(of), calls, duration(of.ms), f"{by}{question}"


@click.command()
@click.argument("id", required=False, type=int)
@click.option("--again", is_flag=True, help="Ask the same question once more, now, as it was asked then.")
@click.option("--export", metavar="FILE", type=click.Path(path_type=Path), help="Write all of it to FILE, as JSON.")
@json_option
@pass_session
def trace(session: Session, id: int | None, again: bool, export: Path | None, as_json: bool) -> None:
    """Show what a question did: its stages, what it visited, its evidence, what it took.

    ID is its number in `pal traces`; without one it is the newest question. --again asks in the same part of the
    memory, as of the same day, with the same effort and strategy; the new trace says which one it repeats.
    """
    if again and export:
        raise click.UsageError("Use --again or --export, not both.")
    id = id if id is not None else newest(session)
    if again:
        _again(session, id, as_json)
        return
    found = session.client.trace(id)
    if export:
        _write(export, found)
        output.say(f"Trace {id} is in {export}. It holds words of your notes.")
    elif as_json:
        output.print_json(found)
    else:
        _print(found)


def newest(session: Session) -> int:
    """The number of the newest question that a person asked. NothingFound if there is none."""
    skip, total = 0, 1
    while skip < total:
        reply = session.client.traces(LOOKED_AT_ONCE, skip)
        for one in reply.traces:
            if not one.agent:
                return one.id
        skip, total = skip + LOOKED_AT_ONCE, reply.total
    raise NothingFound(NONE_ASKED)


def _again(session: Session, id: int, as_json: bool) -> None:
    before = session.client.trace(id)
    if before.searched and not as_json:
        output.say(f"It followed another question; searched for: {before.searched}")
    answered = print_answer(session.client.ask_again(id), as_json)
    if as_json:
        return
    same = answered.text == before.text
    than = "the same answer as" if same else "another answer than" if before.steps else "the same question as"
    this = f"This is trace {answered.trace_id}" if answered.trace_id else "This was not kept"
    output.say(f"{this}: {than} trace {id}.")
    if answered.no_answer:
        click.get_current_context().exit(NothingFound.exit_code)


def _write(path: Path, found: wire.Trace) -> None:
    """Writes a trace to a new file that only this person can read. UsageError if there is one."""
    text = json.dumps(wire.encode(found), indent=2) + "\n"
    try:
        place = os.open(path.expanduser(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(place, "w", encoding="ascii") as file:
            file.write(text)
    except FileExistsError:
        raise click.BadParameter("It exists already. Choose another name.", param_hint="--export") from None
    except OSError as error:
        raise click.BadParameter(f"It cannot be written: {error.strerror}.", param_hint="--export") from error


# One trace ------------------------------------------------------------------------------------


def _print(found: wire.Trace) -> None:
    asked = found.asked
    click.echo(output.style_text(f"Trace {asked.id}: {' '.join(asked.question.split())}", bold=True))
    rows = [("asked", ", ".join([local_time(asked.at), *how(found)]))]
    if found.searched:
        rows.append(("searched", found.searched))
    if asked.parent is not None:
        rows.append(("repeats", f"trace {asked.parent}"))
    rows += [("came to", f"{outcome(asked)}, {tier(asked)}"), ("took", cost(asked))]
    output.print_table((f"   {name}", " ".join(value.split())) for name, value in rows)
    if not found.steps:
        output.print_text(f"   {NOT_KEPT}")
        return
    _print_heading("Stages")
    output.print_table(
        ((f"   {step.name}", f"{step.ms:,.1f} ms", _details(step.detail)) for step in found.steps), right=(1,)
    )
    _print_visits(found.visits)
    if found.text is not None:
        _print_heading("Answer")
        output.print_text("\n".join(f"   {line}" for line in found.text.splitlines()))
        print_sources(found.missing, found.citations)
        if found.note:
            output.print_text(found.note)


def _print_heading(words: str) -> None:
    click.echo()
    click.echo(output.style_text(words, bold=True))


def _print_visits(visits: tuple[wire.Visit, ...]) -> None:
    best: dict[tuple[str, int], wire.Visit] = {}
    for visit in visits:
        if (before := best.get((visit.kind, visit.node_id))) is None or visit.score > before.score:
            best[visit.kind, visit.node_id] = visit
    ordered = sorted(best.values(), key=lambda visit: -visit.score)
    if not ordered:
        return
    _print_heading("Visited")
    output.print_table(
        (f"   {one.score:.3f}", one.kind, _stage(one), one.label[:_LABEL] or "(no title)")
        for one in ordered[:TOP_VISITS]
    )
    if len(ordered) > TOP_VISITS:
        click.echo(f"   and {len(ordered) - TOP_VISITS:,} more; --json has all.")


def _stage(visit: wire.Visit) -> str:
    return visit.stage if visit.status in ("selected", visit.stage) else f"{visit.stage}, {visit.status}"


def _details(detail: Mapping[str, Any]) -> str:
    """What a stage noted, as far as it fits into a line."""
    parts = []
    for name, value in detail.items():
        if isinstance(value, bool):
            parts += [name.replace("_", " ")] if value else []
        elif isinstance(value, str | int | float) and value != "":
            parts.append(f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name} {value}")
        elif isinstance(value, dict) and value and all(isinstance(one, int) for one in value.values()):
            parts.append(f"{name} {', '.join(f'{key} {number}' for key, number in value.items())}")
        elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            parts.append(f"{name} {(' ' if value[0].endswith('.') else ', ').join(value)}")
    return "; ".join(parts)


# Wording --------------------------------------------------------------------------------------


def local_time(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def outcome(of: wire.Asked) -> str:
    """What it came to, and what the person said of that."""
    found = "passages" if of.no_answer is None else "no answer" if of.no_answer else "answered"
    return f"{found}, {of.verdict}" if of.verdict else found


def tier(of: wire.Asked) -> str:
    """How far it went."""
    return wire.TIERS.get(of.tier, of.tier)


def duration(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms < 10_000 else f"{ms / 1000:,.1f} s"


def cost(of: wire.Asked) -> str:
    """`14 ms, no model`, or `4,120 ms, 3 calls of a model, 2,310 tokens read, 120 written`."""
    parts = [duration(of.ms)]
    if of.calls:
        calls = f"{of.calls} call{'s' if of.calls > 1 else ''} of a model"
        parts += [calls, f"{of.read:,} tokens read", f"{of.written:,} written"]
    else:
        parts.append("no model")
    if of.model and of.calls:
        parts.append(f"written by {of.model}")
    return ", ".join(parts)


def how(found: wire.Trace) -> Iterable[str]:
    """How it was asked, where that is not the usual way."""
    within = found.within
    if found.effort != "normal":
        yield f"effort {found.effort}"
    if found.asked.agent:
        yield f"asked by {found.asked.agent}"
    if found.strategy:
        yield f"strategy {found.strategy}"
    if found.as_of:
        yield f"as of {local_time(found.as_of)}"
    for name in dict.fromkeys((*within.sources, *(folder.rstrip("/#") for folder in within.folders))):
        yield f"within {name}"
    yield from (f"tag {tag}" for tag in within.tags)
    if within.conversation:
        yield f"chat {within.conversation}"
    if within.since:
        yield f"since {local_time(within.since)}"
    if within.until:
        yield f"until {local_time(within.until)}"
