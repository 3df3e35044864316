"""Language models. A plug-in adds a `Family`, which lists models and opens them.

An opened model is a `Backend`, a thin layer for a vendor's protocol. `plugins.llms.guard` wraps it and does what is
common to all models: it decides what may leave the machine, sets deadlines, retries and validates replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.llm import LlmRequest, Reply
    from plugins.llms.call import Call


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An available model. `version` distinguishes it from a later one of its name; `size`: bytes on this machine."""

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
    """An opened model, thread-safe. `limits` are seconds: until the first word, between two words, and in total."""

    limits: tuple[float, float, float]

    def is_local(self) -> bool:
        """Whether no text sent to it leaves this machine. Contacts no other machine. ModelUnavailableError."""
        ...

    def info(self) -> ModelInfo:
        """Describes the model, perhaps by asking its server. ModelUnavailableError."""
        ...

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        """Yields the text as it arrives, then the Reply, whose `data` the guard fills in. Reads the server's response
        through `call.stream(...)`, so that the call can be interrupted. Raises ModelUnavailableError,
        ModelRefusedError, MalformedOutputError and OverBudgetError; after an interruption any exception."""
        ...

    def close(self) -> None:
        """Closes its connections."""
        ...


@dataclass(frozen=True, slots=True)
class ModelList:
    """The models that a family found. `problem` says why it found none, or what is wrong with them, with a remedy.
    `absent`: the provider is not set up here, which is normal."""

    models: tuple[ModelInfo, ...] = ()
    problem: str = ""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models, named `prefix:model`. `open(model, settings)` returns a model without contacting a server;
    `list_models(settings)` lists the models within a few seconds and never raises. `settings` is the section of
    config.toml with the prefix's name as an object, or None. `local` is False if all models are remote: they are then
    listed on request only."""

    prefix: str
    open: Callable[[str, Any], Backend]
    list_models: Callable[[Any], ModelList]
    local: bool = True
