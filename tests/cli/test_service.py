"""pal daemon install, uninstall: the files that the system gets, and what it is told."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.cli.service import describe_agent, describe_unit
from daemon.paths import Paths
from daemon.testing import run_daemon
from tests.cli.conftest import Pal


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that writes down what it is told, and fails with `fail` beside it; where services go is here."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "systemctl"
    tool.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/told\ntest ! -e {folder}/fail || {{ echo no bus >&2; exit 1; }}\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder / "told"


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_a_daemon_becomes_a_service_and_no_service(pal: Pal, home: Path, told: Path, tmp_path: Path) -> None:
    file = tmp_path / "config" / "systemd" / "user" / "palimpsest.service"
    text = pal("daemon", "install", "--print").stdout
    assert not file.exists() and not told.exists() and not home.exists(), "nothing is changed by looking"
    with run_daemon(home) as daemon:
        assert daemon.process is not None
        assert pal("daemon", "install").stdout == f"Installed: {file}\n"
        assert daemon.process.wait(20) == 0, "the service takes its place"
    assert file.read_text() == text
    assert told.read_text().splitlines() == ["--user daemon-reload", "--user enable --now palimpsest"]
    told.unlink()
    assert pal("daemon", "uninstall").stdout == f"Removed: {file}\n"
    assert told.read_text().splitlines() == ["--user disable --now palimpsest", "--user daemon-reload"]
    assert not file.exists()
    assert "It was not installed" in pal("daemon", "uninstall").stderr


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_a_system_that_does_not_take_it_is_told(pal: Pal, told: Path) -> None:
    told.with_name("fail").touch()
    result = pal("daemon", "install")
    assert result.exit_code == 1 and "It is not installed. systemctl --user daemon-reload: no bus" in result.stderr
    assert "It was not installed" in pal("daemon", "uninstall").stderr


def test_the_unit_may_write_nothing_but_its_own(tmp_path: Path) -> None:
    home = tmp_path / 'a "b" %c $d'
    (tmp_path / "usb").mkdir()
    text = describe_unit(Paths.in_folder(home), [tmp_path / "usb"]).text
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    assert f'ReadWritePaths="{tmp_path}/a \\"b\\" %%c $d" ' in text and f'"{tmp_path}/usb"' in text
    assert f'Environment="PALIMPSEST_HOME={tmp_path}/a \\"b\\" %%c $d"' in text
    assert {"UMask", "NoNewPrivileges", "ProtectSystem", "ProtectHome", "MemoryMax", "TasksMax"} <= lines.keys()
    assert (lines["ProtectSystem"], lines["ProtectHome"], lines["Restart"]) == ("strict", "read-only", "on-failure")
    assert {"3", "78"} <= set(lines["RestartPreventExitStatus"].split())
    if tool := shutil.which("systemd-analyze"):
        unit = tmp_path / "palimpsest.service"
        unit.write_text(text)
        (tmp_path / "run").mkdir()
        environment = os.environ | {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
        said = subprocess.run(
            [tool, "verify", "--user", "--man=no", unit], capture_output=True, text=True, env=environment
        )
        assert (said.returncode, said.stdout + said.stderr) == (0, "")


def test_the_agent_starts_again_after_a_crash_alone(tmp_path: Path) -> None:
    paths = Paths.in_folder(tmp_path / "<home>")
    agent = plistlib.loads(describe_agent(paths).text.encode())
    assert agent["ProgramArguments"] == [sys.executable, "-P", "-m", "daemon", "run"]
    assert agent["EnvironmentVariables"]["PALIMPSEST_HOME"] == str(paths.data)
    assert (agent["RunAtLoad"], agent["KeepAlive"], agent["Umask"]) == (True, {"SuccessfulExit": False}, 0o077)
    assert agent["SoftResourceLimits"] == {"NumberOfFiles": 4096, "Core": 0}
