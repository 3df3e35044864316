from __future__ import annotations

import pytest

from memory.store import jobs
from memory.store.connect import Connection
from memory.store.store import Store


@pytest.fixture
def conn(store: Store) -> Connection:
    with store.writing() as conn:
        yield conn


KINDS = ("read", "embed", "x", "y")


def unfinished(conn: Connection, *kinds: str) -> int:
    """How many jobs of these kinds wait or run."""
    counts = jobs.count(conn, kinds or ("read", "embed"))
    return counts.get("queued", 0) + counts.get("leased", 0)


def test_a_job_is_queued_once_until_it_is_done(conn: Connection) -> None:
    first = jobs.enqueue(conn, jobs.Job("read", "a", {"uri": "/ä"}), 1000)
    assert jobs.enqueue(conn, jobs.Job("read", "a", {"uri": "/ä"}, 5), 1001) == first
    assert jobs.enqueue(conn, jobs.Job("embed", "a", {}), 1001) != first
    job = jobs.claim(conn, 2000, "boot", KINDS)
    assert job == jobs.Job("read", "a", {"uri": "/ä"}, 5, first, "leased", 1, 1000, None)
    assert jobs.enqueue(conn, jobs.Job("read", "a", {}), 2001) == first, "it is being done"
    assert unfinished(conn) == 2
    jobs.finish(conn, first)
    assert (unfinished(conn), unfinished(conn, "read"), unfinished(conn, "embed")) == (1, 0, 1)
    assert jobs.enqueue(conn, jobs.Job("read", "a", {}), 3000) != first


def test_what_matters_more_and_waits_longer_goes_first(conn: Connection) -> None:
    a, b, c = (jobs.enqueue(conn, jobs.Job("read", key, {}, p), 1000) for key, p in [("a", 0), ("b", 1), ("c", 0)])
    later = jobs.enqueue(conn, jobs.Job("read", "d", {}, 9), 5000)
    order = [jobs.claim(conn, 2000, "boot", KINDS) for _ in range(4)]
    assert [job and job.id for job in order] == [b, a, c, None]
    assert jobs.claim(conn, 5000, "boot", KINDS).id == later


def test_only_asked_for_kinds_are_claimed(conn: Connection) -> None:
    jobs.enqueue(conn, jobs.Job("read", "a", {}), 1)
    assert jobs.claim(conn, 2, "boot", ["embed"]) is None
    assert jobs.claim(conn, 2, "boot", ["embed", "read"]).kind == "read"


def test_leases_of_a_dead_process_are_freed_at_start(conn: Connection) -> None:
    mine, theirs = (jobs.enqueue(conn, jobs.Job("read", key, {}), 1) for key in "ab")
    jobs.claim(conn, 1, "now", KINDS)
    jobs.claim(conn, 1, "before", KINDS)
    jobs.requeue(conn, "now")
    assert [job.id for job in jobs.list_jobs(conn, "leased")] == [mine]
    assert jobs.claim(conn, 1, "now", KINDS).id == theirs
    assert [job.id for job in jobs.list_jobs(conn, "leased")] == [theirs, mine]


def test_failures_wait_longer_each_time_and_end_with_the_reason(conn: Connection) -> None:
    id = jobs.enqueue(conn, jobs.Job("read", "a", {}), 0)
    now, pauses, states = 0, [], []
    for n in range(5):
        assert jobs.claim(conn, now, "boot", KINDS).attempts == n + 1
        states.append(jobs.fail(conn, id, f"failure {n}", now))
        job = jobs.list_jobs(conn, states[-1])[0]
        pauses.append(job.not_before - now)
        assert jobs.claim(conn, job.not_before - 1, "boot", KINDS) is None
        now = job.not_before
    assert states == ["queued"] * 4 + ["dead"]
    for n, pause in enumerate(pauses):
        assert 0.75 * 30_000 * 2**n <= pause <= 1.25 * 30_000 * 2**n
    assert jobs.claim(conn, 10**12, "boot", KINDS) is None
    assert [(job.id, job.last_error) for job in jobs.list_jobs(conn, "dead")] == [(id, "failure 4")]


def test_done_jobs_are_dropped_when_they_are_old(conn: Connection) -> None:
    old, kept = (jobs.enqueue(conn, jobs.Job("read", str(n), {}), n) for n in (10, 20))
    waiting = jobs.enqueue(conn, jobs.Job("read", "waiting", {}), 5)
    for id in (old, kept):
        jobs.finish(conn, id)
    assert jobs.prune(conn, 20) == 1
    assert [job.id for job in jobs.list_jobs(conn, "done")] == [kept]
    assert [job.id for job in jobs.list_jobs(conn, "queued")] == [waiting]


def test_a_job_that_could_not_be_tried_has_lost_no_try(conn: Connection) -> None:
    id = jobs.enqueue(conn, jobs.Job("read", "a", {}), 1)
    jobs.claim(conn, 1, "boot", KINDS)
    jobs.release(conn, id, 500)
    assert jobs.claim(conn, 499, "boot", KINDS) is None
    assert jobs.claim(conn, 500, "boot", KINDS).attempts == 1


def test_what_is_dead_is_queued_again_when_somebody_wants_it(conn: Connection) -> None:
    a, b, other = (jobs.enqueue(conn, jobs.Job(kind, key, {}), 1) for kind, key in (("x", "a"), ("x", "b"), ("y", "c")))
    for id in (a, b, other):
        jobs.claim(conn, 1, "boot", KINDS)
        jobs.bury(conn, id, "no use")
    assert (jobs.count(conn, ["x"]), jobs.count(conn, ["z"])) == ({"dead": 2}, {})
    assert [job.last_error for job in jobs.list_jobs(conn, "dead", kinds=["x"])] == ["no use", "no use"]
    assert jobs.retry(conn, ["x"], 9, other) == 0
    assert jobs.retry(conn, ["x"], 9, a) == 1
    assert jobs.enqueue(conn, jobs.Job("x", "b", {}), 9) != b, "the same is wanted again meanwhile"
    assert jobs.retry(conn, ["x"], 9) == 0, "it is not done twice"
    again = jobs.claim(conn, 9, "boot", KINDS)
    assert (again.id, again.attempts, again.last_error) == (a, 1, None)


def test_a_job_that_was_forgotten_cannot_fail(conn: Connection) -> None:
    assert jobs.fail(conn, 99, "it went wrong", 1) == "done"


def test_done_jobs_of_one_kind_are_dropped(conn: Connection) -> None:
    for kind in ("x", "y"):
        jobs.finish(conn, jobs.enqueue(conn, jobs.Job(kind, "a", {}), 1))
    assert (jobs.prune(conn, 2, ["x"]), jobs.count(conn, ["x", "y"])) == (1, {"done": 1})
    assert jobs.prune(conn, 2) == 1
