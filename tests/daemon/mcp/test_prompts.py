"""The prompts that a person picks, and names that are not shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.mcp.access import Access, Policy
from daemon.testing import RunningDaemon
from tests.daemon.mcp.conftest import call, served


@pytest.fixture
def work(home: Path) -> Policy:
    """What sees the notes about work alone."""
    return Policy(Access.in_folders([home / "work"]))


async def test_what_is_not_shared_is_not_there(daemon: RunningDaemon, work: Policy) -> None:
    async with served(daemon, work) as client:
        bruno = await call(client, "facts", about="Bruno")
        assert bruno["facts"] == []
        for tool in ("facts", "history"):
            alike = await call(client, tool, about="Brun")
            assert alike["about"] == "Brun" and not alike.get("facts") and not alike.get("strands"), "no name like it"


async def test_prompts_bring_what_the_memory_holds_as_data(daemon: RunningDaemon) -> None:
    async with served(daemon) as client:
        prompts = {one.name: one for one in (await client.list_prompts()).prompts}
        assert set(prompts) == {"recall", "brief", "tell_changes", "remember_session"}
        order, data = (await client.get_prompt("brief", {"about": "Ana"})).messages
        assert "Brief me about Ana" in order.content.text and "data" in order.content.text  # type: ignore[union-attr]
        assert "777" in data.content.resource.text  # type: ignore[union-attr]
        order, data = (await client.get_prompt("tell_changes", {"since": "this year"})).messages
        assert "since this year" in order.content.text  # type: ignore[union-attr]
        assert "777" in data.content.resource.text  # type: ignore[union-attr]
        with pytest.raises(Exception, match="no time"):
            await client.get_prompt("tell_changes", {"since": "the day of the goose"})
        [asked] = (await client.get_prompt("remember_session")).messages
        assert "remember" in asked.content.text  # type: ignore[union-attr]


async def test_who_may_not_write_is_not_asked_to_remember(daemon: RunningDaemon) -> None:
    async with served(daemon, Policy(Access(everything=True))) as client:
        assert "remember_session" not in {one.name for one in (await client.list_prompts()).prompts}
        with pytest.raises(Exception, match="may only read"):
            await client.get_prompt("remember_session")


async def test_prompts_are_counted_as_calls(daemon: RunningDaemon) -> None:
    async with served(daemon, calls_per_minute=3) as client:
        for _ in range(3):
            await client.get_prompt("recall", {"task": "x"})
        with pytest.raises(Exception, match="wait"):
            await client.get_prompt("recall", {"task": "x"})
