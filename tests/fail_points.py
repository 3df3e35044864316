"""Where a daemon dies: with `FAIL_AT=point:number` in its environment it ends as kill -9 ends it, the number-th time
that it comes to that point. Only daemons of tests do: `tests.fork_server` puts it around functions of the product."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

VARIABLE = "FAIL_AT"
# point -> the module, the function in it, and whether it dies before that or behind it
POINTS = {
    "job claimed": ("memory.store.jobs", "claim", "behind"),
    "text cut": ("memory.ingest.ingest", "chunk_document", "behind"),
    "vectors made": ("plugins.embedders.static", "StaticEmbedder.embed_documents", "behind"),
    "before the commit": ("memory.store.store", "Store.verify_place", "before"),
    "behind the commit": ("memory.store.store", "Store.writing", "behind"),
    "job done": ("memory.store.jobs", "finish", "behind"),
}


def install(where: str) -> None:
    """Puts the point in place, in this process."""
    name, _, number = where.rpartition(":")
    module, path, when = POINTS[name]
    *owners, function = path.split(".")
    owner: Any = import_module(module)
    for one in owners:
        owner = getattr(owner, one)
    left = int(number)

    def come() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    original = getattr(owner, function)
    setattr(owner, function, _around_block(original, come) if function == "writing" else _around(original, come, when))


def _around(original: Any, come: Any, when: str) -> Any:
    @functools.wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            come()
        result = original(*arguments, **named)
        if when == "behind" and result is not False:
            come()
        return result

    return call


def _around_block(original: Any, come: Any) -> Any:
    @contextmanager
    def block(*arguments: Any, **named: Any) -> Iterator[Any]:
        with original(*arguments, **named) as given:
            yield given
        come()

    return block
