"""The built-in embedders, by the name a person gives in the configuration. Each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from memory.protocols import Embedder


def _static() -> Embedder:
    from plugins.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _minilm() -> Embedder:
    from plugins.embedders.sentence import minilm

    return minilm()


def _sentence(model: str) -> Embedder:
    from plugins.embedders.sentence import load_named

    return load_named(model)


@hookimpl
def register_embedders(register: Callable[[str, Callable[..., Embedder]], None]) -> None:
    register("static", _static)
    register("minilm", _minilm)
    register("st:", _sentence)
