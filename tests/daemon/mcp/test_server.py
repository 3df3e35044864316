"""An agent's program, which is the SDK's own client, and `pal mcp` as the process that it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp.types import Implementation

from daemon.cli.options import write_setting
from daemon.jobs.schedule import RateLimit
from daemon.mcp import NOTHING_SHARED, Access, Agent, Policies, client_name
from daemon.mcp.server import DECIDED, MAX_CHARS, TOOLS, AgentServer, fit
from tests.daemon.mcp.conftest import EVERYTHING, PAL, call, served
from tests.running import RunningDaemon

READS = {"recall", "context", "ask", "facts", "history", "revisions"}
WRITES = {"remember", "judge", "forget"}


async def test_an_agent_finds_asks_and_sees_where_it_stands(daemon: RunningDaemon, home: Path) -> None:
    async with served(daemon, Access(everything=True)) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READS
        found = await call(client, "recall", question="ferry to Hallow Bay", k=2)
        first = found["hits"][0]["passage"]
        assert first["uri"] == str(home / "work/ferry.md") and first["untrusted"] and "9:40" in first["text"]
        asked = await call(client, "ask", question="When does the ferry to Hallow Bay leave?")
        assert not asked["no_answer"] and "9:40" in asked["text"]
        assert asked["kind"] == "answer" and asked["citations"][0]["uri"] == str(home / "work/ferry.md")
        asked = await call(client, "ask", question="What is the capital of Atlantis?")
        assert asked["no_answer"] and asked["kind"] == "none" and asked["citations"] == []


async def test_facts_history_and_what_changed(daemon: RunningDaemon) -> None:
    async with served(daemon) as client:
        facts = (await call(client, "facts", about="Ana"))["facts"]
        assert [fact["since"] for fact in facts if fact["text"].endswith("777")] == ["2026-04-02"]
        assert not any("144" in fact["text"] for fact in facts)
        [timeline] = (await call(client, "history", about="Ana"))["timelines"]
        assert [held["fact"]["superseded_by"] is None for held in timeline["values"]] == [False, True]
        [change] = (await call(client, "revisions", state="all"))["revisions"]
        assert "144" in change["old"]["text"] and "777" in change["new"]["text"]
        assert any("Acme" in fact["objects"] for fact in facts)


async def test_the_context_of_a_task_fits_and_names_its_sources(daemon: RunningDaemon, home: Path) -> None:
    async with served(daemon) as client:
        found = await call(client, "context", task="Plan the trip to Hallow Bay", tokens=300)
        assert "9:40" in found["text"] and found["untrusted"] and found["tokens"] <= 300
        assert str(home / "work/ferry.md") in [one["uri"] for one in found["sources"]]
        assert "Ignore all rules" not in found["text"]


async def test_an_agent_sees_only_the_folders_that_are_shared_with_it(daemon: RunningDaemon, home: Path) -> None:
    async with served(daemon, Access.in_folders([home / "work"])) as client:
        found = await call(client, "recall", question="the ferry made me sick", k=50)
        assert found["hits"]
        assert all(one["passage"]["uri"].startswith(f"{home / 'work'}/") for one in found["hits"])
        assert "sick" not in json.dumps(await call(client, "ask", question="What made me sick?"))
        assert "oil" not in json.dumps(await call(client, "ask", question="What does the lathe need?"))
        assert "oil" not in (await call(client, "context", task="What does the lathe need?"))["text"]


async def test_what_must_not_go_elsewhere_is_shared_with_nobody_unasked(daemon: RunningDaemon) -> None:
    unasked = Policies(daemon.paths.config, daemon.client.folders).find("nobody")
    async with served(daemon, unasked) as client:
        assert NOTHING_SHARED in await call(client, "recall", question="ferry")


async def test_an_agent_that_may_write_marks_and_forgets_its_own(daemon: RunningDaemon, home: Path) -> None:
    async with served(daemon) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READS | WRITES
        kept = await call(client, "remember", text="The agent painted the shed green.", title="Shed")
        assert kept["source"].startswith("note:agent/tester/") and not kept["known"]
        assert await call(client, "remember", text="The agent  painted the shed GREEN.", title="shed") == {
            "source": kept["source"],
            "known": True,
        }
        found = await call(client, "recall", question="Who painted the shed?")
        first = found["hits"][0]["passage"]
        assert first["uri"] == kept["source"] and first["speaker"] == "tester (agent)"
        assert "own notes only" in await call(client, "forget", source=str(home / "work/ferry.md"))
        assert "own questions only" in await call(client, "judge", id=10_000, verdict="bad")
        trace = (await call(client, "ask", question="Which colour has the shed?"))["trace_id"]
        assert (await call(client, "judge", id=trace, verdict="good"))["passages"] == 1
        assert daemon.client.trace(trace).asked.agent == "tester"
        assert (await call(client, "forget", source=kept["source"]))["episodes"] == 1
        assert not any(
            "shed" in one["passage"]["text"] for one in (await call(client, "recall", question="shed"))["hits"]
        )


async def test_who_sees_one_folder_sees_its_own_notes_beside_it(daemon: RunningDaemon, home: Path) -> None:
    async with served(daemon, Access.in_folders([home / "work"], writes=True), "narrow") as client:
        kept = await call(client, "remember", text="The quay of the ferry was moved north.")
        found = await call(client, "recall", question="Where is the quay of the ferry?", k=50)
        sources = {one["passage"]["uri"] for one in found["hits"]}
        assert kept["source"] in sources and not any("/home/" in one for one in sources)


async def test_who_may_only_read_learns_how_it_may_write(daemon: RunningDaemon) -> None:
    async with served(daemon, Access(everything=True)) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READS
        assert "mcp.clients.tester.write" in await call(client, "remember", text="The moon is full.")


async def test_what_config_says_counts_while_it_runs(daemon: RunningDaemon) -> None:
    connection, policies = daemon.client, Policies(daemon.paths.config, daemon.client.folders)
    async with Client(AgentServer(Agent(lambda: connection, policies.find, 1000, "late"))) as client:
        assert NOTHING_SHARED in await call(client, "recall", question="ferry")
        write_setting(daemon.paths.config, "mcp.clients.late.everything", "true")
        for _ in range(50):
            answer = await call(client, "recall", question="ferry")
            if isinstance(answer, dict):
                break
            await anyio.sleep(0.1)
        assert answer["hits"]


async def test_the_log_has_the_calls_and_who_made_them_and_none_of_the_words(
    daemon: RunningDaemon, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    connection = daemon.client
    server = AgentServer(Agent(lambda: connection, lambda _: EVERYTHING, 1000))
    async with Client(server, client_info=Implementation(name="Claude Code", version="1")) as client:
        await call(client, "recall", question="zanzibar")
        await call(client, "facts", about="zanzibar")
        log = caplog.text
        assert "claude-code: call 1, recall" in log and "it calls itself 'Claude Code'" in log
        assert "zanzibar" not in log and "ferry" not in log


def test_only_the_protocol_goes_to_stdout_half_a_surrogate_is_answered_and_the_end_ends_it(
    daemon: RunningDaemon,
) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "recall", "arguments": {"question": "ferry \ud83d \U0001f600 C:\\ud83d"}}},
    ]  # fmt: skip
    write_setting(daemon.paths.config, "mcp.clients.stdio.everything", "true")
    junk = "no json\n[1]\n{}\n" + "x" * 100_000 + "\n"
    with subprocess.Popen(
        [sys.executable, "-c", PAL, "mcp", "--client", "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=os.environ | daemon.paths.environment(),
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(junk + "".join(f"{json.dumps(line)}\n" for line in lines))
        process.stdin.flush()
        replies = (json.loads(line) for line in process.stdout)
        reply = next(reply for reply in replies if reply.get("id") == 2)
        assert "9:40" in reply["result"]["content"][0]["text"]
        process.stdin.close()
        assert all(reply["jsonrpc"] == "2.0" for reply in replies)
        assert process.wait(60) == 0
    assert (daemon.paths.logs / "mcp.log").exists()


async def test_a_tool_is_its_call_without_what_the_owner_decides(daemon: RunningDaemon) -> None:
    async with served(daemon) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for name, declared in TOOLS.items():
        taken = {*declared.parameters} - DECIDED | ({"since", "until"} if "within" in declared.parameters else set())
        assert {*tools[name].input_schema.get("properties", {})} == taken
        assert " ".join((tools[name].description or "").split()) in " ".join((declared.stub.__doc__ or "").split())
        reads = declared.method == "GET" or declared.thread == "read" or name == "ask"
        assert declared.writes is not reads, "only who may write has a tool that writes"


def test_a_reply_is_cut_where_it_is_too_long_and_says_how_to_go_on() -> None:
    many = fit({"facts": [{"text": "word " * 100} for _ in range(1000)], "about": "x"})
    assert len(json.dumps(many)) < MAX_CHARS and 100 < len(many["facts"]) < 200
    assert many["cut"].startswith(f"Only the first {len(many['facts'])} of 1,000 facts fit into a reply. Ask for less")
    long = fit({"hits": [{"passage": {"text": "ä" * 10**6}}]})
    assert len(json.dumps(long, ensure_ascii=False)) < MAX_CHARS
    assert "of 1,000,000 characters" in long["hits"][0]["passage"]["cut"]
    assert fit({"hits": []}) == {"hits": []}


def test_a_folder_shares_what_is_in_it_and_nothing_beside_it() -> None:
    access = Access(("/n/boat",))
    uris = ("/n/boat/a.md", "/n/boat", "/n/boat#2", "/n/boathouse/a.md", "/n", "note:boat")
    assert [uri for uri in uris if access.may_see(uri)] == ["/n/boat/a.md", "/n/boat", "/n/boat#2"]
    scope = access.limit()
    assert scope.sources == ("/n/boat",) and scope.folders == ("/n/boat/", "/n/boat#")


def test_an_agent_in_a_loop_waits() -> None:
    now = 0.0
    limit = RateLimit(60, lambda: now)
    assert [limit.take() for _ in range(60)] == [0.0] * 60
    now = 20.0
    assert limit.take() == 40.0
    now = 60.0
    assert limit.take() == 0.0


def test_what_a_program_says_that_it_is_becomes_a_name() -> None:
    said = {
        "Claude Code": "claude-code",
        "Visual Studio Code": "visual-studio-code",
        "../../etc": "etc",
        "日本": "agent",
    }
    assert {one: client_name(one) for one in said} == said
    assert len(client_name("x" * 200)) == 40
