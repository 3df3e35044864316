"""What an agent reads before a task: what counts as held, what is cut where, and a run over an invented persona."""

import json
from pathlib import Path

import pytest

from benchmarks import contexts
from benchmarks.contexts import Said, cut_passages, has_gold, holds_gold
from tests.benchmarks.test_lifelog import persona

ASKED = {"type": "current", "accept": ["paraffin"], "reject": [], "evidence": ["files/stove.md"]}


def test_a_line_counts_only_from_a_gold_file_with_an_accepted_value() -> None:
    assert holds_gold(ASKED, [Said("files/x.md", "x"), Said("files/stove.md", "The stove burns Paraffin.")])
    assert not holds_gold(ASKED, [Said("files/x.md", "The stove burns paraffin."), Said("files/stove.md", "A stove.")])
    history = {"type": "history", "require": ["oak", "ash"], "evidence": ["files/stove.md"]}
    assert holds_gold(history, [Said("files/stove.md", "First it was ash.")])


def test_questions_that_no_line_answers_are_left_out() -> None:
    changes = [{}, {"type": "no_answer"}, {"evidence": []}, {"computed": True}]
    assert [has_gold(ASKED | one) for one in changes] == [True, False, False, False]


def test_passages_are_cut_at_as_many_tokens_with_their_heads() -> None:
    long = [Said("a.md", "ä" * 100), Said("b.md", "b" * 100), Said("c.md", "c")]
    cut = list(cut_passages(long, 80))
    assert [one.path for one in cut] == ["a.md", "b.md"] and cut[0] == long[0]
    assert sum(len(f"[1] {one.path}\n{one.text}".encode()) for one in cut) == 240
    assert list(cut_passages(long, 1)) == []


def test_a_run_over_a_persona(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    persona(tmp_path)
    assert contexts.main(["--data", str(tmp_path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["set"], result["questions"]) == ("ida", 2)
    assert result["context"] == result["passages"] == {"500": 100.0, "1000": 100.0, "2000": 100.0}
    assert all(0 < result["tokens"][str(budget)] <= budget for budget in contexts.BUDGETS)


def test_a_wrong_folder_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert contexts.main(["--data", str(tmp_path / "nowhere")]) == 2
    assert "not a folder" in capsys.readouterr().err
