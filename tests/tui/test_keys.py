"""Keys as terminals send them, many at once, through the parser that reads them from a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from textual import work
from textual._xterm_parser import XTermParser
from textual.events import MouseDown
from textual.widgets import Input

from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import NOW
from tui.dialogs.dialog import ConfirmScreen, Dialog
from tui.dialogs.sessions import SessionsScreen
from tui.folders.folders import FolderList
from tui.keys import teach_alt_enter

NAMES = {" ": "space", "/": "slash"}
PASTE = "\x1b[200~{}\x1b[201~"


@pytest.fixture(autouse=True)
def parser() -> Iterator[XTermParser]:
    teach_alt_enter()
    yield XTermParser()


async def type_at_once(chat: Chat, parser: XTermParser, keys: str) -> None:
    """What a terminal sends in one piece."""
    for event in parser.feed(keys):
        chat.app.post_message(event)
    await chat.pilot.pause()


async def test_two_questions_typed_in_one_burst_are_two_questions(parser: XTermParser) -> None:
    client = world.client(answers=[world.short_answer(), world.short_answer()])
    async with chatting(client) as chat:
        await type_at_once(chat, parser, "Who has the belt?\rWho ate it?\rand no")
        await chat.until(lambda: len(client.asked) == 2)
        assert [question for question, _ in client.asked] == ["Who has the belt?", "Who ate it?"]
        assert chat.screen.prompt.text == "and no"


async def test_keys_that_edit_act_where_they_were_typed(parser: XTermParser) -> None:
    async with chatting(world.client()) as chat:
        await type_at_once(chat, parser, "axy\x7f\x7fbd\x1b[Dc\x01>")
        await chat.until(lambda: chat.screen.prompt.text == ">abcd")
        assert chat.screen.prompt.cursor_location == (0, 1) and chat.client.asked == []


OTHER_ENTERS = {
    "Ctrl+J": "\n",
    "Alt+Enter": "\x1b\r",
    "Alt+Ctrl+J": "\x1b\n",
    "Ctrl+J, kitty": "\x1b[106;5u",
    "Alt+Enter, kitty": "\x1b[13;3u",
    "Shift+Enter, kitty": "\x1b[13;2u",
    "Ctrl+Enter, kitty": "\x1b[13;5u",
    "Alt+Shift+Enter, kitty": "\x1b[13;4u",
    "Shift+Enter on the number pad, kitty": "\x1b[57414;2u",
    "Shift+Enter, xterm": "\x1b[27;2;13~",
    "Alt+Enter, xterm": "\x1b[27;3;13~",
    "Ctrl+Enter, xterm": "\x1b[27;5;13~",
}


async def test_enter_with_another_key_makes_a_line_and_does_not_send(parser: XTermParser) -> None:
    async with chatting(world.client()) as chat:
        for name, enter in OTHER_ENTERS.items():
            await type_at_once(chat, parser, f"one{enter}two{enter}three")
            await chat.until(lambda: chat.screen.prompt.text == "one\ntwo\nthree")
            assert chat.client.asked == [], name
            chat.screen.prompt.clear()


async def test_pasted_lines_are_not_sent(parser: XTermParser) -> None:
    async with chatting(world.client()) as chat:
        await type_at_once(chat, parser, "see: " + PASTE.format("one\rtwo\r\nthree\n") + "?")
        await chat.until(lambda: chat.screen.prompt.text == "see: one\ntwo\nthree\n?")
        assert chat.client.asked == []


async def test_enter_alone_sends(parser: XTermParser) -> None:
    enters = "\r", "\x1b[13u", "\x1bOM", "\x1b[57414u", "\x1b[13;129u"
    client = world.client(answers=[world.short_answer() for _ in enters])
    async with chatting(client) as chat:
        for n, enter in enumerate(enters, 1):
            await type_at_once(chat, parser, f"Who?{enter}")
            await chat.until(lambda n=n: len(chat.answers) == n and chat.answers[-1].ready.is_set())  # type: ignore[misc]
            assert chat.screen.prompt.text == "", enter
        assert [question for question, _ in client.asked] == ["Who?"] * len(enters)


@pytest.mark.parametrize("opening", ["ctrl+p", "f1", "ctrl+r"])
async def test_a_window_closed_twice_in_one_burst_takes_nothing_else_away(opening: str) -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.press(opening)
        await chat.until(lambda: chat.app.screen is not chat.screen)
        window = chat.app.screen
        window.dismiss(None)  # as two handlers do whose keys came before the first had closed it
        window.dismiss(None)
        await chat.until(lambda: chat.app.screen is not window)
        assert chat.app.screen is chat.screen and chat.app.is_running


async def test_a_click_on_what_was_taken_away_and_is_still_drawn_does_nothing() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        answer = await chat.ask(world.QUESTION)
        line = answer.trace
        x, y = line.region.offset
        await line.remove()
        assert chat.screen.get_widget_at(x, y)[0] is line and line.parent is None
        chat.screen._forward_event(MouseDown(None, x, y, 0, 0, 1, False, False, False, x, y))


async def test_a_key_typed_before_a_window_has_its_widgets_does_nothing_but_close_it() -> None:
    async with chatting(world.client()) as chat:
        window = ConfirmScreen("Delete it?", "")
        chat.app.push_screen(window)
        await chat.app._check_bindings("down")
        assert not window.is_mounted
        await chat.app._check_bindings("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


async def test_page_keys_in_a_list_that_has_no_room_do_nothing() -> None:
    async with chatting(world.working()) as chat:
        await chat.app.action_open_page("folders")
        await chat.until(lambda: chat.app.screen.query_one(FolderList).key is not None)
        await chat.pilot.resize_terminal(2, 2)
        rows = chat.app.screen.query_one(FolderList)
        assert not rows.scrollable_content_region
        await chat.pilot.press("pagedown", "pageup")
        assert chat.app.is_running and rows.highlighted == 0
        await chat.pilot.press("ctrl+p", "pagedown", "pageup", "escape")
        assert chat.app.is_running


async def test_a_name_that_no_file_can_have_is_no_note() -> None:
    async with chatting(world.client()) as chat:
        await chat.send(f"/forget {'x' * 300}")
        await chat.until(lambda: "xxx" not in chat.screen.prompt.text and "match" in chat.text())
        assert "No note matches" in chat.text() and chat.client.forgotten == []


async def test_what_still_works_for_a_window_that_is_closed_ends_nothing() -> None:
    class Late(Dialog[None]):
        @work
        async def on_mount(self) -> None:
            while not self._pruning:
                await asyncio.sleep(0)
            late.append(self)
            self.query_one(Input)

    late: list[Late] = []
    async with chatting(world.client()) as chat:
        chat.app.push_screen(Late())
        await chat.pilot.pause()
        await chat.app.pop_screen()
        await chat.until(lambda: late)
        chat.app.push_screen(SessionsScreen(chat.screen.link, (), NOW, ""))
        await chat.app.action_open_page("chat")  # before it has its widgets
        await chat.pilot.pause()
        assert chat.app.is_running


async def test_letters_typed_outside_of_a_field_go_to_the_prompt() -> None:
    client = world.client(answers=[world.answer()])
    async with chatting(client) as chat:
        await chat.ask(world.QUESTION)
        await chat.pilot.press("tab")
        await chat.until(lambda: not chat.screen.prompt.has_focus)
        words = "any joke 4 /"
        await chat.pilot.press(*(NAMES.get(character, character) for character in words))
        await chat.until(lambda: chat.screen.prompt.text == words)
        assert len(client.asked) == 1 and chat.app.current_mode == "chat"


async def test_spaces_and_digits_on_home_are_text() -> None:
    async with chatting(world.client(kept=world.sessions())) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("up", "1", "space", "2")
        await chat.until(lambda: chat.screen.prompt.has_focus and chat.screen.prompt.text)
        assert chat.screen.prompt.text == "1 2"


async def test_the_keys_of_the_tabs_work_while_something_is_typed() -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.press("a")
        for key, page in (("f6", "memory"), ("f7", "review"), ("f8", "folders"), ("f5", "chat")):
            assert key.upper() in chat.text().splitlines()[0]
            await chat.pilot.press(key)
            await chat.until(lambda page=page: chat.app.current_mode == page)
        assert chat.screen.prompt.text == "a"
