"""What a person says of facts that changed, against a real daemon: what stands then, and which notes still deny it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from tests.running import run_daemon
from tui.review.screen import correct, find_correctable


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


def test_a_value_that_is_said_by_hand_stands_and_is_taken_back_whole(client: Client, tmp_path: Path) -> None:
    change = told(client, tmp_path, "Nuria Solano")
    fact = find_correctable(change, "old")
    assert fact is not None and fact.id == change.new.id, "the old one stands no more"
    take_back, outcome = correct(client, change, fact, "0161 496 03")
    assert phones(client, "Nuria Solano") == ["0161 496 03"] and "0161 496 03" in outcome
    assert client.revision(change.id).state == "kept"
    take_back(client)
    assert phones(client, "Nuria Solano") == ["0161 496 02"] and client.revision(change.id).state == "open"
    with pytest.raises(DaemonError):
        correct(client, change, fact, "x" * 300)
    assert client.revision(change.id).state == "open", "what was refused has decided nothing"
