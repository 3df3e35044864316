"""The benchmark of answers: whole runs over invented sets, without a model, with the oracle, with a model by name."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import answers
from tests.benchmarks import sets
from tests.benchmarks.test_lifelog import persona
from tests.fakes import FakeOllama, OllamaModel
from tests.fakes.answering import answers as truthful


def world(folder: Path) -> Path:
    """Passages, chats and a persona."""
    sets.river(folder / "river")
    sets.talks(folder / "talks")
    persona(folder / "lives")
    return folder


def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The results by set, and what came of each question."""
    file = tmp_path / "questions.jsonl"
    assert answers.main(["--data", str(tmp_path / "data"), "--json", "--questions", str(file), *arguments]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {one["set"]: one for one in results}, [
        json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()
    ]


def test_the_oracle_is_right_whenever_the_gold_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world(tmp_path / "data")
    results, rows = run(capsys, tmp_path, "--oracle", "--keep", str(tmp_path / "kept"))
    assert set(results) == {"river", "talks", "ida"}
    for row in rows:
        if row["by_model"] and row["gold"] and row["kind"] not in ("5", "no_answer"):
            assert row["right"] == row["complete"], row
    memory = {(row["set"], row["id"]): row for row in rows if row["system"] == "memory"}
    village = memory["river", "q1"]
    assert (village["answer"], village["exact"], village["error"]) == ("Quill.", True, None)
    assert (village["complete"], village["in_context"], village["cited"]) == (True, 1, 1)
    assert village["calls"] == 1 and village["prompt_tokens"] > 300 and village["completion_tokens"] > 0
    assert results["river"]["accuracy"] == results["river"]["complete"] == 100
    assert results["river"]["few_calls"] == 100 and results["river"]["calls"] == 1
    assert results["river"]["route_ms"] is not None and results["river"]["tiers"] == {"R2": 4}
    assert results["talks"]["right_refusals"] == 100  # category 5 stands apart
    assert results["talks"]["kinds"]["5"]["accuracy"] is None and results["talks"]["answerable"] == 3
    assert memory["talks", "q0"]["answer"] == "Three." or memory["talks", "q0"]["answer"] == "three."
    assert results["ida"]["right_refusals"] == 100 and results["ida"]["accuracy"] == 100
    assert results["ida"]["stale"] == 0
    assert set(results["river"]["baselines"]) == {"grep", "whole"}
    whole = results["river"]["baselines"]["whole"]
    assert whole["complete"] == whole["accuracy"] == 100
    assert {path.name for path in (tmp_path / "kept").iterdir()} >= {"river.db", "talks.db", "ida.db"}
    again, _ = run(capsys, tmp_path, "--oracle", "--sets", "river", "--keep", str(tmp_path / "kept"))
    assert again["river"]["accuracy"] == 100 and set(again) == {"river"}


def test_what_recall_does_not_find_is_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More gold than an answer gets at first: what the oracle picks adds up, and with tools it finds more."""
    colours = """red blue green grey black white brown pink amber ivory teal plum rust sand lime coral olive khaki navy
        mauve puce ochre fawn beige cyan jade onyx ruby lilac slate""".split()
    colours += [f"dark {colour}" for colour in colours]
    for n in (14, 50):
        corpus = [
            {"id": f"d{i}", "title": f"Kite {i}", "text": f"Alba Reyes flew a {colour} kite near the lake."}
            for i, colour in enumerate(colours[:n])
        ]
        asked = {"id": "q", "question": "What did Alba Reyes fly near the lake?", "answer": "pink kite"}
        sets.write_set(tmp_path / "data" / f"kites{n}", corpus, [asked | {"gold": [row["id"] for row in corpus]}])
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for effort in ("quick", "normal", "deep"):
        _, rows = run(capsys, tmp_path, "--oracle", "--baselines", "--effort", effort)
        found |= {(row["set"], effort): row for row in rows}
    few = [found["kites14", effort] for effort in ("quick", "normal", "deep")]
    assert [(row["tier"], row["right"], row["complete"]) for row in few] == [
        ("R2", False, False), ("R2", True, True), ("R3", True, True)
    ]  # fmt: skip
    assert few[0]["error"] == "retrieval" and few[0]["refused"] and few[0]["calls"] == 1
    many = [found["kites50", effort] for effort in ("quick", "normal", "deep")]
    assert [row["tier"] for row in many] == ["R2", "R2", "R4"]
    assert many[0]["in_context"] < many[1]["in_context"] < many[2]["in_context"]
    assert many[1]["calls"] == 2 < many[2]["calls"]


def test_errors_have_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world(tmp_path / "data")
    results, rows = run(capsys, tmp_path, "--oracle", "--error", "1", "--effort", "quick", "--baselines")
    asked = [row for row in rows if row["calls"]]  # a citation that is left out is added, so some are right
    assert sum(row["right"] and row["by_model"] for row in asked) < len(asked) / 2
    for name, result in results.items():
        wrong = [row["error"] for row in rows if row["set"] == name and row["error"]]
        assert result["errors"] == {kind: wrong.count(kind) for kind in result["errors"]}
        assert result["baselines"] == {} and result["effort"] == "quick" and result["error"] == 1
    assert {row["error"] for row in rows if row["error"]} >= {"answering"}


def test_without_a_model_lines_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world(tmp_path / "data")
    results, rows = run(capsys, tmp_path)
    assert set(results["river"]["baselines"]) == {"grep"}
    river = [row for row in rows if row["set"] == "river"]
    assert {row["system"] for row in river} == {"memory", "grep"}
    assert all(row["calls"] == row["prompt_tokens"] == 0 and not row["by_model"] for row in river)
    first = river[0]
    assert (
        first["lines"][0]
        == first["answer"]
        == "Weir Cottage was built by Odo Tarn in 1811 above the weir of Lower Fenwick."
    )
    assert first["right"] and not first["exact"] and 0 < first["f1"] < 0.5
    assert results["river"]["complete"] == 100 and results["river"]["accuracy"] >= 50
    assert results["ida"]["kinds"]["single"]["accuracy"] == 100


def test_a_model_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world(tmp_path / "data")
    with FakeOllama(OllamaModel("qwen3:4b"), answer=truthful) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        results, rows = run(capsys, tmp_path, "--llm", "ollama:qwen3:4b", "--sets", "river", "--limit", "3")
        assert len(server.chats) >= 6
    result = results["river"]
    assert (result["mode"], result["questions"], set(result["baselines"])) == ("ollama:qwen3:4b", 3, {"grep"})
    assert rows[0]["prompt_tokens"] == 900 * rows[0]["calls"]  # as the server says
    assert result["accuracy"] > 0


def test_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world(tmp_path / "data")
    assert (
        answers.main(["--data", str(tmp_path / "data"), "--oracle", "--error", "0.1", "--sets", "talks", "lives"]) == 0
    )
    said = capsys.readouterr()
    assert "Answers, oracle, effort normal, error 0.1" in said.out
    assert "talks, whole" in said.out and "ida, grep" in said.out and "refused wrongly" in said.out
    assert "talks, by kind of question" in said.out and "river" not in said.out


def test_what_is_wrong_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(message: str, *arguments: str, data: Path = tmp_path) -> None:
        assert answers.main(["--data", str(data), *arguments]) == 2
        said = capsys.readouterr()
        assert message in said.err and not said.out

    fails("is not a folder", data=tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    fails("Nothing in", data=tmp_path / "empty")
    folder = sets.river(tmp_path / "river")
    queries = folder / "queries.jsonl"
    queries.write_text(queries.read_text(encoding="utf-8").replace('"answer"', '"solution"'), encoding="utf-8")
    fails('the question q0 needs an "answer"')
    fails("There is no set lake in", "--sets", "lake")
    fails("There is no model called 'gpt'", "--llm", "gpt")
    fails("no embedder called", "--embedder", "crystal")
    fails("cannot be written", "--questions", str(tmp_path / "no" / "such"))
    (folder / "corpus.jsonl").write_text("{", encoding="utf-8")
    fails("is not JSON")
    (folder / "corpus.jsonl").write_text("", encoding="utf-8")
    fails("is empty")


@pytest.mark.parametrize(
    "arguments", [["--error", "0.1"], ["--oracle", "--error", "2"], ["--oracle", "--llm", "x"], ["--baselines", "bing"]]
)
def test_a_call_that_cannot_be_meant_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        answers.main(["--data", ".", *arguments])
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child there")
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    corpus = [{"id": f"d{i}", "title": f"Stone {i}", "text": f"Stone {i} lies in row {i % 70}."} for i in range(20_000)]
    query = {"id": "q", "question": "Which stone?", "gold": ["d1"], "answer": "Stone 1"}
    folder = sets.write_set(tmp_path / "stones", corpus, [query])
    (temporary := tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.answers", "--data", str(folder), "--oracle"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
        cwd=Path(__file__).parents[2],
    )
    assert process.stderr is not None
    assert "remember 20000 documents" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Interrupted" in err
    assert not list(temporary.iterdir())


def test_ctrl_c_while_a_class_is_made_ends_it_in_the_same_way(tmp_path: Path) -> None:
    """Dataclasses are made by `exec`, and what a lazy import brings may be one: of `python -m` that ended by a
    signal."""
    code = """
import sys
from benchmarks.command import run

sys.exit(run(lambda: exec("raise KeyboardInterrupt")))
"""
    (tmp_path / "interrupted.py").write_text(code)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])}
    done = subprocess.run([sys.executable, "-m", "interrupted"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")
