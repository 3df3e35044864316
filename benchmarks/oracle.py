"""The model that a benchmark asks: none, a real one, or an oracle behind a server that speaks Ollama's protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from benchmarks.answering import Calls
from memory.protocols import LLM
from plugins.embedders.static import tokenizer
from plugins.llms.registry import Models
from plugins.manager import Plugins
from plugins.settings import OllamaSettings
from tests.fakes import FakeOllama, OllamaModel
from tests.fakes.manners import Manners
from tests.fakes.oracle import Oracle
from tests.fakes.truth import Known

CONTEXT = 200_000  # tokens of the oracle: what large models have


@dataclass(slots=True)
class Asked:
    """The model, what is heard of its calls, and what the oracle knows, by question."""

    model: LLM | None
    calls: Calls
    known: dict[str, Known] = field(default_factory=dict)


@contextmanager
def no_model() -> Iterator[Asked]:
    """Answers are the lines of memory."""
    yield Asked(None, Calls())


@contextmanager
def real(name: str, plugins: Plugins) -> Iterator[Asked]:
    """A model by its name, where `pal` would find it."""
    calls = Calls()
    models = Models(plugins.families, meter=calls)
    try:
        yield Asked(models.open(name), calls)
    finally:
        models.close()


@contextmanager
def oracle(plugins: Plugins, error: float, seed: int, *, manners: bool = False, blind: bool = False) -> Iterator[Asked]:
    """One that knows what is true, or nothing if it is `blind`, with an error rate and perhaps with ordinary manners.
    It counts tokens as a model's own tokenizer does."""
    known: dict[str, Known] = {}
    count = counter()
    talent = Oracle(known, error, seed, Manners(seed) if manners else None, blind, count)
    calls = Calls(count)
    with FakeOllama(OllamaModel("oracle", context=CONTEXT), answer=talent) as server:
        settings = OllamaSettings(host=server.url, context=CONTEXT)
        models = Models(plugins.families, {"ollama": settings}, meter=calls)
        try:
            yield Asked(models.open("ollama:oracle"), calls, known)
        finally:
            models.close()


def counter() -> Callable[[str], int]:
    """How many tokens of Llama 2 a text has, which is more than newer models make of it. Line by line, because the
    same passages are counted over and over."""
    encoding = tokenizer()

    @lru_cache(maxsize=200_000)
    def line(text: str) -> int:
        return len(encoding.encode(text, add_special_tokens=False).ids) + 1

    return lambda text: sum(map(line, text.splitlines()))
