"""What is installed beside the program itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Addition:
    """What a plug-in adds of one kind ("readers"), by name."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plug-in, the package that brought it with its version, and what it `adds`. `problem` says why it was left
    out; `is_off`: a person has turned it off."""

    name: str
    package: str
    adds: tuple[Addition, ...] = ()
    problem: str = ""
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class PluginsReply:
    """The program itself, and every plug-in that is installed. `reranker` says why the one in use did not work when it
    was last asked."""

    built_in: Plugin
    plugins: tuple[Plugin, ...] = ()
    reranker: str = ""
