"""What a person says of facts that changed: how it is done and taken back, and what stands after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from daemon import wire
from daemon.client import Client, DaemonError
from daemon.terminal import statement
from tui.changes import source_label, verdict_of
from tui.wording import count

SAID = {"keep": "The new one stands", "old": "The old one stands", "both": "Both are true"}


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
    """The fact whose value a person can say: of the chosen side if it stands, else of the other; None if it is a
    sentence of a note, or none stands."""
    facts = (revision.old, revision.new) if side == "old" else (revision.new, revision.old)
    return next((one for one in facts if one.predicate is not None and _stands(one)), None)


def decide(
    client: Client, chosen: Sequence[wire.Revision], verdict: str
) -> tuple[Decision, Outcome, DaemonError | None]:
    """Says it of each. Where the daemon refuses one, those before it are decided, and the error is returned.
    DaemonDownError."""
    done: list[tuple[int, str]] = []
    settled: list[wire.Revision] = []
    failure = None
    for one in chosen:
        try:
            settled.append(client.settle(one.id, verdict))
        except DaemonError as error:
            failure = error
            break
        done.append((one.id, verdict_of(one)))
    if len(settled) == 1:
        said = f"{SAID[verdict]}. {_describe_standing(client, settled[0])}"
    else:
        said = f"{count(len(settled), 'change')}: {SAID[verdict][0].lower()}{SAID[verdict][1:]}."
    refused = (_find_refused(one, verdict) for one in settled)
    told = tuple(found for fact in refused if fact is not None and (found := find_told(client, fact)))
    return Decision(tuple(done)), Outcome(said, told), failure


def correct(client: Client, revision: wire.Revision, fact: wire.Fact, value: str) -> tuple[Decision, Outcome]:
    """Says what the value of a fact of a revision is, which is decided by that. DaemonError, DaemonDownError; all is as
    before then."""
    before = (revision.id, verdict_of(revision))
    client.settle(revision.id, "keep" if fact.id == revision.new.id else "old")
    try:
        client.correct(fact.id, value)
    except DaemonError:
        client.settle(*before)
        raise
    said = f"You said what it is. {_describe_standing(client, revision)}"
    told = find_told(client, fact)
    return Decision((before,), fact.id), Outcome(said, (told,) if told else ())


def find_told(client: Client, fact: wire.Fact) -> wire.Fact | None:
    """The fact at the line of its note that still has its words, or its value; None if none has, as far as the memory
    has read the note. DaemonDownError."""
    if fact.uri.startswith("note:"):
        return None  # there is no file that could be opened
    words = fact.quote.strip() or (fact.objects[-1] if fact.predicate else fact.text)
    with suppress(DaemonError):  # it was forgotten
        for passage in client.note(fact.uri).passages:
            before, found, _ = passage.text.partition(words)
            if found:
                return replace(fact, line=passage.line and passage.line + before.count("\n"))
    return None


def describe_refused(refused: Sequence[wire.Fact], folders: Iterable[str]) -> str:
    """That notes still say what was refused, and how to get there; "" if none does."""
    if not refused:
        return ""
    first = refused[0]
    value = first.objects[-1] if first.predicate else statement(first)
    more = f", and {count(len(refused) - 1, 'other note')} what you refused" if len(refused) > 1 else ""
    return f"{source_label(first, folders)} still says “{value}”{more}: O opens it."


def _describe_standing(client: Client, settled: wire.Revision) -> str:
    """What stands now of what a revision is about, as the daemon knows it after the decision. DaemonDownError."""
    subject, predicate = settled.new.objects[0] if settled.new.objects else "", settled.new.predicate
    if predicate is None:
        standing = [one for one in (settled.new, settled.old) if _stands(one)]
        if settled.relation == "negates" and settled.state == "kept":
            standing = [] if settled.new.retired is None else [settled.old]
        return f"Now: {' / '.join(statement(one) for one in standing)}" if standing else "It holds no longer."
    with suppress(DaemonError):  # nothing is known of it any more
        facts = client.facts(subject).facts
        values = [one.objects[-1] for one in facts if one.predicate == predicate and one.objects[0] == subject]
        if values:
            return f"Now: {subject}, {predicate}: {', '.join(dict.fromkeys(values))}."
    return f"Now nothing is known of {subject}, {predicate}."


def _find_refused(settled: wire.Revision, verdict: str) -> wire.Fact | None:
    """The fact that a person said was never true; None if both were, at their time."""
    if verdict == "old":
        return settled.new
    return settled.old if verdict == "keep" and settled.relation == "contradicts" else None


def _stands(fact: wire.Fact) -> bool:
    return fact.superseded_by is None and fact.retired is None
