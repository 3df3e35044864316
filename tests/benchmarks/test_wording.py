"""The benchmark of wording: right and wrong sentences against the note they cite."""

import json
from pathlib import Path

import pytest

from benchmarks import wording
from tests.benchmarks.test_updates import FILES, GOLD


def test_right_and_wrong_sentences_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    persona = tmp_path / "ida"
    (persona / "files").mkdir(parents=True)
    for name, text in FILES.items():
        (persona / "files" / name).write_text(text)
    for name in ("manifest", "questions"):
        (persona / f"{name}.jsonl").write_text("\n".join(map(json.dumps, GOLD[name])))
    asked = {"set": "ida", "title": "files/2024-03-05 boat.md", "question": "Where is the Petrel moored?"}
    said = [("Since March the Petrel lies in Oslo.", None), ("The Petrel is moored in Bergen.", "time")]
    rows = [asked | {"said": one, "wrong": wrong} for one, wrong in said]
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert wording.main([str(tmp_path / "said.jsonl"), "--data", str(persona), "--json"]) == 0
    right, wrong = map(json.loads, capsys.readouterr().out.splitlines())
    assert (right["kind"], right["refused"]) == ("right", False)
    assert (wrong["kind"], wrong["refused"]) == ("time", True)
    assert wording.table([right, wrong], "set") == [
        {"set": "ida", "right": 1, "right_refused": 0, "wrong": 1, "wrong_refused": 1, "share": 100.0}
    ]
    (tmp_path / "said.jsonl").write_text(json.dumps(asked | {"said": "It is.", "title": "lost"}))
    assert wording.main([str(tmp_path / "said.jsonl"), "--data", str(persona)]) == 2
