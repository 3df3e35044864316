"""Cross-encoders: models that read a question and a passage together, and say how well one answers the other.

What a person writes is `cross-encoder:FOLDER`, a model as sentence-transformers saves it. With an ONNX file in it, it
runs by the extra `onnx`, else by the extra `local`. Nothing is fetched.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from memory.errors import NotAvailableError
from plugins.embedders.model import OnnxModel, clean_text, find_onnx_file, read_json
from plugins.installing import install_command

MAX_TOKENS = 512  # of question and passage together

Pair = tuple[str, str]
Predict = Callable[[list[Pair]], Sequence[float]]


class CrossEncoder:
    """One cross-encoder. Thread-safe; loaded once, on first use."""

    def __init__(self, folder: str) -> None:
        """NotAvailableError for what is no folder."""
        self._folder = Path(folder).expanduser()
        if not self._folder.is_dir():
            raise NotAvailableError(f"There is no folder {self._folder}. Name a model: cross-encoder:/path/to/it")
        self.name = f"cross-encoder:{self._folder}"
        self._loading = threading.Lock()
        self._predict: Predict | None = None

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Scores texts as a `memory.protocols.Reranker`. NotAvailableError."""
        with self._loading:
            if self._predict is None:
                self._predict = self._load_onnx() or self._load_library()
        return self._predict([(clean_text(question), clean_text(text)) for text in texts])

    def _load_onnx(self) -> Predict | None:
        """Returns None where there is no ONNX file, or nothing that runs it."""
        file = find_onnx_file(self._folder)
        if file is None or importlib.util.find_spec("onnxruntime") is None:
            return None
        stated = read_json(self._folder, "config.json").get("max_position_embeddings")
        most = min(MAX_TOKENS, stated) if isinstance(stated, int) else MAX_TOKENS
        model = OnnxModel(file, self._folder / "tokenizer.json", most)

        def predict(pairs: list[Pair]) -> Sequence[float]:
            scores = np.zeros(len(pairs), np.float32)
            for rows, logits, _ in model.run(pairs):
                scores[rows] = self._take_single(logits.reshape(len(rows), -1))
            return [float(score) for score in scores]

        return predict

    def _load_library(self) -> Predict:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise NotAvailableError(
                f"What reads with {self._folder} is not installed: {install_command('onnx')}; if there is no ONNX"
                f" file in it: {install_command('local')}"
            )
        from sentence_transformers import CrossEncoder as Library

        try:
            model = Library(str(self._folder), max_length=MAX_TOKENS, local_files_only=True, device="cpu")
        except Exception as error:  # the library and the files raise all sorts of things
            why = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0].rstrip(".")
            raise NotAvailableError(
                f"The cross-encoder in {self._folder} cannot be loaded ({why}). Save it there again, or choose another."
            ) from error
        return lambda pairs: self._take_single(np.asarray(model.predict(pairs)).reshape(len(pairs), -1)).tolist()

    def _take_single(self, logits: np.ndarray) -> np.ndarray:
        """Drops the second dimension: (b, 1) -> (b,). NotAvailableError if the model gives several numbers."""
        if logits.shape[1] != 1:
            raise NotAvailableError(
                f"The model in {self._folder} gives {logits.shape[1]} numbers for a passage; a reranker gives one."
            )
        scores: np.ndarray = logits[:, 0]
        return scores
