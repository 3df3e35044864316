"""The benchmark of updates: whole runs over an invented person, without a model and through the wire with one."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks import updates
from benchmarks.enrichment import shown
from benchmarks.gold import Change, Timeline
from memory.facts import decisions
from memory.nouns import Fact, Modality
from tests.fakes import FakeOllama, OllamaModel, Says
from tests.fakes.recorded import as_reply, pairs_in

AT = datetime(2024, 3, 1, tzinfo=UTC)

FILES = {
    "2023-02-01 boat.md": "# The boat\n\nThe Petrel is moored in Bergen. Ana Holt is her skipper.\n",
    "2024-03-05 boat.md": "# The boat\n\nSince March the Petrel is moored in Oslo. Ana Holt is on leave.\n",
    "2024-06-01 stove.md": "# Stove\n\nThe stove on the Petrel burns paraffin.\n",
}
BEFORE, AFTER, STOVE = (f"files/{name}" for name in FILES)
GOLD: dict[str, list[dict[str, Any]]] = {
    "facts": [
        {"fact_id": id, "subject": "Petrel", "attribute": "mooring", "value": value}
        for id, value in (("f0", "Bergen"), ("f1", "Oslo"), ("f2", "Horten"))
    ],
    "updates": [
        {"old_fact_id": old, "new_fact_id": new, "type": "explicit", "old_path": BEFORE, "new_path": AFTER, "date": ""}
        for old, new in (("f0", "f1"), ("f1", "f2"))
    ],
    "nonupdates": [{"path_a": BEFORE, "path_b": STOVE}],
    "manifest": [{"path": f"files/{name}", "date": name[:10]} for name in FILES],
    "questions": [
        {"id": f"q{n}", "type": kind, "question": asked, "as_of": as_of, "accept": right, "reject": [], "evidence": of}
        for n, (kind, asked, as_of, right, of) in enumerate(
            [
                ("past_as_of", "Where is the Petrel moored?", "2023-06-01", ["Bergen"], [BEFORE]),
                ("single", "What does the stove on the Petrel burn?", None, ["paraffin"], [STOVE]),
                ("single", "Who is the skipper of the Petrel?", None, ["Bo"], [BEFORE]),
                ("no_answer", "Who mended the accordion in Tbilisi?", None, ["nothing"], []),
            ]
        )
    ],
}  # fmt: skip


def triple(object: str, quote: str) -> dict[str, Any]:
    times = {"modality": "asserted", "valid_from": None, "valid_to": None}
    return {"subject": "Petrel", "predicate": "lies_at_anchor_in", "object": object, "quote": quote} | times


RECORDED = {
    BEFORE: [triple("Bergen", "The Petrel is moored in Bergen")],
    AFTER: [triple("Oslo", "the Petrel is moored in Oslo")],
}


@pytest.fixture
def ida(tmp_path: Path) -> Path:
    folder = tmp_path / "dev" / "ida"
    (folder / "files").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / "files" / name).write_text(text, encoding="utf-8")
    for kind, rows in GOLD.items():
        write(folder / f"{kind}.jsonl", rows)
    (tmp_path / "recorded").mkdir()
    rows = [{"path": path, "extraction": {"objects": [], "triples": of, "theses": []}} for path, of in RECORDED.items()]
    write(tmp_path / "recorded" / "ida.jsonl", rows)
    return folder


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(capsys: pytest.CaptureFixture[str], ida: Path, *arguments: str) -> dict[str, Any]:
    """The figures of one persona; those of the mean are the same then."""
    assert updates.main(["--data", str(ida.parent), "--json", *arguments]) == 0
    persona: dict[str, Any]
    persona, mean = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (persona["set"], mean["set"]) == ("ida", "mean")
    assert mean["updates"] == persona["updates"]
    return persona


def test_what_was_recorded_goes_through_the_wire_into_the_memory(
    ida: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = ["--questions", str(tmp_path / "q.jsonl"), "--revisions", str(tmp_path / "out")]
    result = run(capsys, ida, "--recorded", *written)
    assert (result["mode"], result["noise"], result["episodes"]) == ("recorded", 0, 3)
    assert result["updates"] == {
        "gold": 2, "found": 1, "recall": 50, "precision": 100, "precision_any_file": 100, "nonupdates": 1, "violated": 0
    }  # fmt: skip
    assert result["lost_by"] == {"extraction": 1, "resolution": 0, "candidates": 0, "decision": 0, "found": 1}
    assert result["missed"][0]["detail"] == "nobody told 'Horten'"
    assert result["calls"] == 4, "one for each episode, and one for the pair that no rule can judge"
    assert (result["pairs"], result["useful"]) == (1, 100)
    assert result["authors"] == {"model": 1}
    assert result["tokens_read"] > result["tokens_written"] > 0
    assert result["undone"] == {
        "revisions": 1, "facts": 2, "lost": 0, "closed": 0, "more": 0, "refused": 0, "examples": []
    }  # fmt: skip
    assert rows(tmp_path / "out" / "ida.jsonl") == [
        {"old_path": BEFORE, "new_path": AFTER, "old_value": "Bergen", "new_value": "Oslo"}
    ]
    asked = {row["id"]: row for row in rows(tmp_path / "q.jsonl")}
    assert [asked[id]["right"] for id in ("q0", "q1", "q2")] == [True, True, False]
    assert result["failed_by"] == {"retrieval": 0, "answering": 1}


def test_the_oracle_knows_the_facts_by_what_a_model_is_shown() -> None:
    def fact(value: str, modality: Modality, ends: datetime | None) -> Fact:
        id = len(value) + 10 * (modality == "past")
        return Fact(
            id, "relation", f"Petrel lies in {value}", ("Petrel", value), AT, ends, AT, None, None, 1, "/a", 1,
            modality, predicate="lies in", quote="(asserted, we lie there)",
        )  # fmt: skip

    change = Change("Petrel, mooring", "Bergen", "Oslo", "explicit", "a.md", "b.md", "2024")
    timeline = Timeline((change,), {change.about: ("Bergen", "Oslo")}, frozenset())
    pairs = [
        (fact("Bergen", "asserted", None), fact("Oslo", "asserted", None)),
        (fact("Bergen", "past", AT + timedelta(days=99)), fact("Oslo", "asserted", None)),
    ]
    known = {shown(one): one for pair in pairs for one in pair}
    assert len(known) == 3
    asked = pairs_in(decisions.decision_request(pairs).messages[0].text)
    decides = updates.oracle(timeline, known)
    assert [decides(old, new) for *_, old, new in asked] == ["replaces", "unrelated"]
    assert decides("Somebody else (asserted)", asked[0][3]) == "unrelated"


def test_without_a_model_nobody_is_called(ida: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, ida)
    assert (result["mode"], result["calls"], result["own_ms"]) == ("rules", 0, 0)
    assert result["updates"]["gold"] == 2
    assert result["undone"]["lost"] == result["undone"]["closed"] == 0


def test_files_that_come_together_share_a_call(ida: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, ida, "--recorded", "--together")
    assert result["calls"] == 2, "one for three passages, and one for the pair"
    assert result["updates"]["found"] == 1
    assert (result["undone"]["lost"], result["undone"]["more"]) == (0, 0)


def test_noise_loses_facts_and_all_of_it_can_be_undone(ida: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, ida, "--recorded", "--noise", "1")
    assert (result["noise"], result["seed"], result["facts"], result["failed"]) == (1, 42, 0, 3)
    assert result["calls"] == 6, "each is asked a second time"
    assert result["undone"]["lost"] == result["undone"]["closed"] == 0


def test_a_real_model_is_asked_by_the_same_way(
    ida: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[str, list[dict[str, Any]]] = {"objects": [], "triples": [], "theses": []}
    entry = {"episode": 1} | as_reply(read | {"triples": RECORDED[BEFORE]})
    nothing = {"episodes": [{"episode": 1} | as_reply(read)]}
    with FakeOllama(OllamaModel("qwen3:4b"), answer=lambda body: Says(json.dumps(nothing))) as server:
        server.enqueue(Says(json.dumps({"episodes": [entry]})))
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        result = run(capsys, ida, "--llm", "ollama:qwen3:4b")
        assert len(server.chats) == 3
    assert (result["mode"], result["calls"], result["facts"], result["failed"]) == ("ollama:qwen3:4b", 3, 1, 0)


def test_tables_show_the_persona_the_mean_and_what_was_missed(ida: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert updates.main(["--data", str(ida), "--recorded"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines() if line.startswith(("ida ", "mean "))] == ["ida", "mean"] * 8
    assert "Petrel, mooring: Oslo -> Horten (explicit)\n    extraction: nobody told 'Horten'" in shown


def test_what_is_wrong_is_reported(ida: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(message: str, *arguments: str) -> None:
        assert updates.main(["--data", str(ida), *arguments]) == 2
        assert message in capsys.readouterr().err

    fails("There is no model called 'qwen'", "--llm", "qwen")
    write(tmp_path / "recorded" / "ida.jsonl", [{"path": BEFORE, "extraction": {"objects": []}}])
    fails(f"the extraction of {BEFORE} needs lists of objects, triples and theses", "--recorded")
    fails("Give its folder: --recorded FOLDER", "--recorded", str(tmp_path))
    (ida / "updates.jsonl").unlink()
    fails("updates.jsonl cannot be read")
    assert updates.main(["--data", str(tmp_path / "nowhere")]) == 2
    with pytest.raises(SystemExit):
        updates.main(["--data", str(ida), "--noise", "0.2"])
    assert "--noise and --manners go with" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        updates.main(["--data", str(ida), "--recorded", "--noise", "20"])
