"""pal chat line by line: whole transcripts, against a real daemon."""

from __future__ import annotations

import re

import pytest

from tests.cli.terminal import at_terminal
from tests.cli.test_pal import HEAVY
from tests.cli.vault import Shell

FOG = "When was the fog signal last sounded?"
MONGOLIA = "What is the capital of Mongolia?"


def test_a_pipe_is_answered_line_by_line(vault: Shell) -> None:
    said = vault.pal("chat", "--plain", input=f"{FOG}\n\nwhere is the harbour office?\n")
    assert (said.code, said.err) == (0, "7 more lines: /more\n1 more line: /more\n")
    fog, harbour = said.out.split("You: where is the harbour office?\n")
    assert fog.startswith(f"You: {FOG}\n- The fog signal was last sounded on 4 October 1987. [1]\n")
    assert "\n[1] notes/museum/fog-signal.html:17, 2024-11-17\n" in fog
    assert harbour.startswith(
        "- The harbour office is in the Old Ice House on Pier 2 from today. (written 2026-03-09) [1]\n"
        "  earlier: The harbour office is in the Customs House at 4 Quay Street. [2]\n"
    )
    assert "[2] notes/places/Harbour office.md:7, 2025-09-12  (earlier)\n" in harbour
    asked = vault.pal("ask", "where is the harbour office?").out
    assert harbour == asked, "as pal ask prints it"


def test_what_the_memory_does_not_hold_is_the_exit_code(vault: Shell) -> None:
    said = vault.pal("chat", input=f"{MONGOLIA}\n{FOG}\n")
    assert said.code == 4
    assert said.out.startswith(f"You: {MONGOLIA}\nThere is nothing in your memory about Mongolia.\nMissing: Mongolia\n")
    assert "4 October 1987" in said.out


def test_nothing_at_the_pipe_is_nothing_said(vault: Shell) -> None:
    assert vault.pal("chat", "--plain") == vault.pal("chat", "--plain", input="\n/quit\nwho?\n")
    assert vault.pal("chat", "--plain").code == 0


def test_more_why_and_what_is_no_command(shell: Shell) -> None:
    shell.pal("remember", "Birds at the slipway:\n\n" + "\n".join(f"- slipway bird {n}" for n in range(1, 19)))
    said = shell.pal("chat", "--plain", input="Which birds are at the slipway?\n/more\n/why\n/flatten\n/effort deep\n")
    first, _, rest = said.out.partition("[12] ")
    assert "- slipway bird 1 [1]\n- slipway bird 2 [2]\n" in first and "bird 13" not in first
    assert "- slipway bird 13 [13]\n" in rest and re.search(r"^\[13\] ", rest, re.MULTILINE)
    assert said.err == "6 more lines: /more\n"
    assert "There is no command /flatten. /help lists them.\n" in rest
    assert said.out.endswith("Effort: deep. There are: quick, normal, deep.\n")


def test_what_is_stated_is_kept_once_that_is_wanted_and_taken_back(shell: Shell) -> None:
    shell.pal("remember", "# Me\n\n- Phone: 555 1111", "--title", "Me")
    told = "My phone number is 555 9999"
    said = shell.pal("chat", "--plain", input=f"{told}\nI sold the boat, what is my phone?\n")
    hint = "Not saved: “I sold the boat”. To save such statements: pal config set chat.remember yes\n"
    assert said.err == f"To save it: /remember TEXT in the chat, or pal remember TEXT.\n{hint}"
    assert "No note says this yet." in said.out and "Kept" not in said.out
    assert shell.pal("config", "set", "chat.remember", "yes").err == "It counts at once.\n"
    said = shell.pal("chat", "--plain", input=f"{told}\nI sold the boat, what is my phone?\n/undo\n")
    assert "Kept, in your own words.\n- From now on: your phone: 555 9999 [1]\n" in said.out
    assert "  earlier: your phone: 555 1111 [2]\n" in said.out
    assert "Kept in your own words: “I sold the boat”. To take it back: pal undo\n" in said.err
    assert "- me: My phone" in said.out
    assert said.out.endswith("No longer saved: “I sold the boat”.\n")
    assert shell.pal("undo").out == f"No longer saved: “{told}”.\n"
    assert "555 1111" in shell.pal("ask", "What is my phone number?").out
    said = shell.pal("ask", "I moved to Bergen and what is my phone number?")
    assert "Kept in your own words: “I moved to Bergen”. To take it back: pal undo\n" in said.err
    assert "555 1111" in said.out


def test_at_a_terminal_it_is_asked_once_whether_to_keep_what_is_stated(shell: Shell) -> None:
    keys = [("You: ", "I moved to Bergen\n"), ("y or n: ", "y\n"), ("takes it back.\r\nYou: ", "/quit\n")]
    said = at_terminal(shell, "chat", "--plain", keys=keys)
    assert "Kept in your own words: “I moved to Bergen”. /undo takes it back.\n" in said.out
    assert shell.pal("config", "get", "chat.remember").out == "yes\n"


def test_sessions_are_listed_searched_and_resumed(shell: Shell) -> None:
    shell.pal("remember", "The belt for the compressor is with Ozzie.")
    shell.pal("chat", "--plain", input="Who has the belt for the compressor?\n")
    said = shell.pal("chat", "--plain", input="/sessions\n/search OZZIE\n/resume 1\n/resume 77\n/resume\n/search\n")
    assert said.code == 4 and said.err == "Error: There is no session 77. In the chat, /sessions lists them.\n"
    assert re.fullmatch(
        r"1: Who has the belt for the compressor\?, \d{4}-\d\d-\d\d \d\d:\d\d\n"
        r"/resume NUMBER goes on with one\.\n"
        r"1: Who has the belt for the compressor\?\n"
        r"Memory: The belt for the compressor is with Ozzie\. \[1\]\n"
        r"Session 1: Who has the belt for the compressor\?\n"
        r"You: Who has the belt for the compressor\?\n"
        r"- The belt for the compressor is with Ozzie\. \[1\]\n\n"
        r"\[1\] .*\n"
        r"Say which session: /resume NUMBER\. /sessions lists them\.\n"
        r"Say what to look for: /search WORDS\n",
        said.out,
    )


def test_hostile_lines_are_only_text(vault: Shell) -> None:
    said = vault.pal("chat", "--plain", input="\x1b[2J [bold]goat[/bold] \u202e\n/\x1b]52;c;x\x07\n")
    assert said.code in (0, 4, 5)
    assert "\x1b" not in said.out + said.err and "\x07" not in said.out + said.err


def test_it_imports_no_textual(vault: Shell) -> None:
    code = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
        "from daemon.cli import main; main(prog_name='pal')"
    )
    out, err = vault.process("chat", "--plain", code=code).communicate(f"{FOG}\n", timeout=60)
    assert "4 October 1987" in out
    assert {name.partition(".")[0] for name in err.splitlines()[-1].split()} & HEAVY == set()


def test_at_a_terminal_it_asks_until_one_leaves(vault: Shell) -> None:
    said = at_terminal(vault, "chat", "--plain", keys=[("You: ", f"{FOG}\n"), ("2024-11-17\r\nYou: ", "/quit\n")])
    assert said.code == 0
    assert "Ask a question, or type /help.\n" in said.out
    assert "- The fog signal was last sounded on 4 October 1987. [1]\n" in said.out
    assert "\x1b" not in said.out


def test_a_terminal_that_moves_no_cursor_gets_it_without_asking(vault: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    said = at_terminal(vault, keys=[("You: ", "/help\n"), ("leave; Ctrl+D does it, too\r\nYou: ", "/quit\n")])
    assert said.code == 0 and "/search WORDS: find the sessions in which that was said\n" in said.out
    assert "\x1b" not in said.out
