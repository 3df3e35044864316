"""The daemon comes, goes, is busy, and says what it does; the chat never waits for it."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from tests.tui import world
from tests.tui.conftest import NARROW, chatting
from tests.tui.scripted import HOME, NOW, Script, ScriptedClient
from tui import link
from tui.app import PalimpsestApp
from tui.link import StreamEvent

DOWN = "No daemon is running. Start it with `pal daemon start`."


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "RETRY_SECONDS", 0.05)


async def test_without_a_daemon_the_chat_opens_and_says_what_to_do() -> None:
    async with chatting(world.client(down=DOWN)) as chat:
        assert "○ memory not running" in chat.text()
        assert DOWN in chat.text()
        chat.screen.prompt.insert("kept")
        chat.client.come_back()
        await chat.until(lambda: "● 86 notes · 1,204 passages" in chat.text())
        assert "Ask your memory." in chat.text()
        assert chat.screen.prompt.text == "kept"


async def test_a_daemon_that_goes_and_comes_back_is_found_again() -> None:
    client = world.client(answers=[world.short_answer(), world.short_answer()])
    async with chatting(client) as chat:
        await chat.ask("One?")
        chat.screen.prompt.insert("half a thought")
        client.go_down(DOWN)
        await chat.until(lambda: "○ memory not running" in chat.text())
        assert chat.screen.prompt.text == "half a thought"
        client.come_back()
        await chat.until(lambda: "● 86 notes" in chat.text())
        chat.screen.prompt.clear()
        await chat.ask("Two?")
        assert [how["conversation"] for _, how in client.asked] == [100, 100]


async def test_a_question_without_a_daemon_comes_back_with_the_reason() -> None:
    client = world.client(answers=[world.short_answer()])
    async with chatting(client, NARROW) as chat:
        client.go_down(DOWN)
        await chat.until(lambda: "not running" in chat.text())
        await chat.ask("Is anybody there?")
        assert DOWN in chat.words()
        assert chat.screen.prompt.text == "Is anybody there?"


async def test_what_nobody_thought_of_is_reported_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(ScriptedClient):
        def status(self) -> wire.Status:
            if len(self.done) < 2:
                self.done.append(("status",))
                raise ValueError("of course")
            return super().status()

    monkeypatch.setattr("tui.link.RETRY_SECONDS", 0.1)
    async with chatting(Odd(world.STATUS)) as chat:
        await chat.until(lambda: "● 86 notes" in chat.text())
        assert any("ValueError: of course." in str(message) for message in chat.messages)


class Sleeping(ScriptedClient):
    """Stopped on purpose: only a request starts it."""

    started = 0

    def connect(self, start: bool) -> ScriptedClient:
        if start and self.down:
            self.started += 1
            self.down = ""
        return super().connect(start)


async def test_a_stopped_daemon_is_started_by_a_question_and_not_behind_its_back() -> None:
    client = Sleeping(world.STATUS, answers=[world.short_answer("Yes.")])
    async with chatting(client) as chat:
        client.go_down(DOWN)
        await chat.until(lambda: "not running" in chat.text())
        for _ in range(20):
            await chat.pilot.pause(0.02)
        assert client.started == 0
        assert (await chat.ask("Are you there?")).text == "Yes."
        await chat.until(lambda: "● 86 notes" in chat.text())


async def test_the_reason_why_the_memory_could_not_start_stays_shown() -> None:
    tries: list[bool] = []

    class Broken(ScriptedClient):
        def connect(self, start: bool) -> ScriptedClient:
            tries.append(start)
            raise DaemonDownError("config.toml, line 2: nights is not a setting." if start else DOWN)

    async with chatting(Broken(world.STATUS)) as chat:
        await chat.until(lambda: len(tries) > 3)
        assert "line 2: nights is not a setting." in chat.text() and DOWN not in chat.text()


async def test_a_question_says_that_the_memory_is_being_started() -> None:
    class Starting(Sleeping):
        may_start = threading.Event()

        def connect(self, start: bool) -> ScriptedClient:
            if start and self.down:
                self.may_start.wait()
            return super().connect(start)

    client = Starting(world.STATUS, answers=[world.short_answer("Yes.")])
    async with chatting(client) as chat:
        client.go_down(DOWN)
        await chat.until(lambda: "not running" in chat.text())
        chat.screen.prompt.insert("Are you there?")
        await chat.pilot.press("enter")
        await chat.until(lambda: "starting the memory" in chat.text())
        assert "searching" not in chat.text()
        client.may_start.set()
        await chat.until(lambda: "Yes." in chat.text())


async def test_progress_is_shown_while_it_lasts() -> None:
    async with chatting(world.client()) as chat:
        chat.client.live.give(wire.Progress(312, 1904, f"{HOME}/museum/visitors.csv"))
        await chat.until(lambda: "reading 312/1,904 visitors.csv" in chat.text())
        chat.client.state = replace(world.STATUS, stats=replace(world.STATS, sources=1904, episodes=9000))
        chat.client.live.give(wire.Progress(1904, 1904))
        await chat.until(lambda: "● 1,904 notes · 9,000 passages" in chat.text())
        assert "reading" not in chat.text()


async def test_changes_bring_a_fresh_look_and_notices_are_shown() -> None:
    async with chatting(world.client()) as chat:
        chat.client.state = replace(world.STATUS, files=wire.FileReading(3, folders=(wire.Folder(HOME, "missing"),)))
        chat.client.live.give(wire.SourceChanged(f"{HOME}/a.md", "changed", 2))
        chat.client.live.give(wire.Notice("warning", f"{HOME}: is gone."))
        await chat.until(lambda: f"{HOME}: is gone." in chat.words())
        await chat.until(lambda: "! notes is missing" in chat.text())
        assert "3 to read" in chat.text()
        chat.client.state = replace(
            world.STATUS, files=wire.FileReading(folders=(wire.Folder(HOME, "watching", gone=40),))
        )
        chat.client.live.give(wire.SourceChanged(f"{HOME}/b.md", "changed", 2))
        await chat.until(lambda: "! notes has lost 40 files" in chat.text())


async def test_the_chat_stays_awake_while_the_daemon_says_nothing() -> None:
    asked, answer = threading.Event(), threading.Event()

    class Slow(ScriptedClient):
        def conversations(self) -> tuple[wire.Conversation, ...]:
            asked.set()
            answer.wait(60)
            return ()

    async with chatting(Slow(world.STATUS)) as chat:
        await chat.until(asked.is_set)
        await chat.pilot.press("ctrl+s")
        await chat.pilot.press(*"still here")
        assert chat.screen.prompt.text == "still here"
        answer.set()
        await chat.until(lambda: "There is no session yet." in chat.text())


async def test_leaving_does_not_wait_for_a_daemon_that_hangs() -> None:
    hang = threading.Event()

    class Hanging(ScriptedClient):
        def connect(self, start: bool) -> ScriptedClient:
            hang.wait(60)
            return self

    app = PalimpsestApp(Hanging(world.STATUS).connect, lambda: NOW)
    async with app.run_test() as pilot:
        await pilot.press("h", "i")
        await pilot.press("ctrl+q")
    assert app.return_code == 0
    assert any(thread.name == "palimpsest-chat" and thread.daemon for thread in threading.enumerate())
    hang.set()


@pytest.mark.parametrize("key", ["ctrl+q", "ctrl+c"])
async def test_both_keys_leave(key: str) -> None:
    async with chatting(world.client(kept=world.sessions())) as chat:
        await chat.pilot.press("ctrl+s")
        await chat.pilot.press(key)
        await chat.pilot.pause()
        assert chat.app.return_code == 0
    assert chat.client.live.closed


async def test_an_answer_that_comes_while_one_leaves_is_no_error() -> None:
    script = Script(ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: chat.client.asked)
        chat.app.post_message(StreamEvent(1, wire.Answered("One.\n\nTwo.")))
        chat.app.exit()
        await chat.pilot.pause(0.1)
    assert chat.app.return_code == 0 and script.closed


async def test_ctrl_c_copies_what_is_selected_and_stays() -> None:
    async with chatting(world.client()) as chat:
        chat.screen.prompt.insert("some words")
        chat.screen.prompt.select_all()
        await chat.pilot.press("ctrl+c")
        assert chat.app.clipboard == "some words" and chat.app.is_running


async def test_ctrl_c_clears_what_is_typed_and_then_leaves() -> None:
    async with chatting(world.client()) as chat:
        chat.screen.prompt.insert("half a question")
        await chat.pilot.press("ctrl+c")
        assert chat.screen.prompt.text == "" and chat.app.is_running
        await chat.pilot.press("up")
        assert chat.screen.prompt.text == "half a question"
        await chat.pilot.press("ctrl+c", "ctrl+c")
        await chat.pilot.pause()
        assert chat.app.return_code == 0


async def test_errors_of_calls_are_reported() -> None:
    class Refusing(ScriptedClient):
        def conversations(self) -> tuple[wire.Conversation, ...]:
            raise DaemonError(wire.Failed("busy", "Too many requests.", "Try again."))

    async with chatting(Refusing(world.STATUS)) as chat:
        await chat.until(lambda: "Too many requests. Try again." in chat.words())
        assert "Last session" not in chat.text() and chat.app.is_running
