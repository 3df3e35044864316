"""The benchmark of many facts: the same is invented each time, told as it is asked for, and measured."""

from __future__ import annotations

import json

import pytest

from benchmarks import facts


def test_the_same_is_invented_each_time_and_each_note_says_what_it_tells() -> None:
    notes = facts.invent(25)
    assert notes == facts.invent(25)
    assert [len(told) for _, told in notes] == [10, 10, 5]
    assert all(one.sentence() in document.text for document, told in notes for one in told)


def test_few_facts_are_stated_asked_for_and_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts.main(["--facts", "40", "--questions", "3", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["facts"], figures["questions"]) == (40, 3)
    assert 0 < figures["facts_p50_ms"] < figures["p95_ms"]
