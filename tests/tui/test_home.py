"""Home: what an empty session shows to somebody who comes back, and what its rows do."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Input

from daemon import wire
from daemon.paths import Paths
from daemon.setup import ONNX_PACKAGE, list_offers
from tests.tui import world
from tests.tui.conftest import NARROW, WIDE, Chat, chatting
from tests.tui.scripted import HOME, NOW, Script, ScriptedClient
from tests.tui.test_hostile import HOSTILE, safe
from tui.dialogs.dialog import ConfirmScreen, IntroductionScreen
from tui.memory.screen import MemoryScreen
from tui.preferences import Preferences
from tui.review.screen import ReviewScreen
from tui.widgets.home import EMPTY, Home, HomeList

SEEN = Preferences(seen_at=NOW - timedelta(days=1))


def at(chat: Chat) -> HomeList:
    focused = chat.app.focused
    assert isinstance(focused, HomeList)
    return focused


async def come_home(chat: Chat) -> None:
    await chat.until(
        lambda: {Home.QUESTIONS, Home.SESSIONS} <= {one.id for one in chat.screen.query(HomeList) if one.display}
    )


async def choose(chat: Chat, id: str, text: str) -> None:
    """Chooses the row that says this, by keys alone."""
    await come_home(chat)
    chat.screen.prompt.focus()
    await chat.pilot.press("tab")
    await chat.until(lambda: isinstance(chat.app.focused, HomeList))
    for _ in range(30):
        chosen = at(chat)
        if chosen.id == id and text in str(chosen.options[chosen.highlighted or 0].prompt):
            await chat.pilot.press("enter")
            return
        await chat.pilot.press("down")
    raise AssertionError(f"{text} was not found")


async def test_it_says_what_is_new_planned_and_worth_asking() -> None:
    async with chatting(world.at_home(), preferences=SEEN) as chat:
        await come_home(chat)
        words = chat.words()
        for said in (
            "Since yesterday 15:30", "3 changes wait for your review", "The mayor is Nuria Solano.", "was Ada Prowse",
            "12 notes read", "Fog signal, Opening times and others", "overdue: Order a belt", "today 18:00 Foghorn",
            "tomorrow Reprint the leaflets", "Wednesday 10:00 Visit", "Who is the mayor?", "Opening times at Easter",
        ):  # fmt: skip
            assert said in words, said
        assert words.count("belt of rubber") == 1, "what waits is not told twice"
        assert chat.client.since == SEEN.seen_at


async def test_a_line_says_how_far_the_better_search_is() -> None:
    line = "Better search is being prepared: 1,240 of 3,000 passages. Until then the static table answers."
    async with chatting(world.client(state=replace(world.STATUS, preparing=line)), size=WIDE) as chat:
        await chat.until(lambda: "Better search" in chat.words())
        assert line in chat.words()


async def test_the_arrows_walk_from_the_prompt_through_all_frames_and_back() -> None:
    async with chatting(world.at_home(), preferences=SEEN) as chat:
        await come_home(chat)
        await chat.pilot.press("up")
        await chat.until(lambda: isinstance(chat.app.focused, HomeList))
        assert at(chat).id == Home.NAMES and at(chat).highlighted == 2
        await chat.pilot.press("up", "up", "up", "left", "left")
        assert at(chat).id == Home.PLANS and at(chat).highlighted == 3
        await chat.pilot.press("left", "left")
        assert at(chat).id == Home.NEWS
        for _ in range(20):
            await chat.pilot.press("down")
        await chat.until(lambda: chat.app.focused is chat.screen.prompt)
        await chat.pilot.press("tab")
        assert at(chat).id == Home.NEWS and at(chat).highlighted == 0
        await chat.pilot.press("escape")
        assert chat.app.focused is chat.screen.prompt


async def test_what_is_typed_in_home_goes_to_the_prompt() -> None:
    async with chatting(world.at_home()) as chat:
        await come_home(chat)
        await chat.pilot.press("up", *"When")
        await chat.until(lambda: chat.screen.prompt.text == "When")
        assert chat.app.focused is chat.screen.prompt


async def test_a_question_is_asked_and_home_makes_room() -> None:
    async with chatting(world.at_home(answers=[world.answer()])) as chat:
        await choose(chat, Home.QUESTIONS, "Who is the mayor?")
        await chat.until(lambda: chat.answers and chat.answers[-1].ready.is_set())
        assert chat.client.asked[0][0] == "Who is the mayor?"
        assert not chat.screen.query(Home) and not chat.screen.conversation.has_class("-home")
        await chat.pilot.press("ctrl+n")
        await come_home(chat)


async def test_a_click_asks_as_well() -> None:
    async with chatting(world.at_home(answers=[world.answer()])) as chat:
        await come_home(chat)
        await chat.pilot.click(f"#{Home.QUESTIONS}", offset=(4, 2))
        await chat.until(lambda: chat.client.asked)
        assert chat.client.asked[0][0] == "What is still open?"


async def test_a_session_goes_on() -> None:
    async with chatting(world.at_home()) as chat:
        await choose(chat, Home.SESSIONS, "Opening times")
        await chat.until(lambda: "Answer 1." in chat.text() and "Opening times at Easter" in chat.title())
        assert "Question 1?" in chat.text() and not chat.screen.query(Home)
        assert (kept := chat.screen.conversation.session.conversation) and kept.id == 5


async def test_changes_lead_to_the_review() -> None:
    async with chatting(world.at_home()) as chat:
        await choose(chat, Home.NEWS, "wait for your review")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen) and "Waiting 3" in chat.text())
        assert "The compressor has a belt of rubber." in chat.text() and "was leather" in chat.text()


async def test_a_change_that_needs_no_review_is_shown_among_all() -> None:
    async with chatting(world.at_home()) as chat:
        await choose(chat, Home.NEWS, "The mayor is Nuria Solano.")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen) and chat.app.screen.changes.revision)
        page = chat.app.screen
        assert isinstance(page, ReviewScreen) and page.filter.chosen == "all"
        assert page.changes.revision is not None and page.changes.revision.id == 1


async def test_what_was_read_is_listed_with_its_places() -> None:
    async with chatting(world.at_home()) as chat:
        await choose(chat, Home.NEWS, "notes read")
        await chat.until(lambda: "notes/museum/Paint.md" in chat.text())
        listed = chat.words().partition("Read last: ")[2]
        names = [f"{name} · {HOME}/museum/{name}.md" for name in ("Fog signal", "Opening times", "Paint")]
        assert sorted(names, key=listed.index) == names


async def test_a_plan_is_opened_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, int | None]] = []
    monkeypatch.setattr("tui.page.open_in_editor", lambda app, uri, line: opened.append((uri, line)))
    async with chatting(world.at_home()) as chat:
        await choose(chat, Home.PLANS, "Reprint")
        assert [(Path(uri).name, line) for uri, line in opened] == [("calendar.ics", 7)]


async def test_a_plan_that_cannot_be_opened_is_reported() -> None:
    async with chatting(world.at_home()) as chat:
        await choose(chat, Home.PLANS, "Reprint")
        await chat.until(lambda: chat.message() == "The file no longer exists; this is the passage as it was read.")
        assert chat.app.current_mode == "chat" and chat.screen.query(Home)


async def test_home_of_somebody_new_says_nothing_of_the_last_time() -> None:
    async with chatting(world.client(suggested=world.SUGGESTED)) as chat:
        await chat.until(lambda: "Worth asking" in chat.text())
        assert [one.id for one in chat.screen.query_one(Home).lists] == [Home.QUESTIONS]
        assert "Ask your memory." in chat.text() and "Since" not in chat.text()


async def test_a_memory_that_is_read_in_says_so_and_fills_home_then() -> None:
    client: ScriptedClient = world.client(state=world.READING)
    async with chatting(client) as chat:
        assert "Your memory is being built." in chat.text()
        client.state, client.suggested = world.STATUS, world.SUGGESTED
        chat.app.shared.link.refresh_status()
        await chat.until(lambda: "Who is the mayor?" in chat.text())
        assert "It watches notes." in chat.words() and "is being built" not in chat.text()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_text_in_home_is_text(text: str, size: tuple[int, int]) -> None:
    known = world.at_home(suggested=(f"{text}?",))
    planned = tuple(world.replace(one, text=text, time=text, title=text, uri=f"/{text}") for one in known.found.planned)
    read = tuple(world.replace(one, title=text, uri=text) for one in known.found.read)
    bad = world.replace(world.changes()[4].new, text=text, quote=text, uri=text, title=text)
    known.notes, known.things = read, (wire.FoundObject(text, "", 0, 1),)
    known.found = world.replace(
        known.found, planned=planned, read=read, review=world.replace(world.changes()[4], new=bad)
    )
    async with chatting(known, size, SEEN) as chat:
        chat.app._last_guard = []
        await come_home(chat)
        await chat.pilot.press("up", "up")
        assert safe(chat)
        await choose(chat, Home.NEWS, "notes read")
        await chat.pilot.pause()
        assert safe(chat)


@pytest.mark.parametrize(
    ("days", "name"), [(0, "today"), (1, "tomorrow"), (5, "Wednesday"), (-4, "20 Apr"), (7, "1 May")]
)
def test_days_are_named_as_people_do(days: int, name: str) -> None:
    day = str(NOW.date() + timedelta(days=days))
    assert wire.PlannedEntry(day, "", "Call Ida", True, "/n/a.md", "A", 1, 1).name_day(NOW.date()) == name


async def begin(chat: Chat, what: str) -> None:
    """Chooses how to begin."""
    await chat.until(lambda: "How to begin" in chat.text() and isinstance(chat.app.focused, HomeList))
    for _ in EMPTY:
        if what in str(at(chat).options[at(chat).highlighted or 0].prompt):
            break
        await chat.pilot.press("down")
    await chat.pilot.press("enter")


async def test_an_empty_memory_begins_with_a_folder_that_is_watched(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await begin(chat, "Choose a folder")
        assert chat.screen.prompt.text == "/add ~/" and chat.screen.prompt.has_focus
        chat.screen.prompt.fill(f"/add {tmp_path}/no")
        await chat.pilot.press("tab")
        await chat.until(lambda: chat.screen.prompt.text == f"/add {tmp_path}/notes/")
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        assert "86 files would be read, 1.2 MB." in chat.words()
        await chat.pilot.press("enter")
        await chat.until(lambda: "Watching" in chat.text())
        assert [folder.path for folder in chat.client.state.files.folders] == [str(tmp_path / "notes")]


async def test_enter_takes_the_folder_that_is_marked_and_not_the_whole_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await begin(chat, "Choose a folder")
        await chat.until(lambda: "▸ ~/notes/" in chat.said("#suggestions"))
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.prompt.text == "/add ~/notes/")
        assert chat.client.added == []


async def test_an_empty_memory_asks_who_the_owner_is() -> None:
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await begin(chat, "Say who you are")
        await chat.until(lambda: isinstance(chat.app.screen, IntroductionScreen))
        await chat.pilot.press(*"Ada", "enter", "enter", *"sister Ife", "enter", "enter")
        await chat.until(lambda: "Saved: name, sister" in chat.text())
        told = {entry.key: entry.facts[0].objects[-1] for entry in chat.client.mine.entries}
        assert told["name"] == "Ada" and told["sister"] == "Ife"


async def test_chats_are_imported_from_a_file(tmp_path: Path) -> None:
    (export := tmp_path / "WhatsApp.txt").write_text("12/04/2026, 18:03 - Anna: Hello.")
    client = world.client(state=world.EMPTY, additions=[Script(wire.Added(1, 1, 0, 0))])
    async with chatting(client) as chat:
        await begin(chat, "Import chats")
        chat.screen.prompt.fill(f"/add {export}")
        await chat.pilot.press("enter")
        await chat.until(lambda: "1 note read, 1 passage." in chat.words())
        assert chat.client.added == [export] and chat.client.state.files.folders == ()


async def test_the_examples_are_read() -> None:
    client = world.client(state=world.EMPTY, additions=[Script(wire.Added(20, 23, 0, 0))])
    async with chatting(client) as chat:
        await begin(chat, "Try the examples")
        await chat.until(lambda: "20 notes read, 23 passages." in chat.message())
        assert "How to begin" in chat.text(), "Home stays"
        (read,) = chat.client.added
        assert read.is_dir() and list(read.rglob("fog-signal.*")), "they come with the program"


async def test_it_offers_to_connect_a_model() -> None:
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await begin(chat, "Connect a model")
        await chat.until(lambda: "ollama" in chat.said("#suggestions") and "private and free" in chat.words())
        assert chat.screen.prompt.text == "/connect " and chat.screen.prompt.has_focus


@pytest.mark.parametrize(("keys", "kept"), [("y n w enter", "watch"), ("right enter", "once"), ("escape", "")])
async def test_adding_a_folder_asks_once_whether_to_keep_watching_it(tmp_path: Path, keys: str, kept: str) -> None:
    client = world.client(additions=[Script(wire.Added(2, 3, 0, 0))])
    async with chatting(client) as chat:
        await chat.send(f"/add {tmp_path}")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        assert "86 files would be read" in chat.words()
        await chat.pilot.press(*keys.split())
        if kept:
            await chat.until(lambda: ("Watching" if kept == "watch" else "2 notes read") in chat.words())
        await chat.until(lambda: not isinstance(chat.app.screen, ConfirmScreen))
        assert (str(tmp_path) in chat.app.shared.folders or str(tmp_path) in str(client.state.files.folders)) == (
            kept == "watch"
        )
        assert bool(client.added) == (kept == "once")


@pytest.mark.parametrize(("key", "said"), [("right", "Installed."), ("down", "Watching")])
async def test_a_folder_with_pdfs_offers_their_reader_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, said: str
) -> None:
    (tmp_path / "pip.py").write_text("", "utf-8")  # all that `python -m pip` then is
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    client = world.client(counted=wire.Counted(3, 9_000, complete=True, lacking=2), paths=Paths.in_folder(tmp_path))
    async with chatting(client) as chat:
        await chat.screen.tell("Here.")  # in place of Home
        await chat.send(f"/add {tmp_path}")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        await chat.pilot.press("enter")
        await chat.until(lambda: "Office files, for 2 files there: about 17 MB" in chat.words())
        assert " -m pip install " in chat.words()
        await chat.pilot.press(key, "enter")
        await chat.until(lambda: said in chat.text())
        assert ("readers" in list_offers(client.paths, 2)) == (key == "right")


async def test_better_search_is_offered_at_home_until_it_is_declined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, ONNX_PACKAGE, None)
    async with chatting(world.client(state=world.EMPTY, paths=Paths.in_folder(tmp_path))) as chat:
        await chat.until(lambda: "Better search" in chat.text() and "about 50 MB to download" in chat.words())
        await begin(chat, "Better search")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        await chat.pilot.press("enter")
        await chat.until(lambda: "Better search" not in chat.text() and "How to begin" in chat.text())
        assert chat.screen.query(Home), "nothing was said in its place"


async def test_watching_a_folder_does_not_ask(tmp_path: Path) -> None:
    client = world.client()
    async with chatting(client) as chat:
        await chat.send(f"/watch {tmp_path}")
        await chat.until(lambda: "Watching" in chat.text())
        assert str(tmp_path) in [folder.path for folder in client.state.files.folders]
        assert "86 files would be read" not in chat.words() and client.added == []


@pytest.mark.parametrize(("id", "name"), [(Home.NAMES, "Compressor"), (Home.NOTES, "Fog signal")])
async def test_what_was_read_last_and_what_it_names_lead_to_their_pages(id: str, name: str) -> None:
    async with chatting(world.remembered()) as chat:
        await chat.until(lambda: "Mentioned most" in chat.text() and "Newest notes" in chat.text())
        found = chat.screen.query_one(f"#{id}", HomeList)
        row = next(at for at, one in enumerate(found.options) if name in str(one.prompt))
        found.focus()
        found.highlighted = row
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen))
        await chat.until(lambda: name in str(chat.app.screen.query_one("#detail").border_title))
        assert chat.app.screen.query_one(Input).value == name
