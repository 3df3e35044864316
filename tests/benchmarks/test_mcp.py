"""The benchmark of agents, with a real daemon and few questions."""

import json
from pathlib import Path

import pytest

from benchmarks import mcp
from tests.benchmarks.sets import river


def test_an_agent_is_measured_both_ways(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "WARM_UP", 1)
    monkeypatch.setattr(mcp, "OTHERS", 1)
    call = ["--data", str(river(tmp_path / "river")), "--episodes", "20", "--limit", "2", "--json"]
    assert mcp.main(call) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["episodes"] == 20 and result["questions"] > 0
    for way in ("api", "stdio", "context", "revisions"):
        assert 0 < result[way]["p50_ms"] <= result[way]["p95_ms"]
