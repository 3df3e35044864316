"""The scale benchmark: what is made up is the same each time and has names that grow and are shared."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import scale
from benchmarks.synthetic import Invention
from tests.benchmarks.sets import RIVER, river

TEXTS = [text for _, text in RIVER]


def test_the_same_is_made_up_each_time() -> None:
    documents = [list(Invention(TEXTS).documents(20)) for _ in range(2)]
    assert documents[0] == documents[1]
    assert len({document.uri for document in documents[0]}) == 20


def test_names_grow_and_are_shared() -> None:
    titles = Counter(document.title for document in Invention(TEXTS).documents(2000))
    assert len(titles) > 500
    assert max(titles.values()) > 5


def test_nothing_is_made_of_nothing() -> None:
    with pytest.raises(ValueError, match="sentences"):
        next(Invention(["Yes."]).documents(1))


def test_half_may_be_real(tmp_path: Path) -> None:
    sets = scale.load_sets(river(tmp_path / "river"))
    refs = [document.ref for document in islice(scale.documents_of(sets, 10), 10)]
    assert refs[:5] == [f"river/d{i}" for i in range(5)]
    assert all(ref.startswith("synthetic/") for ref in refs[5:])


def test_a_kept_memory_is_used_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.db"
    call = ["--data", str(river(tmp_path / "river")), "--episodes", "30", "--json", "--keep", str(kept)]
    assert scale.main(call) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["episodes"] == 30
    assert set(first["stages_ms"]) == {"full text", "vectors", "graph", "rest"}
    assert first["recall_5"] == 100.0
    assert first["open_s"] > 0
    assert scale.main(call[:-3] + call[-2:]) == 0
    shown = capsys.readouterr()
    assert "35" in shown.out, "with the notes of the first run"
    assert "remember" not in shown.err
