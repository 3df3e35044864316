"""Verdicts on changed facts: applying and undoing them, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from daemon import wire
from daemon.client.client import Client, DaemonError
from daemon.terminal import count, statement
from tui.changes import source_label, verdict_of

SAID = {"keep": "Kept the new one", "old": "Kept the old one", "both": "Both are true"}


@dataclass(frozen=True, slots=True)
class Decision:
    """Revisions that were decided together, each by its id with the verdict that brings it back to where it was; and
    the fact that was `corrected` as well."""

    before: tuple[tuple[int, str], ...]
    corrected: int | None = None

    def take_back(self, client: Client) -> None:
        """DaemonError, DaemonDownError."""
        if self.corrected is not None:
            client.take_back_correction(self.corrected)
        for id, verdict in self.before:
            client.settle(id, verdict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a decision, in a few sentences; `refused` are facts that their notes still tell."""

    said: str
    refused: tuple[wire.Fact, ...] = ()


def find_correctable(revision: wire.Revision, side: str) -> wire.Fact | None:
    """The fact whose value a person can correct: the chosen side if it is active, else the other; None for a sentence
    of a note, or if none is active."""
    facts = (revision.old, revision.new) if side == "old" else (revision.new, revision.old)
    return next((fact for fact in facts if fact.predicate is not None and _stands(fact)), None)


def decide(
    client: Client, chosen: Sequence[wire.Revision], verdict: str
) -> tuple[Decision, Outcome, DaemonError | None]:
    """Applies a verdict to each. If the daemon refuses one, those before it are decided, and the error is returned.
    DaemonDownError."""
    decided: list[tuple[int, str]] = []
    settled: list[wire.Revision] = []
    failure = None
    for revision in chosen:
        try:
            settled.append(client.settle(revision.id, verdict))
        except DaemonError as error:
            failure = error
            break
        decided.append((revision.id, verdict_of(revision)))
    if len(settled) == 1:
        message = f"{SAID[verdict]}. {_describe_standing(client, settled[0])}"
    else:
        message = f"{count(len(settled), 'change')}: {SAID[verdict][0].lower()}{SAID[verdict][1:]}."
    refused = (_find_refused(revision, verdict) for revision in settled)
    still_told = tuple(line for fact in refused if fact is not None and (line := find_told(client, fact)))
    return Decision(tuple(decided)), Outcome(message, still_told), failure


def correct(client: Client, revision: wire.Revision, fact: wire.Fact, value: str) -> tuple[Decision, Outcome]:
    """Sets the value of a fact of a revision, which decides the revision. DaemonError, DaemonDownError; nothing changes
    then."""
    before = (revision.id, verdict_of(revision))
    client.settle(revision.id, "keep" if fact.id == revision.new.id else "old")
    try:
        client.correct(fact.id, value)
    except DaemonError:
        client.settle(*before)
        raise
    message = f"Corrected. {_describe_standing(client, revision)}"
    still_told = find_told(client, fact)
    return Decision((before,), fact.id), Outcome(message, (still_told,) if still_told else ())


def find_told(client: Client, fact: wire.Fact) -> wire.Fact | None:
    """The fact at the line of its note that still has its words or value; None without one, according to the last
    reading of the note. DaemonDownError."""
    if fact.uri.startswith("note:"):
        return None  # there is no file that could be opened
    words = fact.quote.strip() or (fact.objects[-1] if fact.predicate else fact.text)
    with suppress(DaemonError):  # it was forgotten
        for passage in client.note(fact.uri).passages:
            before, matched, _ = passage.text.partition(words)
            if matched:
                return replace(fact, line=passage.line and passage.line + before.count("\n"))
    return None


def describe_refused(refused: Sequence[wire.Fact], folders: Iterable[str]) -> str:
    """That notes still contain refused facts, and how to get there; "" if none does."""
    if not refused:
        return ""
    first = refused[0]
    value = first.objects[-1] if first.predicate else statement(first)
    more = f", and {count(len(refused) - 1, 'other note')} rejected facts" if len(refused) > 1 else ""
    return f"{source_label(first, folders)} still says “{value}”{more}: O opens it."


def _describe_standing(client: Client, settled: wire.Revision) -> str:
    """The current facts about a revision's subject after the decision. DaemonDownError."""
    subject, predicate = settled.new.objects[0] if settled.new.objects else "", settled.new.predicate
    if predicate is None:
        active = [fact for fact in (settled.new, settled.old) if _stands(fact)]
        if settled.relation == "negates" and settled.state == "kept":
            active = [] if settled.new.retired is None else [settled.old]
        return f"Now: {' / '.join(statement(fact) for fact in active)}" if active else "It is no longer true."
    with suppress(DaemonError):  # nothing is known of it any more
        facts = client.facts(subject).facts
        values = [fact.objects[-1] for fact in facts if fact.predicate == predicate and fact.objects[0] == subject]
        if values:
            return f"Now: {subject}, {predicate}: {', '.join(dict.fromkeys(values))}."
    return f"Nothing is known now about {subject}, {predicate}."


def _find_refused(settled: wire.Revision, verdict: str) -> wire.Fact | None:
    """The fact that a person rejected as never true; None if both were true at their time."""
    if verdict == "old":
        return settled.new
    return settled.old if verdict == "keep" and settled.relation == "contradicts" else None


def _stands(fact: wire.Fact) -> bool:
    return fact.superseded_by is None and fact.retired is None
