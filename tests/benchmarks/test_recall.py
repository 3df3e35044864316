"""The recall benchmark as it is called, over real memories of a few invented passages."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ablations, data, recall
from memory import Memory
from memory.settings import MemorySettings
from plugins import manager
from plugins.traversers import MODULES
from tests.benchmarks import sets


def objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_one_set_gives_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--data", str(sets.river(tmp_path / "river")), "--json"]) == 0
    (result,) = objects(capsys.readouterr().out)
    assert (result["set"], result["questions"], result["documents"]) == ("river", 4, 8)
    assert result["episodes"] == 8
    assert result["recall"]["5"] == result["all"]["5"] == 100
    assert list(result["recall"]) == list(result["all"]) == list(result["margin"]) == ["2", "5", "10"]
    assert set(result["baselines"]) == {"bm25", "vector", "fused"}
    for one in [result, *result["baselines"].values()]:
        assert 0 < one["p50_ms"] <= one["p95_ms"]
        assert 0 <= one["all"]["2"] <= one["recall"]["2"] <= one["recall"]["10"] <= 100
    assert result["episodes_per_s"] > 0
    assert result["mb_per_1000"] > 0


def test_answers_cite_the_gold_with_chains_and_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--data", str(sets.river(tmp_path / "river")), "--json", "--answers"]) == 0
    (result,) = objects(capsys.readouterr().out)
    answers = result["answers"]
    assert answers["questions"] == 4
    assert 50 < answers["no_chains"]["cited"] <= answers["chains"]["cited"] <= 100
    for name in ("chains", "no_chains"):
        assert answers[name]["all"] <= answers[name]["cited"]
        assert 1 <= answers[name]["lines"] <= 5
        assert answers[name]["p50_ms"] > 0


def test_all_ablations_are_measured_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--data", str(sets.river(tmp_path / "river")), "--json", "--ablations"]) == 0
    (result,) = objects(capsys.readouterr().out)
    assert set(result["ablations"]) == set(ablations.ABLATIONS)
    assert {"no-graph", "no-neighbours", "no-seeds", "no-titles", "mixed"} <= set(result["ablations"])
    walks = {name.replace("_", "-") for name in MODULES}
    assert {*walks, "synergy", *ablations.PAPERS} <= set(result["ablations"])
    assert all(one["recall"]["5"] > 50 for one in result["ablations"].values())


def test_ablations_are_chosen_by_name_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ablations.ABLATIONS, "spread-same", ablations.DEFAULT)
    each = tmp_path / "each.jsonl"
    arguments = ["--data", str(sets.river(tmp_path / "river")), "--json", "--questions", str(each)]
    assert recall.main([*arguments, "--ablations", "no-graph", "spread*"]) == 0
    (result,) = objects(capsys.readouterr().out)
    assert set(result["ablations"]) == {"no-graph", *(name for name in ablations.ABLATIONS if "spread" in name)}
    same = result["ablations"]["spread-same"]  # the default's own settings: not asked again
    assert (same["gain"], same["gain_margin"], same["times_ms"], same["times_cpu_ms"]) == (0, 0, 1, 1)
    for one in [*result["ablations"].values(), *result["baselines"].values()]:
        assert one["gain"] == pytest.approx(one["recall"]["5"] - result["recall"]["5"], abs=0.02)
        assert one["times_ms"] == pytest.approx(one["p50_ms"] / result["p50_ms"], abs=0.02)
    rows = objects(each.read_text("utf-8"))
    assert [row["id"] for row in rows if row["configuration"] == "no-graph"] == ["q0", "q1", "q2", "q3"]
    assert {row["configuration"] for row in rows} == {"memory", *result["baselines"], *result["ablations"]}
    for row in rows:
        found = {ref for refs in row["returned"][:2] for ref in refs}
        assert row["recall"]["2"] == len(found & set(row["gold"])) / len(row["gold"])


def test_the_baselines_switch_stages_off(tmp_path: Path) -> None:
    embedder = manager.load().embedder("static")
    questions = data.load(sets.river(tmp_path / "river"))
    recall.build(tmp_path / "m.db", questions.documents, embedder, "river")

    def steps(name: str) -> tuple[set[str], dict[str, float]]:
        settings = MemorySettings(recall=recall.CONFIGURATIONS[name].recall)
        with Memory.open(tmp_path / "m.db", embedder=embedder, settings=settings) as memory:
            found = memory.questions.retrieve("The barges carried lime", k=10).recall
        return {step.name for step in found.trace.steps}, dict(found.hits[0].channels)

    assert "graph" in steps("memory")[0]
    assert all("graph" not in steps(name)[0] for name in ("bm25", "vector", "fused"))
    bm25, vector, fused = (steps(name)[1] for name in ("bm25", "vector", "fused"))
    assert bm25["lexical"] > 0 == bm25["vector"]
    assert vector["vector"] > 0 == vector["lexical"]
    assert fused["lexical"] > 0 < fused["vector"]


def test_turns_are_asked_within_their_conversation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--data", str(sets.talks(tmp_path / "talks")), "--json", "--turns"]) == 0
    (result,) = objects(capsys.readouterr().out)
    assert result["questions"] == 2  # category 5 stands apart, the question without gold is not counted
    assert {name: one["questions"] for name, one in result["categories"].items()} == {"1": 1, "3": 0, "4": 1, "5": 1}
    assert result["recall"]["2"] == result["categories"]["5"]["recall"]["2"] == 100
    assert result["turns_per_episode"] == 3
    assert (result["documents"], result["episodes"]) == (4, 4)
    assert set(result["baselines"]) == {"bm25", "vector", "fused"}
    for one in [result, *result["baselines"].values()]:
        assert list(one["budget_recall"]) == ["1000", "2000", "4000", "8000"]
    assert result["budget_recall"]["1000"] == 100  # a conversation is shorter


def test_single_turns_are_measured_beside_the_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--data", str(sets.talks(tmp_path / "talks")), "--json", "--turns"]) == 0
    (result,) = objects(capsys.readouterr().out)
    assert result["single_turns"]["episodes"] == 11  # of 12 turns one has no words
    found = result["single_turns"]["configurations"]
    assert set(found) == {"memory", "bm25", "vector", "fused", "no-graph", "no-neighbours"}
    assert found["memory"]["recall"]["5"] == found["memory"]["budget_recall"]["8000"] == 100


def test_a_folder_of_sets_is_a_row_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets.river(tmp_path / "data" / "river")
    sets.talks(tmp_path / "data" / "[bold]talks")
    assert recall.main(["--data", str(tmp_path / "data"), "--limit", "2"]) == 0
    table = capsys.readouterr().out
    first = table.split("Against")[0]
    assert [line.split()[0] for line in first.splitlines()[2:4]] == ["[bold]talks", "river"]
    assert "5 (apart)" not in table  # the limit left it out
    assert "within a text budget" in table
    assert (
        recall.main(["--data", str(tmp_path / "data"), "--limit", "2", "--sets", "river", "--ablations", "beam"]) == 0
    )
    table = capsys.readouterr().out
    assert "talks" not in table
    assert "river, beam " in table


def test_the_memory_can_be_kept_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--data", str(sets.river(tmp_path / "river")), "--json", "--keep", str(tmp_path / "kept")]
    assert recall.main(arguments) == 0
    with Memory.open(tmp_path / "kept" / "river.db", embedder=manager.load().embedder("static")) as memory:
        assert memory.browsing.stats().episodes == 8
    assert recall.main(arguments) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "not a folder"),
        (["--data", ".", "--embedder", "crystal"], "no embedder called 'crystal'"),
        (["--data", ".", "--ablations", "gravity"], 'no ablation "gravity". There are: no-graph, '),
        (["--data", ".", "--questions", "no/such/file"], "cannot be written"),
    ],
)
def test_a_wrong_call_is_reported(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out


@pytest.mark.parametrize("arguments", [[], ["--data", ".", "--limit", "0"], ["--data", ".", "--limit", "x"]])
def test_a_call_that_cannot_be_meant_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        recall.main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child there")
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    corpus = [{"id": f"d{i}", "title": f"Stone {i}", "text": f"Stone {i} lies in row {i % 70}."} for i in range(20_000)]
    folder = sets.write_set(tmp_path / "stones", corpus, [{"id": "q", "question": "Which stone?", "gold": ["d1"]}])
    (temporary := tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.recall", "--data", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
        cwd=Path(__file__).parents[2],
    )
    assert process.stderr is not None
    assert "remember 20000 documents" in process.stderr.readline()
    assert list(temporary.iterdir())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Interrupted" in err
    assert not list(temporary.iterdir())
