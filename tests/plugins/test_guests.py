"""Whatever a plug-in of somebody else does while it is used, it does in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from memory.errors import MalformedOutputError, ModelCancelledError, ModelError, ModelUnavailableError
from memory.llm import LlmRequest, Message, Reply
from plugins import manager
from plugins.exporters.contract import Line
from plugins.guests import process
from plugins.guests.environment import clean_environment
from plugins.llms.registry import Models
from plugins.manager import Plugins
from plugins.settings import PluginSettings
from plugins.trial import Trial
from tests.plugins.guest_plugin import REASONS, WAYS, install_strange

OWN_SETTINGS = PluginSettings(call_s=1.0, memory_mb=512)
QUESTION = LlmRequest(messages=(Message("user", "Polly"),))


@dataclass
class Sections:
    """What a plug-in sees of config.toml."""

    plugins: PluginSettings = field(default_factory=lambda: OWN_SETTINGS)


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugins]:
    """All plug-ins with the strange one, none of which is imported here."""
    folder = tmp_path_factory.mktemp("installed")
    install_strange(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("STRANGE_API_KEY", "its own")
        patch.setenv("OPENAI_API_KEY", "sk-fake")
        yield manager.load(Trial().results(Sections()), Sections())


def ask_model(plugins: Plugins, what: str) -> str:
    with pytest.raises(ModelError) as raised:
        Models(plugins.families).open(f"strange:{what}").complete(QUESTION)
    return str(raised.value)


def test_what_it_registers_is_known_and_it_is_not_imported(strange: Plugins) -> None:
    [told] = [one for one in strange.others if one.name == "strange"]
    assert told.problem == "" and "strange" not in sys.modules
    assert told.adds["embedders"] == ("strange:",) and told.adds["models"] == ("strange:",)
    assert len(told.adds["formats"]) == len(WAYS) + 2 and "strategies" not in told.adds
    assert told.outside == (
        "strategies wild: they run in the daemon itself, which they can end. To let them in:"
        " pal config set plugins.inside '[\"strange\"]', then pal daemon restart"
    )
    assert "wild" not in strange.describe_strategies()


def test_what_walks_the_graph_is_let_in_by_its_name(strange: Plugins) -> None:
    sections = Sections(PluginSettings(inside=("strange",)))
    plugins = manager.load(Trial().results(sections), sections)
    [told] = [one for one in plugins.others if one.name == "strange"]
    assert told.outside == "" and told.adds["strategies"] == ("wild",)
    assert "wild" in plugins.describe_strategies()
    del sys.modules["strange"]


def test_it_works_as_it_would_in_this_process(strange: Plugins) -> None:
    embedder = strange.embedder("strange:good")
    assert (embedder.name, embedder.dimension, embedder.batch) == ("strange:good", 4, 8)
    assert not hasattr(embedder, "lexical_weight")
    assert embedder.embed_documents(["a", "abc"]).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert embedder.embed_query("ab").dtype == np.float32
    assert strange.embedder_of("strange:good") is not None
    reranker = strange.reranker("strange:good")
    assert reranker is not None and reranker.name == "strange:good"
    assert reranker.score("who", ["a", "abc"]) == [1.0, 3.0]
    model = Models(strange.families).open("strange:good")
    reply = model.complete(QUESTION)
    assert reply.text == "all" and model.context_tokens == 4096
    again = LlmRequest(messages=(*QUESTION.messages, reply.message()))
    said = [*model.stream(again)]
    assert said[:3] == ["its own None ", "None ", "{1: 'thought'} "] and isinstance(said[3], Reply)
    lines = iter([Line(b'{"type":"source"}')] * 2500)
    [part] = strange.exporters["strange-good"].write(lines)
    assert part.data == b"source " * 2500


@pytest.mark.parametrize("what", WAYS)
def test_a_reranker_that_does_its_worst_says_so(strange: Plugins, what: str) -> None:
    reranker = strange.reranker(f"strange:{what}")
    assert reranker is not None
    with pytest.raises(ModelError, match=REASONS[what]):
        reranker.score("who", ["a"])
    test_it_works_as_it_would_in_this_process(strange)


@pytest.mark.parametrize("what", WAYS)
def test_an_exporter_that_does_its_worst_says_so(strange: Plugins, what: str) -> None:
    with pytest.raises(ModelError, match=REASONS[what]):
        [*strange.exporters[f"strange-{what}"].write(iter(()))]


def test_what_is_no_answer_is_refused(strange: Plugins) -> None:
    with pytest.raises(MalformedOutputError, match="one vector of numbers for each"):
        strange.embedder("strange:odd").embed_documents(["a"])
    reranker = strange.reranker("strange:odd")
    assert reranker is not None
    with pytest.raises(ModelError, match="failed with ValueError"):
        reranker.score("who", ["a"])
    assert "does not answer with what it was asked for" in ask_model(strange, "odd")
    with pytest.raises(ModelError, match="failed with TypeError"):
        [*strange.exporters["strange-odd"].write(iter(()))]


def test_what_is_no_frame_is_refused(strange: Plugins) -> None:
    reranker = strange.reranker("strange:garble")
    assert reranker is not None
    with pytest.raises(MalformedOutputError, match="does not answer with what it was asked for"):
        reranker.score("who", ["a"])


def test_a_guest_ends_with_the_process_that_started_it(strange: Plugins) -> None:
    code = (
        "import os; from plugins import manager; from plugins.trial import Trial;"
        "reranker = manager.load(Trial().results()).reranker('strange:pid');"
        "print(int(*reranker.score('who', ['a'])), flush=True); os._exit(1)"
    )
    environment = clean_environment()
    said = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, timeout=60)
    deadline = time.monotonic() + 10
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(int(said.stdout), 0)
            time.sleep(0.01)


def test_whoever_wants_no_more_of_an_answer_ends_the_call(strange: Plugins) -> None:
    models = Models(strange.families)
    talk = models.open("strange:endless").stream(QUESTION)
    assert next(talk)
    talk.close()  # type: ignore[attr-defined]  # it is a generator
    cancelled = threading.Event()
    request = LlmRequest(messages=QUESTION.messages, cancelled=cancelled.is_set)
    talk = models.open("strange:endless").stream(request)
    assert next(talk)
    cancelled.set()
    with pytest.raises(ModelCancelledError):
        list(talk)
    assert models.open("strange:good").complete(QUESTION).text == "all"


def test_several_threads_are_served_at_once(strange: Plugins) -> None:
    models = Models(strange.families)
    talk = models.open("strange:endless").stream(QUESTION)
    assert next(talk)
    assert models.open("strange:good").complete(QUESTION).text == "all"
    models.close()


def test_one_that_dies_again_and_again_is_left_alone(strange: Plugins) -> None:
    plugins = manager.load(Trial().results(Sections()), Sections())
    embedder = plugins.embedder("strange:leave")
    for _ in range(process.MOST_DEATHS - 1):
        with pytest.raises(ModelError, match="It is started anew"):
            embedder.embed_documents(["a"])
        assert embedder.dimension == 4
    with pytest.raises(ModelUnavailableError, match="left alone until the daemon starts anew: pal daemon restart"):
        embedder.embed_documents(["a"])
    began = time.process_time()
    with pytest.raises(ModelUnavailableError, match="left alone"):
        plugins.embedder("strange:good").embed_documents(["a"])
    assert time.process_time() - began < 0.1
