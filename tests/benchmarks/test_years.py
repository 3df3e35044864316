"""The benchmark of years of questions: it asks what was asked, learns, and leaves the memory that is kept alone."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks import years
from memory import Memory
from plugins import manager
from tests.benchmarks.sets import river


def test_other_words_are_the_same_words_but_one() -> None:
    question = "What about the red boat that lies in Skagen all winter?"
    for seed in range(20):
        other = years.reworded(question, random.Random(seed))
        assert other != question and other.endswith("?")
        words, kept = question.rstrip("?").split(), other.rstrip("?").split()
        assert kept[:2] == words[:2] and len(kept) == len(words) - 1 and set(kept) < set(words)
    assert years.reworded("Who is Ana?", random.Random(1)) == "Tell me: Who is Ana?"


def test_a_memory_that_has_learnt_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in (("PROBED", 6), ("LEARNT", 4), ("WARM_UP", 1), ("AT_ONCE", 20)):
        monkeypatch.setattr(years, name, count)
    kept = tmp_path / "kept.db"
    call = ["--data", str(river(tmp_path / "river")), "--episodes", "30", "--keep", str(kept), "--asked", "60", "30"]
    assert years.main([*call, "--json"]) == 0
    few, many = map(json.loads, capsys.readouterr().out.splitlines())
    assert (few["asked"], many["asked"]) == (30, 60) and few["answered"] > 20
    assert 0 < few["memory"]["slots"] < many["memory"]["slots"]
    same, reworded, other = many["replay"]
    assert [same["questions of"], reworded["questions of"], other["questions of"]] == ["same", "other words", "other"]
    assert same["brought"] == 100.0
    for stage in many["replay"]:
        assert stage["parts_ms"].keys() == set(years.PARTS) and stage["p50_ms"] <= stage["p95_ms"] <= stage["max_ms"]
    assert (few["anew"], many["anew"]) == (False, False), "of so few it is done behind a question"
    with Memory.open(kept, embedder=manager.load().embedder("static")) as memory:
        assert len(memory.state.edge_memory[1].traces) == 0, "nothing was asked of the one that is kept"
    assert years.main(call) == 0
    assert "What grows" in capsys.readouterr().out
