"""One schedule for all periodic work: what runs, how often, never beside itself, and whether it is due."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta

import pytest

from daemon.api import services
from daemon.jobs.schedule import DAY_MS, Schedule, is_due

FOUR = datetime.fromisoformat("2024-05-05T04:00:00+00:00")


def until(done: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.01)
    assert done()  # type: ignore[operator]


def test_jobs_run_again_and_again_until_it_is_closed() -> None:
    runs: list[str] = []
    schedule = Schedule()
    schedule.add("often", lambda: runs.append("often"), 0.05, 0.0)
    schedule.add("seldom", lambda: runs.append("seldom"), 3600, 0.0)
    schedule.add("later", lambda: runs.append("later"), 3600)
    schedule.add("never", lambda: runs.append("never"), 0)
    schedule.start()
    until(lambda: runs.count("often") > 2)
    schedule.close()
    assert runs.count("seldom") == 1 and not {"later", "never"} & {*runs}
    done = len(runs)
    time.sleep(0.2)
    assert len(runs) <= done + 1


def test_a_job_never_runs_beside_itself_and_what_it_missed_is_made_up_for_once() -> None:
    going, runs, beside = threading.Event(), [0], []
    inside = threading.Lock()

    def slow() -> None:
        runs[0] += 1
        beside.append(not inside.acquire(blocking=False))
        going.wait(60)
        inside.release()

    schedule = Schedule()
    schedule.add("slow", slow, 0.05, 0.0)
    schedule.start()
    until(lambda: runs[0] == 1)
    time.sleep(0.3)
    assert runs[0] == 1
    going.set()
    until(lambda: runs[0] > 1)
    schedule.close()
    assert not any(beside)


def test_a_job_that_fails_runs_again(caplog: pytest.LogCaptureFixture) -> None:
    runs, words = [], " ".join(["words", "of", "somebody"])

    def fails() -> None:
        runs.append(1)
        raise ValueError(words)

    schedule = Schedule()
    schedule.add("fails", fails, 0.05, 0.0)
    schedule.start()
    until(lambda: len(runs) > 1)
    schedule.close()
    assert "the job fails failed: ValueError" in caplog.text and "words of somebody" not in caplog.text


def test_something_can_be_called_once_later() -> None:
    called: list[str] = []
    schedule = Schedule()
    schedule.run_later(0.01, called.append, "before the start")
    schedule.start()
    schedule.run_later(0.05, called.append, "x")
    until(lambda: len(called) == 2)
    schedule.close()
    assert called == ["before the start", "x"]


@pytest.mark.parametrize(
    ("last", "now", "days", "due"),
    [
        (None, FOUR, 1, True),
        (FOUR, FOUR + timedelta(hours=23, minutes=59), 1, False),
        (FOUR, FOUR + timedelta(hours=24), 1, True),
        (FOUR + timedelta(hours=5), FOUR + timedelta(hours=24), 1, True),
        (FOUR - timedelta(minutes=1), FOUR, 1, True),
        (FOUR, FOUR + timedelta(days=6), 7, False),
        (FOUR, FOUR + timedelta(days=7), 7, True),
        (FOUR + timedelta(days=9), FOUR, 7, True),
        (FOUR + timedelta(hours=1), FOUR, 1, False),
    ],
)
def test_what_is_due(last: datetime | None, now: datetime, days: int, due: bool) -> None:
    last_ms = int(last.timestamp() * 1000) if last else 0
    assert is_due(last_ms, now, 4, days) is due
    assert DAY_MS == 86_400_000


def test_memory_is_returned_once_after_questions_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "QUIET_SECONDS", 0)
    pool = services.QuestionPool(1)
    assert not pool.begin_rest(), "nothing was asked"
    pool.submit(int).result()
    while pool.busy:
        time.sleep(0.01)
    assert pool.begin_rest() and not pool.begin_rest()
    pool.shutdown()
