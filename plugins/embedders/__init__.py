"""The built-in embedders, by the name a person gives in the configuration. Each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.hookspecs import hookimpl, import_late

if TYPE_CHECKING:
    from memory.protocols import Embedder


@hookimpl
def register_embedders(register: Callable[[str, Callable[..., Embedder]], None]) -> None:
    register("static", import_late("plugins.embedders.static", "StaticEmbedder"))
    register("minilm", import_late("plugins.embedders.sentence", "minilm"))
    register("minilm-int8", import_late("plugins.embedders.onnx", "minilm_int8"))
    register("onnx:", import_late("plugins.embedders.onnx", "load_named"))
    register("st:", import_late("plugins.embedders.sentence", "load_named"))
