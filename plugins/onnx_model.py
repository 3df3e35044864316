"""Runs a transformer's ONNX file with its tokenizer by onnxruntime, without PyTorch.

Importing onnxruntime takes 0.1 s and loading a small model 2 s, so both happen with the first text."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory.errors import NotAvailableError
from plugins.embedders.model import MOST_THREADS
from plugins.installing import install_command

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

TOKENS_AT_ONCE = 512  # of a batch, padding included: more were slower, and took more memory
OUTPUTS = ("sentence_embedding", "logits")  # outputs of a model that are preferred to the states of its tokens
QUIET = 3  # onnxruntime writes errors only

Text = str | tuple[str, str]  # a pair is read as one text, with a mark between the two


class OnnxModel:
    """One ONNX model. Thread-safe; loaded once, on first use."""

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

    def run(self, texts: Sequence[Text]) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32]]]:
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
