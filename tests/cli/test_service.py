"""pal daemon install, uninstall: the files that the system gets, and what it is told."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.client.starting import connect
from daemon.paths import Paths
from daemon.service import choose_service, describe_agent, describe_unit
from tests.cli.conftest import Pal
from tests.running import run_daemon


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
        assert daemon.process.wait(60) == 0, "the service takes its place"
    assert file.read_text() == text
    assert told.read_text().splitlines() == ["--user daemon-reload", "--user enable --now palimpsest"]
    told.unlink()
    assert pal("daemon", "uninstall").stdout == f"Removed: {file}\n"
    assert told.read_text().splitlines() == ["--user disable --now palimpsest", "--user daemon-reload"]
    assert not file.exists()
    assert "It was not installed" in pal("daemon", "uninstall").stderr


@pytest.fixture
def system(told: Path, home: Path) -> Iterator[Path]:
    """A systemctl that has a service, too, which it starts and knows the process of; that is here."""
    process, run = told.with_name("process"), f"{sys.executable} -P -m daemon run"
    is_alive = f'kill -0 "$(cat {process} 2>/dev/null)" 2>/dev/null'
    tool = told.with_name("systemctl")
    tool.write_text(
        f'#!/bin/sh\necho "$2" >> {told}\n'
        f"case $2 in\n"
        f"is-active) test ! -e {told.with_name('fail')} || {{ echo failed; exit 3; }}\n"
        f"  {is_alive} && echo active || {{ echo inactive; exit 3; }};;\n"
        f"start) test ! -e {told.with_name('fail')} || {{ echo no bus >&2; exit 1; }}\n"
        f"  {is_alive} || {{ PALIMPSEST_HOME={home} {run} >/dev/null 2>&1 & echo $! > {process}; }};;\nesac\n"
    )
    yield process
    subprocess.run(["sh", "-c", f'kill "$(cat {process})"'], capture_output=True)


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_what_is_installed_is_started_by_the_system(pal: Pal, system: Path, told: Path, home: Path) -> None:
    assert pal("daemon", "install").exit_code == 0
    started = json.loads(pal("daemon", "start", "--json").stdout)
    assert started["pid"] == int(system.read_text())
    again = json.loads(pal("daemon", "restart", "--json").stdout)
    assert started["pid"] != again["pid"] == int(system.read_text()), "a daemon beside the service"
    stopped = pal("daemon", "stop")
    assert stopped.stdout == "Stopped.\n" and "starts again" in stopped.stderr
    assert connect(Paths.in_folder(home)).hello().pid == int(system.read_text()), "any command"
    pal("daemon", "stop")
    told.with_name("fail").touch()
    alone = pal("daemon", "start", "--json")
    assert "runs without it" in alone.stderr and "no bus" in alone.stderr
    assert json.loads(alone.stdout)["pid"] != int(system.read_text())
    pal("daemon", "stop")


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_the_service_of_another_home_is_left_alone(pal: Pal, system: Path, told: Path, tmp_path: Path) -> None:
    file = choose_service(Paths.in_folder(tmp_path / "other"))
    assert file is not None
    file.file.parent.mkdir(parents=True)
    file.file.write_text(file.text)
    assert pal("daemon", "start").exit_code == 0
    pal("daemon", "stop")
    assert not told.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_a_system_that_does_not_take_it_is_reported(pal: Pal, told: Path) -> None:
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
        told = [line for line in (said.stdout + said.stderr).splitlines() if unit.name in line]
        assert (said.returncode, told) == (0, [])  # it may have its say of other units, which are not ours


def test_the_agent_starts_again_after_a_crash_alone(tmp_path: Path) -> None:
    paths = Paths.in_folder(tmp_path / "<home>")
    agent = plistlib.loads(describe_agent(paths).text.encode())
    assert agent["ProgramArguments"] == [sys.executable, "-P", "-m", "daemon", "run"]
    assert agent["EnvironmentVariables"]["PALIMPSEST_HOME"] == str(paths.data)
    assert (agent["RunAtLoad"], agent["KeepAlive"], agent["Umask"]) == (True, {"SuccessfulExit": False}, 0o077)
    assert agent["SoftResourceLimits"] == {"NumberOfFiles": 4096, "Core": 0}
