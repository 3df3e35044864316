from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from daemon.cli import main
from tests.cli.vault import NOTES, Shell

Pal = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and nobody at the terminal."""
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path / "home"


@pytest.fixture
def pal(home: Path) -> Pal:
    """Runs `pal` in this process, in an empty home where no daemon runs and none is started."""

    def run(*args: str, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, ["--no-start", *args], input=input, prog_name="pal")

    return run


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """An empty home; the daemon starts with the first command that needs it."""
    shell = Shell(tmp_path, tmp_path / "home")
    yield shell
    shell.pal("daemon", "stop")


@pytest.fixture(scope="session")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The example notes, read once, in ./notes. Tests that share it leave it as it is."""
    folder = tmp_path_factory.mktemp("vault")
    shutil.copytree(NOTES, folder / "notes")
    shell = Shell(folder, folder / "home")
    added = shell.pal("add", "notes")
    assert added.code == 0, added
    yield shell
    shell.pal("daemon", "stop")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The example notes, read, for all tests of a module, which ask one after the other."""
    folder = tmp_path_factory.mktemp("town")
    shell = Shell(folder, folder / "home")
    assert shell.pal("add", str(NOTES)).code == 0
    yield shell
    shell.pal("daemon", "stop")
