"""pal pause, resume, retry, status: reading with a model, as somebody at a prompt sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memory.facts import llm_requests
from plugins.llms.probe import NOTES
from tests.cli.vault import Shell
from tests.daemon.enriching import able, system_of
from tests.fakes import FakeOllama, Hangs, OllamaModel, Reply, Says
from tests.fakes.answering import answers
from tests.fakes.talents import diligent, text_of

QWEN = "ollama:qwen3:4b"


def reader(body: dict[str, Any]) -> Reply:
    """Passes the probe, and reads."""
    return able(body) if reads(body) else diligent(body)


def reads(body: dict[str, Any]) -> bool:
    """Whether a note is to be read, and not one of the probe's."""
    asked = text_of(body["messages"][-1])
    return system_of(body) == llm_requests.EXTRACTION_PROMPT and not any(one.episode.text in asked for one in NOTES)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    """An Ollama that every daemon finds which starts from here on."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with FakeOllama(OllamaModel("qwen3:4b"), answer=reader) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        yield server


def until(shell: Shell, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What the status says of reading, as soon as it is so."""
    deadline = time.monotonic() + 60
    while True:
        state: dict[str, Any] = shell.pal("status", "--json").json["enrichment"]
        if wanted(state):
            return state
        assert time.monotonic() < deadline, state
        time.sleep(0.05)


def row(shell: Shell, name: str) -> str:
    rows = dict(line.split(None, 1) for line in shell.pal("status", "--all").out.splitlines() if len(line.split()) > 1)
    return rows.get(name, "")


def test_without_a_model_it_says_so_once_with_how_to_add_one(shell: Shell, ollama: FakeOllama) -> None:
    shell.pal("remember", "Mira lives in Utrecht.")
    until(shell, lambda state: state["state"] == "no_model")
    assert row(shell, "Read") == "0 of 1 passage by a model; no model is connected (optional). " \
        "To add one: pal models"  # fmt: skip
    assert ollama.seen == [], "nobody was looked for"


def test_a_model_that_was_graded_reads_by_itself(shell: Shell, ollama: FakeOllama) -> None:
    shell.pal("remember", "Mira lives in Utrecht.", "--at", "2024-01-01")
    assert shell.pal("models", "probe").code == 0
    state = until(shell, lambda state: state["read"] == 1 and state["tokens"] > 0)
    assert row(shell, "Spent").startswith(f"{state['tokens']:,} tokens and 0 min of models today")
    shell.pal("remember", "Mira moved to Leipzig.", "--at", "2024-02-01")
    until(shell, lambda state: state["read"] == 2 and state["state"] != "reading")
    assert "lives in Leipzig" in shell.pal("facts", "Mira").out
    assert row(shell, "Read") == "2 of 2 passages by a model"
    assert shell.pal("check").code == 0


def test_the_daemon_answers_and_ends_while_a_model_hangs(shell: Shell, ollama: FakeOllama) -> None:
    assert shell.pal("models", "probe").code == 0
    ollama.answer = lambda body: Hangs() if reads(body) else answers(body)
    shell.pal("remember", "The gallery key hangs under the pot.")
    ollama.until(lambda server: any(map(reads, server.chats)))
    assert until(shell, lambda state: state["state"] == "reading")["model"] == QWEN
    assert "under the pot" in shell.pal("ask", "Where does the gallery key hang?").out
    assert shell.pal("remember", "The boat is called Paperwork.").code == 0
    assert shell.pal("daemon", "stop").code == 0
    ollama.until(lambda server: server.left == 1)
    ollama.answer = reader
    state = until(shell, lambda state: state["read"] == 2 and state["jobs"] == 0)
    assert state["failed_total"] == 0, "the next daemon goes on with it"


def test_what_failed_is_shown_and_done_again(shell: Shell, ollama: FakeOllama) -> None:
    ollama.answer = lambda body: Says("No.") if reads(body) else diligent(body)
    shell.pal("remember", "Mira lives in Utrecht.", "--title", "Mira", "--source", "note:mira")
    shell.pal("models", "probe")
    state = until(shell, lambda state: bool(state["failed_total"]))
    assert "1 job of reading failed; which: pal status --failed. To try again: pal retry" in shell.pal("status").out
    said = shell.pal("status", "--failed")
    number = state["failed"][0]["id"]
    assert said.out == f"{number}  note:mira: Mira: {QWEN}: The model's reply is not JSON (at character 0).\n"
    assert "pal retry" in said.err
    assert shell.pal("retry", "99").code == 4
    ollama.answer = reader
    assert shell.pal("retry", str(number)).out.startswith("1 job will be done again.")
    until(shell, lambda state: state["read"] == 1)
    assert shell.pal("retry").out == "Nothing has failed.\n"
    assert shell.pal("status", "--failed").err == "Nothing has failed.\n"


def test_that_a_model_cannot_read_is_said_where_a_person_looks(shell: Shell, ollama: FakeOllama) -> None:
    assert shell.pal("models", "probe").code == 0
    ollama.answer = lambda body: Says("I cannot read that.") if reads(body) else diligent(body)
    for name in ("Ana", "Bela", "Carl", "Dora"):
        shell.pal("remember", f"{name} lives in Utrecht.")
    sentence = until(shell, lambda state: bool(state["unable"]))["unable"]
    assert sentence == f"{QWEN} could not read 3 notes in a row and is not asked any more. Use another: " \
        "pal models use extract NAME"  # fmt: skip
    for command in ("models", "today"):
        assert sentence in shell.pal(command).err.splitlines()


def test_a_pause_lasts_until_somebody_goes_on(shell: Shell, ollama: FakeOllama) -> None:
    assert shell.pal("pause").out == "No language model reads in the background until: pal unpause\n"
    assert shell.pal("models", "probe").code == 0
    shell.pal("remember", "Mira lives in Utrecht.")
    shell.pal("daemon", "stop")
    assert shell.pal("status", "--json").json["enrichment"]["state"] == "off"
    assert row(shell, "Read") == "0 of 1 passage by a model; paused. To go on: pal unpause"
    assert shell.pal("config", "get", "enrichment.enabled").out == "false\n"
    assert shell.pal("unpause").code == 0
    until(shell, lambda state: state["read"] == 1)
    assert shell.pal("config", "get", "enrichment.enabled").out == "true\n"
