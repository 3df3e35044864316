"""Grades a model with what the memory will ask of it: its own prompts and schemas, over notes that are made up.

About twenty calls and 25,000 tokens, and then ever longer prompts until the model does not find a number in the middle
any more, or it takes too long: up to 60,000 tokens more where the model runs on this machine. A kind of task of which
the first two bring nothing is given up; a model that neither reads nor answers is asked no more.

    loaded -> speed -> reads -> decides -> answers -> refuses -> tools -> longer prompts -> Grades
           a server that fails behind the first grade: the Grades so far, with the reason
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from memory.errors import (
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import GRADED, Grades, LlmRequest, Message, Reply, Usage, about_tokens
from memory.protocols import LLM
from plugins.llms import Step
from plugins.llms.guard import Guarded
from plugins.llms.probe_tasks import (
    ANSWERS,
    NOTES,
    PAIRS,
    UNKNOWN,
    Task,
    answer,
    decide,
    drive_tools,
    read_note,
    refuse,
)

SIZES = (2_000, 4_000, 8_000, 16_000, 32_000)  # of prompts, in tokens
LONGEST_ELSEWHERE = 8_000  # where tokens cost money and the vendor's word can be trusted
PATIENCE_MS = 60_000.0  # for one long prompt; a longer one would take longer still
TASKS_IN_VAIN = 2  # at the beginning of a kind, after which it is given up
QUESTION_READ, QUESTION_WRITTEN = 2_200, 40  # tokens of an ordinary question
WORD = "Say: ready"
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Kind:
    """A kind of tasks: the field of its grade, what the person is told meanwhile, and what it means that nothing came
    of them within `patience_s` seconds."""

    grade: str
    label: str
    failed: str
    patience_s: float
    tasks: tuple[Task, ...]


KINDS = (
    Kind("reads", "reading notes", "it cannot read", 100.0, tuple(partial(read_note, note) for note in NOTES)),
    Kind(
        "decides",
        "telling what replaces what",
        "it cannot tell what replaces what",
        120.0,
        tuple(partial(decide, pairs) for pairs in PAIRS),
    ),
    Kind("answers", "answering", "it cannot answer", 60.0, tuple(partial(answer, *asked) for asked in ANSWERS)),
    Kind(
        "refuses",
        "admitting what it does not know",
        "it admits nothing",
        60.0,
        tuple(partial(refuse, asked) for asked in UNKNOWN),
    ),
    Kind("tools", "driving tools", "it drives no tools", 240.0, (drive_tools,)),
)


def probe(model: Guarded, cancelled: Cancelled | None = None) -> Iterator[Step | Grades]:
    """Steps as they begin, numbered from 0 on, then the grades. If the model cannot be asked any more, they are those
    so far, with the `problem`; ModelError if there are none yet, and ModelCancelledError whenever it is cancelled."""
    run = _Run(model, cancelled or (lambda: False))
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
    """The smallest request there is: whether a model answers at all. Nothing of the memory is in it."""
    return LlmRequest(messages=(Message("user", WORD),), max_tokens=50, local_only=False, purpose="probe")


class _Asked:
    """A `memory.protocols.LLM`: the model, as the probe asks it. Who asks may swallow errors; here they are kept."""

    def __init__(self, model: Guarded, cancelled: Cancelled) -> None:
        self.usage = Usage()
        self.replies: list[Reply] = []
        self.error: ModelError | None = None  # that was not the model's own fault
        self.deadline = float("inf")
        self._model, self._cancelled = model, cancelled

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_tokens(self) -> int:
        return self._model.context_tokens

    @property
    def is_local(self) -> bool:
        return self._model.is_local

    def complete(self, request: LlmRequest) -> Reply:
        *_, reply = self.stream(request)
        assert isinstance(reply, Reply)
        return reply

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        until = self.deadline
        request = replace(
            request,
            local_only=False,  # it is made up
            purpose="probe",
            cancelled=lambda: self._cancelled() or time.monotonic() > until,
        )
        try:
            reply = self._model.complete(request)
        except (MalformedOutputError, ModelRefusedError):
            raise
        except ModelError as error:
            self.error = error
            raise
        self.usage += reply.usage
        self.replies.append(reply)
        if reply.text:
            yield reply.text
        yield reply


class _Run:
    """One probe of one model."""

    def __init__(self, model: Guarded, cancelled: Cancelled) -> None:
        self.grades: dict[str, float] = {}
        self.problem = ""
        self._model = model
        self._version = model.info.version
        self._cancelled = cancelled
        self._asked = _Asked(model, cancelled)
        self._notes: list[str] = []
        self._vain: list[str] = []  # the kinds that were given up
        self._tokens_per_s = self._first_s = 0.0
        self._context = 0

    def steps(self) -> Iterator[Step]:
        """Does all of it. ModelError."""
        room = self._model.context_tokens - 500
        longest = room if self._model.is_local else min(room, LONGEST_ELSEWHERE)
        sizes = [size for size in SIZES if size < longest] + ([longest] if longest < SIZES[-1] else [])
        number = 2
        total = number + sum(len(kind.tasks) for kind in KINDS) + len(sizes)
        yield 0, total, "loading it"
        self._asked.complete(ask_for_a_word())  # so that loading does not count as the time of a task
        yield 1, total, "speed"
        self._tokens_per_s, self._first_s = _speed(self._asked)
        for kind in KINDS:
            if kind.grade == "decides" and "reads" in self._vain:
                number += len(kind.tasks)
                continue
            yield from self._grade(kind, number, total)
            number += len(kind.tasks)
            if {"reads", "answers"} <= {*self._vain}:
                self._notes.append("It neither reads nor answers; the rest was not tried.")
                return
        for place, size in enumerate(sizes, number):
            yield place, total, f"{size:,} tokens"
            found, ms = _find(self._asked, size)
            self._context = max(self._context, found)
            if not found or ms >= PATIENCE_MS:
                self._notes.append(f"With {size:,} tokens it was {'too slow' if found else 'lost'}.")
                break

    def _grade(self, kind: Kind, number: int, total: int) -> Iterator[Step]:
        """All tasks of a kind, as long as it is worth it."""
        scores: list[float] = []
        known = len(self._asked.replies)
        self._asked.deadline = time.monotonic() + kind.patience_s
        for place, task in enumerate(kind.tasks, number):
            failed = next((f"{one.failed}; " for one in KINDS if one.grade in self._vain), "")
            yield place, total, f"{failed}{kind.label}"
            scores.append(self._score(kind, task))
            late = time.monotonic() > self._asked.deadline
            if any(scores):
                self._asked.deadline = float("inf")
            elif late or len(scores) == min(TASKS_IN_VAIN, len(kind.tasks)):
                self._vain.append(kind.grade)
                break
        self._asked.deadline = float("inf")
        self.grades[kind.grade] = round(sum(scores) / len(kind.tasks), 2)
        firsts = [reply.first_s for reply in self._asked.replies[known:] if reply.first_s]
        if kind.grade == "reads" and firsts:
            self._first_s = round(sum(firsts) / len(firsts), 3)

    def _score(self, kind: Kind, task: Task) -> float:
        """What comes of one task; ModelError if the model can no longer be asked."""
        self._asked.error, score = None, 0.0
        try:
            score = task(self._asked, self._notes)
        except (MalformedOutputError, ModelRefusedError):
            pass  # it says what it should not, or will not
        except ModelError as raised:
            self._asked.error = raised
        error = self._asked.error
        match error:
            case None:
                pass
            case ModelCancelledError() if self._cancelled() or time.monotonic() <= self._asked.deadline:
                raise error  # by a person, or because the daemon ends
            case ModelCancelledError() | ModelTimeoutError():
                self._notes.append(f"It was too slow: {kind.label} took more than {kind.patience_s:.0f} s.")
            case OverBudgetError() if self._model.is_local:  # elsewhere the tokens of the day may be spent
                self._notes.append(str(error))
            case ModelUnavailableError(lasting=True) if kind.grade == "tools":
                self._notes.append("It takes no tools.")
            case _:
                raise error
        return score

    def result(self) -> Grades:
        """All that is known by now."""
        return Grades(
            name=self._model.name,
            version=self._version,
            at=int(time.time() * 1000),
            **{name: self.grades.get(name) for name in GRADED},  # type: ignore[arg-type]
            tokens_per_s=self._tokens_per_s,
            first_s=self._first_s,
            question_s=self._question_s(),
            context=self._context,
            usage=self._asked.usage,
            notes=tuple(dict.fromkeys(self._notes)),
            problem=self.problem,
        )

    def _question_s(self) -> float:
        """Seconds that an ordinary question takes, by the call that read about as much."""
        timed = [reply for reply in self._asked.replies if reply.first_s and reply.usage.read]
        if not timed or not self._tokens_per_s:
            return 0.0
        like = min(timed, key=lambda reply: abs(reply.usage.read - QUESTION_READ))
        return round(like.first_s * QUESTION_READ / like.usage.read + QUESTION_WRITTEN / self._tokens_per_s, 1)


def _ask(llm: LLM, text: str, max_tokens: int) -> Reply:
    return llm.complete(LlmRequest(messages=(Message("user", text),), max_tokens=max_tokens))


def _speed(llm: LLM) -> tuple[float, float]:
    """Tokens a second once it writes, and seconds until it does."""
    reply = _ask(llm, "Write the numbers from one to thirty in words, separated by commas.", 80)
    seconds = max(reply.ms / 1000 - reply.first_s, 1e-3)
    return round(reply.usage.written / seconds, 1), round(reply.first_s, 3)


def _find(llm: LLM, size: int) -> tuple[int, float]:
    """The tokens of a prompt in whose middle it found a number, 0 if it did not; and the milliseconds."""
    number = 4096 + size % 1777  # another one each time
    lines: list[str] = []
    tokens = 0
    while tokens < size:
        lines.append(f"Shelf {len(lines) + 1} holds {len(lines) * 7 % 31} boxes of paper and a lamp.")
        tokens += about_tokens(lines[-1])
    lines.insert(len(lines) // 2, f"The number of the safe is {number}.")
    try:
        reply = _ask(llm, "\n".join([*lines, "What is the number of the safe? Only the number."]), 60)
    except (MalformedOutputError, ModelRefusedError, ModelTimeoutError):
        return 0, PATIENCE_MS
    return (reply.usage.read or size) if str(number) in reply.text else 0, reply.ms
