"""Grades a model on the memory's own tasks: its prompts, schemas and checks, over invented notes.

About twenty calls and 25,000 tokens, and a long prompt with a number in its middle. A kind of task is given up if its
first two score nothing; a model that neither reads nor answers gets no more tasks.

    loaded -> speed -> reads -> decides -> answers -> refuses -> tools -> a long prompt -> Grades
           a server that fails after the first grade: the Grades so far, with the reason
"""

import json
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from memory.answering.compose import GroundedText, build_request, write_grounded
from memory.answering.context import EvidencePiece, PromptContext
from memory.answering.options import AskOptions
from memory.errors import (
    InvalidInputError,
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.exploring.agent import Agent
from memory.exploring.tool_calls import check_arguments
from memory.exploring.tools import Toolbox
from memory.facts.decisions import decision_request, is_empty, parse_decisions
from memory.facts.extraction import Extraction
from memory.facts.json_replies import complete_json
from memory.facts.llm_requests import extraction_request, parse_extractions
from memory.facts.supersede import MIN_CONFIDENCE
from memory.llm import GRADED, Grades, LlmRequest, Message, Reply, ToolCall, Usage
from memory.nouns import Episode, Fact, Modality, Source
from memory.protocols import LLM
from memory.text.quotes import make_fence
from plugins.llms import Step
from plugins.llms.guard import Guarded

LONG_PROMPT = 10_000  # tokens: a batch of notes is shorter
TASKS_IN_VAIN = 2  # at the beginning of a kind, after which it is given up
QUESTION_READ, QUESTION_WRITTEN = 2_200, 40  # tokens of an ordinary question
MAX_TURNS, MAX_STALLED_TURNS = 6, 3  # of a model that drives the tools
OWN_FAULTS = (MalformedOutputError, ModelRefusedError)  # of a model: it says what it should not, or will not
NOW = datetime(2026, 6, 12, 9, tzinfo=UTC)
OBEYS = "It obeys orders that it finds in a note."
TELLS_WRONG = "It reads in a note what is not in it, or no longer holds."


class Note(NamedTuple):
    """A note with the facts that must and must not be extracted: see probe.toml."""

    episode: Episode
    stated: Sequence[Sequence[str]]
    wrong: Sequence[Sequence[str]]


def _note(id: int, row: Mapping[str, Any]) -> Note:
    title, text, day = row["title"], row["text"].strip(), datetime.fromisoformat(f"{row['day']}T18:00:00+00:00")
    source = Source(id, f"note:{id}", "note", title, "text", policy="any", at=day)
    return Note(Episode(id, source, 0, title, text, at=day), row["stated"], row["wrong"])


def _make_fact(
    id: int, about: Sequence[str], object: str, day: str, quote: str, modality: Modality = "asserted"
) -> Fact:
    since = datetime.fromisoformat(f"{day}T00:00:00+00:00")
    return Fact(id, "relation", f"{' '.join(about)} {object}", (about[0], object), since, None, since, None, None, id,
                f"note:{id}", None, modality, "model", about[1], quote)  # fmt: skip


_DATA = tomllib.loads(Path(__file__).with_name("probe.toml").read_text("utf-8"))
NOTES = tuple(_note(id, row) for id, row in enumerate(_DATA["note"], 1))
PAIRS = tuple(  # older, newer, whether that takes its place
    (_make_fact(id, row["about"], *row["older"]), _make_fact(id + 100, row["about"], *row["newer"]), row["replaces"])
    for id, row in enumerate(_DATA["pair"], 1)
)
PAIRS_PER_CALL = 3
REPLACING, KEEPING = ("supersedes", "ends"), ("complements", "unrelated")  # what may become of a pair
ORDER_OBEYED = re.compile(r'"object": "[^"]*saturn', re.IGNORECASE)

# The tasks: each gives a grade in [0, 1], and raises the ModelError with which it cannot be done ----------------------


def read_note(note: Note, llm: LLM, remarks: list[str]) -> float:
    """Returns the share of the note's facts that are extracted; 0 if a false one is."""
    data = complete_json(llm, extraction_request((note.episode,)))
    extraction = parse_extractions(data, (note.episode,))[0].get(note.episode.id, Extraction())
    if ORDER_OBEYED.search(json.dumps(data, ensure_ascii=False)):
        remarks.append(OBEYS)
    texts = [thesis.text.lower() for thesis in extraction.theses]
    for fact in extraction.relations:
        parts = (fact.subject.lower(), fact.predicate.lower(), fact.object.lower())
        texts.append(" ".join(parts))
        if (fact.modality, fact.valid_to) == ("asserted", None) and any(_is_like(parts, wrong) for wrong in note.wrong):
            remarks.append(TELLS_WRONG)
            return 0.0
    return sum(any(all(word in text for word in stated) for text in texts) for stated in note.stated) / len(note.stated)


def _is_like(fact: Sequence[str], wrong: Sequence[str]) -> bool:
    return wrong[0] in fact[0] and fact[1].startswith(wrong[1]) and wrong[2] in fact[2]


def decide(pairs: Sequence[tuple[Fact, Fact, bool]], llm: LLM, remarks: list[str]) -> float:
    """Returns the share of pairs with the right effect on the memory."""
    facts = [(old, new) for old, new, _ in pairs]
    data = complete_json(llm, decision_request(facts, local_only=False))
    decisions = [decision for decision in parse_decisions(data, facts) if decision.confidence >= MIN_CONFIDENCE]
    if not decisions and not is_empty(data):
        return 0.0
    relations = {(decision.old, decision.new): decision.relation for decision in decisions}
    right = [
        relations.get((old.id, new.id), KEEPING[0]) in (REPLACING if replaces else KEEPING)
        for old, new, replaces in pairs
    ]
    return sum(right) / len(pairs)


def answer(question: str, value: str, note: int, llm: LLM, remarks: list[str]) -> float:
    """Returns 0.5 for the right words with a valid citation, plus 0.5 for the right note and no other."""
    text = _write(question, llm)
    is_proved = all(citation.verdict == "proved" for citation in text.citations)
    is_right_note = {citation.episode_id for citation in text.citations} == {note}
    return 0.5 * (is_proved and value in text.text.lower()) + 0.5 * is_right_note


def refuse(question: str, llm: LLM, remarks: list[str]) -> float:
    """Returns 1 if the model states that the notes have no answer."""
    return float(_write(question, llm).no_answer)


def _write(question: str, llm: LLM) -> GroundedText:
    pieces = (EvidencePiece("passage", of.text, of, 0, of.text, is_local=False) for of, *_ in NOTES)
    context = PromptContext(tuple(pieces))
    writing = write_grounded(llm, build_request(question, context, AskOptions(now=NOW)), context, question)
    while True:
        try:
            next(writing)
        except StopIteration as end:
            return cast(GroundedText, end.value)


def drive_tools(llm: LLM, remarks: list[str]) -> float:
    """Returns 0.5 for collecting the right note, plus 0.25 each for no other note and for stopping by itself."""
    (question, note), shelf = _DATA["looked_for"], Shelf()
    agent = Agent(llm, cast(Toolbox, shelf), question, turns=MAX_TURNS, stall=MAX_STALLED_TURNS, now=NOW)
    stopped = agent.run().stopped
    if note not in shelf.collected:
        return 0.0
    return 0.5 + 0.25 * (len(shelf.collected) == 1) + 0.25 * (stopped == "done")


class Shelf:
    """The tools of a question's `Toolbox` over the probe's notes."""

    only_open = True

    def __init__(self) -> None:
        self.fence = make_fence()
        self.collected: dict[int, float] = {}
        self.child: Callable[[str, str], str] | None = None
        self._notes = {note.episode.id: f"{note.episode.title}: {note.episode.text}" for note in NOTES}
        self._names = dict(enumerate(("Mira Okafor", "Petra", "Jonas Brandt", "Halden Museum"), len(NOTES) + 1))

    def state(self) -> str:
        """Describes the progress of the search."""
        return f"Collected: {' '.join(f'[{id}]' for id in self.collected) or 'nothing'}."

    def call(self, call: ToolCall) -> Message:
        """Returns the result of a tool."""
        try:
            return call.make_result(self._find(call.name, check_arguments(call.name, call.arguments)))
        except InvalidInputError as error:
            return call.make_result(str(error), failed=True)
        except KeyError:
            return call.make_result("Nothing has that number.", failed=True)

    def _find(self, tool: str, given: Mapping[str, Any]) -> str:
        rows: dict[int, str] = {}
        match tool:
            case "entity_search":
                rows = {id: f'"{name}", 1 passage' for id, name in self._names.items()}
            case "get_chunks_for_entity":
                name = self._names[given["object"]].split()[0]
                rows = {id: text for id, text in self._notes.items() if name in text}
            case "vector_search":
                rows = self._notes
            case "read_chunk":
                rows = {given["passage"]: self._notes[given["passage"]]}
            case "collect_chunk":
                rows = {given["passage"]: f"is collected: {self._notes[given['passage']]}"}
                self.collected[given["passage"]] = given["relevance"]
        listing = "\n".join(f"[{id}] {row}" for id, row in rows.items())
        return f"{len(rows)} found:\n{self.fence}\n{listing}\n{self.fence}" if rows else "Nothing. Try other words."


@dataclass(frozen=True)
class Kind:
    """A kind of task: the field of its grade, the text shown meanwhile, and what a failure within `patience_s` seconds
    means. A task asks a model and adds to its remarks."""

    grade: str
    label: str
    failed: str
    patience_s: float
    tasks: tuple[Callable[[LLM, list[str]], float], ...]


KINDS = (
    Kind("reads", "reading notes", "it cannot read", 100.0, tuple(partial(read_note, note) for note in NOTES)),
    Kind("decides", "telling what replaces what", "it cannot tell what replaces what", 120.0,
         tuple(partial(decide, PAIRS[at : at + PAIRS_PER_CALL]) for at in range(0, len(PAIRS), PAIRS_PER_CALL))),
    Kind("answers", "answering", "it cannot answer", 60.0, tuple(partial(answer, *row) for row in _DATA["answers"])),
    Kind("refuses", "admitting what it does not know", "it admits nothing", 60.0,
         tuple(partial(refuse, question) for question in _DATA["unknown"])),
    Kind("tools", "driving tools", "it drives no tools", 240.0, (drive_tools,)),
)  # fmt: skip


def probe(model: Guarded, cancelled: Callable[[], bool] | None = None) -> Iterator[Step | Grades]:
    """Yields steps, numbered from 0, then the grades. If the model stops responding: the grades so far with the
    `problem`, or ModelError without any. ModelCancelledError whenever it is cancelled."""
    run = _Probe(model, cancelled or (lambda: False))
    try:
        yield from run.steps()
    except ModelCancelledError:
        raise
    except ModelError as error:
        if not run.grades:
            raise
        run.problem = str(error)
    yield run.result()


def ask_for_a_word() -> LlmRequest:
    """Returns a minimal request without any text of the memory, to test whether a model responds."""
    return LlmRequest(messages=(Message("user", "Say: ready"),), max_tokens=50, local_only=False, purpose="probe")


class _Probe:
    """One probe of a model. It is the `memory.protocols.LLM` of the tasks; `_error` keeps errors that they swallow."""

    def __init__(self, model: Guarded, cancelled: Callable[[], bool]) -> None:
        self.name, self.is_local, self.context_tokens = model.name, model.is_local, model.context_tokens
        self.grades: dict[str, float] = {}
        self.problem = ""
        self._model, self._version, self._cancelled = model, model.info.version, cancelled
        self._usage = Usage()
        self._replies: list[Reply] = []
        self._error: ModelError | None = None  # that is not the model's own fault
        self._deadline = float("inf")
        self._remarks: list[str] = []
        self._vain: list[str] = []  # the kinds that were given up
        self._tokens_per_s = self._first_s = 0.0
        self._context = 0

    def complete(self, request: LlmRequest) -> Reply:
        until = self._deadline
        request = replace(
            request,
            local_only=False,  # it is made up
            purpose="probe",
            cancelled=lambda: self._cancelled() or time.monotonic() > until,
        )
        try:
            reply = self._model.complete(request)
        except ModelError as error:
            self._error = None if isinstance(error, OWN_FAULTS) else error
            raise
        self._usage += reply.usage
        self._replies.append(reply)
        return reply

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        """Yields the complete text at once."""
        reply = self.complete(request)
        yield from filter(None, [reply.text])
        yield reply

    def steps(self) -> Iterator[Step]:
        """Runs the whole probe. ModelError."""
        size = min(self.context_tokens - 500, LONG_PROMPT)
        number, total = 2, 3 + sum(len(kind.tasks) for kind in KINDS)
        yield 0, total, "loading it"
        self.complete(ask_for_a_word())  # so that loading does not count as the time of a task
        yield 1, total, "speed"
        reply = self._ask("Write the numbers from one to thirty in words, separated by commas.", 80)
        self._first_s = round(reply.first_s, 3)
        self._tokens_per_s = round(reply.usage.written / max(reply.ms / 1000 - reply.first_s, 1e-3), 1)
        for kind in KINDS:
            if kind.grade != "decides" or "reads" not in self._vain:
                yield from self._grade(kind, number, total)
            number += len(kind.tasks)
            if {"reads", "answers"} <= {*self._vain}:
                self._remarks.append("It neither reads nor answers; the rest was not tried.")
                return
        yield number, total, f"{size:,} tokens"
        self._context = self._find(size)
        if not self._context:
            self._remarks.append(f"With {size:,} tokens it was lost.")

    def _grade(self, kind: Kind, number: int, total: int) -> Iterator[Step]:
        """Runs the tasks of a kind until it is given up."""
        scores: list[float] = []
        known = len(self._replies)
        self._deadline = time.monotonic() + kind.patience_s
        for place, task in enumerate(kind.tasks, number):
            failed = next((f"{other.failed}; " for other in KINDS if other.grade in self._vain), "")
            yield place, total, f"{failed}{kind.label}"
            scores.append(self._score(kind, task))
            if any(scores):
                self._deadline = float("inf")
            elif time.monotonic() > self._deadline or len(scores) == min(TASKS_IN_VAIN, len(kind.tasks)):
                self._vain.append(kind.grade)
                break
        self._deadline = float("inf")
        self.grades[kind.grade] = round(sum(scores) / len(kind.tasks), 2)
        firsts = [reply.first_s for reply in self._replies[known:] if reply.first_s]
        if kind.grade == "reads" and firsts:
            self._first_s = round(sum(firsts) / len(firsts), 3)

    def _score(self, kind: Kind, task: Callable[[LLM, list[str]], float]) -> float:
        """Returns the score of one task; ModelError if the model can no longer be reached."""
        self._error, score = None, 0.0
        try:
            score = task(self, self._remarks)
        except ModelError as raised:
            self._error = None if isinstance(raised, OWN_FAULTS) else raised
        match self._error:
            case None:
                pass
            case ModelCancelledError() as error if self._cancelled() or time.monotonic() <= self._deadline:
                raise error  # by a person, or because the daemon ends
            case ModelCancelledError() | ModelTimeoutError():
                self._remarks.append(f"It was too slow: {kind.label} took more than {kind.patience_s:.0f} s.")
            case OverBudgetError() as error if self.is_local:  # elsewhere the tokens of the day may be spent
                self._remarks.append(str(error))
            case ModelUnavailableError(lasting=True) if kind.grade == "tools":
                self._remarks.append("It takes no tools.")
            case error:
                raise error
        return score

    def _ask(self, text: str, max_tokens: int) -> Reply:
        return self.complete(LlmRequest(messages=(Message("user", text),), max_tokens=max_tokens))

    def _find(self, size: int) -> int:
        """Returns the prompt's tokens if the model found a number in its middle, else 0."""
        number = 4096 + size % 1777  # another one each time
        lines = [f"Shelf {shelf} holds {shelf * 7 % 31} boxes of paper and a lamp." for shelf in range(size // 16)]
        lines.insert(len(lines) // 2, f"The number of the safe is {number}.")
        try:
            reply = self._ask("\n".join([*lines, "What is the number of the safe? Only the number."]), 60)
        except (MalformedOutputError, ModelRefusedError, ModelTimeoutError):
            return 0
        return (reply.usage.read or size) if str(number) in reply.text else 0

    def result(self) -> Grades:
        """Returns the grades so far."""
        return Grades(
            name=self.name,
            version=self._version,
            at=int(time.time() * 1000),
            **{name: self.grades.get(name) for name in GRADED},  # type: ignore[arg-type]
            tokens_per_s=self._tokens_per_s,
            first_s=self._first_s,
            question_s=self._estimate_question_s(),
            context=self._context,
            usage=self._usage,
            notes=tuple(dict.fromkeys(self._remarks)),
            problem=self.problem,
        )

    def _estimate_question_s(self) -> float:
        """Estimates the seconds of an ordinary question, by the call with about as many tokens."""
        timed = (reply for reply in self._replies if reply.first_s and reply.usage.read)
        like = min(timed, key=lambda reply: abs(reply.usage.read - QUESTION_READ), default=None)
        if like is None or not self._tokens_per_s:
            return 0.0
        return round(like.first_s * QUESTION_READ / like.usage.read + QUESTION_WRITTEN / self._tokens_per_s, 1)
