"""Verdicts on changed facts: applying and undoing them, and the result."""

from __future__ import annotations

from contextlib import suppress

from daemon import wire
from daemon.client.client import Client, DaemonError
from tui.shared import Step

SAID = {"keep": "Kept the new one", "old": "Kept the old one", "both": "Both are true"}


def find_correctable(revision: wire.Revision, side: str) -> wire.Fact | None:
    """Returns the fact whose value a person can correct: the chosen side if it is active, else the other; None for a
    sentence of a note, or if both are inactive."""
    facts = (revision.old, revision.new) if side == "old" else (revision.new, revision.old)
    return next((fact for fact in facts if fact.predicate is not None and not fact.is_over), None)


def decide(client: Client, revision: wire.Revision, verdict: str) -> tuple[Step, str]:
    """Applies a verdict. -> what takes it back, and what came of it. DaemonError, DaemonDownError."""
    settled = client.settle(revision.id, verdict)
    message = f"{SAID[verdict]}. {_describe_standing(client, settled)}"
    return lambda client: client.settle(revision.id, revision.verdict), message


def correct(client: Client, revision: wire.Revision, fact: wire.Fact, value: str) -> tuple[Step, str]:
    """Sets the value of a fact of a revision, which decides the revision. DaemonError, DaemonDownError; nothing changes
    then."""
    before = revision.verdict
    client.settle(revision.id, "keep" if fact.id == revision.new.id else "old")
    try:
        client.correct(fact.id, value)
    except DaemonError:
        client.settle(revision.id, before)
        raise

    def take_back(client: Client) -> None:
        client.take_back_correction(fact.id)
        client.settle(revision.id, before)

    return take_back, f"Corrected. {_describe_standing(client, revision)}"


def _describe_standing(client: Client, settled: wire.Revision) -> str:
    """Lists the current facts about a revision's subject after the decision. DaemonDownError."""
    subject, predicate = settled.new.objects[0] if settled.new.objects else "", settled.new.predicate
    if predicate is None:
        active = [fact for fact in (settled.new, settled.old) if not fact.is_over]
        if settled.relation == "negates" and settled.state == "kept":
            active = [] if settled.new.retired is None else [settled.old]
        return f"Now: {' / '.join(fact.statement for fact in active)}" if active else "It is no longer true."
    with suppress(DaemonError):  # nothing is known of it any more
        facts = client.facts(subject).facts
        values = [fact.objects[-1] for fact in facts if fact.predicate == predicate and fact.objects[0] == subject]
        if values:
            return f"Now: {subject}, {predicate}: {', '.join(dict.fromkeys(values))}."
    return f"Nothing is known now about {subject}, {predicate}."
