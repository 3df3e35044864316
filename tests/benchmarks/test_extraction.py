"""The benchmark of extraction: what of a recording is taken, and why the rest is not."""

import json
from pathlib import Path

import pytest

from benchmarks import extraction
from tests.benchmarks.test_updates import AFTER, BEFORE, FILES, GOLD, triple


def test_what_the_passage_does_not_hold_is_lost_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    persona = tmp_path / "ida"
    (persona / "files").mkdir(parents=True)
    for name, text in FILES.items():
        (persona / "files" / name).write_text(text)
    for name in ("manifest", "questions"):
        (persona / f"{name}.jsonl").write_text("\n".join(map(json.dumps, GOLD[name])))
    read = {
        BEFORE: [triple("Bergen", "The Petrel is moored in Bergen"), triple("999", "The Petrel is moored in Bergen")],
        AFTER: [triple("Oslo", "the Petrel is moored in Oslo")],
    }
    (tmp_path / "recorded").mkdir()
    rows = [{"path": path, "extraction": {"objects": [], "triples": of, "theses": []}} for path, of in read.items()]
    (tmp_path / "recorded" / "ida.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert extraction.main(["--data", str(persona), "--json"]) == 0
    ida, every = map(json.loads, capsys.readouterr().out.splitlines())
    assert (ida["facts"], ida["lost"]) == (every["facts"], every["lost"]) == (3, 1)
    assert ida["reasons"] == {"fact: its number is not in the text": 1}
