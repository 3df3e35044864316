"""The benchmark of answers: its figures on replies made by hand, and a whole run over an invented persona."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import lifelog
from benchmarks.lifelog import Reply, answer_lines, score

FILES = {
    "2023-02-01 boat.md": "# The boat\n\nThe Petrel is moored in Bergen harbour.\n",
    "2024-03-05 boat.md": "# The boat\n\nSince March the Petrel is moored in Oslo harbour.\n",
    "2024-06-01 stove.md": "# Stove\n\nThe stove on the Petrel burns paraffin.\n",
    "2022-05-20 dentist.md": "# Dentist\n\nDoctor Vane pulled the last wisdom tooth.\n",
    "empty.md": "",
}
QUESTIONS: list[dict[str, Any]] = [
    {"type": "single", "question": "What does the stove on the Petrel burn?", "accept": ["paraffin"], "evidence": [2]},
    {"type": "past_as_of", "question": "Where is the Petrel moored?", "accept": ["Bergen"], "reject": ["Oslo"],
     "evidence": [0], "as_of": "2023-06-01"},
    {"type": "no_answer", "question": "Who mended the accordion in Tbilisi?", "accept": ["nothing"]},
]  # fmt: skip


def persona(folder: Path, **changes: Any) -> Path:
    """A persona in `folder`/ida; `changes` replace keys of the second question."""
    ida = folder / "dev" / "ida"
    (ida / "files").mkdir(parents=True)
    names = list(FILES)
    for name, text in FILES.items():
        (ida / "files" / name).write_text(text, encoding="utf-8")
    manifest = [{"path": f"files/{name}", "date": (name + "2024-12-31")[:10]} for name in reversed(names[:4])]
    manifest.append({"path": "files/empty.md", "date": "2024-07-01"})
    questions = []
    for i, asked in enumerate(QUESTIONS):
        asked = {"id": f"q{i}", "reject": [], "as_of": None, "evidence": []} | asked | (changes if i == 1 else {})
        questions.append(asked | {"evidence": [f"files/{names[n]}" for n in asked["evidence"]]})
    for name, rows in (("manifest.jsonl", manifest), ("questions.jsonl", questions)):
        (ida / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ida


def reply(type_: str, lines: tuple[str, ...], cited: tuple[str, ...] = (), refused: bool = False) -> Reply:
    asked = {"type": type_, "accept": ["Oslo"], "reject": ["Bergen"], "evidence": ["a", "b"] if cited else []}
    return Reply(asked, lines, cited, cited[::-1], refused, 10.0, "\n".join(lines))


def test_the_answer_is_its_lines_without_marks_and_earlier_values() -> None:
    text = "- It lies in Oslo [1]\n- earlier: it lay in Bergen [2]\n\n- It cost 1. 5 [12] in all [3]"
    assert answer_lines(text) == ("It lies in Oslo", "It cost 1. 5 [12] in all")
    assert answer_lines("I find nothing.") == ("I find nothing.",)
    assert answer_lines("") == ()


def test_figures() -> None:
    result = score(
        [
            reply("current", ("Oslo",), cited=("a", "c", "b")),
            reply("current", ("Bergen", "Oslo")),
            reply("past_as_of", ("Nowhere", "Oslo", "x", "Bergen"), cited=("c", "a")),
            reply("current", ("nothing",), refused=True),
            reply("no_answer", ("It is Oslo",), refused=True),
            reply("no_answer", ("x",)),
        ]
    )
    assert result["accuracy"] == pytest.approx(100 * 2 / 6, abs=0.01)
    assert result["accuracy_first_three"] == 50  # the third is right in its second line, the fourth line is too late
    assert result["types"]["current"] == {
        "questions": 3, "accuracy": 33.33, "accuracy_first_three": 33.33,
        "accepted_first": 33.33, "accepted_first_three": 66.67,
    }  # fmt: skip
    assert result["held"] == {
        "questions": 3, "accepted_first": 33.33, "accepted_first_three": 66.67, "shown": 66.67,
        "stale": 33.33,
    }  # fmt: skip
    assert result["stale"] == 25  # one of four questions for a value
    assert result["evidence"] == {"1": 25, "3": 75, "5": 75, "10": 75}
    assert result["evidence_found"] == {"1": 50, "3": 75, "5": 75, "10": 75}
    assert result["false_refusals"] == 25
    assert result["right_refusals"] == 50


def test_a_persona_is_read_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    persona(tmp_path)
    reference = tmp_path / "scorer.py"
    reference.write_text("def judge(question, answer):\n    return question['type'] == 'past_as_of'\n")
    arguments = ["--json", "--replies", str(tmp_path / "replies.jsonl"), "--reference", str(reference)]
    assert lifelog.main(["--data", str(tmp_path), *arguments]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert (result["set"], result["questions"]) == ("ida", 3)
    assert result["types"]["single"]["accuracy"] == result["types"]["past_as_of"]["accuracy"] == 100
    assert result["evidence"]["5"] == result["evidence_found"]["5"] == 100
    assert (result["false_refusals"], result["right_refusals"], result["stale"]) == (0, 100, 0)
    assert "empty.md was skipped: empty file" in said.err
    replies = [json.loads(line) for line in (tmp_path / "replies.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in replies] == ["q0", "q1", "q2"]
    assert "paraffin" in replies[0]["answer"]
    assert replies[1]["evidence"][0] == "files/2023-02-01 boat.md"
    refusal_is_right = result["types"]["no_answer"]["accuracy"] == 100
    assert result["judged_otherwise"] == 2 + 2 * refusal_is_right  # each answer twice: its first line, its first three


def test_a_table_has_a_row_for_each_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lifelog.main(["--data", str(persona(tmp_path)), "--limit", "2"]) == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["ida", "2"] in rows
    assert ["past_as_of", "1"] in rows
    assert ["no_answer", "1"] not in rows


def test_what_is_found_with_and_without_the_walk_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lifelog.main(["--data", str(persona(tmp_path)), "--found"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["memory", "all", "2", "100.0", "100.0", "100.0", "100.0"] in rows
    assert {row[0] for row in rows[3:] if row} == {"memory", "bm25", "vector", "fused"}


def test_what_is_wrong_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(message: str, *arguments: str) -> None:
        assert lifelog.main(["--data", str(tmp_path), *arguments]) == 2
        assert message in capsys.readouterr().err

    fails("Nothing in")
    ida = persona(tmp_path, as_of="last summer")
    fails('must be a day like 2024-03-01, not "last summer"')
    (ida / "files" / "2024-06-01 stove.md").unlink()
    fails("which is not there")
    assert lifelog.main(["--data", str(tmp_path / "nowhere")]) == 2


def test_a_reference_without_a_judge_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    persona(tmp_path)
    (tmp_path / "scorer.py").write_text("")
    for name, message in (("scorer.py", "no function judge"), ("none.py", "cannot be read"), ("x.txt", "no Python")):
        assert lifelog.main(["--data", str(tmp_path), "--limit", "1", "--reference", str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err.replace("is not a Python", "no Python")
