"""Where text may go: asked once, kept, and said for one folder."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from daemon.config.settings import load
from tests.cli.vault import Shell
from tests.fakes import FakeOllama, OllamaModel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")

QUESTION = "May their text be given to it? [y/N]:"
CLOUD = "ollama:gpt-oss:120b-cloud"


@pytest.fixture
def notes(shell: Shell) -> Shell:
    (shell.folder / "notes").mkdir()
    (shell.folder / "notes" / "a.md").write_text("The key is under the third pot.\n", "utf-8")
    shell.pal("daemon", "start")
    return shell


def policies(shell: Shell) -> dict[str, str]:
    rows = shell.pal("status", "--sources", "--json").json["sources"]
    return {row["uri"].rpartition("/")[2]: row["policy"] for row in rows}


def setting(shell: Shell) -> str:
    return load(shell.home / "config.toml").models.policy


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An Ollama with a model of its own and one that is elsewhere."""
    models = OllamaModel("qwen3:4b"), OllamaModel("gpt-oss:120b-cloud", remote_host="https://ollama.com")
    with FakeOllama(*models) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        yield


@pytest.mark.parametrize(("typed", "kept"), [("\n", "local"), ("y\n", "any")])
def test_the_first_model_elsewhere_asks_and_the_second_time_does_not(
    ollama: None, notes: Shell, typed: str, kept: str
) -> None:
    from tests.cli.terminal import at_terminal

    assert QUESTION not in at_terminal(notes, "watch", "add", "notes", keys=[]).out
    assert QUESTION not in at_terminal(notes, "models", "use", "answer", "ollama:qwen3:4b", keys=[]).out
    assert setting(notes) == "ask" and notes.pal("watch", "list").out.split()[4] == "local"
    said = at_terminal(notes, "models", "use", "answer", CLOUD, keys=[(QUESTION, typed)])
    assert said.code == 0 and f"Kept: models.policy = {kept}." in said.out
    assert setting(notes) == kept and notes.pal("watch", "list").out.split()[4] == kept
    again = at_terminal(notes, "models", "use", "agent", CLOUD, keys=[])
    assert again.code == 0 and QUESTION not in again.out
    (notes.folder / "notes-2").mkdir()
    (notes.folder / "notes-2" / "c.md").write_text("A neighbour's note about the weir.\n", "utf-8")
    notes.pal("add", "notes-2")
    assert policies(notes)["c.md"] == kept


def test_nobody_is_asked_without_a_terminal_or_for_a_folder(ollama: None, notes: Shell) -> None:
    from tests.cli.terminal import at_terminal

    for words in (["add", "notes"], ["add", "notes/a.md"], ["watch", "add", "notes"]):
        assert QUESTION not in at_terminal(notes, *words, keys=[]).out
    assert QUESTION not in notes.pal("models", "use", "answer", CLOUD).err
    assert (setting(notes), policies(notes)) == ("ask", {"a.md": "local"})


def test_a_policy_is_for_what_was_read_before_too(notes: Shell) -> None:
    (notes.folder / "notes-2").mkdir()
    (notes.folder / "notes-2" / "c.md").write_text("A neighbour's note about the weir.\n", "utf-8")
    notes.pal("add", "notes", "notes-2")
    assert notes.pal("add", "--policy", "any", "notes").code == 0
    assert policies(notes) == {"a.md": "any", "c.md": "local"}
    (notes.folder / "notes" / "a.md").write_text("The key is under the fourth pot.\n", "utf-8")
    notes.pal("add", "notes")
    assert policies(notes)["a.md"] == "any", "a known source keeps its policy when it changes"


def test_a_watched_folder_changes_its_policy(notes: Shell) -> None:
    notes.pal("add", "notes")
    assert notes.pal("watch", "add", "--policy", "any", "notes").code == 0
    assert policies(notes) == {"a.md": "any"}
    assert notes.pal("watch", "list").out.split()[4] == "any"
    said = notes.pal("watch", "add", "--policy", "local", "notes")
    assert said.out == "Already watched: ./notes. Its policy is local now.\n"
    assert policies(notes) == {"a.md": "local"}
    assert notes.pal("watch", "add", "notes").out == "Already watched: ./notes\n"
    notes.pal("daemon", "restart")
    assert notes.pal("watch", "list", "--json").json["folders"][0]["policy"] == "local"


def test_a_file_of_a_watched_folder_has_the_folders_policy(notes: Shell) -> None:
    notes.pal("config", "set", "models.policy", "any")
    notes.pal("watch", "add", "--policy", "local", "notes")
    (notes.folder / "notes" / "b.md").write_text("The code of the door is 4471.\n", "utf-8")
    notes.pal("add", "notes/b.md")
    assert policies(notes)["b.md"] == "local"


def test_a_whole_home_is_counted_and_asked_about_first(notes: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cli.terminal import at_terminal

    monkeypatch.setenv("HOME", str(notes.folder / "notes"))
    (notes.folder / "notes" / "big.md").write_text("The weir is open. " * 100, "utf-8")
    (notes.folder / "notes" / "film.mp4").write_bytes(b"\x00\x00\x00\x20ftyp")
    for words in (["add", "notes"], ["watch", "add", "notes"], ["add", "--json", "."]):
        refused = notes.pal(*words)
        assert refused.code == 2 and "Add --yes to read all of it without being asked." in refused.err
    question = "That is 2 files, 1.8 kB. Read all of it? [y/N]:"
    refused = at_terminal(notes, "add", "notes", keys=[(question, "n\n")])
    assert refused.code == 1 and "Nothing was read." in refused.out
    assert notes.pal("status", "--sources", "--json").json["sources"] == []
    assert "Read 2 notes" in at_terminal(notes, "add", "notes", keys=[(question, "y\n")]).out
    assert notes.pal("watch", "add", "--yes", "notes").code == 0
    assert notes.pal("watch", "add", "notes").code == 0, "it is watched already"
