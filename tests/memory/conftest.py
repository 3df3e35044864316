"""What the library's tests share: the real static embedder, loaded once, and a fresh memory in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory import Memory
from memory.protocols import Embedder
from plugins.manager import load


@pytest.fixture(scope="session")
def static() -> Embedder:
    return load().embedder("static")


@pytest.fixture
def fresh(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    """A memory that holds nothing yet."""
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory
