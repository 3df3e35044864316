"""The common base of model embedders: blank and long texts, prefixes; and the metadata in the files of a
sentence-transformers model: prefixes, dimension, identity."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory.errors import InvalidInputError, NotAvailableError
from memory.protocols import Vectors

MAX_CHARS = 20_000  # of a text that a model gets to see; it reads 256 to 8,192 tokens of them
MOST_THREADS = 8  # a small model gains little from more
_END = 1 << 16  # bytes at either end of a model's file that tell it from another one


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
            cut = (texts[row][:MAX_CHARS] for row in rows)  # tokenizers reject lone surrogates
            vectors[rows] = self._encode([text.encode("utf-8", "replace").decode() for text in cut], is_query)
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


ReadJson = Callable[[str], Any]
"""A file's path in a model -> its content, {} if it is not on this machine."""


def find_prefixes(source: str, read: ReadJson) -> tuple[str, str]:
    """Returns the prefixes of a question and of a passage: from the model's configuration, otherwise those of its
    family. `source` is the model's folder or its name on the hub."""
    own = read("config_sentence_transformers.json").get("prompts") or {}
    stated = (own.get("query") or "", own.get("document") or own.get("passage") or "")
    return stated if any(stated) else family_prefixes(Path(source).name)


def list_modules(read: ReadJson) -> list[dict[str, Any]]:
    """Returns the modules of a model in order."""
    modules = read("modules.json")
    return modules if isinstance(modules, list) else []


def find_dimension(read: ReadJson) -> int | None:
    """Returns the dimension of the last module that has one; None if the files do not say."""
    for module in reversed(list_modules(read)):
        config = read(f"{module['path']}/config.json".lstrip("/"))
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
