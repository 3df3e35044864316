"""Python's garbage collection while the chat is open.

A full collection takes 100 ms and more once some answers are drawn, and would come while typing. So collection is off
while the chat opens, objects from that time are frozen, and a full collection runs when nobody has typed for a while.
Without `defer`, as in another program, nothing here has an effect.

    defer -> imports and first drawing -> begin -> answers -> look through, when it is quiet -> ...
"""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 10_000  # that are made before the youngest are looked at: an answer makes twice as many


def defer() -> None:
    """No look until `begin`."""
    gc.disable()


def begin() -> None:
    """Turns collection on for new objects."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()


def look_through() -> None:
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
        gc.freeze()
