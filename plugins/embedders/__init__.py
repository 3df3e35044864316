"""The built-in embedders by their names in the settings. Each is imported on first use."""

from __future__ import annotations

from collections.abc import Callable

from plugins.hookspecs import hookimpl, import_late

AUTO = "auto"  # the first of BEST that is installed
BEST = ("minilm-int8", "static")


@hookimpl
def register_embedders(register: Callable[..., None]) -> None:
    register("static", import_late("plugins.embedders.static", "StaticEmbedder"))
    register("minilm", import_late("plugins.embedders.sentence", "minilm"))
    register("minilm-int8", import_late("plugins.embedders.onnx", "minilm_int8"))
    register("onnx:", import_late("plugins.embedders.onnx", "load_named"))
    register("ollama:", import_late("plugins.embedders.served", "OllamaEmbedder"), "ollama")
    register("openai:", import_late("plugins.embedders.served", "OpenAIEmbedder"), "openai")
    register("st:", import_late("plugins.embedders.sentence", "load_named"))
