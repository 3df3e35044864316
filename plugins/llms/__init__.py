"""Language models. A plugin adds a `Family`, which finds models and opens them.

An opened model is a `Backend`: the thin layer for a vendor's protocol. `plugins.llms.guard` does around it what all
models have in common: it decides what may leave the machine, sets deadlines, retries and checks replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.llm import LlmRequest, Reply
    from plugins.llms.call import Call


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that is there. `version` tells it from a later one of its name; `size` is in bytes on this machine."""

    model: str
    is_local: bool
    context_tokens: int
    version: str = ""
    size: int = 0
    loaded: bool = False


READING = ("extract", "decide")  # purposes of background calls

# Progress of a long task: steps done, all steps, and the subject of the next one.
Step = tuple[int, int, str]


class Backend(Protocol):
    """One opened model. Any number of threads may use it. `limits` are seconds: until the first word, between two
    words, and in all."""

    limits: tuple[float, float, float]

    def is_local(self) -> bool:
        """Whether no text sent to it leaves this machine. Contacts no other machine. ModelUnavailableError."""
        ...

    def info(self) -> ModelInfo:
        """May ask the server. ModelUnavailableError."""
        ...

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        """The text as it comes, then the Reply; its `data` is filled in by others, from its text. Iterates over what
        the server sends through `call.stream(...)`, so that the call can be broken off. Raises ModelUnavailableError,
        ModelRefusedError, MalformedOutputError and OverBudgetError. What has gone wrong because the call was broken off
        may be raised as anything."""
        ...

    def close(self) -> None:
        """Frees its connections."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """What a family found when it looked for models. `problem` says why it found none, or what is wrong where it found
    them, with what to do about it. `absent` means that it is not set up here, which is nothing to worry about."""

    models: tuple[ModelInfo, ...] = ()
    problem: str = ""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one kind: their names begin with `prefix` and a colon. `open(model, settings)` gives the model that is
    called `prefix:model`, without asking anybody; `look(settings)` finds what there is, within a few seconds, and never
    raises. `settings` is the section of config.toml that is called like the prefix, as an object; None if there is no
    such section. `local` is False where all models are elsewhere: then nobody looks for them unasked."""

    prefix: str
    open: Callable[[str, Any], Backend]
    look: Callable[[Any], Look]
    local: bool = True
