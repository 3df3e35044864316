"""The figures of one's own model, as a table for an issue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import own_model
from tests.benchmarks.test_lifelog import persona
from tests.fakes import Fails, FakeOllama, OllamaModel, Reply, Says
from tests.fakes.answering import answers as truthful


def talks(body: dict[str, Any]) -> Reply:
    return Says("ready") if "Say: ready" in str(body["messages"]) else truthful(body)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    persona(tmp_path)


def run(tmp_path: Path, *arguments: str) -> int:
    return own_model.main(
        ["ollama:qwen3:4b", "--data", str(tmp_path / "dev" / "ida"), "--embedder", "static", *arguments]
    )


def test_it_prints_a_table_that_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama(OllamaModel("qwen3:4b"), answer=talks) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert run(tmp_path) == 0
    out = capsys.readouterr().out
    head, ruler, *rows, _, about = out.splitlines()
    assert (head, ruler) == ("|  | without a model | ollama:qwen3:4b |", "| --- | --- | --- |")
    cells = {row.split(" | ")[0].removeprefix("| "): row.removesuffix(" |").split(" | ")[1:] for row in rows}
    assert list(cells) == list(own_model.FIGURES)
    assert cells["calls a question"][0] == "0.00" and float(cells["calls a question"][1]) >= 1
    assert cells["written by the model"][0].startswith("0 of ")
    assert int(cells["right"][1].split(" of ")[0]) >= int(cells["right"][0].split(" of ")[0])
    assert " questions of ida" in about and "ollama:qwen3:4b (build " in about


def test_where_the_time_is_over_fewer_questions_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama(OllamaModel("qwen3:4b"), answer=talks) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert run(tmp_path, "--minutes", "0") == 0
    assert "; 1 of " in capsys.readouterr().out


def test_a_model_that_does_not_answer_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama(OllamaModel("qwen3:4b"), answer=lambda body: Fails(401, "unauthorized")) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert run(tmp_path) == 2
    said = capsys.readouterr()
    assert not said.out and "ollama signin" in said.err
