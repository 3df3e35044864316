from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from daemon.cli import main

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
