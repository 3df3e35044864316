"""A model that picks numbers finds what no word of the question leads to; and whatever a model says, it stops, and
nothing comes of it but passages that the question may see."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.errors import ModelCancelledError, ModelTimeoutError
from memory.exploring.guided import (
    CollectedEvidence,
    Explorer,
    explore_guided,
    parse_choice,
)
from memory.llm import LlmRequest, Usage, length
from memory.llm import Reply as Replied
from memory.nouns import Scope
from memory.protocols import LLM, Embedder
from plugins.llms.anthropic import AnthropicModel
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel as Ollama
from plugins.settings import AnthropicSettings, OllamaSettings
from tests.examples import examples
from tests.fakes import ClaudeModel, Fails, FakeAnthropic, FakeOllama, Hangs, OllamaModel, Says
from tests.fakes.answering import prompt
from tests.fakes.server import Reply, Sends
from tests.memory.exploring.pages import QUESTION, asked, fill, titles
from tests.memory.retrieval.test_invariants import as_ofs, filled, questions
from tests.memory.retrieval.vaults import Vault, day, scopes, sight, vaults

OPTION = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


def towards(*wanted: str) -> Callable[[dict[str, Any]], Reply]:
    """Picks the option that leads to the first of these pages that is not found yet; done when all of them are."""

    def reply(body: dict[str, Any]) -> Reply:
        found, _, next = prompt(body).rpartition("Where to look next:")
        for title in wanted:
            if f'- "{title}"' not in found:
                numbers = [number for number, label in OPTION.findall(next) if f'"{title}":' in label]
                return Says(numbers[0] if numbers else "?")
        return Says("DONE")

    return reply


@dataclass
class Replier:
    """A model in this process, of which every reply is decided by the test."""

    reply: Callable[[LlmRequest], str]
    name: str = "replier"
    context_tokens: int = 4096
    is_local: bool = True
    requests: list[LlmRequest] = field(default_factory=list)

    def complete(self, request: LlmRequest) -> Replied:
        self.requests.append(request)
        return Replied(self.reply(request), Usage(length(request), 3))

    def stream(self, request: LlmRequest) -> Iterator[str | Replied]:
        yield self.complete(request)


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(OllamaModel("qwen3:4b")) as server:
        yield server


@pytest.fixture
def here(ollama: FakeOllama) -> Iterator[Guarded]:
    model = Guarded("ollama:qwen3:4b", Ollama("qwen3:4b", OllamaSettings(host=ollama.url)), pause=0.001)
    yield model
    model.close()


def looked(memory: Memory, llm: LLM, question: str = QUESTION, **more: Any) -> tuple[CollectedEvidence, Explorer]:
    explorer = Explorer(memory.store.reading, asked(memory, question), only_open=not llm.is_local)
    return explore_guided(llm, explorer, question, **more), explorer


def test_a_model_finds_the_end_of_a_chain(chain: Memory, ollama: FakeOllama, here: Guarded) -> None:
    ollama.answer = towards("Shawn Levy", "Montreal", "Quebec")
    result, explorer = looked(chain, here)
    assert [titles(chain)[id] for id in result.episodes] == ["Shawn Levy", "Montreal", "Quebec"]
    assert (result.calls, result.stopped) == (4, "done")
    assert explorer.collected == result.episodes
    with chain.store.reading() as conn:
        found = asked(chain).with_collected(conn, result.episodes)
    assert {hit.episode.title for hit in found.recall.hits} == {"Free Guy", "Shawn Levy", "Montreal", "Quebec"}


def test_each_call_is_a_step_that_says_what_came_of_it(chain: Memory, ollama: FakeOllama, here: Guarded) -> None:
    ollama.answer = towards("Shawn Levy", "Montreal")
    result, _ = looked(chain, here)
    details = [dict(step.detail) for step in result.steps]
    assert {step.name for step in result.steps} == {"guided"}
    assert [detail["call"] for detail in details] == [1, 2, 3]
    assert [detail["said"] for detail in details] == ["numbers", "numbers", "done"]
    assert [detail.get("taken") for detail in details] == [*([one] for one in result.episodes), None]
    assert all(detail["edges"] for detail in details[:2])
    assert [detail.get("stopped") for detail in details] == [None, None, "done"]


def test_the_prompt_is_small_and_fenced(chain: Memory, ollama: FakeOllama, here: Guarded) -> None:
    ollama.answer = towards("Shawn Levy")
    looked(chain, here, missing=["the country of birth"], now=day(3))
    [body, _] = ollama.chats
    text = prompt(body)
    fence = re.search(r"The question:\n([A-Z]{6})\n", text)
    assert fence
    assert text.count(f"\n{fence[1]}") == 6
    assert "Today is 2024-01-04." in text
    assert "Still missing: the country of birth" in text
    assert '- "Free Guy": ' in text
    assert len(OPTION.findall(text.partition("Where to look next:")[2])) == 12
    assert body["options"]["num_predict"] <= 64


@pytest.mark.parametrize("script", ["a", "é", "語", "\U0001f9ea"])
def test_the_prompt_stays_small_whatever_is_in_it(fresh: Memory, script: str) -> None:
    for n in range(30):
        fresh.ingest.remember(f"heron {script * 50} {n}. " * 20, title=f"{n} {script * 300}")
    llm = Replier(lambda request: "1, 2, 3")
    looked(fresh, llm, f"heron {script * 900}"[:3900], missing=[script * 900])
    assert len(llm.requests) == 6
    assert max(map(length, llm.requests)) <= 1_400


@pytest.mark.parametrize(
    "said",
    ["9999", "0", "Ich weiß es leider nicht.", "[]", "-1", "1.5", "2024-01-03", "[1] [1] [1]", "no",
     "1, 2, 3, 4, 5, 6, 7, 8, 9", "back", '{"choice": [1], "done": false}', "1" * 50],
)  # fmt: skip
def test_a_model_that_never_says_done_is_stopped(chain: Memory, ollama: FakeOllama, here: Guarded, said: str) -> None:
    ollama.answer = lambda body: Says(said)
    result, _ = looked(chain, here)
    assert result.calls == len(ollama.chats) == len(result.steps) == 6
    assert result.stopped == "calls"
    assert len(result.episodes) <= 3 * result.calls
    first, *_ = Explorer(chain.store.reading, asked(chain)).options()
    assert next(iter(result.episodes)) == first.episode


def test_the_calls_that_are_left_are_all_it_gets(chain: Memory) -> None:
    for most in (1, 2, 3):
        llm = Replier(lambda request: "1")
        result, _ = looked(chain, llm, calls=most)
        assert (len(llm.requests), result.calls, result.stopped) == (most, most, "calls")
        assert result.steps[-1].detail["stopped"] == "calls"


@pytest.mark.parametrize("error", [ModelTimeoutError("too long"), ModelCancelledError("stopped"), ValueError("?")])
def test_what_was_found_before_it_failed_stays(chain: Memory, error: Exception) -> None:
    enough = 3

    def reply(request: LlmRequest) -> str:
        if len(llm.requests) > enough:
            raise error
        return "1" if "Where to look next:" in request.messages[0].text else "no"

    llm = Replier(reply)
    result, _ = looked(chain, llm, missing=["the country"])
    assert (result.calls, result.stopped) == (enough + 1, type(error).__name__)
    assert result.episodes
    assert result.steps[-1].detail["said"] == type(error).__name__


@pytest.mark.parametrize("reply", [Fails(500, "out of memory"), Says(""), Sends(b"<html>")])
def test_a_broken_server_is_no_error(chain: Memory, ollama: FakeOllama, here: Guarded, reply: Reply) -> None:
    ollama.answer = lambda body: reply
    result, _ = looked(chain, here)
    assert (result.episodes, result.calls) == ({}, 1) and result.stopped != "done"


def test_a_question_that_was_cancelled_stops_at_once(chain: Memory, ollama: FakeOllama, here: Guarded) -> None:
    ollama.answer = lambda body: Hangs()
    cancelled = threading.Event()

    def leave() -> None:
        ollama.until(lambda server: bool(server.chats))
        cancelled.set()

    threading.Thread(target=leave).start()
    with pytest.raises(ModelCancelledError):
        looked(chain, here, cancelled=cancelled.is_set)
    ollama.until(lambda server: server.left == 1)


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with FakeAnthropic(ClaudeModel("claude-new")) as server:
        yield server


@pytest.fixture
def away(anthropic: FakeAnthropic) -> Iterator[Guarded]:
    model = Guarded("anthropic:claude-new", AnthropicModel("claude-new", AnthropicSettings(url=anthropic.url)), pause=0)
    yield model
    model.close()


def test_a_model_elsewhere_hears_only_what_may_leave(fresh: Memory, anthropic: FakeAnthropic, away: Guarded) -> None:
    fill(fresh, {"Shawn Levy": "local", "Yale": "local"})
    anthropic.answer = lambda body: Says("1")
    result, _ = looked(fresh, away, calls=9)
    heard = [seen.body for seen in anthropic.seen if seen.method == "POST"]
    assert result.calls == len(heard) > 2
    told = str(heard)
    assert "Free Guy" in told
    assert "long takes" not in told
    assert "library of maps" not in told
    assert not {titles(fresh)[id] for id in result.episodes} & {"Shawn Levy", "Yale"}


def test_what_must_stay_is_never_sent_by_mistake(chain: Memory, anthropic: FakeAnthropic, away: Guarded) -> None:
    explorer = Explorer(chain.store.reading, asked(chain), only_open=False)
    result = explore_guided(away, explorer, QUESTION)
    assert (result.stopped, result.episodes) == ("LocalOnlyError", {})
    assert not [seen for seen in anthropic.seen if seen.method == "POST"]


def test_nothing_to_look_at_costs_no_call(fresh: Memory) -> None:
    fresh.ingest.remember("One heron.", title="Pond")
    llm = Replier(lambda request: "1")
    result, _ = looked(fresh, llm, "heron")
    assert (result.calls, result.stopped, llm.requests) == (0, "no options", [])
    assert result.steps[-1].detail == {"call": 0, "stopped": "no options"}


@pytest.mark.parametrize(
    ("said", "places", "end"),
    [
        ("3, 7", (2, 6), ""),
        ("[3] [7] [2] [5]", (2, 6, 1), ""),
        ("3 3 3", (2,), ""),
        ("Option 4 looks best.", (3,), ""),
        ("Sicher\nIch nehme 5.", (4,), ""),
        ("<think>1 or 2?</think>\n6", (5,), ""),
        ("<think>1 or 2, and on", (), ""),
        ("DONE", (), "DONE"),
        ("**Done.**", (), "DONE"),
        ("I am DONE", (), "DONE"),
        ("NONE", (), "NONE"),
        ("None of these places.", (), "NONE"),
        ("There is NONE", (), "NONE"),
        ("13", (), ""),
        ("0, 12", (11,), ""),
        ("2024-01-03", (), ""),
        ("1.5", (), ""),
        ("at 10:30", (), ""),
        ("２", (), ""),
        ("", (), ""),
    ],
)  # fmt: skip
def test_what_a_reply_chooses(said: str, places: tuple[int, ...], end: str) -> None:
    assert parse_choice(said, 12, 3) == (places, end)


@given(st.text() | st.from_regex(r"[\d ,.\n<>/think]*"), st.integers(1, 12), st.integers(1, 3))
def test_a_reply_never_chooses_what_is_not_there(said: str, n: int, most: int) -> None:
    places, done = parse_choice(said, n, most)
    assert len(set(places)) == len(places) <= most
    assert all(0 <= place < n for place in places)
    assert not (done and places)


@examples(1 / 2)
@given(
    vaults, questions, as_ofs, scopes, st.integers(1, 8), st.integers(1, 3),
    st.lists(st.sampled_from(["1", "2, 3", "5", "9999", "", "DONE", "yes", "no", "non so", "back"]), min_size=1),
)  # fmt: skip
def test_whatever_is_said_only_what_may_be_seen_is_taken_and_calls_are_kept(
    static: Embedder,
    vault: Vault,
    question: str,
    as_of: datetime | None,
    within: Scope | None,
    calls: int,
    k: int,
    replies: list[str],
) -> None:
    with filled(static, vault, "spread") as memory, memory.store.reading() as conn:
        may = sight(conn, as_of, within)
        found = memory.questions.retrieve(question, k, as_of, within, day(9))
        llm = Replier(lambda request: replies[len(llm.requests) % len(replies)])
        explorer = Explorer(memory.store.reading, found)
        result = explore_guided(llm, explorer, question, calls=calls)
        assert result.calls == len(llm.requests) <= calls
        assert set(result.episodes) == set(explorer.collected) <= may.episodes
        hidden = {title for id, title in titles(memory).items() if id not in may.episodes}
        hidden -= {title for id, title in titles(memory).items() if id in may.episodes}
        told = "\n".join(request.messages[0].text for request in llm.requests)
        assert not any(f'"{title}"' in told for title in hidden)
