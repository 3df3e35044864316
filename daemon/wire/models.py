"""Language models, embedders and plug-ins; the web page."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event
from memory.llm import Grades
from memory.views import Plugin


@dataclass(frozen=True, slots=True)
class ModelRow:
    """An available language model. `outdated`: the grades are of an earlier model of that name, or of other tasks.
    `tokens`: used today; `roles`: its current uses."""

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
    """A role of models: the wanted models, and the current one; "" if no model can."""

    role: str
    names: tuple[str, ...]
    used: str = ""


@dataclass(frozen=True, slots=True)
class ModelsReply:
    """The available models. `problems` say why others are unavailable, `hints` how to get more, `warnings` what is
    wrong with the grades of those in use or just chosen."""

    models: tuple[ModelRow, ...]
    roles: tuple[ModelRole, ...]
    problems: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelTest:
    """The result of asking a model for one word: its `reply` and the time it took; or the `problem`. `models`: all
    models of its server, if no model was named."""

    name: str
    reply: str = ""
    ms: float = 0.0
    problem: str = ""
    is_local: bool = True
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedderReply:
    """The wanted embedder, and the identity of the one in use. While `building`, `done` of `total` episodes have a
    vector of the wanted one; `problem`: why that failed. `chosen`: the embedder that "auto" stands for here."""

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
    """`done` of `total` episodes have a vector of the next embedder."""

    done: int
    total: int
    embedder: str


@dataclass(frozen=True, slots=True)
class PluginsReply:
    """The program itself, and every installed plug-in. `reranker`: why the one in use failed last."""

    built_in: Plugin
    plugins: tuple[Plugin, ...] = ()
    reranker: str = ""


@dataclass(frozen=True, slots=True)
class PageLink:
    """`url` works once; `opener` is a private file that leads a browser to it."""

    url: str
    opener: str
    port: int
