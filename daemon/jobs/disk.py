"""The memory's file and its disk, looked at every now and then: is it still the file that stands there?

What is written to a file that was replaced or moved is found by nobody. Each commit looks first and is refused then;
this look keeps what was written before that, and ends a daemon whose folder has gone: nobody finds it any more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from daemon import wire
from daemon.paths import REPLACED, private_folder
from memory import Memory
from memory.errors import PalimpsestError, StoreMovedError

log = logging.getLogger(__name__)


class Disk:
    """Looks after the file of a memory."""

    def __init__(
        self, memory: Memory, backups: Path, publish: Callable[[wire.Event], None], give_up: Callable[[], None]
    ) -> None:
        """`backups` takes what was open when it was replaced; `give_up` is called where the folder has gone."""
        self._memory = memory
        self._backups = backups
        self._publish = publish
        self._give_up = give_up
        self._is_moved = False

    def look(self) -> None:
        """Looks once, and does what there is to do."""
        try:
            self._memory.store.verify_place()
        except StoreMovedError as error:
            if not self._is_moved:
                self._is_moved = True
                self._keep(str(error))

    def _keep(self, told: str) -> None:
        if self._memory.store.is_elsewhere:
            log.error("the folder of the memory was moved or deleted; this daemon ends")
            self._publish(wire.Notice("error", "The folder of the memory was moved or deleted, so its daemon ends."))
            self._give_up()
            return
        to = self._backups / f"{REPLACED}{datetime.now():%Y%m%d-%H%M%S}.db"
        try:
            private_folder(self._backups)
            self._memory.store.rescue(to)
            told += f" What was open is kept: {to}"
            log.error("the memory was replaced while it was open; what was open is kept as %s", to.name)
        except (PalimpsestError, OSError) as error:
            log.error("the memory was replaced while it was open, and cannot be kept: %s", type(error).__name__)
        self._publish(wire.Notice("error", told))
