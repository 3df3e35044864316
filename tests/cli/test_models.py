"""pal models: seen, graded, chosen. The daemon is a process of its own, and finds Ollama where OLLAMA_HOST says."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.setup import READING_GAIN
from tests.cli.terminal import at_terminal
from tests.cli.vault import Shell
from tests.fakes import Fails, FakeOllama, Hangs, OllamaModel, Says
from tests.fakes.talents import diligent, sloppy

QWEN = "ollama:qwen3:4b"


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    """An Ollama that every daemon finds which starts from here on."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    models = OllamaModel("qwen3:4b"), OllamaModel("gpt-oss:120b-cloud", remote_host="https://ollama.com")
    with FakeOllama(*models, answer=diligent) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        yield server


def test_none_is_reported_plainly_with_how_to_add_one(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with FakeOllama() as gone:
        monkeypatch.setenv("OLLAMA_HOST", gone.host)
    said = shell.pal("models")
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("No language model can be reached. Everything works without one.")
    assert "Start it: ollama serve" in said.err
    assert "pal models --elsewhere" in said.err
    assert "ANTHROPIC_API_KEY" in shell.pal("models", "--elsewhere").err
    assert shell.pal("models", "probe").code == 4


def test_what_there_is(shell: Shell, ollama: FakeOllama) -> None:
    said = shell.pal("models")
    assert said.code == 0
    head, qwen, cloud, _, *roles = said.out.splitlines()
    assert head.split() == "Model Runs Context Reads Decides Answers Refuses Tools Tokens/s Tokens today Size".split()
    assert qwen.split() == [QWEN, "here", "8,192", *"-------", "2.6", "GB"]
    assert cloud.split()[:3] == ["ollama:gpt-oss:120b-cloud", "elsewhere", "8,192"]
    assert [line.split()[:2] for line in roles] == [["extract", "none"], ["answer", "none"], ["agent", "none"]]
    assert "pal models probe" in said.err
    reply = shell.pal("models", "--json").json
    assert [row["name"] for row in reply["models"]] == [QWEN, "ollama:gpt-oss:120b-cloud"]


def test_at_a_terminal_no_line_is_wider_than_it(shell: Shell, ollama: FakeOllama) -> None:
    graded = at_terminal(shell, "models", "probe", QWEN, keys=[])
    listed = at_terminal(shell, "models", keys=[])
    wrong = at_terminal(shell, "models", "connect", "openai", f"{ollama.url}/v1", keys=[])
    assert (graded.code, listed.code, wrong.code) == (0, 0, 1)
    for said in (graded, listed, wrong):
        assert all(len(line) <= 80 for line in re.split(r"[\r\n]|\x1b\[[\d;?]*\w", said.out)), said.out
    assert re.search(rf"{QWEN} +here +100%", listed.out) and "Correct openai.url." in wrong.out


def test_grading(shell: Shell, ollama: FakeOllama) -> None:
    said = shell.pal("models", "probe")
    assert (said.code, said.err) == (0, "")
    rows = dict(line.split("  ", 1) for line in said.out.splitlines())
    assert rows["Model"].strip() == QWEN
    assert rows["Tools"].strip() == "100%"
    assert "answer: yes" in said.out
    assert rows["Advice"].strip() == "Use it for extract, answer, agent."
    said = shell.pal("models")
    assert said.err == ""
    assert "100%" in said.out.splitlines()[1]
    assert [line.split()[:2] for line in said.out.splitlines()[-3:]] == [
        [role, QWEN] for role in ("extract", "answer", "agent")
    ]
    assert shell.pal("models", "probe").code == 4, "all have their grades"
    ollama.answer = sloppy
    events = shell.pal("models", "probe", QWEN, "--json").lines
    assert {event["type"] for event in events[:-1]} == {"Progress"}
    assert events[-1]["type"] == "Grades" and not any(row.endswith("yes") for row in events[-1]["by_role"])
    assert events[-1]["by_role"][1] == "answer: no, it does not answer with what the notes prove"
    assert events[-1]["advice"] == "Not good enough for any role; try a larger model."


def test_a_server_that_dies_while_a_model_is_graded_leaves_what_was_graded(shell: Shell, ollama: FakeOllama) -> None:
    ollama.answer = lambda body: Fails(500, "out of memory") if "The question:" in str(body) else diligent(body)
    said = shell.pal("models", "probe")
    assert said.code == 1
    assert "out of memory" in said.err and "Finished grades are kept." in said.err
    assert "extract: yes" in said.out
    assert "answer: no, whether it answers was not graded; whether it refuses was not graded" in said.out
    ollama.answer = diligent
    said = shell.pal("models", "probe")
    assert said.code == 0, "it is graded again without being named"
    assert "answer: yes" in said.out


def test_choosing_a_model_that_is_not_known_to_be_good_warns(shell: Shell, ollama: FakeOllama) -> None:
    said = shell.pal("models", "use", "extract", QWEN)
    assert said.code == 0
    assert f"{QWEN} was never graded" in said.err and READING_GAIN in said.err
    ollama.answer = lambda body: Says("{") if body.get("format") else diligent(body)
    assert shell.pal("models", "probe", QWEN).code == 0
    said = shell.pal("models", "use", "extract", QWEN)
    assert (said.code, said.out) == (0, f"extract: {QWEN}\n"), "it is done all the same"
    assert f"{QWEN} has not passed its probe for extract: it does not extract the facts of a note." in said.err
    assert shell.pal("models", "use", "answer", QWEN).err == ""
    ollama.models["qwen3:4b"] = replace(ollama.models["qwen3:4b"], build="2")
    said = shell.pal("models", "use", "answer", QWEN)
    assert f"{QWEN} was graded as another version. Grade it again: pal models probe {QWEN}" in said.err
    assert "was graded as another version" in shell.pal("models").err


def test_what_reading_gains_is_as_it_was_measured() -> None:
    text = Path("benchmarks/README.md").read_text("utf-8").partition("### reading")[2].partition("###")[0]
    figures = re.findall(r"\d[\d,]*\.?\d*(?=[ ;,]|$)", READING_GAIN.replace("of 100", ""))
    assert len(figures) == 5 and all(f" {figure} " in text for figure in figures)


def test_ctrl_c_ends_the_grading(shell: Shell, ollama: FakeOllama) -> None:
    assert shell.pal("models").code == 0
    ollama.enqueue(Hangs())
    process = shell.process("models", "probe", QWEN, "--json")
    assert json.loads(process.stdout.readline())["label"] == "loading it"
    ollama.until(lambda server: bool(server.chats))
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    process.communicate()
    ollama.until(lambda server: server.left == 1)
    deadline = time.monotonic() + 60  # the daemon hears of it a moment later
    while (said := shell.pal("models", "probe", QWEN)).code and time.monotonic() < deadline:
        assert "Another model is being graded" in said.err
    assert said.code == 0, "the next one can begin"


def test_choosing_is_kept_in_the_settings(shell: Shell, ollama: FakeOllama) -> None:
    said = shell.pal("models", "use", "answer", "ollama:gpt-oss:120b-cloud", QWEN)
    assert (said.code, said.out) == (0, f"answer: ollama:gpt-oss:120b-cloud, {QWEN}\n")
    assert "is not on this machine" in said.err
    assert shell.pal("config", "get", "models.answer").out == f"ollama:gpt-oss:120b-cloud\n{QWEN}\n"
    shell.pal("daemon", "stop")
    used = {role["role"]: role["used"] for role in shell.pal("models", "--json").json["roles"]}
    assert used == {"extract": "", "answer": "ollama:gpt-oss:120b-cloud", "agent": ""}
    assert shell.pal("models", "use", "answer", "none").out == "answer: none\n"
    assert shell.pal("config", "get", "models.answer").out.strip() == ""
    assert "pal models" in shell.pal("models", "use", "agent", "auto").err


def test_what_cannot_be_chosen_is_not_kept(shell: Shell, ollama: FakeOllama) -> None:
    assert shell.pal("models", "use", "cook", QWEN).code == 2
    assert shell.pal("models", "use", "answer", QWEN, "none").code == 2
    said = shell.pal("models", "use", "answer", "ollama:qwen3:4c")
    assert said.code == 4
    assert f"Did you mean {QWEN}?" in said.err
    assert not (shell.home / "config.toml").exists()


def test_a_service_is_connected_and_tried(shell: Shell, ollama: FakeOllama) -> None:
    with FakeOllama(OllamaModel("far:1b")) as other:
        said = shell.pal("models", "connect", "ollama", other.host)
        assert said.code == 0 and said.out.startswith("ollama:far:1b answered after ")
        assert "pal models use answer ollama:far:1b" in said.err
        assert shell.pal("config", "get", "ollama.host").out.strip() == other.host
        assert "ollama:far:1b" in shell.pal("models").out, "without a restart"
    said = shell.pal("models", "connect", "ollama", other.host)
    assert said.code == 1 and "ollama serve" in said.err
    assert shell.pal("models", "connect", "openai", "not an address", "--json").code == 1
    said = shell.pal("models", "connect", "anthropic", "--key", input="two words\n")
    assert said.code == 1 and "no API key" in said.err and "two" not in said.err
