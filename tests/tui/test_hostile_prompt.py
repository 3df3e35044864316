"""What stands around the prompt is text, whatever it is made of: no markup, no action, and no terminal obeys it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import Paste

from daemon import wire
from tests.tui import world
from tests.tui.conftest import chatting
from tests.tui.scripted import NOW, Script
from tests.tui.test_hostile import HOSTILE, safe
from tests.tui.test_memory_commands import LYON, MOVED
from tests.tui.test_prompt import LONG
from tui.dialogs.dialog import ConfirmScreen
from tui.dialogs.sessions import SessionsScreen
from tui.session import Limit
from tui.widgets.below import Chips


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_text_around_the_prompt_is_shown_as_text(text: str) -> None:
    fact = replace(LYON, text=text, objects=(text, text), uri=text, title=text, quote=text, since=text, until=text)
    revision = replace(MOVED, old=fact, new=fact, reason=text)
    client = world.client(
        listed=(wire.ListedSource(text or "a", "file", text, 1, NOW),),
        tagged={text or "a": 1},
        objects=(text,),
        known={"Ana": (fact,)},
        changed={8: revision},
        answers=[Script(ends=False)],
    )
    async with chatting(client) as chat:
        for kind in ("note", "tag", "day"):
            chat.screen.limits.add(Limit(kind, text, text))  # type: ignore[arg-type]
        chat.app.post_message(Paste(text + LONG))
        await chat.until(lambda: len(chat.screen.query_one(Chips).labels) == 4)
        assert safe(chat)
        for typed in ("@", "#"):
            chat.screen.prompt.fill(typed)
            await chat.until(lambda: chat.screen.query_one("#suggestions").display)
            assert safe(chat)
            await chat.pilot.press("escape")
        chat.screen.prompt.clear()
        await chat.send(f"One? {text}".partition("\n")[0])
        await chat.send("Two?")
        await chat.until(lambda: chat.screen.query_one("#waiting").display)
        assert safe(chat)
        await chat.send("/undo")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        assert safe(chat)
        await chat.pilot.press("escape", "ctrl+r")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        assert safe(chat)
