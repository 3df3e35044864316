"""What a person says of facts that changed, against a real daemon: what stands then, and which notes still deny it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from daemon.testing import run_daemon
from tui.changes import verdict_of
from tui.review.deciding import correct, decide, describe_refused, find_correctable


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with run_daemon(tmp_path_factory.mktemp("home")) as running:
        yield running.client


def told(client: Client, folder: Path, name: str) -> wire.Revision:
    """A note of a person whose phone was edited."""
    for year, phone in (("2024", "0161 496 01"), ("2026", "0161 496 02")):
        text = f"---\ndate: {year}-03-01\nphone: {phone}\n---\n# {name}\n"
        (folder / f"{name}.md").write_text(text, "utf-8")
        list(client.add([folder]))
    return next(one for one in client.revisions("all", name).revisions if one.new.predicate)


def phones(client: Client, name: str) -> list[str]:
    return [one.objects[-1] for one in client.facts(name).facts if one.predicate and "phone" in one.predicate]


def test_what_is_refused_is_named_with_the_note_that_still_says_it(client: Client, tmp_path: Path) -> None:
    change = told(client, tmp_path, "Ida Holm")
    decision, outcome, failure = decide(client, [change], "old")
    assert failure is None and phones(client, "Ida Holm") == ["0161 496 01"]
    assert outcome.said.startswith("Kept the old one. Now: Ida Holm, ") and outcome.said.endswith("0161 496 01.")
    still = describe_refused(outcome.refused, [str(tmp_path)])
    assert still.endswith("still says “0161 496 02”: O opens it.") and "Ida Holm.md:3" in still
    decision.take_back(client)
    assert phones(client, "Ida Holm") == ["0161 496 02"] and verdict_of(client.revision(change.id)) == "open"
    _, outcome, _ = decide(client, [change], "keep")
    assert outcome.said.endswith("0161 496 02.") and not outcome.refused, "what was is history, and no note is wrong"


def test_a_value_that_is_said_by_hand_stands_and_is_taken_back_whole(client: Client, tmp_path: Path) -> None:
    change = told(client, tmp_path, "Nuria Solano")
    fact = find_correctable(change, "old")
    assert fact is not None and fact.id == change.new.id, "the old one stands no more"
    decision, outcome = correct(client, change, fact, "0161 496 03")
    assert phones(client, "Nuria Solano") == ["0161 496 03"] and "0161 496 03" in outcome.said
    assert [one.uri for one in outcome.refused] == [change.new.uri] and client.revision(change.id).state == "kept"
    decision.take_back(client)
    assert phones(client, "Nuria Solano") == ["0161 496 02"] and client.revision(change.id).state == "open"
    with pytest.raises(DaemonError):
        correct(client, change, fact, "x" * 300)
    assert client.revision(change.id).state == "open", "what was refused has decided nothing"
