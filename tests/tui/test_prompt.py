"""The prompt: what is suggested while one types, what limits a question, what is pasted, what waits."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import OptionList

from daemon import wire
from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import HOME, NOW, Script
from tui.fuzzy import rank
from tui.session import Inquiry, Limit, add_limit, is_long, parse_day
from tui.widgets.below import Chips
from tui.widgets.plain import Plain
from tui.widgets.transcript import Note

LONG = "\n".join(f"line {number}" for number in range(1, 43))
FOG = wire.ListedSource(f"{HOME}/museum/fog-signal.md", "file", "Fog signal", 4, NOW)
GOAT = wire.ListedSource(f"{HOME}/goat.md", "file", "What the goat may not eat", 2, NOW)


def chips(chat: Chat) -> list[str]:
    return chat.screen.query_one(Chips).labels


def suggested(chat: Chat) -> str:
    shown = chat.screen.query_one("#suggestions", Plain)
    return shown.text if shown.display else ""


async def type_text(chat: Chat, text: str) -> None:
    chat.screen.prompt.insert(text)
    await chat.pilot.pause()


async def paste(chat: Chat, text: str) -> None:
    chat.app.post_message(Paste(text))
    await chat.pilot.pause()


# Limits --------------------------------------------------------------------------------------------------------


async def test_a_note_and_a_tag_limit_the_questions_until_they_are_removed() -> None:
    client = world.client(
        listed=(GOAT, FOG), tagged={"boat": 3, "belt": 1}, answers=[world.short_answer() for _ in range(3)]
    )
    async with chatting(client) as chat:
        await type_text(chat, "When was it sounded? @fgsig")
        await chat.until(lambda: "@Fog signal" in suggested(chat))
        assert "goat" not in suggested(chat) and "notes/museum/fog-signal.md" in suggested(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: chips(chat) == ["@Fog signal"])
        assert chat.screen.prompt.text == "When was it sounded? " and not client.asked
        await type_text(chat, "#bo")
        await chat.until(lambda: "#boat   3 notes" in suggested(chat))
        await chat.pilot.press("tab")
        await chat.until(lambda: chips(chat) == ["@Fog signal", "#boat"])
        await chat.ask("")
        within = wire.Scope(sources=(FOG.uri,), folders=(f"{FOG.uri}#",), tags=("boat",))
        assert client.asked[0][0] == "When was it sounded?" and client.asked[0][1]["within"] == within
        assert "@Fog signal · #boat" in chat.text(), "the question shows what limited it"
        await chat.ask("And then?")
        assert client.asked[1][1]["within"] == within, "it limits the questions to come as well"
        await chat.pilot.click(Chips, offset=(4, 0))
        await chat.until(lambda: chips(chat) == ["#boat"])
        await chat.pilot.press("backspace")
        await chat.until(lambda: chips(chat) == [])
        await chat.ask("And now?")
        assert client.asked[2][1]["within"] is None


async def test_a_day_changes_what_answers_are_as_of_and_warns() -> None:
    client = world.client(answers=[world.short_answer(), world.short_answer()])
    async with chatting(client) as chat:
        await type_text(chat, "Who has the belt? @2026-03")
        await chat.until(lambda: "answers as of its end" in suggested(chat))
        await chat.pilot.press("enter")
        await chat.until(lambda: chips(chat) == ["as of 2026-03"])
        await chat.ask("")
        assert client.asked[0][1]["as_of"] == datetime(2026, 3, 31, 23, 59, 59, 999999).astimezone()
        await chat.send("/asof 2025")
        await chat.until(lambda: chips(chat) == ["as of 2025"])
        await chat.send("/asof yesteryear")
        await chat.until(lambda: "“yesteryear” is not a date." in chat.words())
        await chat.send("/asof")
        await chat.until(lambda: chips(chat) == [])
        await chat.ask("Who has it now?")
        assert client.asked[1][1]["as_of"] is None


async def test_a_folder_can_be_asked_within_and_limits_stay_with_their_session() -> None:
    client = world.client(answers=[world.short_answer()], kept=world.sessions())
    async with chatting(client) as chat:
        await type_text(chat, "@note")
        await chat.until(lambda: "@notes/" in suggested(chat))
        await chat.pilot.press("enter")
        await chat.ask("Who?")
        assert client.asked[0][1]["within"] == wire.Scope(folders=(f"{HOME}/",))
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: chips(chat) == [])


async def test_a_folder_in_a_watched_one_can_be_asked_within_and_a_refusal_tells_of_the_limit() -> None:
    client = world.client(answers=[world.refusal()], listed=(FOG,))
    async with chatting(client) as chat:
        await type_text(chat, "@muse")
        await chat.until(lambda: "@museum/" in suggested(chat) and "all notes in" in suggested(chat))
        await chat.pilot.press("enter")
        await chat.ask("What is the capital of Atlantis?")
        assert client.asked[0][1]["within"] == wire.Scope(folders=(f"{HOME}/museum/",))
        assert "Nothing there has “Atlantis”." in chat.words() and "No source" not in chat.words()
        assert "Backspace in the empty prompt removes the limit." in chat.words()
        await chat.pilot.press("backspace")
        await chat.until(lambda: chips(chat) == [])


async def test_an_at_sign_in_words_is_no_limit() -> None:
    client = world.client(listed=(FOG,), answers=[world.short_answer()])
    async with chatting(client) as chat:
        await chat.send("What did ozzie@example.org write?")
        await chat.until(lambda: [question for question, _ in client.asked] == ["What did ozzie@example.org write?"])
        await type_text(chat, "meet @fog")
        await chat.until(lambda: suggested(chat))
        await chat.pilot.press("escape")
        assert not suggested(chat)
        client.answers.append(world.short_answer())
        await chat.pilot.press("enter")
        await chat.until(lambda: len(client.asked) == 2)
        assert client.asked[1][0] == "meet @fog"


# Pasted texts --------------------------------------------------------------------------------------------------


async def test_a_long_paste_is_attached_and_goes_with_the_question() -> None:
    client = world.client(answers=[world.short_answer()])
    async with chatting(client) as chat:
        await type_text(chat, "Is this so?")
        await paste(chat, LONG.replace("\n", "\r\n"))
        await chat.until(lambda: chips(chat) == ["[pasted, 42 lines]"])
        assert chat.screen.prompt.text == "Is this so?"
        await chat.ask("")
        assert client.asked[0][0] == f"Is this so?\n\n{LONG}"
        assert chips(chat) == [] and "[pasted, 42 lines]" in chat.text() and "line 17" not in chat.text()


async def test_a_short_paste_is_text_and_a_long_one_is_removed_as_a_unit() -> None:
    async with chatting(world.client()) as chat:
        await paste(chat, "one\ntwo")
        assert chat.screen.prompt.text == "one\ntwo" and chips(chat) == []
        await paste(chat, "x" * 501)
        await chat.until(lambda: chips(chat) == ["[pasted, 1 line]"])
        chat.screen.prompt.clear()
        await chat.pilot.press("backspace")
        await chat.until(lambda: chips(chat) == [])


async def test_a_paste_goes_to_the_prompt_once_wherever_the_keys_go() -> None:
    async with chatting(world.client()) as chat:
        chat.screen.conversation.transcript.focus()
        await chat.pilot.pause()
        await paste(chat, "one")
        await chat.until(lambda: chat.screen.prompt.has_focus and chat.screen.prompt.text == "one")
        await paste(chat, "two")
        await chat.until(lambda: chat.screen.prompt.text == "onetwo")
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "onetwo"  # still: nothing came twice


async def test_what_was_pasted_comes_back_with_a_question_that_failed() -> None:
    failed = wire.Failed("invalid", "The question has 9,000 characters; at most 4,000 are read.", "Ask a shorter one.")
    async with chatting(world.client(answers=[Script(failed)])) as chat:
        await paste(chat, LONG)
        await chat.send("Is this so?")
        await chat.until(lambda: chips(chat) == ["[pasted, 42 lines]"])
        assert chat.screen.prompt.text == "Is this so?"


# Suggestions ---------------------------------------------------------------------------------------------------


async def test_arrow_keys_choose_a_command_and_enter_runs_it() -> None:
    async with chatting(world.client()) as chat:
        await type_text(chat, "/stat")
        await chat.until(lambda: "▸ /status" in suggested(chat))
        await chat.pilot.press("enter")
        await chat.until(lambda: "watched · 86 notes" in chat.words())
        await chat.pilot.press("f5")
        await type_text(chat, "/")
        await chat.until(lambda: suggested(chat))
        first = suggested(chat).splitlines()[0]
        await chat.pilot.press("down", "down", "up", "up")
        assert suggested(chat).splitlines()[0] == first
        await chat.pilot.press("up")
        assert suggested(chat).splitlines()[-1].startswith("▸"), "from the first up is the last"
        await chat.pilot.press("escape")
        assert not suggested(chat) and chat.screen.prompt.text == "/"


async def test_a_command_that_takes_more_is_completed_and_not_sent() -> None:
    async with chatting(world.client()) as chat:
        await type_text(chat, "/forg")
        await chat.until(lambda: suggested(chat))
        await chat.pilot.press("enter")
        assert chat.screen.prompt.text == "/forget " and not chat.screen.query(Note)


async def test_words_with_a_meaning_are_chosen_with_the_arrow_keys() -> None:
    async with chatting(world.client()) as chat:
        await type_text(chat, "/effort ")
        await chat.until(lambda: "a model directs the search" in suggested(chat))
        await chat.pilot.press("down", "down", "enter")
        assert chat.screen.prompt.text == "/effort deep"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.said("#sign") == "deep ›")


async def test_tab_completes_paths_as_a_shell_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notebook.md").touch()
    (tmp_path / ".hidden").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    async with chatting(world.client()) as chat:
        for typed, completed in [
            ("/ad", "/add "),
            (f"/add {tmp_path}/no", f"/add {tmp_path}/note"),
            ("/watch ~/notes/d", "/watch ~/notes/deep/"),
            ("/add noteb", "/add notebook.md"),
            ("/add .hid", "/add .hidden"),
            ("/add /nowhere/x", "/add /nowhere/x"),
            ("/add ~nobody-at-all/x", "/add ~nobody-at-all/x"),
        ]:
            chat.screen.prompt.fill(typed)
            await chat.pilot.press("tab")
            assert chat.screen.prompt.text == completed
        chat.screen.prompt.fill("/add n")
        await chat.until(
            lambda: [line.split()[-1] for line in suggested(chat).splitlines()[:-1]] == ["notebook.md", "notes/"]
        )
        await chat.pilot.press("down", "tab")
        assert chat.screen.prompt.text == "/add notes/"


async def test_a_click_takes_a_suggestion() -> None:
    async with chatting(world.client(tagged={"boat": 3})) as chat:
        await type_text(chat, "#")
        await chat.until(lambda: "#boat" in suggested(chat))
        await chat.pilot.click("#suggestions", offset=(6, 0))
        await chat.until(lambda: chips(chat) == ["#boat"])
        assert chat.screen.prompt.has_focus and chat.screen.prompt.text == ""


# Questions that wait -------------------------------------------------------------------------------------------


async def test_a_question_that_waits_is_edited_or_dropped() -> None:
    first = Script(ends=False)
    client = world.client(answers=[first, world.short_answer()])
    async with chatting(client) as chat:
        for question in ("One?", "Two?", "Three?", "Four?"):
            await chat.send(question)
        await chat.until(lambda: "3 waiting  Four?" in chat.text())
        await chat.pilot.press("alt+q")
        assert isinstance(chat.app.focused, OptionList)
        await chat.pilot.press("down", "delete")
        await chat.until(lambda: "Three?" not in chat.text() and "2 waiting  Four?" in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.prompt.text == "Four?" and chat.screen.prompt.has_focus)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.screen.prompt.text == "Two?\nFour?")
        assert not chat.screen.query_one("#waiting").display
        first.give(wire.Answered("One."))
        await chat.until(lambda: chat.answers[-1].ready.is_set())
        assert [question for question, _ in client.asked] == ["One?"]


async def test_what_waits_keeps_its_limits_and_dropping_the_last_gives_the_keys_back() -> None:
    first = Script(ends=False)
    async with chatting(world.client(answers=[first], tagged={"boat": 1})) as chat:
        await chat.send("One?")
        await chat.send("/asof 2025")
        await chat.send("Two?")
        await chat.until(lambda: "1 waiting  Two?  as of 2025" in chat.text())
        await chat.pilot.press("alt+q", "delete")
        await chat.until(lambda: chat.screen.prompt.has_focus)
        await chat.pilot.press("alt+q")
        await chat.until(lambda: "There is no waiting question." in chat.words())


# Values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2025", datetime(2026, 1, 1)),
        ("2026-12", datetime(2027, 1, 1)),
        ("2026-3", datetime(2026, 4, 1)),
        ("2026-03-09", datetime(2026, 3, 10)),
        ("2026-13", None),
        ("2026-02-30", None),
        ("0000", None),
        ("9999", None),
        ("march", None),
        ("", None),
    ],
)
def test_a_day_is_its_last_moment(text: str, end: datetime | None) -> None:
    found = parse_day(text)
    assert (found is None) == (end is None)
    if found is not None and end is not None:
        assert 0 < (end.astimezone() - found).total_seconds() < 1


def test_limits_are_there_once_and_a_day_replaces_a_day() -> None:
    tag, day, other = Limit("tag", "a", "a"), Limit("day", "2025", "2025"), Limit("day", "2026", "2026")
    assert add_limit(add_limit((tag, day), other), tag) == (other, tag)
    assert Inquiry("Who?").within is None and Inquiry("Who?", limits=(tag,)).within == wire.Scope(tags=("a",))


def test_what_is_long() -> None:
    assert not is_long("a\nb\nc\nd\ne") and is_long("a\nb\nc\nd\ne\nf") and is_long("x" * 501)


def test_the_best_fit_comes_first() -> None:
    words = ["distory", "history", "hi", "why not"]
    assert rank("hi", words, lambda word: (word,)) == ["hi", "history"]
    assert rank("not", words, lambda word: (word,)) == ["why not"]
    assert rank("hsit", words, lambda word: (word,), slips=True) == ["history"]
    assert rank("", words, lambda word: (word,)) == words
