"""The benchmark of the parts of answering: a run over an invented persona, with a part that its answers need."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import worth
from memory.answering import extractive
from tests.benchmarks.test_lifelog import persona


def test_each_part_is_taken_away_and_put_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    persona(tmp_path)
    absent_names = extractive.absent_names
    parts = ["features: cosine", "lists*", "refusal: absent names"]
    assert worth.main(["--data", str(tmp_path), "--parts", *parts, "--json"]) == 0
    rows = {row["part"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert [*rows] == ["all", "features: cosine", "refusal: absent names", *(p for p in worth.PARTS if "lists" in p)]
    assert rows["all"]["first"] == 100 and rows["lists and digests"]["changed"] == 0
    assert rows["refusal: absent names"]["all first"] == -33.3
    assert extractive.absent_names is absent_names


def test_every_part_exists() -> None:
    assert all(hasattr(place, name) for place, name, _ in {**worth.MEASURED, **worth.PARTS}.values())
