"""What is in a folder, told before it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from daemon import wire
from daemon.api import estimate as module
from daemon.api.estimate import estimate_files
from daemon.api.sources import find_existing
from daemon.settings import Settings
from memory.errors import NotFoundError
from plugins.manager import load
from tests.daemon.enriching import AWAY, HERE, Make, World
from tests.daemon.reading import READERS

NOTE = "Mira lives in Utrecht and works with Ana. " * 10  # 80 words


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(9):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n{NOTE}")
    (folder / "long.md").write_text("\n\n".join([NOTE] * 30))  # 2,400 words
    (folder / "photo.jpg").write_bytes(os.urandom(5_000))
    (folder / "empty.md").write_text("")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").write_text(NOTE)
    return folder


def of(here: World, folder: Path, policy: str | None = None) -> wire.Estimate:
    return estimate_files(load(), READERS, here.models, Settings(), (), find_existing([folder]), policy)


def test_it_counts_what_would_be_read_and_reads_nothing_in(make: Make, notes: Path) -> None:
    with make() as here:
        known = of(here, notes)
        assert (known.files, known.skipped) == (12, 2), "two of twelve are no text"
        assert 9 * 80 + 2_400 <= known.words <= 9 * 84 + 2_400
        assert 9 + 8 <= known.episodes <= 9 + 14
        assert (known.model, known.is_local) == (HERE, True)
        assert known.calls == -(-known.episodes // 3), "three passages a call, as it was graded"
        assert known.tokens > known.words * 9
        assert known.minutes is not None and 1 < known.minutes * 60 * 30 / (known.words * 9) < 1.2
        assert here.memory.stats().sources == 0 and here.ollama.chats == []


def test_who_may_read_it_depends_on_where_it_may_go(make: Make, notes: Path) -> None:
    with make(extract=(AWAY,)) as here:
        assert of(here, notes).model == ""
        known = of(here, notes, "any")
        assert (known.model, known.is_local, known.minutes) == (AWAY, False, None), "nobody has measured it"
        assert known.calls == known.episodes and here.anthropic.messages == []


def test_of_very_many_files_only_some_are_looked_into(make: Make, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with make(graded=False) as here:
        whole = of(here, notes)
        assert whole.sampled == whole.files and whole.model == ""
        monkeypatch.setattr(module, "SAMPLE", 6)
        part = of(here, notes)
        assert part.sampled == 6 and part.files == whole.files
        assert whole.words / 2 < part.words < whole.words * 2


def test_a_folder_that_is_not_there(make: Make, tmp_path: Path) -> None:
    with make() as here, pytest.raises(NotFoundError):
        of(here, tmp_path / "nowhere")


def test_an_empty_folder(make: Make, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with make() as here:
        assert of(here, tmp_path / "empty") == wire.Estimate(0, 0, 0, 0, 0, 0)
