"""Peers side by side: the runner with one made up here, and each real one where it is installed."""

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import data, peers
from memory import Memory
from memory.protocols import Embedder
from plugins import manager
from tests.benchmarks import sets


class Words:
    """Finds by counting words that are the same; keeps its passages in a file."""

    def __init__(self, folder: Path, embedder: Embedder, passages: Sequence[peers.Passage]) -> None:
        self._file, self._passages = folder / "words.json", passages
        self._kept = json.loads(self._file.read_text("utf-8")) if self._file.exists() else None

    def add(self, passages: Sequence[peers.Passage]) -> None:
        self._file.write_text(json.dumps([passage.text for passage in passages]), encoding="utf-8")

    def ask(self, question: data.Question, k: int) -> peers.Found:
        assert self._kept is not None, "asked before it was opened again"
        words = set(question.text.strip("?").split())
        rows = [i for i, p in enumerate(self._passages) if question.conversation in (None, p.conversation)]
        rows.sort(key=lambda row: -len(words & set(self._kept[row].split())))
        return [self._passages[row].refs for row in rows[:k]]

    def close(self) -> None:
        pass


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words as a peer under the name of a package that is always installed; the real ones are not there."""
    monkeypatch.setattr(peers, "PEERS", {"pytest": Words, "bm25s": peers.PEERS["bm25s"]})
    monkeypatch.setitem(sys.modules, "bm25s", None)  # as if it were not installed


def measured(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert peers.main([*arguments, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    result: dict[str, Any] = json.loads(line)
    return result


@pytest.mark.usefixtures("words")
def test_all_are_measured_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = measured(capsys, "--data", str(sets.river(tmp_path / "river")), "--peers", "pytest")
    assert (result["set"], result["passages"]) == ("river", 8)
    assert list(result["systems"]) == ["palimpsest", "pytest"]
    for one in result["systems"].values():
        assert one["questions"] == 4
        assert 0 < one["recall"]["5"] <= one["recall"]["10"] == one["all"]["10"] == 100  # there are only eight
        assert 0 < one["p50_ms"] <= one["p95_ms"]
        assert one["passages_per_s"] > 0 < one["mb"]
    assert result["systems"]["palimpsest"]["times_ms"] == 1


@pytest.mark.usefixtures("words")
def test_a_peer_that_is_not_installed_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(sets.river(tmp_path / "river"))
    result = measured(capsys, "--data", folder)
    assert result["systems"]["bm25s"] == {"installed": False, "install": peers.INSTALL}
    assert result["systems"]["pytest"]["installed"]
    assert peers.main(["--data", folder]) == 0
    table = capsys.readouterr().out
    assert "bm25s is not installed: pip install -c constraints.txt -e '.[bench]'" in table
    assert [line.split()[0] for line in table.splitlines()[2:4]] == ["palimpsest", "pytest"]


@pytest.mark.usefixtures("words")
def test_questions_stay_within_their_conversation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = measured(capsys, "--data", str(sets.talks(tmp_path / "talks")))
    assert result["passages"] == 4
    for name in ("palimpsest", "pytest"):
        assert result["systems"][name]["questions"] == 2  # without those that stand apart or have no gold
        assert result["systems"][name]["recall"]["5"] == 100


def test_peers_get_the_passages_that_memory_keeps(tmp_path: Path) -> None:
    questions = data.load(sets.talks(tmp_path / "talks"))
    with Memory.open(":memory:", embedder=manager.load().embedder("static")) as memory:
        memory.ingest.remember_many(questions.documents)
        kept = {
            hit.episode.refs: hit.episode.text
            for hit in memory.questions.retrieve("hives bees train paint", k=20).recall.hits
        }
    given = {passage.refs: passage.text for passage in peers.passages_of(questions)}
    assert kept
    assert all(given[refs].endswith(text) for refs, text in kept.items())


@pytest.mark.parametrize("name", peers.PEERS)
def test_a_peer_finds_what_was_kept(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed: {peers.INSTALL}")
    sets.river(tmp_path / "river")
    sets.talks(tmp_path / "talks")
    for folder, found in (("river", 87.5), ("talks", 100)):
        figures = measured(capsys, "--data", str(tmp_path / folder), "--peers", name)["systems"][name]
        assert figures["recall"]["5"] >= found
        assert figures["mb"] > 0


def test_a_wrong_call_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert peers.main(["--data", str(tmp_path)]) == 2
    assert "corpus.jsonl" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        peers.main(["--data", str(tmp_path), "--peers", "oracle"])
    assert "invalid choice" in capsys.readouterr().err
