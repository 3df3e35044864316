"""When Python looks for garbage while the chat is open.

A look at everything takes 100 ms and more once some answers are drawn, and comes in the middle of a word. So there is
none while the chat opens, what is there then is left out of those that follow, and everything is looked at when nobody
has typed for a while. Without `defer`, as in a program of somebody else's, nothing here does anything.

    defer -> what is imported and drawn first -> begin -> answers -> look through, when it is quiet -> ...
"""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 10_000  # that are made before the youngest are looked at: an answer makes twice as many


def defer() -> None:
    """No look until `begin`."""
    gc.disable()


def begin() -> None:
    """Looks at what is made from now on."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()


def look_through() -> None:
    """Looks at everything, and leaves what is there out of those looks that are to come."""
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
        gc.freeze()
