"""The protocols that plug-ins implement for the memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memory.llm import LlmRequest, Reply

Vectors = NDArray[np.float32]
Write = Callable[[Callable[[], Any]], Any]
"""Runs a unit of writing, where and when there is room for it."""


def write_directly(unit: Callable[[], Any]) -> Any:
    """Writes at once, in this thread."""
    return unit()


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors. The same text always gives the same vector. `name` is the identity under which
    vectors are stored: another model, another dimension or another prefix must have another name. An embedder may have
    a `lexical_weight`, in [0, 1]: the share of full text next to its vectors (default: that of static vectors,
    `memory.retrieval.state.LEXICAL_WEIGHT`), and a `sentence_window`, an odd number: how many sentences are embedded
    together, with one in the middle (default: 1, the sentence alone)."""

    batch: int  # texts per call that the embedder likes best
    query_prefix: str
    document_prefix: str

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embeds (n,) texts -> (n, dimension) float32, rows of norm 1; zeros for a text without a known word."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embeds a text -> (dimension,) float32 of norm 1, or zeros if no word of it is known."""
        ...


class LLM(Protocol):
    """A language model. Thread-safe. Both methods raise errors.ModelError: ModelUnavailableError, ModelTimeoutError,
    ModelRefusedError, MalformedOutputError, OverBudgetError, ModelCancelledError, and LocalOnlyError if local text
    would go to a remote model."""

    @property
    def name(self) -> str:
        """The name as a person writes it: "ollama:qwen3:4b"."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens that prompt and reply may have together."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether nothing that it receives leaves this machine."""
        ...

    def complete(self, request: LlmRequest) -> Reply:
        """Returns the complete reply. With a schema `data` follows it; with tools every call is of one of them and
        follows its schema; other replies are a MalformedOutputError."""
        ...

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        """Yields the text as it arrives, then the complete Reply. Closing the iterator ends the call."""
        ...


# Which model answers: called with whether some of the text must stay on this machine. None if there is no such model;
# a ModelUnavailableError, with a sentence for the person, if one is wanted and cannot be reached.
ChooseLLM = Callable[[bool], LLM | None]


def choose_none(local_only: bool) -> LLM | None:
    """Chooses no model."""
    return None
