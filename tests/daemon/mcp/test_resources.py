"""What an agent reads by name, the prompts that a person picks, and what completes their arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.mcp.access import Access, Policy
from daemon.testing import RunningDaemon
from tests.daemon.mcp.conftest import call, read, served


@pytest.fixture
def work(home: Path) -> Policy:
    """What sees the notes about work alone."""
    return Policy(Access.in_folders([home / "work"]))


async def test_notes_objects_changes_and_the_person_are_read_by_name(daemon: RunningDaemon, home: Path) -> None:
    async with served(daemon) as client:
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        assert listed == {f"palimpsest://{name}" for name in ("recent", "profile", "status")}
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        assert templates == {f"palimpsest://{name}" for name in ("passage/{id}", "note/{id}", "object/{name}")}
        first = (await call(client, "recall", question="ferry to Hallow Bay", k=1))["hits"][0]["passage"]
        note = await read(client, f"palimpsest://note/{first['episode_id']}")
        assert note["source"]["uri"] == str(home / "work/ferry.md") and "cut" not in note
        assert note["passages"][0]["untrusted"]
        ana = await read(client, "palimpsest://object/Ana")
        assert [held["fact"]["superseded_by"] is None for held in ana["history"][0]["values"]] == [False, True]
        assert any("777" in fact["text"] for fact in ana["facts"])
        assert len((await read(client, "palimpsest://recent"))["revisions"]) == 1
        profile = await read(client, "palimpsest://profile")
        assert profile["names"] == ["Joris Vale"] and [one["key"] for one in profile["known"]] == ["phone"]
        assert await read(client, "palimpsest://status") == {
            "sources": 7, "passages": 7, "you_are": "tester", "shared": "all", "may_write": True
        }  # fmt: skip


async def test_what_is_not_shared_is_not_there(daemon: RunningDaemon, work: Policy) -> None:
    async with served(daemon, work) as client:
        assert await read(client, "palimpsest://profile") == {"names": [], "known": []}
        assert "sources" not in await read(client, "palimpsest://status")
        for name in ("Bruno", "Nobody"):
            with pytest.raises(Exception, match=f"(shared with you tells of|no) {name}|{name}"):
                await read(client, f"palimpsest://object/{name}")
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


async def test_resources_and_prompts_are_counted_as_calls(daemon: RunningDaemon) -> None:
    async with served(daemon, calls_per_minute=3) as client:
        for _ in range(3):
            await read(client, "palimpsest://recent")
        with pytest.raises(Exception, match="wait"):
            await client.get_prompt("recall", {"task": "x"})
