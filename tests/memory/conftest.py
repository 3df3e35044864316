"""What the library's tests share: the real static embedder, loaded once, and a fresh memory in a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memory import Memory
from memory.protocols import Embedder
from plugins.manager import load

Fill = Callable[[Memory], object]
FilledCopy = Callable[[Fill, Path], Path]
OpenFilled = Callable[[Fill], Memory]


@pytest.fixture(scope="session")
def static() -> Embedder:
    return load().embedder("static")


@pytest.fixture(scope="session")
def filled_copy(tmp_path_factory: pytest.TempPathFactory, static: Embedder) -> FilledCopy:
    """Puts a memory that a function fills at a path: the notes are read once, and each test gets a copy of the file."""
    files: dict[Fill, Path] = {}

    def copy(fill: Fill, to: Path) -> Path:
        if fill not in files:
            path = files[fill] = tmp_path_factory.mktemp("filled") / "memory.db"
            with Memory.open(path, embedder=static) as memory:
                fill(memory)
        return Path(shutil.copy(files[fill], to))

    return copy


@pytest.fixture
def open_filled(filled_copy: FilledCopy, tmp_path: Path, static: Embedder) -> Iterator[OpenFilled]:
    """Opens a memory of the test's own that a function has filled."""
    with ExitStack() as memories:
        yield lambda fill: memories.enter_context(
            Memory.open(filled_copy(fill, tmp_path / "memory.db"), embedder=static)
        )


@pytest.fixture
def fresh(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    """A memory that holds nothing yet."""
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory
