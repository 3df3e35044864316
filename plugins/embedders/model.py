"""The common base of model embedders: blank and long texts, prefixes; the metadata in the files of a
sentence-transformers model: prefixes, dimension, identity; and a transformer's ONNX file with its tokenizer, which
onnxruntime runs without PyTorch."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory.errors import InvalidInputError, NotAvailableError
from memory.protocols import Vectors
from plugins.installing import install_command

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

MAX_CHARS = 20_000  # of a text that a model gets to see; it reads 256 to 8,192 tokens of them
MOST_THREADS = 8  # a small model gains little from more
ONNX_FOLDER = "onnx"  # where models on the hub have their ONNX files
USUAL_ONNX = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENS_AT_ONCE = 512  # of a batch, padding included: more were slower, and took more memory
OUTPUTS = ("sentence_embedding",)  # outputs of a model that are preferred to the states of its tokens
QUIET = 3  # onnxruntime writes errors only
_END = 1 << 16  # bytes at either end of a model's file that tell it from another one


def clean_text(text: str) -> str:
    """Removes lone surrogates, which tokenizers reject."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode()


class ModelEmbedder(ABC):
    """A model as an embedder (`memory.protocols.Embedder`)."""

    batch = 32
    lexical_weight = 0.4  # measured with all-MiniLM-L6-v2, see docs/decisions.md
    sentence_window = 3
    query_prefix = ""
    document_prefix = ""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def dimension(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embeds texts, (n,) -> (n, dimension) float32, rows of norm 1; zeros for a blank text. Long texts are cut to
        MAX_CHARS characters and the model's token limit."""
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Vectors:
        """Embeds a text: (dimension,) float32 of norm 1, or zeros if it is blank."""
        vector: Vectors = self._embed([text], is_query=True)[0]
        return vector

    def _embed(self, texts: Sequence[str], is_query: bool) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text and not text.isspace()]
        if rows:
            vectors[rows] = self._encode([clean_text(texts[row]) for row in rows], is_query)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors

    def _prefix(self, is_query: bool) -> str:
        return self.query_prefix if is_query else self.document_prefix

    @abstractmethod
    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Embeds non-blank texts with the prefix: (n,) -> (n, dimension), not normalized."""


# Models that were trained with prefixes, which their files do not state: (query, document).
PREFIXES: tuple[tuple[str, str, str], ...] = (
    (r"e5-(?!.*instruct)(small|base|large)", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"(bge-(small|base|large)-en|mxbai-embed)", "Represent this sentence for searching relevant passages: ", ""),
    (r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)


class ModelFiles:
    """The files of one model. `read_json` returns a file by its path in the model, or {} if it is not on this
    machine."""

    def __init__(self, source: str, read_json: Callable[[str], Any]) -> None:
        """`source` is the model's folder or its name on the hub."""
        self._source = source
        self.read_json = read_json

    def prefixes(self) -> tuple[str, str]:
        """Returns the prefixes of a question and of a passage: from the model's configuration, otherwise those of its
        family."""
        own = self.read_json("config_sentence_transformers.json").get("prompts") or {}
        stated = (own.get("query") or "", own.get("document") or own.get("passage") or "")
        return stated if any(stated) else family_prefixes(Path(self._source).name)

    def modules(self) -> list[dict[str, Any]]:
        """Returns the modules of the model in order."""
        modules = self.read_json("modules.json")
        return modules if isinstance(modules, list) else []

    def dimension(self) -> int | None:
        """Returns the dimension of the last module that has one; None if the files do not say."""
        for module in reversed(self.modules()):
            config = self.read_json(f"{module['path']}/config.json".lstrip("/"))
            kinds = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
            if len(kinds) > 1 or isinstance(config.get("pooling_mode"), list):
                return None  # side by side: only the library knows how many numbers that makes
            for key in ("out_features", "embedding_dimension", "word_embedding_dimension", "hidden_size"):
                if isinstance(config.get(key), int):
                    return int(config[key])
        return None


def family_prefixes(model: str) -> tuple[str, str]:
    """Returns the prefixes of a question and of a passage that the model's family was trained with, by the model's
    name."""
    called = model.lower()
    families = ((query, document) for pattern, query, document in PREFIXES if re.search(pattern, called))
    return next(families, ("", ""))


def parse_name(text: str, family: str) -> tuple[str, int | None, str]:
    """Parses the text after `family:`, that is MODEL, MODEL@DIMENSIONS, or the `name` of an embedder: the model, the
    requested dimensions, and the hash that distinguishes models of the same name. InvalidInputError."""
    parts = re.fullmatch(r"([^@].*?)(?:@(\d+))?(?:#([0-9a-f]{12}))?(?: \[.*\|.*\])?", text, re.DOTALL)
    if parts is None or parts[2] == "0":
        raise InvalidInputError(
            f"Name a model: {family}:MODEL, {family}:/path/to/its/folder or {family}:MODEL@DIMENSIONS."
        )
    return parts[1], int(parts[2]) if parts[2] else None, parts[3] or ""


def choose_dimension(model: str, wanted: int | None, full: int) -> int:
    """Returns the `wanted` dimension, by default the model's. InvalidInputError if it exceeds the model's."""
    if wanted and wanted > full:
        raise InvalidInputError(f"{model} has {full} dimensions; {wanted} of them cannot be used.")
    return wanted or full


def write_identity(label: str, dimension: int, fingerprint: str, prefixes: tuple[str, str]) -> str:
    """Returns the name under which vectors are stored: model, dimension, fingerprint of its files, and prefixes."""
    name = f"{label}@{dimension}" + (f"#{fingerprint}" if fingerprint else "")
    return f"{name} [{prefixes[0]}|{prefixes[1]}]" if any(prefixes) else name


def find_folder(model: str) -> Path | None:
    """Returns the model's folder; None for a name on the hub, which is `name` or `owner/name`. NotAvailableError."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve()
    if model.startswith(("/", ".", "~")) or model.count("/") > 1 or "\\" in model:
        raise NotAvailableError(f"There is no folder {path}. Check the path of the model.")
    return None


def find_onnx_file(folder: Path) -> Path | None:
    """Returns the ONNX file in a model's folder, or None. NotAvailableError if there are several and the choice is
    unclear."""
    for usual in USUAL_ONNX:
        if (folder / usual).is_file():
            return folder / usual
    files = sorted([*folder.glob("*.onnx"), *folder.glob(f"{ONNX_FOLDER}/*.onnx")])
    if len(files) > 1:
        raise NotAvailableError(f"There are {len(files)} ONNX files in {folder}. Name one: onnx:{files[0]}")
    return files[0] if files else None


def read_json(folder: Path, file: str) -> Any:
    """Reads a JSON file in a folder; {} if it is missing or invalid."""
    try:
        return json.loads((folder / file).read_bytes())
    except (OSError, ValueError):
        return {}


def take_fingerprint(folder: Path, kinds: tuple[str, ...] = (".json", ".safetensors", ".bin")) -> str:
    """Hashes a folder's files of these kinds, without reading all of them, to detect another model in its place."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in kinds):
        with path.open("rb") as file:
            digest.update(path.relative_to(folder).as_posix().encode() + file.read(_END))
            file.seek(max(0, path.stat().st_size - _END))
            digest.update(file.read())
    return digest.hexdigest()[:12]


class OnnxModel:
    """One ONNX model. Thread-safe; loaded once, on first use: importing onnxruntime takes 0.1 s, loading a small model
    2 s."""

    def __init__(self, model: Path, tokenizer: Path, max_tokens: int) -> None:
        """Reads nothing yet. NotAvailableError if onnxruntime or a file is missing."""
        if importlib.util.find_spec("onnxruntime") is None:
            raise NotAvailableError(f"onnxruntime is not installed: {install_command('onnx')}")
        for path in (model, tokenizer):
            if not path.is_file():
                raise NotAvailableError(f"There is no file {path}. Put the model there again, or choose another one.")
        self._model, self._tokenizer, self._max_tokens = model, tokenizer, max_tokens
        self._loading = threading.Lock()
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None

    def run(self, texts: Sequence[str]) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32]]]:
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
