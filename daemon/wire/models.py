"""Language models, embedders and plug-ins; the page in the browser."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event
from memory.llm import Grades
from memory.views import Plugin


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A language model that can be reached. `outdated`: the grades are of an earlier model of that
    name, or of other tasks.

    `tokens` were read and written today, `roles` is what it is used for now.
    """

    name: str
    is_local: bool
    context: int = 0
    bytes: int = 0
    tokens: int = 0
    roles: tuple[str, ...] = ()
    outdated: bool = False
    grades: Grades | None = None


@dataclass(frozen=True, slots=True)
class ModelRole:
    """What models are wanted for something, and the one that does it now; "" if none of them can."""

    role: str
    names: tuple[str, ...]
    used: str = ""


@dataclass(frozen=True, slots=True)
class ModelsReply:
    """The models that can be reached now. `problems` says why others cannot, `hints` how there could be more,
    `warnings` the problems with the grades of those that are used or were just chosen."""

    models: tuple[ModelRow, ...]
    roles: tuple[ModelRole, ...]
    problems: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of asking a model for one word: its `reply`, after how long; or the `problem`. `models` are the
    names of all that its server has, where none was named."""

    name: str
    reply: str = ""
    ms: float = 0.0
    problem: str = ""
    is_local: bool = True
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedderReply:
    """The embedder that is wanted, and the identity of the one that questions use. While `building`, `done` of `total`
    episodes have a vector of the one that is wanted; `problem` says why that could not be done. Where "auto" is
    wanted, `chosen` is the name of the embedder that it is here."""

    name: str
    used: str
    building: bool = False
    done: int = 0
    total: int = 0
    problem: str = ""
    known: tuple[str, ...] = ()
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Embedding(Event):
    """`done` of `total` episodes have a vector of the embedder that will answer from now on."""

    done: int
    total: int
    embedder: str


@dataclass(frozen=True, slots=True)
class PluginsReply:
    """The program itself, and every plug-in that is installed. `reranker` says why the one in use did not work when it
    was last asked."""

    built_in: Plugin
    plugins: tuple[Plugin, ...] = ()
    reranker: str = ""


@dataclass(frozen=True, slots=True)
class PageLink:
    """`url` works once; `opener` is a file of the owner's that leads a browser to it."""

    url: str
    opener: str
    port: int
