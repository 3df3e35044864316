"""What others wait for a daemon while it is busy: somebody says hello and asks all the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from daemon.client.client import Client


@contextmanager
def call_meanwhile(client: Client, question: str, pause_s: float) -> Iterator[dict[str, list[float]]]:
    """Says hello and asks, each with a pause between two calls; the milliseconds that each call took."""
    waited: dict[str, list[float]] = {"hello": [], "recall": []}
    calls: dict[str, Callable[[], object]] = {"hello": client.hello, "recall": lambda: client.recall(question)}
    ended = threading.Event()

    def call(name: str) -> None:
        while not ended.wait(pause_s):
            began = time.perf_counter()
            calls[name]()
            waited[name].append(1000 * (time.perf_counter() - began))

    threads = [threading.Thread(target=call, args=[name]) for name in calls]
    for thread in threads:
        thread.start()
    try:
        yield waited
    finally:
        ended.set()
        for thread in threads:
            thread.join()
