"""The door that every plugin walks through, ours and other people's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memory.errors import InvalidInputError, NotFoundError
from memory.llm import LlmRequest, Message
from memory.protocols import Embedder
from plugins import manager
from plugins.embedders.static import StaticEmbedder
from plugins.llms import Family, ModelList
from plugins.llms.registry import Models


def install(folder: Path, name: str, code: str) -> None:
    """What pip leaves behind for a package with one plugin."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[palimpsest]\n{name} = {name}\n", encoding="utf-8")


GOOD = """
from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import Reader

def read(path, data):
    return [Document(uri="", text="HELLO " + data.decode())]

@hookimpl
def register_readers(register):
    register(Reader("shout", (".shout", ".txt"), "Shouted text", read))
"""
BROKEN = {
    "does_not_import": "import no_such_module_anywhere",
    "exits": "raise SystemExit('bye')",
    "raises": "from plugins.hookspecs import hookimpl\n@hookimpl\ndef register_readers(register):\n    1 / 0\n",
    "half": GOOD.replace(".shout", ".half").replace('"shout"', '"half"') + "    1 / 0\n",
    "no_reader": "from plugins.hookspecs import hookimpl\n@hookimpl\ndef register_readers(register):\n    register(1)",
    "wrong_hook": "from plugins.hookspecs import hookimpl\n@hookimpl\ndef register_readers(nonsense):\n    pass\n",
}


def test_the_built_in_plugins_are_there(plugins: manager.Plugins) -> None:
    assert (
        list(plugins.readers)
        == (
            "agents canvas chat code contacts csv docx eml epub html ics image markdown mbox"
            " notebook odf org pdf pptx references rtf subtitles text unnamed xlsx"
        ).split()
    )
    assert plugins.embedders == ("minilm", "minilm-int8", "ollama:", "onnx:", "openai:", "st:", "static")


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("a.md", "markdown"),
        ("A.MARKDOWN", "markdown"),
        ("b.txt", "text"),
        ("README", "unnamed"),
        ("c.tar.org", "org"),
        ("d.HTM", "html"),
        ("e.tsv", "csv"),
        ("f.eml", "eml"),
        ("g.ics", "ics"),
        ("h.json", "chat"),
        ("i.docx", "docx"),
        ("i.doc", None),
        (".bashrc", None),
        (".hidden.md", "markdown"),
    ],
)
def test_a_reader_is_chosen_by_name(plugins: manager.Plugins, name: str, reader: str | None) -> None:
    path = Path("/somewhere") / name
    assert plugins.reads(path) == (reader is not None)
    assert reader is None or plugins.reader_for(path, 1).name == reader


def test_an_embedder_is_made_once_when_asked_for(plugins: manager.Plugins) -> None:
    first = plugins.embedder("static")
    assert isinstance(first, StaticEmbedder) and isinstance(first, Embedder)
    assert plugins.embedder("static") is first


def test_an_unknown_embedder_names_the_known_ones(plugins: manager.Plugins) -> None:
    for name in ("gpt-9", "st:", "static:x"):
        with pytest.raises(NotFoundError, match=rf"'{name}'.*Known: minilm, minilm-int8, ollama:.*st:..., static"):
            plugins.embedder(name)


def test_listing_imports_no_model_and_no_numpy() -> None:
    code = (
        "import sys; from plugins import manager; p = manager.load(); assert p.readers and p.embedders;"
        "print([m for m in ('numpy', 'scipy', 'tokenizers', 'safetensors', 'wordllama') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_an_installed_plugin_adds_and_overrides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "palimpsest_shout", GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = manager.load()
    assert "shout" in plugins.readers and plugins.problems == ()
    for suffix in (".shout", ".txt"):
        reader = plugins.reader_for(Path("a" + suffix), 1)
        assert reader.read(Path("a"), b"you")[0].text == "HELLO you"
    assert plugins.reader_for(Path("a.log"), 1).name == "text"


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_named_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    install(tmp_path, f"palimpsest_{name}", BROKEN[name])
    install(tmp_path, "palimpsest_shout", GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = manager.load()
    assert len(plugins.problems) == 1 and f"palimpsest_{name}" in plugins.problems[0]
    assert "half" not in plugins.readers
    assert "shout" in plugins.readers and "markdown" in plugins.readers


def test_a_plugin_adds_models_as_the_documentation_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text("utf-8")
    code = page.partition("\n## register_llms\n")[2].partition("```python\n")[2].partition("```")[0]
    install(tmp_path, "palimpsest_parrot", code)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = manager.load()
    assert plugins.problems == ()
    models = Models(plugins.families)
    assert [found.model for found in models.list_models(["parrot"])["parrot"].models] == ["grey"]
    reply = models.open("parrot:grey").complete(LlmRequest(messages=(Message("user", "Polly"),)))
    assert (reply.text, reply.usage.total) == ("Polly", 2)


def test_a_plugin_whose_look_breaks_does_not_hide_the_others() -> None:
    def broken(settings: object) -> ModelList:
        raise OSError("no disk")

    families = {"bad": Family("bad", lambda model, settings: None, broken)}  # type: ignore[arg-type,return-value]
    families["good"] = Family("good", lambda model, settings: None, lambda settings: ModelList(problem="fine"))  # type: ignore[arg-type,return-value]
    looks = Models(families).list_models()
    assert looks["good"].problem == "fine"
    assert looks["bad"].problem == "The plug-in for bad: models is broken. Do without it: pal plugins off NAME"


@pytest.mark.parametrize("name", ["", "ollama", "ollama:", "nobody:x", ":x", "ollama: "])
def test_what_is_no_model_is_reported_with_those_there_are(name: str) -> None:
    with pytest.raises(NotFoundError, match=r"anthropic:MODEL, ollama:MODEL, openai:MODEL"):
        Models(manager.load().families).open(name)


WALKS = """
import numpy as np
from plugins.hookspecs import hookimpl
from plugins.traversers.contract import Traversal

def make(settings):
    from memory.graph.walk import Walk
    def newest(graph, seeds, allowed, recall):
        return Walk(np.where(allowed, seeds.episode_scores, 0), np.zeros(len(graph.object_ids), np.float32))
    return newest

@hookimpl
def register_traversers(register):
    register(Traversal("newest", make))
"""


def test_a_plugin_adds_traversers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "newest_walk", WALKS)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = manager.load()
    assert plugins.problems == ()
    plugins.check_strategy("newest")
    assert plugins.strategies()("spread+newest").traverse is not None
    with pytest.raises(InvalidInputError, match=r"Known: .*newest"):
        plugins.check_strategy("spread+oldest")


def test_what_is_no_traverser_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from plugins.hookspecs import hookimpl\n@hookimpl\ndef register_traversers(register):\n    register(1)\n"
    install(tmp_path, "bad_traverser", code)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = manager.load()
    assert len(plugins.problems) == 1 and "register_traversers" in plugins.problems[0]
    plugins.check_strategy("beam")
