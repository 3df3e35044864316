from __future__ import annotations

import logging
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.process import logs


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, loud = root.handlers[:], root.level, logging.raiseExceptions
    yield
    logging.raiseExceptions = loud
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    root.handlers, root.level = handlers, level
    logging.captureWarnings(False)


@pytest.mark.skipif(os.name == "nt", reason="no such modes on Windows")
def test_files_are_private_and_do_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES", 1000)
    logs.configure(tmp_path / "logs" / "daemon.log", "INFO")
    for number in range(500):
        logging.getLogger("daemon.x").info("line %d", number)  # each says something else, so none is left out
    files = list((tmp_path / "logs").iterdir())
    assert len(files) == logs.FILES
    assert sum(file.stat().st_size for file in files) <= 1000 * logs.FILES
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert "line 499" in (tmp_path / "logs" / "daemon.log").read_text()


def test_nobody_can_forge_a_line(tmp_path: Path) -> None:
    logs.configure(tmp_path / "daemon.log", "INFO")
    name = "a\nERROR forged\x1b[31m\u202e\udcff"
    logging.getLogger("daemon").warning("not kept: %s", name)
    logging.getLogger("daemon").debug("not at this level")
    logging.getLogger("watchdog").info("nor of others")
    (first, second) = (tmp_path / "daemon.log").read_text("utf-8").splitlines()
    assert "not kept: a" in first and second.startswith("    ERROR forged\\x1b[31m\\x202e\\xdcff")


def test_a_library_that_quotes_a_lot_fills_no_log(tmp_path: Path) -> None:
    logs.configure(tmp_path / "daemon.log", "INFO")
    for number in range(3):
        logging.getLogger("py.warnings").warning("%s", f"{number} already exists for {'x' * 50_000_000}")
    text = (tmp_path / "daemon.log").read_text("utf-8")
    assert "2 already exists" in text and len(text) < 4 * logs.LONGEST


def test_what_says_the_same_again_and_again_is_left_out(tmp_path: Path) -> None:
    logs.configure(tmp_path / "daemon.log", "INFO")
    first = logging.makeLogRecord({"name": "daemon", "levelno": logging.WARNING, "levelname": "WARNING"})
    for second in (0, 59, 60):
        for number in range(1000):
            record = logging.makeLogRecord(vars(first) | {"msg": "disk %d", "args": (number,), "created": 6e7 + second})
            logging.getLogger("daemon").handle(record)
    lines = (tmp_path / "daemon.log").read_text().splitlines()
    assert [line.partition("disk ")[2] for line in lines] == [
        *map(str, range(9)), "9 (the same is left out until this minute is over)",
    ] * 2  # fmt: skip


def test_a_log_whose_folder_is_removed_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that cannot be made anew harms nobody."""
    monkeypatch.setattr(logs, "FILE_BYTES", 1000)
    folder = tmp_path / "logs"
    logs.configure(folder / "daemon.log", "INFO")
    say = logging.getLogger("daemon").info
    say("before")
    shutil.rmtree(folder)
    say("after")
    assert "after" in (folder / "daemon.log").read_text() and stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.rename(tmp_path / "elsewhere")
    for number in range(100):
        say("line %d", number)
    assert "line 99" in (folder / "daemon.log").read_text() and len([*folder.iterdir()]) == logs.FILES
    assert "after" in (tmp_path / "elsewhere" / "daemon.log").read_text()
    shutil.rmtree(folder)
    folder.write_text("somebody's file")
    say("to nobody")
    folder.unlink()
    say("again")
    assert "again" in (folder / "daemon.log").read_text()
