"""ask, recall and facts over the example notes: what a person sees, line by line."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.cli.terminal import at_terminal
from tests.cli.test_pal import HEAVY
from tests.cli.vault import ROOT, Shell
from tests.fakes import FakeOllama, OllamaModel, Says
from tests.fakes.answering import answers


def test_an_answer_is_its_lines_and_then_their_places(vault: Shell) -> None:
    said = vault.pal("ask", "What is the transom's wood?")
    assert (said.code, re.sub(r"\d+", "N", said.err)) == (0, "N more lines: pal ask --all\n")
    answer, _, places = said.out.partition("\n\n")
    first = re.sub(r"as of [\d-]+", "as of DAY", answer.splitlines()[0])
    assert first == "- part: transom; wood: mahogany; from: Nuria's old kitchen table (as of DAY) [1]"
    assert re.sub(r"\d{4}-\d\d-\d\d", "DAY", places.splitlines()[0]) == "[1] notes/projects/Second Opinion.md:16, DAY"
    assert len(answer.splitlines()) == len(places.splitlines())


def test_what_has_changed_comes_first_and_what_it_was_after_it(vault: Shell) -> None:
    said = vault.pal("ask", "where", "is", "the", "harbour", "office?")
    assert said.out.splitlines()[:2] == [
        "- The harbour office is in the Old Ice House on Pier 2 from today. (written 2026-03-09) [1]",
        "  earlier: The harbour office is in the Customs House at 4 Quay Street. [2]",
    ]
    assert (
        "[1] notes/daily/2026-03-09.md:5, 2026-03-09\n[2] notes/places/Harbour office.md:7, 2025-09-12  (earlier)\n"
        in (said.out)
    )


def test_it_can_be_asked_as_it_stood(vault: Shell) -> None:
    said = vault.pal("ask", "where is the harbour office?", "--as-of", "2026-02")
    assert said.out.splitlines()[0] == "- The harbour office is in the Customs House at 4 Quay Street. [1]"
    assert "Ice House" not in said.out


def test_what_is_not_there_is_not_answered(vault: Shell) -> None:
    said = vault.pal("ask", "What is the capital of Mongolia?")
    assert said.code == 4
    assert "[1]" not in said.out
    assert said.out.strip()


def test_a_script_can_tell_the_closest_lines_from_an_answer(vault: Shell) -> None:
    question = "who likes the compressor"
    said = vault.pal("ask", question)
    assert said.code == 5 and said.out.startswith("Your memory does not say this plainly. Closest:\n- ")
    reply = vault.pal("ask", question, "--json")
    assert (reply.code, reply.json["kind"]) == (5, "closest")
    first = reply.json["citations"][0]
    name, line = first["title"].partition(" › ")[0], reply.json["lines"][1]["text"]
    assert said.out.splitlines()[1].startswith("- " if name in line else f"- {name}: ")
    assert vault.pal("ask", "where is the harbour office?", "--json").json["kind"] == "answer"


def test_a_password_is_shown_to_who_says_so(vault: Shell) -> None:
    question = "What is the password for the compressor house?"
    masked, shown = vault.pal("ask", question), vault.pal("ask", question, "--secrets")
    assert "four-kettles" not in masked.out and "house is ‹password-" in masked.out
    assert "1 secret masked; to see it: pal ask --secrets" in masked.err
    assert "The password for the compressor house is four-kettles" in shown.out and "masked" not in shown.err
    assert "four-kettles" not in vault.pal("ask", question, "--json").out
    assert vault.pal("ask", question, "--json", "--secrets").lines[-1]["text"].count("four-kettles") == 1
    passage = ("recall", "-k", "1", "password for the compressor house")
    assert "four-kettles" not in vault.pal(*passage).out and "four-kettles" in vault.pal(*passage, "--secrets").out
    assert "four-kettles" not in vault.pal("why", "--steps").out + vault.pal("why").out
    places = vault.pal("doctor", "--secrets")
    assert places.code == 0 and "masked: " in places.out and "four-kettles" not in places.out


def test_events_come_as_json_a_line_each(vault: Shell) -> None:
    said = vault.pal("ask", "When was the fog signal last sounded?", "--events")
    assert said.code == 0
    kinds = [event["type"] for event in said.lines]
    assert {"Step", "Token", "Citation"} <= set(kinds)
    assert kinds.count("Answered") == 1
    answered = said.lines[-1]
    assert answered["type"] == "Answered"
    assert "4 October 1987" in answered["text"].splitlines()[0]
    assert answered["citations"][0]["uri"] == "./notes/museum/fog-signal.html"
    streamed = "".join(event["text"] for event in said.lines if event["type"] == "Token")
    assert streamed.strip() == answered["text"].strip()


def test_a_walk_may_be_limited_to_some_vertices(vault: Shell) -> None:
    question = "When was the fog signal last sounded?"
    assert "4 October 1987" in vault.pal("ask", question, "--strategy", "beam", "--vertices", "EO").out
    assert "4 October 1987" in vault.pal("ask", question, "--vertices", "Eo").out
    refused = vault.pal("ask", question, "--vertices", "X")
    assert refused.code != 0 and "X" in refused.err


def test_as_json_the_answer_comes_once_and_is_small(vault: Shell) -> None:
    said = vault.pal("ask", "When was the fog signal last sounded?", "--json")
    (answered,) = said.lines
    assert answered["type"] == "Answered" and "4 October 1987" in answered["text"].splitlines()[0]
    assert answered["citations"][0]["quote"] and not answered["citations"][0]["passage"]
    assert len(said.out) < 8000


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (["--within", "notes/mail"], "notes/mail/2026-04-02 prisms.eml"),
        (["--within", "notes/Bosun.md"], "notes/Bosun.md"),
        (["--tag", "goat", "--within", "notes/Bosun.md"], "notes/Bosun.md"),
        (["--since", "2026-04-01", "--until", "2026-04-20"], "notes/mail/2026-04-02 prisms.eml"),
    ],
)
def test_a_question_can_be_limited(vault: Shell, options: list[str], place: str) -> None:
    said = vault.pal("recall", "the goat", "--json", *options)
    assert said.code == 0, said
    assert {hit["passage"]["uri"] for hit in said.json["hits"]} == {f"./{place}"}


@pytest.mark.parametrize(
    ("options", "places"),
    [
        (["--within", "notes/Bosun.md"], {"notes/Bosun.md"}),
        (["--within", "notes/Bosun.md", "--within", "./notes/chats/../chats/foghorn-committee.json"], None),
        (["--chat", "Foghorn committee"], {"notes/chats/foghorn-committee.json"}),
        (["--chat", " foghorn COMMITTEE "], {"notes/chats/foghorn-committee.json"}),
    ],
)
def test_a_question_can_be_put_to_one_file_or_one_chat(
    vault: Shell, options: list[str], places: set[str] | None
) -> None:
    said = vault.pal("recall", "the goat and the foghorn", "-k", "200", "--json", *options)
    assert said.code == 0, said
    both = {"notes/Bosun.md", "notes/chats/foghorn-committee.json"}
    assert {hit["passage"]["uri"].removeprefix("./") for hit in said.json["hits"]} <= (places or both)


def test_an_answer_comes_from_the_chat_alone(vault: Shell) -> None:
    said = vault.pal("ask", "How far from the foghorn does Nuria live?", "--chat", "foghorn committee", "--json")
    assert said.code == 0, said
    assert "600 metres" in said.lines[-1]["text"]
    assert {cited["uri"] for cited in said.lines[-1]["citations"]} == {"./notes/chats/foghorn-committee.json"}
    outside = vault.pal("ask", "What is Nuria's boat called?", "--chat", "foghorn committee")
    assert "Paperwork" not in outside.out


def test_an_unknown_chat_is_reported_with_those_there_are(vault: Shell) -> None:
    for command in ("ask", "recall"):
        said = vault.pal(command, "who?", "--chat", "fog\x1b[2J")
        assert (said.code, said.out) == (4, "")
        assert said.err.startswith("Error: There is no chat 'fog\\x1b[2J'. There are: ")
        assert "'Foghorn committee'" in said.err
    said = vault.pal("ask", "who?", "--chat", "Foghorn", "--json")
    assert (said.code, said.json["code"]) == (4, "not_found")


def test_a_wrong_source_is_reported_with_the_nearest_name(vault: Shell) -> None:
    for command in ("ask", "recall"):
        said = vault.pal(command, "who?", "--within", "notes/Bosum.md")
        assert (said.code, said.out) == (2, "")
        assert "There is no 'notes/Bosum.md'. Did you mean 'Bosun.md'?" in said.err
    said = vault.pal("ask", "who?", "--within", "\udcff\x1b[2J")
    assert said.code == 2
    assert "\x1b" not in said.err


def test_notes_and_the_chats_of_one_file_are_sources_too(shell: Shell) -> None:
    def chat(title: str | None, said: str) -> dict[str, object]:
        return {"title": title, "messages": [{"role": "Ana", "content": said, "time": "2026-05-11T19:02:00Z"}]}

    export = shell.folder / "export.json"
    chats = [chat(f"Chat {n}", f"Key {n} lies under pot {n}.") for n in range(7)] + [chat(None, "Key 9 is lost.")]
    export.write_text(json.dumps(chats), encoding="utf-8")
    assert shell.pal("add", "export.json").code == 0
    assert shell.pal("remember", "The key of the shed hangs in the hall.", "--source", "keys").code == 0

    def found(*options: str) -> set[str]:
        said = shell.pal("recall", "Where does the key lie?", "-k", "200", "--json", *options)
        assert said.code == 0, said
        return {hit["passage"]["uri"].removeprefix("./") for hit in said.json["hits"]}

    assert found("--within", "keys") == {"keys"}
    assert found("--within", "export.json#3") == {"export.json#3"} == found("--chat", "chat 2")
    assert found("--chat", "export") == {"export.json#8"}
    every = {f"export.json#{n}" for n in range(1, 9)}
    assert found("--within", "export.json") == every
    assert found("--within", "export.json", "--within", "keys") == {*every, "keys"} == found()
    assert found("--within", "export.json", "--chat", "Chat 0") == {"export.json#1"}

    unknown = shell.pal("recall", "key", "--chat", "chat 66")
    assert "There are: 'Chat 6', " in unknown.err
    assert unknown.err.count("', '") == 4
    assert unknown.err.endswith(" and 3 more.\n")

    before = shell.pal("status", "--json").json["stats"]
    os.utime(export, (1, 1))
    assert " 1 unchanged" in shell.pal("add", "export.json").out
    after = shell.pal("status", "--json").json["stats"]
    assert [after[key] for key in ("sources", "episodes")] == [before[key] for key in ("sources", "episodes")] == [9, 9]
    export.unlink()
    assert found("--within", "export.json") == every


def test_without_any_chat_it_says_how_to_read_one(shell: Shell) -> None:
    said = shell.pal("recall", "who?", "--chat", "Ana")
    assert said.code == 4
    assert said.err == "Error: There is no chat 'Ana'. No chat has been read yet. Read one: pal add chat.json\n"


def test_recall_shows_passages_with_their_places(vault: Shell) -> None:
    said = vault.pal("recall", "-k", "2", "clockwork weight of the lens rotation")
    assert said.code == 0
    heads = [line for line in said.out.splitlines() if line[:2] in ("1.", "2.")]
    assert len(heads) == 2
    assert heads[0].startswith("1. notes/museum/opening-checklist.org:")
    assert any(line.startswith("   ") and "The clockwork weight is 90" in line for line in said.out.splitlines())


def test_recall_of_words_that_are_nowhere_says_so_and_shows_the_nearest_few(vault: Shell) -> None:
    said = vault.pal("recall", "zzzz")
    assert said.code == 4 and said.err.startswith('No note has the word "zzzz". What comes nearest in meaning:\n')
    assert [line[:2] for line in said.out.splitlines() if line[:1].isdigit()] == ["1.", "2.", "3."]
    said = vault.pal("recall", "zzzz", "qqqx", "--within", "notes/mail", "--json")
    assert (said.code, json.loads(said.out)["unknown"]) == (4, ["zzzz", "qqqx"])
    said = vault.pal("recall", "zzzz", "lens", "--json")
    assert (said.code, json.loads(said.out)["unknown"]) == (0, [])


def test_recall_in_an_empty_scope_finds_nothing(vault: Shell) -> None:
    said = vault.pal("recall", "the goat", "--until", "1999")
    assert (said.code, said.out) == (4, "")
    assert said.err == "No note is within these limits.\n"
    said = vault.pal("ask", "the goat", "--tag", "nosuchtag")
    assert said.code == 4
    assert said.out.startswith("No note is within these limits")
    assert said.err.startswith("Nothing has the tag 'nosuchtag'. There is: person, museum, ")
    said = vault.pal("recall", "the goat", "--tag", "gaot")
    assert (said.code, said.err) == (4, "Nothing has the tag 'gaot'. There is: goat.\n")


def test_what_one_note_does_not_hold_may_stand_in_others(vault: Shell) -> None:
    said = vault.pal("ask", "What is the capital of Mongolia?", "--within", "notes/mail")
    assert (said.code, said.out.splitlines()[0]) == (4, "There is nothing about Mongolia in that part of your memory.")


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("who keeps the goat as of 3 May 2026?", 'Read "as of 3 May 2026" as the state on 3 May 2026.'),
        ("what did Ferelith write in April 2026?", 'Read "in April 2026" as 1 April 2026 to 30 April 2026.'),
        ("what did Ferelith write since April 2026?", 'Read "since April 2026" as 1 April 2026 or later.'),
        ("what did Ferelith write before 2027?", 'Read "before 2027" as 31 December 2026 or earlier.'),
    ],
)
def test_the_time_that_was_understood_is_reported(vault: Shell, question: str, understood: str) -> None:
    for command in ("ask", "recall"):
        said = vault.pal(command, question)
        assert said.err.splitlines()[0] == understood
        assert understood not in said.out
        assert understood not in vault.pal(command, question, "--json").err


def test_facts_of_an_object_with_their_places(vault: Shell) -> None:
    said = vault.pal("facts", "Ozzie Penhale")
    assert said.code == 0
    assert "Ozzie is allergic to epoxy, so every glue joint on the boat is resorcinol." in said.out
    assert "notes/people/Ozzie Penhale.md:" in said.out


def test_facts_of_nobody(vault: Shell) -> None:
    said = vault.pal("facts", "Captain Nobody")
    assert (said.code, said.out) == (4, "")
    assert "Captain Nobody" in said.err


def test_a_hostile_question_is_only_text(vault: Shell) -> None:
    said = vault.pal("ask", "\x1b[2J [bold]goat[/bold] \u202e' OR 1=1 -- \"*")
    assert said.code in (0, 4, 5)
    assert "\x1b" not in said.out + said.err


def test_a_question_of_a_hundred_thousand_characters(vault: Shell) -> None:
    said = vault.pal("ask", "goat " * 20_000)
    assert said.code in (0, 2, 4)
    assert said.out or said.err


def test_a_question_imports_nothing_heavy(vault: Shell) -> None:
    code = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
        "from daemon.cli import main; main(prog_name='pal')"
    )
    out, err = vault.process("ask", "who is the vet for Bosun?", code=code).communicate(timeout=60)
    assert "Mrs Tregear" in out
    assert {name.partition(".")[0] for name in err.splitlines()[-1].split()} & HEAVY == set()


def test_a_long_list_is_folded_unless_all_of_it_is_wanted(shell: Shell) -> None:
    shell.pal("remember", "Birds at the slipway:\n\n" + "\n".join(f"- slipway bird {n}" for n in range(1, 19)))
    short, whole = (shell.pal("ask", "Which birds are at the slipway?", *more) for more in ((), ("--all",)))
    assert "slipway bird 12 [12]" in short.out and "[13]" not in short.out
    assert short.err == "6 more lines: pal ask --all\n"
    assert "slipway bird 18 [18]" in whole.out and not whole.err
    lines = shell.pal("ask", "Which birds are at the slipway?", "--json").lines[-1]["lines"]
    assert lines[0] == {"text": "slipway bird 1", "kind": "answer", "citations": [1], "value": ""}
    assert [line["kind"] for line in lines[12:]] == 6 * ["folded"]


SLOW = """
import sys
import time
from daemon import wire
from daemon.cli.answers import print_answer

def events():
    one = wire.Citation(1, 1, "/n/a b.md", "A", "The code is 3358.", 1, passage="The code is 3358.")
    two = wire.Citation(2, 1, "/n/\\x1b]52;c;eA==\\x07.md", "A", "So.", 1)
    yield wire.Step("text", 1.0)
    yield wire.Preview("- The code is 3358. [1]", (one,), "ollama:qwen3:4b", "loading" in sys.argv)
    time.sleep(0.3)
    yield one
    yield wire.Token("You type 3358. [1]\\n")
    yield wire.Answered("You type 3358. [1]", (one, two), model="slow")

print_answer(events(), False)
"""


def show_on_terminal(script: str, *args: str, until: str = "") -> str:
    """What a script prints on a terminal, on both of its streams; Ctrl-C comes after the text `until`."""
    ours, theirs = os.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", script, *args],
        cwd=ROOT, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says that the terminal is gone with an error
        while piece := os.read(ours, 4096):
            shown += piece
            if until and until.encode() in shown:
                child.send_signal(signal.SIGINT)
                until = ""
    os.close(ours)
    child.wait(60)
    return shown.decode()


@pytest.mark.parametrize(
    "state, says", [("loaded", "A model is asked"), ("loading", "ollama:qwen3:4b is being loaded")]
)
def test_on_a_terminal_the_lines_are_shown_while_a_model_is_asked(state: str, says: str) -> None:
    before, _, after = show_on_terminal(SLOW, state).partition("You type 3358.")
    assert "The code is 3358." in before and says in before
    assert "The code is" not in after and "a b.md:1" in after
    start, end = "\x1b]8;;file:///n/a%20b.md\x1b\\", "\x1b]8;;\x1b\\"
    assert re.search(rf"{re.escape(start)}\S*/n/a b.md:1\S*{re.escape(end)}", after), "the source is a link"
    assert after.count("\x1b]") == 2, "a name with commands in it is none, and its commands are gone"


BROKEN_OFF = SLOW.replace("time.sleep(0.3)", "time.sleep(60)")


def test_the_lines_shown_so_far_have_their_source_when_a_person_breaks_it_off() -> None:
    shown = show_on_terminal(BROKEN_OFF, until="A model is asked")
    assert "The code is 3358. [1]" in shown and "a b.md:1" in shown.partition("A model is asked")[2]


WRITING = SLOW.replace("time.sleep(0.3)", "time.sleep(1.3); yield wire.Writing()")
HALF = SLOW.replace("3358. [1]\\n", "3358 [1].\\n").replace(
    "    yield wire.Answered", '    yield wire.Token("And the")\n    time.sleep(60)\n    yield wire.Answered'
)


def test_a_terminal_shows_for_how_many_seconds_a_model_is_asked_and_writes() -> None:
    shown = show_on_terminal(WRITING)
    assert "\r\x1b[Kasking a model 0 s" in shown and "\r\x1b[Kasking a model 1 s" in shown
    assert re.search(r"\r\x1b\[Kwriting \d s\r\x1b\[KYou type 3358\.", shown), "it is erased before the answer"


def test_ctrl_c_keeps_the_sentences_that_a_model_has_written() -> None:
    shown = show_on_terminal(HALF, until="And the")
    assert "You type 3358 [1].\r\n" in shown and "And the\r\n" in shown
    assert "a b.md:1" in shown.partition("And the")[2]


def test_pal_ask_shows_that_a_model_is_asked_and_writes(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(body: dict[str, Any]) -> Says:
        reply = answers(body)
        assert isinstance(reply, Says)
        return replace(reply, every_s=0.02)

    with FakeOllama(OllamaModel("fake"), answer=slowly) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        shell.pal("remember", "The gallery key hangs under the pot.")
        shell.pal("models", "use", "answer", "ollama:fake")
        shown = at_terminal(shell, "ask", "Why does the gallery key hang there, and who put it under the pot?", keys=[])
    assert re.search(r"asking a model \d s\r\x1b\[K", shown.out) and re.search(r"writing \d s\r\x1b\[K", shown.out)


def test_seconds_are_shown_on_a_terminal_only() -> None:
    said = subprocess.run([sys.executable, "-c", WRITING], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert "writing" not in said.stderr and "\r" not in said.stderr


UNPROVED = SLOW.replace('"So.", 1)', '"So.", 1, verdict="unproved")')


def test_the_line_that_does_not_prove_what_a_model_said_is_below_its_source() -> None:
    said = subprocess.run([sys.executable, "-c", UNPROVED], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert said.stdout.endswith(".md:1\n    “So.”\n") and said.stdout.count("“") == 1


def test_in_a_pipe_only_the_answer_is_printed() -> None:
    said = subprocess.run([sys.executable, "-c", SLOW], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert said.stdout.startswith("You type 3358. [1]\n") and "The code is" not in said.stdout
    assert "[1] /n/a b.md:1\n" in said.stdout and "\x1b" not in said.stdout
