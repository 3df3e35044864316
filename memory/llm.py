"""Requests to a language model and its replies: plain values, no vendor's types, standard library only.

Three kinds of requests are made, all with the same `LlmRequest`:

* extraction: `schema` is set, the reply's `data` follows it
* an answer:  neither; the text comes in pieces, with its citations in it
* an agent:   `tools` is set; the reply has `calls`. The next request repeats the messages, with `reply.message()` and
              one `call.make_result(text)` for every call after them
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from memory.events import Event

Role = Literal["extract", "answer", "agent"]
ROLES: tuple[Role, ...] = ("extract", "answer", "agent")

GOOD = 0.75  # a grade from which a model can be relied on
PROBE_EDITION = 3  # of the tasks of a probe: grades of others tell nothing of these
SLOW_QUESTION_S = 20.0  # from which a person is warned beforehand
PROBE_AGAIN = "pal models probe"
GRADED = ("reads", "decides", "answers", "refuses", "tools")
# What a role needs: the grade, the graded ability, and what a low grade means.
NEEDS: Mapping[Role, tuple[tuple[str, str, str], ...]] = {
    "extract": (
        ("reads", "reads notes", "it does not extract the facts of a note"),
        ("decides", "tells what replaces what", "it does not tell what replaces a fact from what adds to it"),
    ),
    "answer": (
        ("answers", "answers", "it does not answer with what the notes prove"),
        ("refuses", "refuses", "it does not refuse what it does not know"),
    ),
    "agent": (("tools", "drives tools", "it does not find what it looks for with tools"),),
}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. An assistant's turn may have `calls`; a tool's turn is the result of the call `call_id`. `native` is
    the model's own form of its turn, which only its plug-in reads and callers return unchanged."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    failed: bool = False
    native: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a model. `parameters`: the JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool of the request, with arguments that follow its schema."""

    id: str
    name: str
    arguments: Mapping[str, Any]

    def make_result(self, text: str, *, failed: bool = False) -> Message:
        """Returns the turn with the call's result for the model."""
        return Message("tool", text, call_id=self.id, tool=self.name, failed=failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """One call of a model. `system` is the fixed part: the same for every request of a kind, so that a vendor can cache
    it. `local_only`: some of the text may not leave this machine; it is the default, and only code that checked the
    policy of every source in the request may clear it. Another thread polls `cancelled` a few times a second."""

    messages: tuple[Message, ...]
    system: str = ""
    schema: Mapping[str, Any] | None = None
    tools: tuple[Tool, ...] = ()
    max_tokens: int = 2048
    temperature: float = 0.0
    seed: int = 42
    think: bool = False
    local_only: bool = True
    purpose: str = ""  # what the tokens are booked under: extract, decide, answer, agent, probe
    cancelled: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call. `read`: the whole prompt; `cached`: the part in the vendor's cache."""

    read: int = 0
    written: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.read + other.read, self.written + other.written, self.cached + other.cached)

    @property
    def total(self) -> int:
        return self.read + self.written


NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Allowance:
    """Calls of models, tokens that they read and write, and seconds from the first call on."""

    calls: int
    tokens: int
    seconds: float

    def plus(self, other: Allowance) -> Allowance:
        """Returns the sum of both."""
        return Allowance(self.calls + other.calls, self.tokens + other.tokens, self.seconds + other.seconds)


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply. `stop` is "length" if it was cut at `max_tokens`. `first_s`: the seconds until the model began
    to write; `ms`: the whole time."""

    text: str
    usage: Usage = Usage()
    data: Any = None
    calls: tuple[ToolCall, ...] = ()
    stop: Literal["end", "length", "tools"] = "end"
    first_s: float = 0.0
    ms: float = 0.0
    native: Any = field(default=None, compare=False, repr=False)

    def message(self) -> Message:
        """Returns this reply as a turn of the next request."""
        return Message("assistant", self.text, self.calls, native=self.native)


@dataclass(frozen=True, slots=True)
class Grades(Event):
    """The result of a probe. The first five, in [0, 1], are shares of its tasks that the model did as the memory needs
    it; None: not graded. `version` identifies the probed model among those of its name, `edition` the tasks.
    `question_s`: the seconds of an ordinary question, 0 if unknown. `context`: the longest prompt, in tokens, whose
    middle it still used; `at`: ms UTC. `problem`: why the probe ended early, if it did."""

    name: str
    version: str
    at: int
    reads: float | None = None
    decides: float | None = None
    answers: float | None = None
    refuses: float | None = None
    tools: float | None = None
    tokens_per_s: float = 0.0
    first_s: float = 0.0
    context: int = 0
    question_s: float = 0.0
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()
    problem: str = ""
    edition: int = PROBE_EDITION

    def fits(self, role: Role) -> bool:
        """Whether the model is good enough for that role."""
        return not self.shortcomings(role)

    def shortcomings(self, role: Role) -> tuple[str, ...]:
        """Returns why the model is not reliable in that role, each a clause: what it does badly, else what was not
        graded."""
        needs = [(getattr(self, name), ability, lack) for name, ability, lack in NEEDS[role]]
        bad = tuple(lack for grade, _, lack in needs if grade is not None and grade < GOOD)
        return bad or tuple(f"whether it {ability} was not graded" for grade, ability, _ in needs if grade is None)

    def why_outdated(self, version: str) -> str:
        """Returns why these grades do not apply to that version of the model, as the end of a sentence; "" if so."""
        if self.version != version:
            return "graded as another version"
        return "graded with older tasks" if self.edition != PROBE_EDITION else ""

    def warn_of_age(self, version: str) -> str:
        """Returns a sentence if the grades do not apply to that version of the model."""
        why = self.why_outdated(version)
        return f"{self.name} was {why}. Grade it again: {PROBE_AGAIN} {self.name}" if why else ""

    def warn_of_choice(self, role: Role, version: str) -> list[str]:
        """Returns warnings for a person who chooses that version of the model for a role."""
        if aged := self.warn_of_age(version):
            return [aged]
        warnings = []
        if bad := self.shortcomings(role):
            warnings.append(f"{self.name} has not passed its probe for {role}: {'; '.join(bad)}.")
        if role != "extract" and self.question_s >= SLOW_QUESTION_S:
            warnings.append(f"With {self.name} a question will take about {self.question_s:.0f} seconds.")
        return warnings

    def add_earlier(self, earlier: Grades | None) -> Grades:
        """Fills the gaps of an interrupted probe with grades of an earlier one of the same model."""
        if earlier is None or not self.problem or (earlier.version, earlier.edition) != (self.version, self.edition):
            return self
        missing = {name: getattr(earlier, name) for name in GRADED if getattr(self, name) is None}
        return replace(self, **missing, context=self.context or earlier.context)

    @property
    def by_role(self) -> tuple[str, ...]:
        """Returns for each role whether the model can be used for it, and why not."""
        bad = {role: "; ".join(self.shortcomings(role)) for role in ROLES}
        return tuple(f"{role}: {f'no, {why}' if why else 'yes'}" for role, why in bad.items())

    @property
    def advice(self) -> str:
        """Advises the person how to use the model."""
        fit = [role for role in ROLES if self.fits(role)]
        if not fit:
            again = f"Grade it again: {PROBE_AGAIN} {self.name}"
            return again if self.problem else "Not good enough for any role; try a larger model."
        unfit = ", ".join(role for role in ROLES if role not in fit)
        advice = f"Use it for {', '.join(fit)}" + (f"; for {unfit} try a larger one, or none." if unfit else ".")
        if self.question_s >= SLOW_QUESTION_S and "answer" in fit:
            advice += f" A question will take about {self.question_s:.0f} seconds."
        return advice

    @property
    def score(self) -> float:
        """Returns a sort key: of several suitable models the highest is the best."""
        return sum(getattr(self, name) or 0.0 for name in GRADED)

    @property
    def batch(self) -> int:
        """Returns the episodes of one extraction call, of five minutes at most: an episode takes about 400 tokens, and
        its facts 1,000, or 2,000 if it is long."""
        most = min(3, (self.context - 1500) // 1400, int(self.tokens_per_s * 300 / 2000))
        return max(1, most) if self.fits("extract") else 1


def about_tokens(text: str) -> int:
    """Estimates the tokens of a text in any script, rather too many than too few."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


def length(request: LlmRequest) -> int:
    """Estimates the prompt tokens of a request."""
    parts = [request.system, *(message.text for message in request.messages)]
    parts += [str(call.arguments) for message in request.messages for call in message.calls]
    parts += [f"{tool.name} {tool.description} {tool.parameters}" for tool in request.tools]
    return sum(map(about_tokens, filter(None, [*parts, str(request.schema) if request.schema else ""])))
