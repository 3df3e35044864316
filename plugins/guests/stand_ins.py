"""What stands in this process for what a plug-in of somebody else registers; the work is done by its guest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from importlib.metadata import EntryPoint
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from memory.errors import MalformedOutputError, ModelError
from memory.llm import LlmRequest, Reply
from plugins.exporters.contract import Exporter, Line, Part
from plugins.guests.frames import About, End, Request, Value, Wanted
from plugins.guests.process import Guest, GuestProcess
from plugins.guests.report import Report
from plugins.llms import Family, Look, ModelInfo
from plugins.llms.call import Call
from plugins.readers import Reader
from plugins.settings import PluginSettings

if TYPE_CHECKING:
    from memory.protocols import Vectors

ASK_SECONDS = 10.0  # for what should cost nothing: a name, whether a model is here
QUERY_SECONDS = 10.0  # for a question, of an embedder that has embedded something before
CLOSE_SECONDS = 1.0
LINES = 1000  # that an exporter is given at a time
DIMENSIONS = 65_536  # at most, of a vector
LONGEST_SECONDS = 86_400.0  # that a model may take
LIMITS = (60.0, 60.0, 600.0)  # of a model, as long as it has not said others

Limits = tuple[float, float, float]


def stand_in(entry: EntryPoint, report: Report, settings: PluginSettings) -> dict[str, list[Any]]:
    """What a plug-in registers, by hook; of strategies and rankers nothing. No process is started yet."""
    guest = Guest(entry, settings, tuple(one.prefix for one in report.families))
    return {
        "register_readers": [
            Reader(
                one.name, one.suffixes, one.description, read=_refuse, max_bytes=one.max_bytes,
                dates_parts=one.dates_parts, version=one.version, max_seconds=one.max_seconds,
                max_memory=one.max_memory, stream=_refuse if one.streams else None, programs=one.programs,
            )
            for one in report.readers
        ],
        "register_embedders": [_register(GuestEmbedder, guest, *one) for one in report.embedders],
        "register_rerankers": [_register(GuestReranker, guest, *one) for one in report.rerankers],
        "register_llms": [
            Family(
                one.prefix, partial(GuestModel, guest, one.prefix), partial(_look, guest, one.prefix), one.local
            )
            for one in report.families
        ],
        "register_exporters": [
            Exporter(one.name, one.description, partial(_export, guest, one.name), one.kinds, one.suffixes)
            for one in report.exporters
        ],
        "register_traversers": [],
        "register_rankers": [],
    }  # fmt: skip


def _register(make: Callable[..., Any], guest: Guest, name: str, section: str) -> tuple[Any, ...]:
    return (name, partial(make, guest, name), *filter(None, [section]))


def _refuse(*given: object) -> NoReturn:
    raise AssertionError("readers of others work in the reading process")


class GuestEmbedder:
    """A `memory.protocols.Embedder`. All of it may raise ModelError, until its name and dimension are known."""

    def __init__(self, guest: Guest, registered: str, *given: Any) -> None:
        self._guest = guest
        self._request = partial(Request, "register_embedders", registered, given)
        self._warm: GuestProcess | None = None  # which has embedded something
        self.problem = ""
        self.failures = 0  # times that texts to be written could not be embedded

    @cached_property
    def _about(self) -> About:
        found: About = self._guest.ask(About, ASK_SECONDS, self._request("about"))
        return found

    @cached_property
    def _identity(self) -> tuple[str, int]:
        name, dimension = self._guest.ask(tuple[str, int], ASK_SECONDS, self._request("identify"))
        if not name or not 1 <= dimension <= DIMENSIONS:
            raise self._malformed()
        return name, dimension

    @property
    def name(self) -> str:
        return self._identity[0]

    @property
    def dimension(self) -> int:
        return self._identity[1]

    @property
    def is_served(self) -> bool:
        """Whether it is not to be asked for its name while the daemon starts."""
        return self._about.is_served

    @property
    def batch(self) -> int:
        return self._about.batch

    @property
    def query_prefix(self) -> str:
        return self._about.query_prefix

    @property
    def document_prefix(self) -> str:
        return self._about.document_prefix

    @property
    def lexical_weight(self) -> float:
        """What it says of it; AttributeError if it says nothing."""
        weight = self._about.lexical_weight
        if weight is None:
            raise AttributeError
        return weight

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See `memory.protocols.Embedder`. ModelError."""
        return self._embed("embed_documents", texts)

    def embed_query(self, text: str) -> Vectors:
        """See `memory.protocols.Embedder`. ModelError."""
        vector: Vectors = self._embed("embed_query", [text])[0]
        return vector

    def _embed(self, method: str, texts: Sequence[str]) -> Vectors:
        is_query = method == "embed_query"
        try:
            found = self._ask(method, list(texts), is_query)
        except ModelError as error:
            self.problem = str(error)
            self.failures += not is_query
            raise
        self.problem = ""
        return found

    def _ask(self, method: str, texts: list[str], is_query: bool) -> Vectors:
        import numpy as np

        name, dimension = self._identity
        seconds = self._guest.settings.call_s
        with self._guest.begin(self._request(method, (name, texts))) as call:
            if is_query and call.process is self._warm:  # else it may have to load its model
                seconds = min(seconds, QUERY_SECONDS)
            shape, data = call.take(tuple[tuple[int, ...], bytes], seconds)
        wanted = (dimension,) if is_query else (len(texts), dimension)
        if shape != wanted or len(data) != 4 * math.prod(wanted):
            raise self._malformed()
        vectors = np.frombuffer(data, np.dtype("<f4")).reshape(len(texts), dimension).astype(np.float32)
        if not np.isfinite(vectors).all():
            raise self._malformed()
        self._warm = call.process
        return vectors

    def _malformed(self) -> ModelError:
        return MalformedOutputError(
            f"The embedder of the plug-in {self._guest.name} does not give a name and one vector of numbers for each"
            " text. Use another one: pal embedder"
        )


class GuestReranker:
    """A `memory.protocols.Reranker`."""

    def __init__(self, guest: Guest, registered: str, *given: Any) -> None:
        self.name = registered + (given[0] if registered.endswith(":") else "")  # as a person writes it
        self._guest = guest
        self._request = partial(Request, "register_rerankers", registered, given)

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """See `memory.protocols.Reranker`. ModelError."""
        request = self._request("score", (question, list(texts)))
        scores: list[float] = self._guest.ask(list[float], self._guest.settings.call_s, request)
        return scores


class GuestModel:
    """A `plugins.llms.Backend`."""

    def __init__(self, guest: Guest, prefix: str, *given: Any) -> None:
        """`given`: the model, and the section of the settings."""
        self.limits: Limits = LIMITS
        self._guest = guest
        self._request = partial(Request, "register_llms", prefix, given)

    def is_local(self) -> bool:
        """What the plug-in says; its limits are asked for at the same time. ModelError."""
        is_local, limits = self._guest.ask(tuple[bool, Limits], ASK_SECONDS, self._request("open"))
        if all(0 < one < math.inf for one in limits):
            first, between, total = (min(one, LONGEST_SECONDS) for one in limits)
            self.limits = first, between, total
        return bool(is_local)

    def info(self) -> ModelInfo:
        """See `plugins.llms.Backend`. ModelError."""
        found: ModelInfo = self._guest.ask(ModelInfo, ASK_SECONDS, self._request("info"))
        return found

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        """See `plugins.llms.Backend`. The call is broken off by shutting its socket."""
        messages = tuple(replace(one, native=self._own(one.native)) for one in request.messages)
        request = replace(request, messages=messages, cancelled=None)
        with self._guest.begin(self._request("stream", (request,))) as guest_call:
            for item in call.stream(guest_call.stream(str | Reply, call)):
                native = isinstance(item, Reply) and item.native
                yield replace(item, native=_Native(self._guest.name, native)) if native else item

    def close(self) -> None:
        """Frees what it holds."""
        if self._guest.is_running:
            with suppress(ModelError):
                self._guest.ask(None, CLOSE_SECONDS, self._request("close"))

    def _own(self, native: Any) -> Any:
        """The form of a turn that this plug-in gave before, which is bytes to everybody else."""
        return native.data if isinstance(native, _Native) and native.plugin == self._guest.name else None


class _Native(NamedTuple):
    plugin: str
    data: Any


def _look(guest: Guest, prefix: str, settings: Any) -> Look:
    try:
        found: Look = guest.ask(Look, ASK_SECONDS, Request("register_llms", prefix, (settings,), "look"))
    except ModelError as error:
        return Look(problem=str(error))
    return found


def _export(guest: Guest, name: str, lines: Iterator[Line]) -> Iterator[Part]:
    with guest.begin(Request("register_exporters", name, (), "write")) as call:
        while not isinstance(answer := call.receive(guest.settings.call_s), End):
            if isinstance(answer, Wanted):
                call.send([line.text for line in islice(lines, LINES)])
            elif isinstance(answer, Value):
                yield Part(*call.convert(answer.value, tuple[str, bytes]))
