"""good, bad, rebuild and --no-replay: what a person says of answers, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_traces import HARBOUR, ask
from tests.cli.vault import NOTES, Shell
from tests.fakes import FakeOllama, OllamaModel
from tests.fakes.answering import evidence, seeking

MONGOLIA = "What is the capital of Mongolia?"


def step(shell: Shell, name: str) -> dict[str, object]:
    """What a stage of the newest question noted."""
    return next(one["detail"] for one in shell.pal("why", "--steps", "--json").json["steps"] if one["name"] == name)


def test_nothing_was_asked_yet(town: Shell) -> None:
    said = town.pal("good")
    assert (said.code, said.out) == (4, "") and said.err.startswith("No question was asked yet.")
    assert town.pal("rebuild", "--memory").out == "The edge memory of 0 edges was rebuilt.\n"


def test_a_good_answer_is_remembered_and_a_bad_one_is_not(town: Shell) -> None:
    id = ask(town, HARBOUR)
    assert town.pal("good").out == (f'"{HARBOUR}" (trace {id}). Noted as good. Its sources come first next time.\n')
    ask(town, HARBOUR)
    noted = step(town, "replay")
    assert (noted["earlier"], bool(noted["followed"])) == (id, True)
    said = town.pal("bad", str(id))
    assert said.out == f'"{HARBOUR}" (trace {id}). Noted as bad. Its sources are not reused for similar questions.\n'
    assert said.err.startswith(f"What led to it: pal why {id}.")
    ask(town, HARBOUR)
    noted = step(town, "replay")
    assert (noted.get("earlier"), noted["followed"]) == (None, 0)


def test_a_verdict_is_shown_said_once_and_taken_back(town: Shell) -> None:
    id = ask(town, HARBOUR)
    town.pal("good", str(id))
    assert town.pal("good", str(id)).out == f'"{HARBOUR}" (trace {id}). The verdict was good.\n'
    assert "  answered, good  search" in town.pal("traces", "-n", "1").out
    assert "   came to  answered, good, search\n" in town.pal("why", "--steps").out
    assert town.pal("why", "--steps", "--json").json["asked"]["verdict"] == "good"
    said = town.pal("good", "--undo", str(id))
    assert said.out == f'"{HARBOUR}" (trace {id}). Removed: it is no longer marked good.\n'
    assert town.pal("bad", "--undo").out == f'"{HARBOUR}" (trace {id}). There was no verdict.\n'
    assert "  answered  search" in town.pal("traces", "-n", "1").out
    ask(town, HARBOUR)
    assert step(town, "replay")["followed"] == 0


def test_a_refusal_teaches_nothing_and_says_so(town: Shell) -> None:
    id = ask(town, MONGOLIA)
    said = town.pal("bad")
    nothing = "It cites nothing, so nothing can be learned from it."
    assert said.out == f'"{MONGOLIA}" (trace {id}). Noted as bad. {nothing}\n'
    assert said.err.endswith(f"What it misses: pal why --not WORDS {id}\n")
    assert f"Noted as good. {nothing}" in town.pal("good").out


def test_a_question_that_nobody_asked(town: Shell) -> None:
    said = town.pal("bad", "9999")
    assert (said.code, said.out) == (4, "") and "There is no trace 9999" in said.err
    assert town.pal("good", "9999", "--json").lines[-1]["code"] == "not_found"


def test_without_replay_a_question_is_searched_as_if_it_were_the_first(town: Shell) -> None:
    id = ask(town, HARBOUR)
    town.pal("good", str(id))
    ask(town, HARBOUR, "--no-replay")
    assert "replay" not in [one["name"] for one in town.pal("why", "--steps", "--json").json["steps"]]
    ask(town, HARBOUR)
    assert step(town, "replay")["earlier"] is not None
    town.pal("good", "--undo", str(id))


def test_what_was_learnt_is_made_again(town: Shell) -> None:
    id = ask(town, HARBOUR)
    edges = town.pal("good", str(id), "--json").json
    assert edges["passages"] == 2
    events = town.pal("rebuild", "--memory", "--text", "--json").lines
    done = events[-1]
    assert done["type"] == "Rebuilt"
    assert done["edges"] > 0 and done["passages"] == town.pal("status", "--json").json["stats"]["episodes"]
    assert [event["done"] for event in events[:-1]] == [0, events[0]["total"]]
    ask(town, HARBOUR)
    assert step(town, "replay")["earlier"] == id
    assert town.pal("check").code == 0
    said = town.pal("rebuild", "--memory")
    assert said.out == f"The edge memory of {done['edges']} edges was rebuilt.\n"


def test_it_must_be_said_what_to_rebuild(town: Shell) -> None:
    said = town.pal("rebuild")
    assert said.code == 2 and "Say what to rebuild" in said.err


def test_the_second_time_a_model_reads_what_answered_the_first_time(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tier() -> str:
        asked: str = shell.pal("why", "--steps", "--json").json["asked"]["tier"]
        return asked

    with FakeOllama(OllamaModel("fake"), answer=seeking("Old Ice House")) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        shell.pal("add", str(NOTES))
        shell.pal("models", "use", "answer", "ollama:fake")
        first = shell.pal("ask", HARBOUR)
        assert "Old Ice House" in first.out and tier() == "R2"
        shown = len(evidence(ollama.chats[-1]))
        assert shell.pal("ask", HARBOUR).out == first.out
        assert tier() == "R0" and len(evidence(ollama.chats[-1])) < shown
        assert "  came to  answered, replay\n" in shell.pal("why", "--steps").out
        shell.pal("ask", HARBOUR, "--no-replay")
        assert tier() == "R2"
        shell.pal("ask", HARBOUR)
        shell.pal("bad")
        shell.pal("ask", HARBOUR)
        assert tier() == "R2", "what was called bad is not brought back"


def test_a_question_with_signs_of_a_terminal_is_not_obeyed(town: Shell, tmp_path: Path) -> None:
    ask(town, "Where is\x1b[31m the harbour office?")
    assert "\x1b" not in town.pal("good").out
