"""The trained ranker of edges. Importing this imports no training code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.hookspecs import hookimpl, import_late
from plugins.rankers.settings import RankerSettings

if TYPE_CHECKING:
    from memory.ranking import EdgeRanker


@hookimpl
def register_rankers(register: Callable[[str, Callable[[RankerSettings], EdgeRanker]], None]) -> None:
    make = import_late("plugins.rankers.ranker", "TrainedRanker")
    register("trained", lambda settings: make(settings.trained))
