"""traces and why: what a person sees of a question that was asked, and that forgetting ends it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from daemon import wire
from daemon.cli.traces import describe_cost
from daemon.client.client import Client
from daemon.paths import Paths
from tests.cli.vault import NOTES, Shell

HARBOUR = "where is the harbour office?"


def ask(shell: Shell, *question: str) -> int:
    """The number of its trace."""
    return int(shell.pal("ask", *question, "--json").lines[-1]["trace_id"])


@pytest.mark.parametrize("command", [["why", "--steps"], ["why"], ["why", "--not", "boat"]])
def test_nothing_was_asked_yet(shell: Shell, command: list[str]) -> None:
    said = shell.pal(*command)
    assert (said.code, said.out) == (4, "")
    assert said.err.startswith("No question was asked yet.")


def test_no_list_before_the_first_question(shell: Shell) -> None:
    said = shell.pal("traces")
    assert (said.code, said.out) == (0, "") and said.err.startswith("No question was asked yet.")
    assert shell.pal("traces", "--json").json == {"traces": [], "total": 0}


def test_the_list_has_the_newest_first(vault: Shell) -> None:
    first, second = ask(vault, HARBOUR), ask(vault, "What is the capital of Mongolia?")
    said = vault.pal("traces", "-n", "2")
    newest, older = said.out.splitlines()
    assert re.fullmatch(
        rf" *{second}  \S+ \S+  no answer  search +[\d,]+ ms  What is the capital of Mongolia\?", newest
    )
    assert re.fullmatch(rf" *{first}  \S+ \S+  answered +search +[\d,]+ ms  {re.escape(HARBOUR)}", older)
    listed = vault.pal("traces", "-n", "2", "--json").json["traces"]
    assert [(one["id"], one["no_answer"], one["calls"]) for one in listed] == [(second, True, 0), (first, False, 0)]


def test_a_trace_shows_how_it_was_asked_its_stages_and_its_evidence(vault: Shell) -> None:
    id = ask(vault, HARBOUR, "--as-of", "2026-02", "--within", "notes/places", "--effort", "deep")
    out = vault.pal("why", "--steps", str(id)).out
    assert out.startswith(f"Trace {id}: {HARBOUR}\n")
    assert "effort deep, as of 2026-02-28 23:59, within ./notes/places" in out
    for stage in ("analyse", "text", "rank", "answer"):
        assert re.search(rf"^   {stage} +[\d,.]+ ms", out, re.MULTILINE)
    assert re.search(r"^   seed +[\d.]+ ms  found 1 thing you named$", out, re.MULTILINE)
    assert "   - The harbour office is in the Customs House at 4 Quay Street. [1]" in out
    assert "[1] notes/places/Harbour office.md:7, 2025-09-12\n" in out
    assert vault.pal("why", "--steps").out == out, "without a number it is the newest"


def test_why_has_the_scores_of_every_line(vault: Shell) -> None:
    id = ask(vault, HARBOUR)
    out = vault.pal("why", str(id)).out
    assert out.startswith(f"{HARBOUR}  (trace {id})\n[1] notes/daily/2026-03-09.md:5, 2026-03-09\n")
    assert '    "The harbour office is in the Old Ice House on Pier 2 from today."\n' in out
    assert re.search(r"    passage 1 of \d+, score 1\.00; full text \d+\.\d\d, meaning 0\.\d\d", out)
    assert "no model; effort normal allows 4 calls, 12,000 tokens, 60 s" in out
    reply = vault.pal("why", str(id), "--json").json
    assert [used["cited"]["n"] for used in reply["used"]] == [1, 2, 3]


def test_why_nothing_was_answered(vault: Shell) -> None:
    ask(vault, "Who is Zanzibar?")
    said = vault.pal("why")
    assert "   It was not answered.\n" in said.out and "Nothing is known by the name 'Zanzibar'." in said.out
    assert said.err == "Why something is missing: pal why --not WORDS\n"


def test_whynot_names_the_passage_and_the_cut(vault: Shell) -> None:
    id = ask(vault, HARBOUR, "--within", "notes/places")
    said = vault.pal("why", "--not", "clinker dinghy", str(id))
    assert said.code == 0 and "It is outside the part of the memory that was searched." in said.out
    (first, *_) = vault.pal("why", "--not", "clinker dinghy", str(id), "--json").json["lost"]
    assert first["cut"] == "scope" and first["passage"]["uri"].startswith("./notes/")


def test_whynot_words_that_nothing_holds(vault: Shell) -> None:
    ask(vault, HARBOUR)
    said = vault.pal("why", "--not", "zeppelin")
    assert (said.code, said.err) == (
        4, "Nothing in your memory holds 'zeppelin': it was never read, or it was forgotten.\n"
    )  # fmt: skip


@pytest.mark.parametrize("words", ["\udcff\udcfe", "x" * 20_000], ids=["no text", "endless"])
def test_whynot_words_that_are_none(vault: Shell, words: str) -> None:
    ask(vault, HARBOUR)
    said = vault.pal("why", "--not", words)
    assert said.code in (2, 4) and len(said.err) < 400


@pytest.mark.parametrize("command", [["why", "--steps"], ["why"], ["why", "--not", "boat"]])
def test_an_unknown_number_is_reported(vault: Shell, command: list[str]) -> None:
    said = vault.pal(*command, "9999")
    assert said.code == 4 and "There is no trace 9999" in said.err
    assert vault.pal(*command, "9999", "--json").json["code"] == "not_found"


def test_what_is_forgotten_takes_its_traces_with_it(shell: Shell) -> None:
    notes = shell.folder / "notes"
    notes.mkdir()
    for name in ("Harbour office.md", "Gannet Head Lighthouse.md"):
        (notes / name).write_bytes((NOTES / "places" / name).read_bytes())
    assert shell.pal("add", "notes").code == 0
    id = ask(shell, HARBOUR, "--within", "notes/Harbour office.md")
    refused = ask(shell, "Who is Zanzibar?", "--within", "notes/Harbour office.md")
    assert shell.pal("forget", "--source", "notes/Harbour office.md", "--yes").code == 0
    assert shell.pal("traces", "--json").json["total"] == 0
    for command in (["why", "--steps"], ["why"], ["why", "--not", "quay"]):
        for number in (id, refused):
            assert shell.pal(*command, str(number)).code == 4, command
    shell.pal("daemon", "stop")
    assert b"Customs House" not in (shell.home / "memory.db").read_bytes()


def test_a_question_has_a_strategy_of_its_own(vault: Shell) -> None:
    id = ask(vault, HARBOUR, "--strategy", "beam+synergy@EO")
    assert "strategy beam+synergy@EO" in vault.pal("why", "--steps", str(id)).out
    found = vault.pal("why", "--steps", str(id), "--json").json
    (walk,) = [step for step in found["steps"] if step["name"] == "graph"]
    assert walk["detail"]["strategy"] == "beam+synergy"
    assert (
        vault.pal("recall", HARBOUR, "--strategy", "beam+synergy", "--json").json["hits"][0]["channels"]["votes"] >= 0
    )


@pytest.mark.parametrize("command", ["ask", "recall"])
def test_a_strategy_that_there_is_not_names_those_there_are(vault: Shell, command: str) -> None:
    said = vault.pal(command, HARBOUR, "--strategy", "teleport")
    assert said.code == 2 and "no strategy 'teleport'" in said.err
    assert "spread, none, beam, circles" in said.err
    refused = vault.pal(command, HARBOUR, "--strategy", "spread@EX")
    assert refused.code == 2 and "Use the letters E, T and O" in refused.err


def test_a_strategy_that_cannot_work_is_not_written_into_the_settings(vault: Shell) -> None:
    for wrong in ("teleport", "none+beam"):
        said = vault.pal("config", "set", "memory.recall.strategy", wrong)
        assert said.code == 2 and "VALUE" in said.err
    assert vault.pal("config", "get", "memory.recall.strategy").out == "spread\n"


def test_what_an_agent_asked_is_not_taken_for_the_persons_last_question(vault: Shell) -> None:
    vault.pal("ask", HARBOUR)
    mine = vault.pal("why", "--steps").out.splitlines()[0]
    list(Client(Paths.in_folder(vault.home)).ask("Where is the red boat?", agent="cursor"))
    assert vault.pal("why", "--steps").out.splitlines()[0] == mine
    first = vault.pal("traces", "-n", "1").out
    assert "cursor: Where is the red boat?" in first
    assert "asked by cursor" in vault.pal("why", "--steps", first.split()[0]).out


def test_an_effort_that_there_is_not(vault: Shell) -> None:
    said = vault.pal("ask", HARBOUR, "--effort", "heroic")
    assert said.code == 2 and "'quick', 'normal', 'deep'" in said.err


def test_who_was_not_asked_wrote_nothing() -> None:
    asked = wire.AskedQuestion(1, datetime(2026, 3, 9, 10, tzinfo=UTC), "Who?", True, ms=22.0, model="ollama:small")
    assert describe_cost(asked) == "22 ms, no model"
    assert describe_cost(replace(asked, calls=1)).endswith("written by ollama:small")
