"""A picture of the chat, compared with the one that was kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.pilot import Pilot

from tests.tui.conftest import WIDE, Chat
from tests.tui.scripted import NOW, ScriptedClient
from tui.app import PalimpsestApp

Look = Callable[..., bool]
Doing = Callable[[Chat], Awaitable[object]]


def compare_looks(
    snap_compare: Look, client: ScriptedClient, doing: Doing | None = None, size: tuple[int, int] = WIDE
) -> bool:
    """Whether the chat looks as before when `doing` was done in it; `snap_compare` is the fixture."""
    app = PalimpsestApp(client.connect, lambda: NOW)
    app.animation_level = "none"

    async def before(pilot: Pilot[None]) -> None:
        chat = Chat(pilot, client)
        await chat.until(lambda: chat.screen.query("#prompt"))
        chat.screen.prompt.cursor_blink = False
        await chat.until(lambda: "connecting" not in chat.said("#memory-state"))
        if client.kept:
            await chat.until(lambda: "Last session" in chat.text())
        if doing is not None:
            await doing(chat)
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=before)
