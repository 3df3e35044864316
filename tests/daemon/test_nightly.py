"""The night: once a day, never twice, behind whoever asks, and whole again after a kill -9."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from daemon import wire
from daemon.api.services import QuestionPool
from daemon.client.client import Client
from daemon.config.settings import NightSettings, RetentionSettings
from daemon.jobs.night import NightlyJob
from daemon.jobs.workers import Writer
from daemon.paths import Paths
from memory import Memory
from memory.facts.extraction import ExtractedRelation, Extraction
from memory.protocols import Embedder
from memory.store import relations
from tests.daemon.conftest import QUICK
from tests.memory.insight.test_consolidate import UNTOLD, again, held, tell
from tests.running import RunningDaemon, run_daemon

NOON = datetime.fromisoformat("2024-05-05T12:00:00+00:00")
FACTS = 400


class Desk:
    """A memory with a night that is driven look by look."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.writer = Writer()
        self.writer.start()
        self.now = NOON
        self.asking = self.battery = False

    def nightly(self, **settings: Any) -> NightlyJob:
        return NightlyJob(
            self.memory, self.writer, NightSettings(**settings),
            asking=lambda: self.asking, battery=lambda: self.battery, clock=lambda: self.now,
        )  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path, static: Embedder) -> Iterator[Desk]:
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=UNTOLD) as memory:
        desk = Desk(memory)
        yield desk
        desk.writer.close(60)


def test_a_night_is_done_once(desk: Desk) -> None:
    nightly = desk.nightly(hour=3)
    assert nightly.state() == wire.Night("idle", 3)
    assert nightly.run_if_due()
    assert not nightly.run_if_due(), "not twice"
    desk.now = NOON + timedelta(hours=14)
    assert not nightly.run_if_due(), "it is two o'clock"
    desk.now = NOON + timedelta(hours=16)
    assert nightly.run_if_due() and nightly.state().at


def test_missed_nights_are_made_up_for_once(desk: Desk) -> None:
    assert desk.nightly(hour=3).run_if_due()
    desk.now = NOON + timedelta(days=5, hours=7)
    another = desk.nightly(hour=3)
    assert another.run_if_due() and not another.run_if_due()


def test_a_clock_that_was_wrong_ends_no_nights(desk: Desk) -> None:
    desk.now = NOON + timedelta(days=3650)
    assert desk.nightly(hour=3).run_if_due()
    desk.now = NOON
    nightly = desk.nightly(hour=3)
    assert nightly.run_if_due() and not nightly.run_if_due()
    desk.now = NOON - timedelta(minutes=5)
    assert not nightly.run_if_due(), "it was set back a little"


def test_what_was_done_can_be_seen(desk: Desk) -> None:
    tell(desk.memory, "2021-01-01", "Ana", "Utrecht")
    again(desk.memory, "2022-01-01", "Ana", "Utrecht")
    nightly = desk.nightly()
    nightly.run_if_due()
    assert nightly.state().joined == 1 and held(desk.memory, "Ana") == ["lives in Utrecht"]
    assert nightly.consolidate().joined == 0


def test_what_is_not_kept_goes_at_night_but_not_after_a_jump_of_the_clock(desk: Desk) -> None:
    def look(days: float) -> int:
        desk.now = begun + timedelta(days=days)
        assert nightly.run_if_due()
        return nightly.state().erased

    written = datetime.now().astimezone() - timedelta(days=3)
    for name in ("gone", "edited"):
        desk.memory.ingest.remember(f"The {name} letter is from Ana.", source=f"/n/{name}.md", at=written)
    desk.memory.ingest.retire("/n/gone.md")
    desk.memory.ingest.remember("The letter is from Bo.", source="/n/edited.md")
    for who in ("Ana", "Bo"):
        list(desk.memory.questions.ask(f"Whose letter is {who}'s?"))
    begun = datetime.now().astimezone().replace(hour=12)
    nightly = NightlyJob(
        desk.memory, desk.writer, NightSettings(),
        retention=RetentionSettings(questions=1), battery=lambda: False, clock=lambda: desk.now,
    )  # fmt: skip
    assert look(1) == 0 and (first := desk.memory.maintenance.last_run("night")) and first["thinned"] == 0
    assert look(40) == 0, "the clock seemed to have jumped"
    assert (second := desk.memory.maintenance.last_run("night")) and second["thinned"] == 1
    assert [look(days) for days in (41, 42)] == [1, 0]
    assert [one.uri for one in desk.memory.forgetting.list_retired(9)[0]] == ["/n/edited.md"], "history is kept"


def test_on_its_battery_a_machine_waits(desk: Desk) -> None:
    desk.battery = True
    nightly = desk.nightly()
    assert not nightly.run_if_due() and nightly.state().state == "battery"
    assert desk.nightly(on_battery=True).run_if_due()


def at_work(nightly: NightlyJob) -> threading.Thread:
    """Its night in a thread, which has begun."""
    night = threading.Thread(target=nightly.run_if_due)
    night.start()
    while nightly.state().state != "working":
        time.sleep(0.01)
    return night


def test_whoever_asks_goes_first(desk: Desk) -> None:
    desk.asking = True
    nightly = desk.nightly()
    night = at_work(nightly)
    assert nightly.state().at is None
    desk.asking = False
    night.join(60)
    assert nightly.state().at


def test_it_ends_when_the_daemon_does(desk: Desk) -> None:
    desk.asking = True
    nightly = desk.nightly()
    night = at_work(nightly)
    assert nightly.close(60)
    night.join(60)
    assert not night.is_alive() and nightly.state().at is None, "it is done anew next time"
    desk.asking = False
    assert desk.nightly().run_if_due()


def test_a_night_that_breaks_off_is_no_night(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    nightly = desk.nightly()
    with monkeypatch.context() as patch:
        patch.setattr(desk.memory.forgetting, "clear_unused", lambda write: 1 / 0)
        assert not nightly.run_if_due()
    assert nightly.state() == wire.Night("failed", 3)
    assert not nightly.run_if_due(), "it is not tried all day long"
    desk.now = NOON + timedelta(days=1)
    assert nightly.run_if_due() and nightly.state().state == "idle"


def test_readers_are_busy_while_they_answer_and_a_while_after() -> None:
    readers, going = QuestionPool(1), threading.Event()
    assert not readers.busy
    future = readers.submit(going.wait, 20)
    assert readers.busy
    going.set()
    assert future.result(20) and readers.busy, "who has asked asks on"
    readers.shutdown()
    with pytest.raises(RuntimeError):
        readers.submit(going.wait)
    assert readers._open == 0


def night_of(client: Client) -> wire.Night:
    found = client.status().night
    assert found is not None
    return found


def until(daemon: RunningDaemon, wanted: Callable[[wire.Night], bool]) -> wire.Night:
    deadline = time.monotonic() + 60
    while not wanted(now := night_of(daemon.client)):
        assert time.monotonic() < deadline, now
        time.sleep(0.01)
    return now


def joined(path: Path) -> int:
    """How many facts of the memory of a daemon that is gone are one with another."""
    import sqlite3

    with sqlite3.connect(path) as conn:
        found: int = conn.execute("SELECT count(*) FROM revision WHERE relation = 'duplicates'").fetchone()[0]
    return found


def told_twice(memory: Memory, facts: int) -> None:
    """That many facts, each of which two notes tell as if they were two."""
    first, second = (
        memory.ingest.remember(text, source=text).episode_ids[0]
        for text in ("They all live there.", "All of them live there.")
    )
    told = [
        ExtractedRelation(subject=f"Person{n}", predicate="lives in", object="Utrecht", start=0, end=8)
        for n in range(facts)
    ]
    memory.knowledge.assert_facts({first: Extraction(tuple(told))}, "a model")
    with memory.knowledge.transaction() as asserter:
        for id, src, dst, pred in asserter.conn.execute(
            "SELECT id, src, dst, pred_id FROM edge WHERE kind = 'rel'"
        ).fetchall():
            copy = relations.insert(asserter.conn, src, pred, dst, "asserted", 1.0, 1_700_000_000_000 + id, None, 1)
            relations.add_evidence(asserter.conn, copy, second, 0, 8, "a model")


def test_kill_9_in_the_night(tmp_path: Path, static: Embedder) -> None:
    paths = Paths.in_folder(tmp_path / "home")
    paths.data.mkdir(parents=True)
    with Memory.open(paths.memory, embedder=static, settings=UNTOLD) as memory:
        told_twice(memory, FACTS)
    settings = replace(QUICK, night=NightSettings(after_start_s=0.1, on_battery=True))
    with run_daemon(tmp_path / "home", settings) as daemon:
        until(daemon, lambda night: night.state == "working" or night.at is not None)
        daemon.kill()
        before = joined(paths.memory)
        daemon.start()
        last = until(daemon, lambda night: night.at is not None)
        assert last.joined in (FACTS - before, 0), "what was joined is not joined again"
        assert joined(paths.memory) == FACTS
        assert [one.predicate for one in daemon.client.facts("Person7").facts if one.kind == "relation"] == ["lives in"]
        assert daemon.client.check().problems == ()
        assert "the night is done" in paths.log.read_text("utf-8")
        daemon.stop()
        daemon.start()
        assert daemon.client.tidy().joined == 0
        assert night_of(daemon.client).at == last.at, "the same night is not done again"


def test_no_nights_if_none_are_wanted(tmp_path: Path) -> None:
    settings = replace(QUICK, night=NightSettings(enabled=False))
    with run_daemon(tmp_path / "home", settings) as daemon:
        assert night_of(daemon.client) == wire.Night("off", 3)
        assert daemon.client.tidy() == wire.ConsolidationReport(0, 0, 0, 0, False)


def test_a_unit_of_a_stopping_daemon_is_not_written(desk: Desk) -> None:
    nightly = desk.nightly()
    nightly.close(1)
    with pytest.raises(CancelledError):
        nightly._write(lambda: None)
    assert not nightly.run_if_due()
