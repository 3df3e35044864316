"""The benchmark of replay: a whole run over a small invented set, with its variants and other questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import replay
from tests.benchmarks import sets

VARIANTS = [
    ("Who was Weir Cottage built by?", "When was Weir Cottage built?", "1811", ["d0"]),
    ("Which village did the builder of Weir Cottage come from?", "Which fair is the village of Quill known for?",
     "goose fair", ["d2"]),
    ("On the Aske, what was it that barges carried?", "What carried lime along the Aske?", "barges", ["d4"]),
    ("Where did the kiln stand that burned lime until the war?", "What did the kiln at Brack burn until the war?",
     "lime", ["d6"]),
]  # fmt: skip


def variants(folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = [
        {"id": f"q{i}", "similar": similar, "different": different, "different_answer": answer, "different_gold": gold}
        for i, (similar, different, answer, gold) in enumerate(VARIANTS)
    ]
    (folder / "river.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(capsys: pytest.CaptureFixture[str], data: Path, *arguments: str) -> dict[str, Any]:
    assert replay.main(["--data", str(data), "--json", *arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_each_phase_stands_beside_the_same_questions_without_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets.river(tmp_path / "river")
    variants(tmp_path / "replay")
    result = run(capsys, tmp_path, "--sets", "river", "--oracle-error", "0")
    phases = {one["phase"]: one for one in result["phases"]}
    assert [name for name in phases if name.startswith("round")] == [
        "round 2, same", "round 3, different", "round 4, same", "round 5, different"
    ]  # fmt: skip
    assert {"other words after 1 turn", "different after 1 turn", "again, 3"} < set(phases)
    control, first, again = (phases[name] for name in ("without memory", "first time", "again, 1"))
    assert control["saved"] == 0 and control["memory"]["edges"] == 0 and control["stage_p95_ms"] is None
    assert phases["without memory, retry"]["memory"]["slots"] == 0
    assert first["right"] == control["right"] == 100 and first["gained"] == 0
    assert first["memory"]["edges"] > 0 and 0 < first["memory"]["share"] < 100
    # An answer without proof is not replayed, but looked for in other words.
    assert 0 < again["at_r0"] <= again["brought"] and again["precision"] == 100 and again["gained"] == 0
    assert again["saved_answered"] > 0
    assert again["wrong_r0"] == again["false_r0"] == again["in_vain"] == 0 and again["stage_p95_ms"] > 0
    different = phases["different after 1 turn"]
    assert different["right"] == phases["without memory, different"]["right"] == 100
    assert result["drift"] == [] and result["error"] == 0


def test_a_set_without_variants_is_asked_again_and_drifts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "DRIFTS", "talks")
    sets.talks(tmp_path / "talks")
    result = run(capsys, tmp_path, "--sets", "talks", "--drift", "8")
    assert [one["phase"] for one in result["phases"]] == [
        "without memory", "without memory, retry", "first time", "again, 1", "again, 2", "again, 3"
    ]  # fmt: skip
    assert [one["others"] for one in result["drift"]] == [0, 2, 4, 6, 8]
    assert all(one["probed"] == 3 for one in result["drift"]), "a question without an answer teaches nothing"
    assert result["drift"][-1]["memory"]["edges"] > result["drift"][0]["memory"]["edges"]


def test_the_table_has_a_row_per_phase(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets.talks(tmp_path / "talks")
    assert replay.main(["--data", str(tmp_path), "--sets", "talks", "--drift", "0", "--limit", "2"]) == 0
    out = capsys.readouterr().out
    assert "again, 3" in out and "in vain" in out


def test_a_question_without_a_variant_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets.river(tmp_path / "river")
    (tmp_path / "replay").mkdir()
    (tmp_path / "replay" / "river.jsonl").write_text("", encoding="utf-8")
    assert replay.main(["--data", str(tmp_path), "--sets", "river"]) == 2
    assert "q0" in capsys.readouterr().err
