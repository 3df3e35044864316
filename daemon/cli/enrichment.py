"""pal pause, resume, retry: reading with a language model, in the background."""

from __future__ import annotations

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count, size


@click.command()
@json_option
@pass_session
def pause(session: Session, as_json: bool) -> None:
    """Let no language model read in the background until `pal resume`.

    Questions, and reading without a model, go on as before.
    """
    _enable(session, False, as_json)


@click.command()
@json_option
@pass_session
def resume(session: Session, as_json: bool) -> None:
    """Let language models read in the background again."""
    _enable(session, True, as_json)


def _enable(session: Session, enabled: bool, as_json: bool) -> None:
    from daemon.cli.config import write_setting

    state = session.client.enable_enrichment(enabled)
    write_setting(session.paths.config, "enrichment.enabled", str(enabled).lower())
    if as_json:
        output.print_json(state)
    elif enabled:
        click.echo("Language models read in the background again.")
    else:
        click.echo("No language model reads in the background until: pal resume")


@click.command()
@click.argument("id", required=False, type=int, metavar="[ID]")
@json_option
@pass_session
def retry(session: Session, id: int | None, as_json: bool) -> None:
    """Read again what was given up: files that were set aside, and what a language model failed at.

    ID is a number of `pal status --failed`; without one, all of them.
    """
    jobs = session.client.retry(id)
    if as_json:
        output.print_json({"jobs": jobs})
    elif jobs:
        click.echo(f"{count(jobs, 'job')} will be done again. `pal status` shows how far it is.")
    else:
        click.echo("Nothing has failed.")


def print_failed(now: wire.Status) -> None:
    """What was given up, and why."""
    models = now.enrichment or wire.Enrichment("idle")
    failed, total = [*now.failed, *models.failed], now.failed_total + models.failed_total
    for job in failed:
        output.print_text(f"{job.id}  {job.label}: {job.reason}")
    if not failed:
        output.say("Nothing has failed.")
        return
    if total > len(failed):
        output.say(f"The last {len(failed):,} of {total:,} are shown.")
    output.say("To have it done again: pal retry, or pal retry NUMBER")


def reading(state: wire.Enrichment) -> str:
    """How far models are, in a line."""
    far = f"{state.read:,} of {count(state.total, 'passage')} by a model"
    match state.state:
        case "off":
            return f"{far}; paused. To go on: pal resume"
        case "no_model":
            return f"{far}; there is none that can, and all works without. To add one: pal models"
        case "reading":
            return f"{far}, now {state.model}" + (f"; {state.detail}" if state.detail else "")
        case _:
            return f"{far}; {state.detail}" if state.detail else far


def format_spending(state: wire.Enrichment) -> str:
    """What reading has taken today."""
    return f"{state.tokens:,} tokens and {state.minutes:,.0f} min of models today, to read; by model: pal models"


def print_estimate(known: wire.Estimate) -> None:
    """What is in a folder, and what a model would take to read it."""
    about = "" if known.sampled == known.files else "about "
    rows = [
        ("Files", f"{known.files:,}, {size(known.bytes)}" + (f"; {known.skipped:,} skipped" if known.skipped else "")),
        ("Words", f"{about}{known.words:,}"),
        ("Passages", f"{about}{known.episodes:,}"),
    ]
    if known.model:
        where = "on this machine" if known.is_local else "elsewhere"
        rows += [
            ("Model", f"{known.model}, {where}"),
            ("Calls", f"about {known.calls:,}"),
            ("Tokens", f"about {known.tokens:,}"),
            ("Time", _time(known.minutes)),
        ]
    output.print_table(rows)
    if known.episodes and not known.model:
        output.say("No language model would read it. It is searchable all the same; see: pal models")


def _time(minutes: float | None) -> str:
    if minutes is None:
        return "unknown; to measure the model: pal models probe"
    if minutes < 120:
        return f"about {max(1, round(minutes)):,} minutes, in the background"
    return f"about {minutes / 60:,.0f} hours, in the background"
