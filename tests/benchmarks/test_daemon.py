"""The daemon's benchmark with a real daemon; fewer calls than it usually makes."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import daemon
from tests.benchmarks import sets


def test_a_daemon_is_measured_and_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ASKED", "HELPED"):
        monkeypatch.setattr(daemon, name, 2)
    for name in ("SETTLE_S", "READER_S"):
        monkeypatch.setattr(daemon, name, 0)
    monkeypatch.setattr(daemon, "NOTES", 3)
    pids: list[int] = []
    idle = daemon._idle

    def watched(pid: int, seconds: float) -> dict[str, float | None]:
        pids.append(pid)
        return idle(pid, seconds)

    monkeypatch.setattr(daemon, "_idle", watched)
    assert daemon.main(["--data", str(sets.river(tmp_path / "river")), "--json", "--idle", "1"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["set"], result["episodes"]) == ("river", 8)
    assert 0 < result["start_s"] < result["first_answer_s"]
    assert 0 < result["ask_p50_ms"] <= result["ask_p95_ms"]
    assert result["help_cpu_ms"] > 0
    if sys.platform == "linux":
        assert result["idle_cpu_percent"] >= 0 and result["reader_idle_cpu_percent"] >= 0
        assert result["idle_wakeups_s"] >= 0
        assert result["rss_mb"] > 10
        assert not Path(f"/proc/{pids[0]}").exists()


def test_a_wrong_folder_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert daemon.main(["--data", str(tmp_path / "nowhere")]) == 2
    assert "not a folder" in capsys.readouterr().err
