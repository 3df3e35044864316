"""The benchmark of the check: what it takes for right and for wrong, on invented sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import grounding

TEXTS = ("Ana lives in Porto, behind the harbour.", "Bob lives in Lisbon with a goat.", "The rent is 1,250 euros.")
ASKED = (("Where does Ana live?", "Porto", "0"), ("Where does Bob live?", "Lisbon", "1"), ("Yes?", "yes", "2"),
         ("What is not there?", "Elvis", "2"))  # fmt: skip


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    corpus = [{"id": str(n), "title": f"note {n}", "text": text} for n, text in enumerate(TEXTS)]
    queries = [{"id": f"q{n}", "question": q, "answer": a, "gold": [g]} for n, (q, a, g) in enumerate(ASKED)]
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_right_and_wrong_claims_are_made_of_what_stands_in_the_evidence(small: Path) -> None:
    found = grounding.cases(small / "small")
    assert [case.answer for case in found] == ["Porto", "Lisbon"]
    result = grounding.judged(found)
    assert (result["right"], result["right_refused"], result["wrong"], result["wrong_refused"]) == (8, 0.0, 8, 100.0)


def test_a_persona_is_read_by_its_evidence_files(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.md").write_text("word " * 300 + "The hourly rate is 52 euros now.")
    row = {
        "question": "Which rate holds?",
        "answer": "52 euros",
        "accept": ["52 euros"],
        "evidence": ["files/a.md"],
        "type": "current",
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row | {"type": "no_answer"}) + "\n")
    (case,) = grounding.cases(tmp_path)
    assert case.kind == "number" and len(case.evidence.split()) <= grounding.WORDS


def test_it_runs_from_the_command_line(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grounding.main(["--data", str(small), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["small"]["questions"] == 2
    assert grounding.main(["--data", str(small)]) == 0 and "small" in capsys.readouterr().out
    assert grounding.main(["--data", str(small / "none")]) == 2
