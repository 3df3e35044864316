"""A real file, read by the readers that are really installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from memory.nouns import Document
from memory.protocols import Embedder
from plugins import manager
from plugins.readers import documents

MODIFIED = datetime(2020, 2, 3, 4, 5, 6).astimezone()

Read = Callable[..., list[Document]]


@pytest.fixture(scope="session")
def plugins() -> manager.Plugins:
    return manager.load()


@pytest.fixture(scope="session")
def static(plugins: manager.Plugins) -> Embedder:
    return plugins.embedder("static")


@pytest.fixture
def read(tmp_path: Path, plugins: manager.Plugins) -> Read:
    """read("folder/name.md", text or bytes) -> the documents in that file, last modified at MODIFIED."""

    def of(name: str, content: str | bytes) -> list[Document]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (MODIFIED.timestamp(), MODIFIED.timestamp()))
        return documents(plugins.reader_for(path, path.stat().st_size), path, path.read_bytes(), path.stat())

    return of
