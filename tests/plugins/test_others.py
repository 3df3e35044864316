"""Whatever a plug-in of somebody else raises is an error that everybody who asks survives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory.errors import ModelUnavailableError
from memory.llm import LlmRequest, Message
from plugins import manager
from plugins.llms.registry import Models
from plugins.manager import Plugins
from tests.plugins.strange_plugin import REASONS, WAYS, install_strange

QUESTION = LlmRequest(messages=(Message("user", "Polly"),))


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugins]:
    """All plug-ins with the strange one."""
    folder = tmp_path_factory.mktemp("installed")
    install_strange(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield manager.load()


def test_it_works_as_any_other(strange: Plugins) -> None:
    embedder = strange.embedder("strange:good")
    assert (embedder.name, embedder.dimension, embedder.batch) == ("strange:good", 4, 8)
    assert not hasattr(embedder, "lexical_weight")
    assert embedder.embed_documents(["a", "abc"]).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert strange.embedder("strange:good") is embedder is strange.embedder_of("strange:good")
    assert Models(strange.families).open("strange:good").complete(QUESTION).text == "all"
    assert strange.strategies()("wild-good").traverse is not None


@pytest.mark.parametrize("what", WAYS)
@pytest.mark.parametrize("at", ["make", "name", "embed"])
def test_an_embedder_that_raises(strange: Plugins, at: str, what: str) -> None:
    with pytest.raises(ModelUnavailableError, match=f"^The plug-in strange failed with {REASONS[what]}.$"):
        strange.embedder(f"strange:{at}-{what}").embed_documents([strange.embedder(f"strange:{at}-{what}").name])
    assert strange.embedder_of(f"strange:name-{what}") is None


def test_what_says_what_to_do_is_reported(strange: Plugins) -> None:
    with pytest.raises(ModelUnavailableError, match="Install the rest of it") as raised:
        strange.embedder("strange:embed-lacking").embed_query("a")
    assert raised.value.lasting


@pytest.mark.parametrize("what", WAYS)
@pytest.mark.parametrize("at", ["local", "stream"])
def test_a_model_that_raises(strange: Plugins, at: str, what: str) -> None:
    model = Models(strange.families).open(f"strange:{at}-{what}")
    with pytest.raises(ModelUnavailableError, match=REASONS[what]):
        model.complete(QUESTION)


@pytest.mark.parametrize("what", WAYS)
def test_a_traverser_that_raises(strange: Plugins, what: str) -> None:
    with pytest.raises(ModelUnavailableError, match=REASONS[what]):
        strange.strategies()(f"wild-{what}")
    walk = strange.strategies()(f"wild-walk-{what}").traverse
    assert walk is not None
    with pytest.raises(ModelUnavailableError, match=REASONS[what]):
        walk(None, None, None, None)  # type: ignore[arg-type]  # none of it is looked at
