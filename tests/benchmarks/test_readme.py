"""README's tables from what the benchmarks print."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import answers, peers, readme, recall
from tests.benchmarks import sets


def test_the_readme_has_a_place_for_every_table() -> None:
    text = readme.README.read_text("utf-8")
    for part in readme.PARTS:
        assert len(re.findall(rf"<!-- {part} -->\n.*?<!-- end -->", text, re.DOTALL)) == 1


def test_the_tables_are_made_of_what_the_benchmarks_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    sets.river(data / "river")
    sets.talks(data / "talks.v1")
    monkeypatch.setattr(peers, "PEERS", {})
    assert recall.main(["--data", str(data), "--json", "--ablations", "no-graph", "--turns"]) == 0
    (tmp_path / "recall.jsonl").write_text(capsys.readouterr().out, encoding="utf-8")
    assert peers.main(["--data", str(data), "--json"]) == 0
    (tmp_path / "peers.jsonl").write_text(capsys.readouterr().out, encoding="utf-8")
    assert answers.main(["--data", str(data), "--json", "--oracle", "--error", "0.1"]) == 0
    (tmp_path / "answers.jsonl").write_text(capsys.readouterr().out, encoding="utf-8")
    page = tmp_path / "README.md"
    page.write_text(
        "Before.\n" + "".join(f"<!-- {part} -->\nold\n<!-- end -->\n" for part in readme.PARTS) + "After.\n"
    )
    monkeypatch.setattr(readme, "README", page)
    files = [str(tmp_path / f"{name}.jsonl") for name in ("recall", "peers", "answers")]
    assert readme.main(["--results", *files]) == 0
    text = page.read_text("utf-8")
    assert text.startswith("Before.\n")
    assert text.endswith("After.\n")
    assert "old" not in text
    assert re.findall("<!-- (.*) -->", text) == [name for part in readme.PARTS for name in (part, "end")]
    assert text.count("| set |") == 3
    assert "| river | 4 | 8 |" in text
    assert re.search(r"^\| no-graph \| \d+\.\d / \d+\.\d, [+-]\d+\.\d ± \d+\.\d, × \d+\.\d \|", text, re.MULTILINE)
    assert re.search(r"^\| single turns, memory \|( \d+\.\d \|){8}$", text, re.MULTILINE)
    assert re.search(r"^\| talks\.v1 \| palimpsest \|", text, re.MULTILINE)
    assert re.search(r"^\| river \| oracle, 10 % wrong, normal \| 4 \|", text, re.MULTILINE)
    assert re.search(r"^\| talks\.v1 \| oracle, 10 % wrong: whole \| 4 \|", text, re.MULTILINE)
    assert "| - |" not in text[: text.index("<!-- answers -->")].replace("| memory | - |", "")


def test_results_of_one_kind_leave_the_other_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    page.write_text("<!-- recall -->\nkept\n<!-- end -->\n<!-- peers -->\nold\n<!-- end -->\n")
    monkeypatch.setattr(readme, "README", page)
    (tmp_path / "peers.jsonl").write_text(json.dumps({"set": "river", "embedder": "static", "systems": {}}))
    assert readme.main(["--results", str(tmp_path / "peers.jsonl")]) == 0
    assert "kept" in page.read_text()
    assert "old" not in page.read_text()


def test_a_wrong_call_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = readme.README.read_text("utf-8")
    assert readme.main(["--data", str(tmp_path)]) == 2
    assert readme.main(["--results", str(tmp_path / "nothing.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert readme.README.read_text("utf-8") == before
