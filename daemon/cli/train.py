"""pal train: the ranker of edges, trained on the questions that were asked."""

from __future__ import annotations

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.following import follow_progress
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would come of it.")
@click.option("--undo", is_flag=True, help="Take back what was trained last.")
@json_option
@pass_session
def train(session: Session, dry_run: bool, undo: bool, as_json: bool) -> None:
    """Train the ranker on earlier questions: which edges lead to answers.

    This happens every night by itself. What is trained is used only if it finds clearly more of what the newest
    questions needed than what is used now. It has a say in which facts a model is shown, and the strategies with
    "entities" go by it (memory.recall.strategy).
    """
    if dry_run and undo:
        raise click.UsageError("Say --dry-run or --undo, not both.")
    if undo:
        undone = session.client.undo_training()
        if as_json:
            output.print_json(undone)
        else:
            click.echo(_undone(undone))
        return
    done = follow_progress(session.client.train(dry_run), wire.Trained, "Training", as_json)
    if not as_json:
        _print(done)


def _undone(undone: wire.TrainingUndone) -> str:
    if not undone.undone:
        return "Nothing that was trained is in use."
    return f"Taken back. {'What was used before it is used again.' if undone.earlier else 'Nothing is used instead.'}"


def _print(done: wire.Trained) -> None:
    rows = [("Questions", f"{done.questions:,} with {count(done.labels, 'label')}")]
    if done.before is not None and done.after is not None:
        margin = f" (± {done.margin:.1f})" if done.margin is not None else ""
        rows.append(("Found before", f"{done.before:.1f} % of what the newest {done.measured} needed"))
        rows.append(("Found after", f"{done.after:.1f} %{margin}"))
    verdict = "would be used" if done.dry_run else "in use now"
    rows.append(("Outcome", f"{verdict if done.promoted else 'not used'}. {done.reason}"))
    output.print_table(rows)
