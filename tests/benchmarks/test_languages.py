"""The benchmark of scripts runs, and compares with English."""

from __future__ import annotations

import json

import pytest

from benchmarks import languages


def test_every_script_is_compared_with_english(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "QUESTIONS", 8)
    assert languages.main(["--json", "--episodes", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["set"] for row in rows] == list(languages.SCRIPTS)
    assert set(rows[0]["times_english"].values()) == {1.0}
    assert all(row["index_mb_per_1000"] > 0 and row["episodes"] >= 2 for row in rows)
    assert rows[0]["reading_mb_per_1000"] == 0 < rows[4]["reading_mb_per_1000"]
