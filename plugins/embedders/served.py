"""Embedders of a server on this machine: Ollama, or any with OpenAI's protocol (llama.cpp, LM Studio, vLLM).

The setting is `ollama:MODEL` or `openai:MODEL`, with `@256` at the end to use the first 256 dimensions. An embedder
gets the text of every note, so a model on another machine is refused before anything is sent.

The server may be down or slow: calls then raise ModelError within a time limit, and `problem` has the reason until the
server responds again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import httpx
import numpy as np

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.protocols import Vectors
from plugins.embedders.model import ModelEmbedder, choose_dimension, family_prefixes, parse_name, write_identity
from plugins.llms import ollama, openai, transport
from plugins.llms.call import Call, shorten_reason
from plugins.llms.ollama import OllamaModel
from plugins.llms.openai import OpenAIModel
from plugins.settings import OllamaSettings, OpenAISettings

log = logging.getLogger(__name__)

QUERY_SECONDS = 4.0  # for a question, which is answered by full text and graph where this does not come
REST_SECONDS = 30.0  # in which a server that was too slow is not asked by questions
TRIES = 2  # for background work
SHORTEST_CHARS = 200  # a text that is too long for the model is halved until it is as short
TOO_LONG = (*transport.TOO_LONG, "too large to process", "maximum")

Limits = tuple[float, float, float]


class ServedEmbedder(ModelEmbedder):
    """One model of a server. Thread-safe. All calls raise ModelError; so do `name` and `dimension`, unless the embedder
    is created from the `name` of an earlier embedder."""

    family: ClassVar[str]
    is_served = True  # what it is, its server says

    def __init__(self, named: str, backend: OllamaModel | OpenAIModel, at: tuple[str, bool], limits: Limits) -> None:
        """`backend` serves the model `named`, at the URL `at` or by default its usual one."""
        self._model, self._wanted, self._named_mark = parse_name(named, self.family)
        self._backend = backend
        self._url, is_here = at
        if not is_here:
            raise LocalOnlyError(
                f"{self._url} is not this machine, and an embedder is given the text of every note. Use a model on this"
                " machine: pal embedder"
            )
        self._limits = limits
        self._lock = threading.Lock()
        self._rests_until = 0.0
        self.problem = ""
        self.failures = 0  # times that texts to be written could not be embedded
        self.query_prefix, self.document_prefix = family_prefixes(self._model)

    @cached_property
    def name(self) -> str:
        """Returns model, dimension, build and prefixes: vectors with the same name are comparable."""
        prefixes = (self.query_prefix, self.document_prefix)
        return write_identity(f"{self.family}:{self._model}", self.dimension, self._mark, prefixes)

    @cached_property
    def dimension(self) -> int:
        if self._named_mark and self._wanted:
            return self._wanted
        return choose_dimension(self._model, self._wanted, self._full)

    @cached_property
    def _full(self) -> int:
        """Returns the model's full dimension, by embedding a text."""
        vectors = self._try(["ready"], self._limits)
        if len(vectors) != 1 or not isinstance(vectors[0], list) or not vectors[0]:
            raise MalformedOutputError(f"What {self._model} gives are no vectors. See its server's log.")
        return len(vectors[0])

    @cached_property
    def _mark(self) -> str:
        """Returns the mark of the model build that made the stored vectors, or that will make the first."""
        return self._named_mark or self._find_mark()

    def _find_mark(self) -> str:
        """Returns the mark of the server's current build of the model."""
        return hashlib.sha256(f"{self._backend.info().version}|{self._full}".encode()).hexdigest()[:12]

    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        prefixed = [self._prefix(is_query) + text for text in texts]
        try:
            if is_query and time.monotonic() < self._rests_until:
                raise ModelUnavailableError(self.problem)
            self._check_mark()
            vectors = self._ask(prefixed, is_query)
        except ModelError as error:
            with self._lock:
                if isinstance(error, ModelTimeoutError):
                    self._rests_until = time.monotonic() + REST_SECONDS
                if not self.problem:
                    log.warning("the embedder %s: %s", self._model, error)
                self.problem = str(error)
                self.failures += not is_query
            raise
        with self._lock:
            self.problem, self._rests_until = "", 0.0
        return vectors[:, : self.dimension]

    def _check_mark(self) -> None:
        """Raises ModelUnavailableError if the server's build of the model differs from that of the stored vectors."""
        if self._mark != self._find_mark():
            raise ModelUnavailableError(
                f"{self._model} differs from the model that made the vectors. To embed all texts again:"
                f" pal embedder {self.family}:{self._model}",
                lasting=True,
            )

    def _ask(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Embeds texts, (n,) -> (n, full dimension) float32. ModelError."""
        if is_query:
            return self._check_vectors(self._try(texts, (QUERY_SECONDS,) * 3), len(texts))
        for tries_left in reversed(range(TRIES)):
            try:
                return self._check_vectors(self._try(texts, self._limits), len(texts))
            except OverBudgetError:
                return np.concatenate([self._embed_shortened(text) for text in texts])
            except (ModelUnavailableError, MalformedOutputError) as error:
                if not tries_left or (isinstance(error, ModelUnavailableError) and error.lasting):
                    raise
        raise AssertionError

    def _embed_shortened(self, text: str) -> Vectors:
        """Embeds as much of a text as the model accepts: (1, full dimension). ModelError."""
        while True:
            try:
                return self._check_vectors(self._try([text], self._limits), 1)
            except OverBudgetError:
                if len(text) <= SHORTEST_CHARS:
                    raise
                text = text[: len(text) // 2]

    def _check_vectors(self, rows: list[Any], count: int) -> Vectors:
        """Returns the reply as an array if it has `count` vectors of the model's dimension. MalformedOutputError."""
        try:
            vectors = np.array(rows, np.float32)
        except (TypeError, ValueError, OverflowError):
            vectors = np.zeros(0, np.float32)
        if vectors.shape != (count, self._full):
            raise MalformedOutputError(
                f"{self._model} does not give one vector of {self._full} numbers for each text. See its server's log."
            )
        if not np.isfinite(vectors).all():
            raise MalformedOutputError(f"{self._model} gives vectors that are no numbers. See its server's log.")
        return vectors

    def _try(self, texts: Sequence[str], limits: Limits) -> list[Any]:
        """Requests the vectors of the texts, one entry each. ModelError; nothing is sent to a model on another
        machine."""
        if not self._backend.is_local():
            raise LocalOnlyError(
                f"{self._model} does not run on this machine, and an embedder is given the text of every note."
                " Use another one: pal embedder"
            )
        call = Call(limits, lambda: False)
        try:
            with call:
                return next(call.stream(self._request_vectors(texts)))
        except ModelError:
            raise
        except (httpx.HTTPError, OSError) as error:
            if call.reason is not None:
                raise call.reason from error
            is_gone = isinstance(error, httpx.ConnectError | ConnectionError)
            why = "does not answer" if is_gone else "broke off its answer"
            raise ModelUnavailableError(
                f"The server of {self.family}:{self._model} at {self._url} {why}. Start it again, or see its log."
            ) from error
        except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
            raise MalformedOutputError(f"What {self._model} gives are no vectors. See its server's log.") from error

    def _make_error(self, status: int, why: str) -> ModelError:
        why = shorten_reason(why)
        if status in (400, 413, 422, 500) and any(words in why.lower() for words in TOO_LONG):
            return OverBudgetError(f"A text is too long for {self._model} ({why}).")
        return ModelUnavailableError(
            f"The server of {self.family}:{self._model} gives no vectors ({status}: {why}). See its log, or use another"
            " model: pal embedder",
            lasting=status in (400, 401, 403, 404, 501),
        )

    @abstractmethod
    def _request_vectors(self, texts: Sequence[str]) -> Iterator[list[Any]]:
        """Requests the vectors once, in the order of the texts. Raises ModelError, httpx.HTTPError, OSError, and other
        errors for an invalid reply."""


class OllamaEmbedder(ServedEmbedder):
    """A model of an Ollama server."""

    family = "ollama"

    def __init__(self, named: str, settings: OllamaSettings | None = None) -> None:
        self._settings = own = settings or OllamaSettings()
        model = parse_name(named, self.family)[0]
        super().__init__(named, OllamaModel(model, own), ollama.locate(own), own.limits)

    def _request_vectors(self, texts: Sequence[str]) -> Iterator[list[Any]]:
        from ollama import ResponseError

        try:
            with ollama.connect(self._url, self._limits) as client:
                reply = client.embed(self._model, texts, truncate=True, keep_alive=ollama.KEEP_ALIVE)
        except ResponseError as error:
            raise self._make_error(error.status_code, str(error.error)) from error
        yield list(reply.embeddings)


class OpenAIEmbedder(ServedEmbedder):
    """A model of a server with OpenAI's protocol."""

    family = "openai"

    def __init__(self, named: str, settings: OpenAISettings | None = None) -> None:
        self._settings = own = settings or OpenAISettings()
        model = parse_name(named, self.family)[0]
        super().__init__(named, OpenAIModel(model, own), openai.locate(own), own.limits)

    def _request_vectors(self, texts: Sequence[str]) -> Iterator[list[Any]]:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        known = openai.headers(self._settings, self._url)
        with transport.post(f"{self._url}/embeddings", body, self._limits, known) as response:
            content = response.read()
        if response.status_code != 200:
            raise self._make_error(response.status_code, openai.read_reason(content))
        rows = sorted(json.loads(content)["data"], key=lambda row: row["index"])
        if [row["index"] for row in rows] != [*range(len(rows))]:
            raise IndexError
        yield [row["embedding"] for row in rows]
