"""What config.toml names of plug-ins, where one of them was left out or fails: the daemon starts without."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from daemon.config.settings import Settings
from memory.errors import InvalidInputError, NotFoundError, PalimpsestError
from memory.settings import MemorySettings, RecallSettings
from plugins.manager import Plugins

if TYPE_CHECKING:
    from memory.ranking import EdgeRanker

log = logging.getLogger(__name__)


def choose_strategy(settings: Settings, plugins: Plugins) -> MemorySettings:
    """The settings of the memory, with a strategy that works. InvalidInputError where every plug-in is there, and none
    has the one that is named."""
    memory = settings.memory
    try:
        plugins.strategies(settings.traversers)(memory.recall.strategy)
        return memory
    except (Exception, SystemExit) as error:  # of a plug-in
        if isinstance(error, InvalidInputError) and not plugins.left_out:
            raise
        usual = RecallSettings().strategy
        reason = error if isinstance(error, PalimpsestError) else type(error).__name__
        log.warning("questions are answered with the strategy %s: %s", usual, reason)
        return replace(memory, recall=replace(memory.recall, strategy=usual))


def choose_ranker(settings: Settings, plugins: Plugins) -> EdgeRanker | None:
    """The ranker that is named, if it works. NotFoundError as InvalidInputError above."""
    try:
        return plugins.ranker(settings.learning.ranker, settings.rankers)
    except NotFoundError as error:
        if not plugins.left_out:
            raise
        log.warning("nothing is learnt from questions: %s", error)
    except (Exception, SystemExit) as error:  # of a plug-in
        log.warning("nothing is learnt from questions: the ranker failed with %s", type(error).__name__)
    return None
