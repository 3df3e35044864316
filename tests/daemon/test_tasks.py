from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

from daemon import wire
from daemon.jobs.workers import ADD, CHANGE, SCAN, Task, Tasks


def test_a_more_urgent_task_goes_between_two_steps_of_another() -> None:
    told: list[wire.Event] = []
    tasks = Tasks(told.append)
    order: list[str] = []
    stepped, all_ended = threading.Event(), threading.Semaphore(0)

    def steps(name: str, count: int) -> Iterator[None]:
        for number in range(count):
            order.append(f"{name}{number}")
            if name == "scan" and number == 0:
                stepped.set()
                assert submitted.wait(60)
            yield

    submitted = threading.Event()
    ended: list[tuple[str, BaseException | None]] = []

    def task(name: str, count: int) -> Task:
        def end(error: BaseException | None) -> None:
            ended.append((name, error))
            all_ended.release()

        return Task(name, steps(name, count), end, total=count)

    tasks.start()
    tasks.submit(SCAN, task("scan", 3))
    assert stepped.wait(60)
    assert (tasks.busy, tasks.queue) == ("scan", 3)
    tasks.submit(ADD, task("add", 2))
    submitted.set()
    assert all_ended.acquire(timeout=60) and all_ended.acquire(timeout=60)
    assert order == ["scan0", "add0", "add1", "scan1", "scan2"]
    assert ended == [("add", None), ("scan", None)]
    assert tasks.close(60) and told == []


def test_of_equally_urgent_tasks_the_one_goes_on_that_took_the_least_time() -> None:
    tasks = Tasks(lambda event: None)
    order: list[str] = []
    begun, submitted, ended = threading.Event(), threading.Event(), threading.Event()

    def steps() -> Iterator[None]:
        begun.set()
        assert submitted.wait(60)
        order.append("large folder")
        yield
        order.append("large folder")

    tasks.start()
    tasks.submit(CHANGE, Task("Reading", steps(), lambda error: ended.set()))
    assert begun.wait(60)
    tasks.submit(CHANGE, Task("Reading", iter(map(order.append, ["note", "note"]))))
    submitted.set()
    assert ended.wait(60) and tasks.close(60)
    assert order == ["large folder", "note", "note", "large folder"]


def test_a_task_that_fails_is_reported_and_the_next_one_runs() -> None:
    told: list[wire.Event] = []
    tasks = Tasks(told.append)
    failed, done = threading.Event(), threading.Event()

    def bad() -> Iterator[None]:
        yield
        raise ValueError("words of a private letter")

    tasks.submit(SCAN, Task("Scanning", bad(), lambda error: failed.set()))
    tasks.submit(SCAN, Task("Reading", iter(()), lambda error: done.set()))
    tasks.start()
    assert failed.wait(60) and done.wait(60)
    (notice,) = told
    assert isinstance(notice, wire.Notice) and notice.level == "error"
    assert "Scanning failed" in notice.text and "letter" not in notice.text
    assert tasks.close(60)


def test_closing_ends_what_is_unfinished() -> None:
    tasks = Tasks(lambda event: None)
    errors: list[BaseException | None] = []
    tasks.submit(SCAN, Task("never", itertools.repeat(None), errors.append))
    tasks.start()
    assert tasks.close(60)
    tasks.submit(SCAN, Task("too late", iter(()), errors.append))
    assert [type(error) for error in errors] == [CancelledError, CancelledError]


def test_progress_is_not_a_flood() -> None:
    task = Task("many", total=10**6)
    events = []
    for task.done in range(10_000):
        events += [progress] if (progress := task.progress()) else []
    assert 1 <= len(events) < 100
    assert task.progress(last=True) == wire.Progress(9999, 10**6, "")
