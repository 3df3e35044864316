"""The share of notes whose written day agrees with the manifest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import dating


def test_files_with_and_without_their_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = {"dated.md": "---\ndate: 2025-03-04\n---\nRain.", "bare.md": "Sun.", "2025-03-06.md": "Snow."}
    days = {"dated.md": "2025-03-04", "bare.md": "2025-03-05", "2025-03-06.md": "2025-03-01"}
    (tmp_path / "files").mkdir()
    for name, text in notes.items():
        (tmp_path / "files" / name).write_text(text)
    (tmp_path / "questions.jsonl").write_text("")
    rows = [json.dumps({"path": f"files/{name}", "date": day}) for name, day in days.items()]
    (tmp_path / "manifest.jsonl").write_text("\n".join(rows))
    assert dating.main(["--data", str(tmp_path), "--json", "--misses"]) == 0
    out, err = capsys.readouterr()
    total = json.loads(out.splitlines()[-1])
    assert total["manifest"] == {"right": 66.67, "undated": 0.0, "wrong": 33.33}
    assert total["lost"] == {"right": 33.33, "undated": 33.33, "wrong": 33.33}
    assert "bare.md: 2025-03-05, found None" in err
