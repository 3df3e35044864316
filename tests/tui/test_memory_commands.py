"""Commands that look up, keep, forget and take back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import Paste

from daemon import wire
from daemon.client.client import DaemonError
from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import HOME, NOW, Script
from tests.tui.test_prompt import LONG, chips
from tui.chat.screen import ChatScreen
from tui.dialogs.dialog import ConfirmScreen
from tui.memory.screen import MemoryScreen
from tui.widgets.transcript import Note

LYON = wire.Fact(
    3, "relation", "Ana lives in Lyon", ("Ana", "Lyon"), NOW, NOW, NOW, None, 4, 31, f"{HOME}/ana.md", 3,
    predicate="lives in", since="2021", until="2026-03",
)  # fmt: skip
TURIN = replace(LYON, id=4, text="Ana lives in Turin", objects=("Ana", "Turin"), line=9, since="2026-03", until="")
MOVED = wire.Revision(8, "supersedes", LYON, TURIN, "The newer note says so.", "rule", 0.9, "open", NOW)


def notes(chat: Chat) -> list[str]:
    return [note.text for note in chat.screen.query(Note)]


async def until_said(chat: Chat, said: str) -> None:
    await chat.until(lambda: any(said in note for note in notes(chat)))


async def give(chat: Chat, command: str, said: str) -> None:
    """Types a command and waits for what is said of it."""
    await chat.send(command)
    await until_said(chat, said)


async def confirm(chat: Chat, *keys: str) -> None:
    await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
    await chat.pilot.press(*keys)
    await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))


@pytest.mark.parametrize("command", ["/facts", "/fcats"])
async def test_facts_opens_the_page_of_a_thing(command: str) -> None:
    async with chatting(world.remembered(objects=("Compressor",))) as chat:
        chat.screen.prompt.insert(f"{command} comp")
        await chat.until(lambda: "Compressor" in chat.said("#suggestions"))
        await chat.pilot.press("tab", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen))
        await chat.until(lambda: "Compressor" in str(chat.app.screen.query_one("#detail").border_title))
        assert chat.client.asked == []


async def test_a_note_is_remembered_and_undo_forgets_it() -> None:
    async with chatting(world.client()) as chat:
        kept = "Kept in your own words: “The key is under the pot.” /undo takes it back."
        await give(chat, "/remember The key is under the pot.", kept)
        assert list(chat.client.remembered.values()) == ["The key is under the pot."]
        await give(chat, "/undo", "Forgotten: “The key is under the pot.”")
        assert chat.client.remembered == {}
        await give(chat, "/remember", "There is nothing to remember.")


async def test_it_is_asked_once_whether_what_is_stated_is_kept() -> None:
    scripts = [
        Script(wire.SavedStatement(text), wire.Answered("Nothing.", no_answer=True))
        for text in ("I moved", "I sold it", "I hid it")
    ]
    async with chatting(world.client(answers=scripts)) as chat:
        await chat.send("I moved")
        await confirm(chat, "right", "enter")
        await until_said(chat, "Kept in your own words: “I moved”. /undo takes it back.")
        assert chat.client.done == [("set_telling", "yes")]
        assert [*chat.client.remembered.values()] == ["I moved"]
        await give(chat, "/undo", "Forgotten: “I moved”")
        assert chat.client.remembered == {}
        await chat.send("I sold it")
        await confirm(chat, "escape")
        await until_said(chat, "Not saved this time. /remember saves it.")
        assert chat.client.done[-1] == ("set_telling", "yes") and chat.client.remembered == {}
        await chat.send("I hid it")
        await confirm(chat, "enter")
        await until_said(chat, "Not saved, and not asked again. /remember TEXT saves one;")
        assert chat.client.done[-1] == ("set_telling", "no") and chat.client.remembered == {}


async def test_what_a_statement_changed_is_no_news_any_more_when_it_is_taken_back() -> None:
    told = wire.SavedStatement("Ana moved to Turin", "told:1", 7, besides="where?", changes=(MOVED,))
    async with chatting(world.client(answers=[Script(told, wire.Answered("At 10.", (), ms=3.0))])) as chat:
        chat.client.live.give(wire.FactChanged(MOVED))
        await chat.until(lambda: "Changed: Ana lives in Turin" in chat.words())
        await chat.send("Ana moved to Turin, where?")
        await until_said(chat, "From now on: Ana lives in Turin; before: Ana lives in Lyon. /undo takes it back.")
        await give(chat, "/undo", "Forgotten: “Ana moved to Turin”")
        await chat.until(lambda: "Changed:" not in chat.words())
        assert "/undo takes it back." in chat.words()


async def test_what_was_kept_besides_a_question_is_said_and_undo_takes_it_back() -> None:
    kept = wire.SavedStatement("I moved to Bergen", "told:1", 7, besides="where is the town hall?")
    async with chatting(world.client(answers=[Script(kept, wire.Answered("At 10.", (), ms=3.0))])) as chat:
        await chat.send("I moved to Bergen, where is the town hall?")
        await until_said(chat, "Kept in your own words: “I moved to Bergen”. /undo takes it back.")
        assert chat.client.asked[0][1]["own_words"] is True
        await give(chat, "/undo", "Forgotten: “I moved to Bergen”")
        assert chat.client.forgotten == [{"source": "told:1"}]


async def test_what_was_pasted_is_remembered_and_asked_within() -> None:
    async with chatting(world.client(answers=[world.short_answer()])) as chat:
        chat.app.post_message(Paste(LONG))
        await chat.until(lambda: chips(chat) == ["[pasted, 42 lines]"])
        await chat.send("/remember")
        await chat.until(lambda: chips(chat) == ["@line 1"])
        [(uri, text)] = chat.client.remembered.items()
        assert text == LONG
        await chat.ask("What is on line 17?")
        asked, how = chat.client.asked[0]
        assert asked == "What is on line 17?" and how["within"] == wire.Scope(sources=(uri,), folders=(f"{uri}#",))


async def test_what_cannot_be_remembered_stays_attached() -> None:
    async with chatting(world.client()) as chat:
        chat.app.post_message(Paste("x" * 100_001))
        await chat.until(lambda: chips(chat) == ["[pasted, 1 line]"])
        await chat.send("/remember")
        await chat.until(lambda: "That is too much. Add it as a file." in chat.words())
        assert chips(chat) == ["[pasted, 1 line]"]


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        (f"{HOME}/goat.md", {"source": f"{HOME}/goat.md"}),
        ("note:goat", {"source": "note:goat"}),
    ],
)
async def test_forgetting_asks_first_and_says_that_it_cannot_be_undone(typed: str, chosen: dict[str, object]) -> None:
    kept = (wire.ListedSource(f"{HOME}/goat.md", "file", "Goat", 4), wire.ListedSource("note:goat", "note", "", 1))
    async with chatting(world.client(listed=kept)) as chat:
        await chat.send(f"/forget {typed}")
        await chat.until(lambda: "This cannot be undone" in chat.words())
        await confirm(chat, "enter")
        await until_said(chat, "Nothing was forgotten.")
        assert chat.client.forgotten == []
        await chat.send(f"/forget {typed}")
        await confirm(chat, "right", "enter")
        await until_said(chat, "Forgotten for good: 1 note, 4 passages, 2 facts.")
        assert chat.client.forgotten == [chosen] and "/backup/memory.db  2026-04-24" in notes(chat)[-1]


async def test_a_note_is_found_by_its_name_before_anything_is_asked() -> None:
    kept = tuple(wire.ListedSource(f"{HOME}/{name}.md", "file", name.title(), 4) for name in ("goat", "goat-diet"))
    async with chatting(world.client(listed=kept)) as chat:
        await give(chat, "/forget zzz", "No note matches “zzz”.")
        await give(chat, "/forget oat", "Several notes match “oat”: notes/goat.md, notes/goat-diet.md.")
        await chat.send("/forget Goat")
        await chat.until(lambda: "read from" in chat.words())
        assert "read from “Goat” (notes/goat.md)?" in chat.words() and chat.client.forgotten == []


async def test_undo_of_what_is_gone_says_so_and_goes_on() -> None:
    def fail(client: object) -> None:
        raise DaemonError(wire.Failed("not_found", "There is no source note:x.", ""))

    async with chatting(world.client()) as chat:
        chat.app.shared.note_done(lambda client: None, "The first is undone.")
        chat.app.shared.note_done(fail, "never said")
        await give(chat, "/undo", "There is no source note:x. Nothing was undone.")
        await give(chat, "/undo", "The first is undone.")
        assert "never said" not in chat.words()


async def test_undo_takes_back_one_after_the_other_what_was_done_here() -> None:
    async with chatting(world.client(answers=[world.answer()], state=world.EMPTY)) as chat:
        answer = await chat.ask("Who?")
        plain = answer.trace.text
        await chat.send("/good")
        await chat.until(lambda: answer.trace.text == f"{plain} · good")
        await give(chat, "/watch /notes", "Watching /notes.")
        await give(chat, "/me phone 0161", "phone: 0161")
        for said in (
            "Your phone is removed.",
            "/notes is no longer watched. Its notes stay.",
            "The answer is no longer judged.",
        ):
            await give(chat, "/undo", said)
        assert chat.client.mine.entries == () and chat.client.state.files.folders == ()
        assert answer.trace.text == plain and chat.client.verdicts == {9: None}
        await give(chat, "/undo", "There is nothing to undo")


async def test_undo_offers_the_last_change_of_a_fact() -> None:
    async with chatting(world.client(changed={8: MOVED})) as chat:
        await chat.send("/undo")
        await chat.until(lambda: "was replaced by “Ana lives in Turin”" in chat.words() and "Yes, undo" in chat.words())
        await confirm(chat, "right", "enter")
        await until_said(chat, "undone; both facts are restored.")
        assert chat.client.settled == [(8, "undo")]


async def test_undo_that_is_not_wanted_undoes_nothing() -> None:
    async with chatting(world.client(changed={8: MOVED})) as chat:
        await chat.send("/undo")
        await confirm(chat, "enter")
        assert chat.client.settled == []


async def test_an_undo_that_fails_can_be_tried_again() -> None:
    async with chatting(world.client()) as chat:
        await give(chat, "/me phone 0161", "phone: 0161")
        chat.client.down = "The memory daemon is not running."
        await chat.send("/undo")
        await chat.until(lambda: "The memory daemon is not running." in chat.words())
        chat.client.down = ""
        await give(chat, "/undo", "Your phone is removed.")
        assert chat.words().count("Your phone is removed.") == 1


async def test_the_memory_is_looked_after() -> None:
    async with chatting(world.client()) as chat:
        for command, said in [
            ("/backup", "Copied to /backup/memory-1.db, 18.4 MB. To restore it: pal restore /backup/memory-1.db"),
            ("/tidy", "3 duplicate facts were merged."),
            ("/pause", "No model reads in the background. /unpause goes on."),
            ("/unpause", "Models read in the background. /pause stops it."),
        ]:
            await give(chat, command, said)
        chat.client.problems = ("page 7 is torn.",)
        gone = wire.Folder("/gone", "missing", detail="the disk is not there")
        broke_off = wire.Night("failed", None, 3)
        chat.client.state = replace(
            chat.client.state, files=wire.FileReading(safe_mode="It reads nothing.", folders=(gone,)), night=broke_off
        )
        await chat.send("/doctor")
        await chat.until(
            lambda: all(said in chat.words() for said in ("4 problems", "page 7 is torn.", "It reads nothing."))
        )
        await chat.pilot.press("f5")
        chat.client.down = "The daemon has ended."
        for command in ("/backup", "/tidy"):
            chat.screen.show_message("")
            await chat.send(command)
            await chat.until(lambda: chat.message() == "The daemon has ended.")
            assert "Copied to" not in chat.message() and "merged" not in chat.message()


async def test_undo_says_again_what_was_said_of_the_owner_before() -> None:
    async with chatting(world.client()) as chat:
        for value in ("0161 4", "0161 5"):
            await give(chat, f"/me phone {value}", f"phone: {value}")
        await give(chat, "/undo", "phone is 0161 4 again.")
        assert "Your phone is removed." not in chat.words()
