from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import pytest

from daemon.jobs.workers import Writer


def test_units_run_one_by_one_in_one_thread_and_urgent_ones_first() -> None:
    writer = Writer()
    order: list[str] = []
    threads = set()

    def unit(name: str) -> str:
        threads.add(threading.current_thread().name)
        order.append(name)
        return name

    futures = [
        writer.submit(lambda: unit("bulk 1")),
        writer.submit(lambda: unit("bulk 2")),
        writer.submit(lambda: unit("urgent 1"), urgent=True),
        writer.submit(lambda: unit("urgent 2"), urgent=True),
    ]
    assert writer.waiting == 4
    writer.start()
    assert [future.result(5) for future in futures] == ["bulk 1", "bulk 2", "urgent 1", "urgent 2"]
    assert order == ["urgent 1", "urgent 2", "bulk 1", "bulk 2"]
    assert threads == {"writer"}
    assert writer.close(60)


def test_a_unit_that_fails_takes_no_other_with_it() -> None:
    writer = Writer()
    writer.start()
    with pytest.raises(ZeroDivisionError):
        writer.write(lambda: 1 / 0)
    assert writer.write(lambda: 1) == 1
    assert writer.close(60)


def test_closing_finishes_what_is_written_and_cancels_the_rest() -> None:
    writer = Writer()
    began, may_end = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        assert may_end.wait(60)
        return "written"

    running = writer.submit(slow)
    writer.start()
    assert began.wait(60)
    bulk = writer.submit(lambda: "bulk")
    urgent = writer.submit(lambda: "urgent", urgent=True)
    assert not writer.close(0.01)
    late = writer.submit(lambda: "late", urgent=True)
    may_end.set()
    assert writer.close(60)
    assert (running.result(0), urgent.result(0)) == ("written", "urgent")
    for future in (bulk, late):
        with pytest.raises(CancelledError):
            future.result(0)
