"""What memory needs from outside, as protocols; plugins implement them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors. The same text always gives the same vector.

    `name` is the identity under which vectors are stored: another model, another dimension or another
    prefix must have another name.
    """

    batch: int  # texts per call that the embedder likes best
    query_prefix: str
    document_prefix: str

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n,) texts -> (n, dimension) float32, rows of norm 1; a text without any known word gives a zero row."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """text -> (dimension,) float32 of norm 1, or zeros if no word of it is known."""
        ...
