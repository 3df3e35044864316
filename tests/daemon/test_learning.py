"""Training in the daemon: one run at a time, broken off when it stops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.config.settings import NightSettings
from daemon.failures import ConflictError
from daemon.jobs.night import NightlyJob
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import NotAvailableError
from plugins import manager


class Place:
    """A memory with a writer, and what was published."""

    def __init__(self, folder: Path, trains: bool = True) -> None:
        plugins = manager.load()
        self.memory = Memory.open(
            folder / "memory.db", embedder=plugins.embedder("static"), ranker=plugins.ranker() if trains else None
        )
        self.writer = Writer()
        self.writer.start()
        self.told: list[wire.Event] = []
        self.nightly = NightlyJob(self.memory, self.writer, NightSettings())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.writer.close(60)
    place.memory.close()


def test_it_learns_once_at_a_time(place: Place) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def tell(event: wire.Event) -> None:
        inside.set()
        assert go_on.wait(60)

    found: list[wire.TrainingReport] = []
    thread = threading.Thread(target=lambda: found.append(place.nightly.train(tell)))
    thread.start()
    assert inside.wait(60)
    with pytest.raises(ConflictError):
        place.nightly.train(place.told.append)
    with pytest.raises(ConflictError):
        place.nightly.undo_training()
    assert not place.nightly.close(0.01), "it is still at it"
    go_on.set()
    thread.join(60)
    assert not found[0].promoted
    assert place.nightly.close(60)


def test_where_nothing_learns_a_person_is_informed(tmp_path: Path) -> None:
    place = Place(tmp_path, trains=False)
    with pytest.raises(NotAvailableError, match="without a ranker"):
        place.nightly.train(place.told.append)
    with pytest.raises(NotAvailableError, match="without a ranker"):
        place.nightly.undo_training()
    place.writer.close(60)
    place.memory.close()
