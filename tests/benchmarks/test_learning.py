"""The benchmark of learning at night as it is called, over a few invented passages."""

import json
from pathlib import Path

import pytest

from benchmarks import learning
from tests.benchmarks import sets
from tests.plugins.rankers.trials import scorer_of


def test_a_set_is_traced_learnt_from_and_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    river = str(sets.river(tmp_path / "river"))
    assert learning.main(["--data", river, "--least", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["set"], result["traced"], result["questions"]) == ("river", 4, 3), "one names nothing"
    assert (result["trained"], result["measured"], result["promoted"]) == (1, 1, False)
    assert result["reached"] == 100 and result["labels"]["citation"] > 0
    assert 0 <= result["sigma"] <= 100 and 0 <= result["scorer"] <= 100
    assert set(result["before"]) == set(learning.BESIDE) and result["after"] == {}
    assert all(0 <= one["5"] <= one["50"] <= 100 for one in result["before"].values())
    assert result["bytes"] == len(scorer_of(1).pack())
    assert learning.main(["--data", river]) == 0
    assert "river, spread+sketches" in capsys.readouterr().out


def test_trials_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert learning.main(["--trials", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == {
        "trials": 3, "noise": 0, "signal": 1, "was": 0, "promoted": 1, "lowered": 0,
    }  # fmt: skip
    assert learning.main(["--trials", "3"]) == 0
    assert "lowered" in capsys.readouterr().out


def test_it_needs_something_to_measure() -> None:
    with pytest.raises(SystemExit) as error:
        learning.main([])
    assert error.value.code == 2
