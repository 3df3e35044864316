"""kill -9 over and over, at random moments and at each point of the work: what was acknowledged is there, once."""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from daemon.client.client import Client, DaemonDownError, DaemonError
from memory.store import jobs, sources
from memory.store.store import Store
from tests import fail_points
from tests.daemon.conftest import QUICK, uris, wait_until
from tests.examples import rounds
from tests.running import RunningDaemon, run_daemon

pytestmark = pytest.mark.soak

NOTES = 12  # of a folder that is read when a point is come to
TIMES = 4  # that a point is come to before the daemon dies, at most


class Person:
    """Tells the daemon one thing after the other, edits a watched note and has things forgotten, until it is gone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.kept: set[str] = set()  # sources that were acknowledged
        self.in_doubt: set[str] = set()  # what was under way when the daemon died
        self._number = 0

    def use(self, client: Client) -> None:
        with suppress(DaemonDownError, DaemonError, OSError):
            while True:
                self._number += 1
                source, text = f"note {self._number}", f"Crate {self._number} came from harbour {self._number % 37}."
                self.in_doubt.add(source)
                client.remember(text, title=source, source=source)
                self.kept.add(source)
                self.in_doubt.remove(source)
                if self._number % 5 == 0:
                    (self._folder / "log.md").write_text(f"# Log\n\n{self._number} crates by now.\n")
                if self._number % 4 == 0 and source in self.kept:
                    self.in_doubt.add(source)
                    client.forget(source=source)
                    self.kept.remove(source)
                    self.in_doubt.remove(source)


def die_at_random(daemon: RunningDaemon, person: Person, after_s: float) -> None:
    using = threading.Thread(target=person.use, args=(daemon.client,))
    using.start()
    time.sleep(after_s)
    daemon.kill()
    using.join(60)
    assert not using.is_alive()


def test_what_was_acknowledged_survives_any_moment(tmp_path: Path) -> None:
    chance = random.Random(5)
    folder = tmp_path / "watched"
    folder.mkdir()
    person = Person(folder)
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        daemon.client.watch(folder)
        for number in range(rounds(20)):
            if number:
                daemon.start()
            die_at_random(daemon, person, chance.uniform(0.02, 0.25))
        daemon.start()
        assert daemon.client.check().problems == ()
        assert daemon.stop() == 0
        with Store.open(daemon.paths.memory) as store, store.reading() as conn:
            there = {one.uri for one in sources.list_under(conn, "note ")}
        assert person.kept - person.in_doubt <= there, "something that was acknowledged is lost"
        assert there <= person.kept | person.in_doubt, "something that was forgotten is back"
        assert person.kept


def test_a_stop_in_the_middle_of_everything_is_clean(tmp_path: Path) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    person = Person(folder)
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        daemon.client.watch(folder)
        for number in range(rounds(5)):
            if number:
                daemon.start()
            using, kept = threading.Thread(target=person.use, args=(daemon.client,)), len(person.kept)
            using.start()
            wait_until(lambda kept=kept: len(person.kept) > kept)  # type: ignore[misc]
            assert daemon.stop() == 0
            using.join(60)
            log = daemon.paths.memory.with_name("memory.db-wal")
            assert not log.exists() or log.stat().st_size == 0, "what was written is not carried over"
            with Store.open(daemon.paths.memory) as store, store.reading() as conn:
                assert jobs.list_jobs(conn, "leased") == []
                assert {*person.kept} - person.in_doubt <= {one.uri for one in sources.list_under(conn, "note ")}


@pytest.mark.parametrize("point", fail_points.POINTS)
def test_a_daemon_that_dies_at_a_point_of_its_work_does_it_once(tmp_path: Path, point: str) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        for number in range(1, rounds(TIMES) + 1):
            folder = tmp_path / f"notes{number}"
            folder.mkdir()
            for note in range(NOTES):
                (folder / f"{note:02}.md").write_text(f"# Crate {note}\n\nCrate {note} came from harbour {number}.\n")
            daemon.kill()
            daemon.environment[fail_points.VARIABLE] = f"{point}:{(number - 1) % TIMES + 1}"
            lived = False
            with suppress(AssertionError, DaemonDownError, DaemonError):
                daemon.start()
                list(daemon.client.add([folder]))
                lived = True
            assert not lived or number > 1, "the point was not come to"
            daemon.kill()
            del daemon.environment[fail_points.VARIABLE]
            daemon.start()
            list(daemon.client.add([folder]))
            assert uris(daemon.client, str(folder)) == sorted(str(path) for path in folder.iterdir())
            status = daemon.client.status()
            assert (status.stats.sources, status.stats.episodes) == (NOTES * number, NOTES * number)
        assert daemon.client.check().problems == ()
