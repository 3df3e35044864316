"""The chat opens quickly because of what it does not import."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "memory.memory",
    "memory.store",
    "plugins",
    "numpy",
    "sqlite3",
    "pysqlite3",
    "pydantic",
    "fastapi",
    "httpx",
    "anthropic",
    "click",
)
LATER = (
    "markdown_it",
    "textual.widgets._markdown",
    "pygments",
    "tui.graph",
    "tui.dialogs.sessions",
    "tui.dialogs.help",
)


def loaded(code: str, names: tuple[str, ...]) -> set[str]:
    """Which of the modules a new Python has after running the code."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return {
        module.partition(".")[0] if name.count(".") == 0 else module
        for name in names
        for module in told
        if module == name or module.startswith(name + ".")
    }


def test_the_chat_imports_neither_the_memory_nor_anything_heavy() -> None:
    assert "textual" in loaded("import tui.app", ("textual",))
    assert loaded("import tui.app", HEAVY) == set()


def test_an_empty_chat_opens_without_what_only_an_answer_needs() -> None:
    code = """
import asyncio
from tests.tui import world
from tests.tui.conftest import chatting

async def main():
    async with chatting(world.client(kept=world.sessions())) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        assert len(chat.screen.query("*")) < 35  # each costs 2 ms
        # Textual styles such a widget again whenever one is mounted next to it.
        assert [widget for widget in chat.screen.query("*") if widget._has_order_style] == []

asyncio.run(main())
"""
    assert loaded(code, LATER) == set()


def test_garbage_is_collected_again_once_the_chat_is_open() -> None:
    code = """
import asyncio, gc
gc.disable()
from tests.tui import world
from tests.tui.conftest import chatting

async def main():
    async with chatting(world.client()):
        assert gc.isenabled() and gc.get_freeze_count()

asyncio.run(main())
"""
    assert loaded(code, LATER) == set()
