"""The benchmark of grounding: right and wrong sentences against the note they cite."""

import json
from pathlib import Path

import pytest

from benchmarks import grounding
from tests.benchmarks.test_updates import FILES, GOLD


def test_right_and_wrong_sentences_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    persona = tmp_path / "ida"
    (persona / "files").mkdir(parents=True)
    for name, text in FILES.items():
        (persona / "files" / name).write_text(text)
    for name in ("manifest", "questions"):
        (persona / f"{name}.jsonl").write_text("\n".join(map(json.dumps, GOLD[name])))
    asked = {"set": "ida", "title": "files/2024-03-05 boat.md", "question": "Where is the Petrel moored?"}
    said = [("Ana Holt is on leave.", None), ("The Petrel is moored in Bergen.", "time")]
    rows = [asked | {"said": one, "wrong": wrong} for one, wrong in said]
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, rows)))
    call = [str(tmp_path / "said.jsonl"), "--data", str(persona)]
    assert grounding.main([*call, "--json"]) == 0
    right, wrong = map(json.loads, capsys.readouterr().out.splitlines())
    assert (right["kind"], right["verdict"]) == ("right", "proved")
    assert (wrong["kind"], wrong["verdict"]) == ("time", "unproved")
    counts = {"all": 1, "proved": 0, "unproved": 0, "contradicted": 0}
    assert grounding.table([right, wrong], "set") == [
        {"set": "ida", "right": counts | {"proved": 1}, "wrong": counts | {"unproved": 1}}
    ]
    assert grounding.main(call) == 0 and "right proved" in capsys.readouterr().out
    (tmp_path / "said.jsonl").write_text(json.dumps(asked | {"said": "It is.", "title": "lost"}))
    assert grounding.main(call) == 2
