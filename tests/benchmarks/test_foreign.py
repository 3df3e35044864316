"""The benchmark of unknown notes: it reads a folder as `pal add` does, counts, and writes a sheet."""

import json
import os
from pathlib import Path

import pytest

from benchmarks import foreign, rules
from memory.nouns import Document

MAY = 1_715_000_000


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Kiln.md").write_text("# Kiln\n\nLocation: Barn 3\nWeight: 180 kg\n")
    (folder / "empty.md").write_text("\n")
    for path in folder.iterdir():
        os.utime(path, (MAY, MAY))
    return folder


def test_the_facts_of_a_folder_are_counted_by_rule_and_sampled(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.txt"
    assert foreign.main(["--data", str(notes), "--sheet", str(sheet), "--facts", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sources"], found["facts"], found["rules"]) == (1, 2, {"field": 2})
    assert (found["replacements"], found["per_1000"]) == (0, 0.0)
    said = sheet.read_text("utf-8")
    assert said.count("[ ] fact") == 1 and "Kiln.md:" in said
    assert foreign.main(["--data", str(notes / "none")]) == 2


def test_each_relation_has_the_innermost_rule_that_extracts_it() -> None:
    table = "| Part | Weight |\n|---|---|\n| Lid | 20 kg |\n| Base | 90 kg |\n"
    text = f"# Kiln\n\nLocation: Barn 3\n\n- [ ] order cones\n\n{table}"
    document = Document(uri="/Kiln.md", text=text, properties={"colour": "grey"})
    found = {(one.rule, one.relation.object) for one in rules.extract([document])}
    assert found >= {("field", "Barn 3"), ("task", "open"), ("property", "grey"), ("table", "20 kg")}
