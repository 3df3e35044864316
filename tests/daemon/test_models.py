"""The daemon's language models: found, graded, chosen for a task, counted; and that none is a normal state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from daemon import wire
from daemon.client.client import DaemonError
from daemon.config.settings import ModelsSettings, Settings
from daemon.jobs.models import Models
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import LocalOnlyError, OverBudgetError
from memory.llm import Grades, LlmRequest, Message, Usage
from memory.store import jobs as store
from plugins.embedders.static import StaticEmbedder
from plugins.manager import load
from plugins.settings import AnthropicSettings, OllamaSettings
from tests.daemon.conftest import QUICK, answer
from tests.fakes import ClaudeModel, FakeAnthropic, FakeOllama, Hangs, OllamaModel, Says
from tests.fakes.talents import diligent
from tests.running import RunningDaemon, run_daemon

QWEN, LLAMA = OllamaModel("qwen3:4b"), OllamaModel("llama3:latest", context=8192)
CLOUD = OllamaModel("gpt-oss:120b-cloud", remote_host="https://ollama.com")
GOOD = Grades("ollama:qwen3:4b", QWEN.digest[:12], 1, 1.0, 1.0, 1.0, 1.0, 1.0, 30.0, 0.5, 8000)
AWAY = "anthropic:claude-new"


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(QWEN, LLAMA, CLOUD, answer=diligent) as server:
        yield server


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with FakeAnthropic(ClaudeModel("claude-new")) as server:
        yield server


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=StaticEmbedder()) as memory:
        yield memory


@pytest.fixture
def writer() -> Iterator[Writer]:
    writer = Writer()
    writer.start()
    yield writer
    writer.close(60)


@pytest.fixture
def settings(ollama: FakeOllama, anthropic: FakeAnthropic) -> Settings:
    return Settings(ollama=OllamaSettings(host=ollama.url), anthropic=AnthropicSettings(url=anthropic.url))


def keep(memory: Memory, *grades: Grades) -> None:
    with memory.store.writing() as conn:
        for one in grades:
            store.keep_grades(conn, one)


def running(tmp_path: Path, ollama: FakeOllama) -> AbstractContextManager[RunningDaemon]:
    settings = replace(QUICK, ollama=OllamaSettings(host=ollama.url))
    return run_daemon(tmp_path / "home", settings, ANTHROPIC_API_KEY="")


def roles(reply: wire.ModelsReply) -> dict[str, str]:
    return {role.role: role.used for role in reply.roles}


def test_a_model_that_must_be_loaded_first(
    memory: Memory, writer: Writer, settings: Settings, ollama: FakeOllama
) -> None:
    models = Models(memory, load(), writer, settings)
    assert models.is_loading("ollama:qwen3:4b")
    ollama.models["qwen3:4b"] = replace(QWEN, loaded=True)
    assert not models.is_loading("ollama:qwen3:4b"), "it is looked anew"
    asked = len(ollama.seen)
    assert not models.is_loading("ollama:qwen3:4b")
    assert len(ollama.seen) == asked
    assert not models.is_loading(AWAY) and not models.is_loading("nobody:x") and not models.is_loading("ollama:gone")


# A daemon that runs ------------------------------------------------------------------------------------


def test_a_model_is_graded_and_then_used_by_itself(tmp_path: Path, ollama: FakeOllama) -> None:
    with running(tmp_path, ollama) as daemon:
        client = daemon.client
        before = client.models()
        assert [(row.name, row.is_local, row.context) for row in before.models] == [
            ("ollama:qwen3:4b", True, 8192),
            ("ollama:llama3:latest", True, 8192),
            ("ollama:gpt-oss:120b-cloud", False, 8192),
        ]
        assert {*roles(before).values()} == {""}, "what nobody has graded is not relied on"
        events = list(client.probe_model("ollama:qwen3:4b"))
        steps, graded = events[:-1], events[-1]
        assert isinstance(graded, wire.Grades)
        assert [step.done for step in steps if isinstance(step, wire.Progress)] == list(range(len(steps)))
        assert graded.by_role == ("extract: yes", "answer: yes", "agent: yes")
        daemon.kill()
        daemon.start()
        after = client.models()
        assert {*roles(after).values()} == {"ollama:qwen3:4b"}
        row = after.models[0]
        assert (row.grades, row.roles, row.outdated) == (graded, ("extract", "answer", "agent"), False)
        assert client.check().problems == ()


def test_closing_the_stream_ends_the_probe(tmp_path: Path, ollama: FakeOllama) -> None:
    with running(tmp_path, ollama) as daemon:
        client = daemon.client
        ollama.enqueue(Hangs())
        stream = client.probe_model("ollama:qwen3:4b")
        assert isinstance(next(stream), wire.Progress)
        ollama.until(lambda server: bool(server.chats))
        with pytest.raises(DaemonError) as caught:
            list(client.probe_model("ollama:llama3"))
        assert caught.value.failed.code == "conflict"
        stream.close()
        ollama.until(lambda server: server.left == 1)
        assert client.models().models[0].grades is None


def test_a_daemon_that_grades_stops_when_it_is_asked(tmp_path: Path, ollama: FakeOllama) -> None:
    with running(tmp_path, ollama) as daemon:
        ollama.enqueue(Hangs())
        with daemon.client.probe_model("ollama:qwen3:4b"):  # who does not hold it does not wait for it
            ollama.until(lambda server: bool(server.chats))
            assert daemon.stop() == 0
        ollama.until(lambda server: server.left == 1)


def test_without_a_model_all_is_as_it_was(tmp_path: Path) -> None:
    with FakeOllama() as gone:
        pass
    with running(tmp_path, gone) as daemon:
        client = daemon.client
        reply = client.models()
        assert (reply.models, {*roles(reply).values()}) == ((), {""})
        assert any("ollama serve" in problem for problem in reply.problems), "it was named, so it should be there"
        assert any("anthropic was not contacted" in hint for hint in reply.hints)
        assert any("ANTHROPIC_API_KEY" in hint for hint in client.models(elsewhere=True).hints)
        client.remember("The gallery key hangs under the pot.")
        assert "under the pot" in answer(client, "Where does the gallery key hang?").text
        stream = client.probe_model("ollama:qwen3:4b")
        with pytest.raises(DaemonError, match="ollama serve") as caught:
            list(stream)
        assert caught.value.failed.code == "not_available"


def test_what_cannot_be_is_refused(tmp_path: Path, ollama: FakeOllama) -> None:
    with running(tmp_path, ollama) as daemon:
        client = daemon.client
        for call, code in (
            (lambda: client.use_models("cook", ("ollama:qwen3:4b",)), "bad_input"),
            (lambda: client.use_models("answer", ("qwen3",)), "not_found"),
            (lambda: client.use_models("answer", ("ollama:qwen3:4c",)), "not_found"),
            (lambda: list(client.probe_model("nobody:x")), "not_found"),
        ):
            with pytest.raises(DaemonError) as caught:
                call()
            assert caught.value.failed.code == code
        with pytest.raises(DaemonError, match=r"Did you mean ollama:qwen3:4b\?"):
            list(client.probe_model("ollama:qwen3:4c"))
        reply = client.use_models("answer", ("ollama:llama3", "auto"))
        assert roles(reply)["answer"] == "ollama:llama3:latest"
        assert roles(client.use_models("answer", ()))["answer"] == ""


# Which model does what ---------------------------------------------------------------------------------


def test_the_first_that_can_be_reached_does_it(memory: Memory, writer: Writer, settings: Settings) -> None:
    wanted = replace(settings, models=ModelsSettings(answer=("ollama:none", AWAY, "ollama:llama3")))
    models = Models(memory, load(), writer, wanted)
    found = models.for_role("answer", local_only=False)
    assert found is not None and found.name == AWAY
    here = models.for_role("answer", local_only=True)
    assert here is not None and here.name == "ollama:llama3:latest"
    assert models.for_role("extract", local_only=False) is None


def test_a_model_that_can_be_reached_again_is_used_within_five_seconds(
    memory: Memory, writer: Writer, settings: Settings, ollama: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("daemon.jobs.models.time", SimpleNamespace(monotonic=lambda: now[0]))
    models = Models(memory, load(), writer, replace(settings, models=ModelsSettings(answer=("ollama:llama3",))))
    route = ollama.route
    llama = ollama.models.pop("llama3:latest")
    ollama.route = lambda exchange: exchange.reply({"error": "stopping"}, 503)  # type: ignore[method-assign]
    assert models.for_role("answer", local_only=True) is None
    ollama.route = route  # type: ignore[method-assign]
    now[0] += 5
    assert models.for_role("answer", local_only=True) is None, "the server is there, the model is not"
    ollama.models["llama3:latest"] = llama
    now[0] += 5
    found = models.for_role("answer", local_only=True)
    assert found is not None and found.name == "ollama:llama3:latest"
    assert found.complete(LlmRequest(messages=(Message("user", "Where?"),))).text


def test_auto_is_the_best_that_passed_and_is_here(memory: Memory, writer: Writer, settings: Settings) -> None:
    llama = replace(GOOD, name="ollama:llama3:latest", version=LLAMA.digest[:12], reads=0.8)
    cloud = replace(GOOD, name="ollama:gpt-oss:120b-cloud", version=CLOUD.digest[:12])
    models = Models(memory, load(), writer, settings)

    def best() -> str:
        found = models.for_role("extract", local_only=False)
        return found.name if found else ""

    assert best() == ""
    keep(memory, replace(GOOD, reads=0.2), llama, cloud)
    assert best() == "ollama:llama3:latest"
    keep(memory, GOOD)
    assert best() == "ollama:qwen3:4b"
    keep(memory, replace(GOOD, version="another"))
    assert best() == "ollama:llama3:latest", "grades of an earlier model do not count"
    reply = models.reply()
    assert reply.models[0].outdated
    assert reply.warnings[0].startswith("ollama:qwen3:4b was graded as another version.")
    keep(memory, replace(GOOD, edition=1))
    assert best() == "ollama:llama3:latest", "grades of other tasks do not count"
    assert "graded with older tasks" in models.reply().warnings[0]


def test_who_chooses_a_model_sees_what_its_grades_say(
    memory: Memory, writer: Writer, settings: Settings, anthropic: FakeAnthropic
) -> None:
    models = Models(memory, load(), writer, settings)
    name = "ollama:qwen3:4b"

    def warned(role: str, **grades: float) -> list[str]:
        keep(memory, replace(GOOD, **grades))
        return [warning.removeprefix(f"{name} ") for warning in models.use(role, (name, "auto")).warnings]

    assert "was never graded" in models.use("answer", (AWAY,)).warnings[0]
    assert warned("answer") == []
    assert warned("answer", refuses=0.5) == [
        "has not passed its probe for answer: it does not refuse what it does not know."
    ]
    assert warned("agent", refuses=0.5) == []
    assert warned("answer", question_s=95.2) == [f"With {name} a question will take about 95 seconds."]
    assert warned("extract", question_s=95.2) == [], "nobody waits for that"
    assert models.for_role("answer", local_only=True) is not None


def test_a_vendor_that_nobody_named_is_not_asked(
    memory: Memory, writer: Writer, settings: Settings, anthropic: FakeAnthropic
) -> None:
    keep(memory, GOOD)
    models = Models(memory, load(), writer, settings)
    assert models.for_role("answer", local_only=False) is not None
    assert models.reply().models and anthropic.seen == []
    models.use("answer", ("ollama:qwen3:4b",))
    assert anthropic.seen == []
    assert AWAY in {row.name for row in models.reply(elsewhere=True).models}, (
        "unless a person wants to see what there is"
    )
    seen = len(anthropic.seen)
    models.use("answer", (AWAY,))
    assert AWAY in {row.name for row in models.reply().models} and len(anthropic.seen) > seen


def test_what_must_stay_here_reaches_no_vendor(
    memory: Memory, writer: Writer, settings: Settings, anthropic: FakeAnthropic, ollama: FakeOllama
) -> None:
    names = (AWAY, "ollama:gpt-oss:120b-cloud")
    models = Models(memory, load(), writer, replace(settings, models=ModelsSettings(answer=names)))
    assert models.for_role("answer", local_only=True) is None
    for name in names:
        with pytest.raises(LocalOnlyError):
            models._registry.open(name).complete(LlmRequest(messages=(Message("user", "a secret"),)))
    assert (anthropic.messages, ollama.chats) == ([], [])


# What it has cost ---------------------------------------------------------------------------------------


def test_tokens_are_counted_by_model_and_task(memory: Memory, writer: Writer, settings: Settings) -> None:
    models = Models(memory, load(), writer, replace(settings, models=ModelsSettings(answer=("ollama:qwen3:4b",))))
    model = models.for_role("answer", local_only=True)
    assert model is not None
    for purpose in ("answer", "answer", "extract"):
        model.complete(LlmRequest(messages=(Message("user", "Where?"),), purpose=purpose))
    writer.submit(lambda: None).result()
    with memory.store.reading() as conn:
        uses = store.list_uses(conn, "2000-01-01")
    assert [(use.purpose, use.calls, use.is_local) for use in uses] == [("answer", 2, True), ("extract", 1, True)]
    assert models.reply().models[0].tokens == sum(use.usage.total for use in uses) > 0


def test_models_elsewhere_stop_when_the_day_is_spent(
    memory: Memory, writer: Writer, settings: Settings, anthropic: FakeAnthropic
) -> None:
    wanted = replace(settings, models=ModelsSettings(answer=(AWAY,), extract=("ollama:qwen3:4b",), daily_tokens=100))
    anthropic.answer = lambda body: Says("Yes.", read=60, written=1)
    request = LlmRequest(messages=(Message("user", "Where?"),), local_only=False)

    def away() -> Models:
        return Models(memory, load(), writer, wanted)

    models = away()
    model, here = models.for_role("answer", local_only=False), models.for_role("extract", local_only=False)
    assert model is not None and here is not None
    model.complete(request)
    model.complete(request)
    with pytest.raises(OverBudgetError, match="daily_tokens"):
        model.complete(request)
    assert here.complete(request).text, "what is here costs nothing"
    writer.submit(lambda: None).result()
    again = away().for_role("answer", local_only=False)
    assert again is not None
    with pytest.raises(OverBudgetError):
        again.complete(request)
    assert len(anthropic.messages) == 2


def test_calls_of_many_threads_are_all_counted(memory: Memory, writer: Writer, settings: Settings) -> None:
    models = Models(memory, load(), writer, settings)
    request = LlmRequest(messages=(Message("user", "x"),))
    threads = [
        threading.Thread(target=models.record, args=("anthropic:x", False, request, Usage(2, 1), 1.0, None))
        for _ in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.submit(lambda: None).result()
    assert models._count_spent_today() == 120
    with memory.store.reading() as conn:
        assert store.list_uses(conn, "2000-01-01")[0].calls == 40
