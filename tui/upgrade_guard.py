"""Detects an upgrade of the program while it runs: later imports may not fit or be missing."""

from __future__ import annotations

import sys
import time
from pathlib import Path

STARTED = time.time()  # seconds since the epoch, as times of files
OWN = ("tui", "daemon", "textual", "rich")
REPLACED = "Palimpsest was upgraded while this chat was open. Nothing is lost. Start it again: pal"


def is_replaced() -> bool:
    """Whether the file of a loaded module was written, linked or removed since the start. Checks hundreds of files:
    call it only after an error."""
    loaded = [module for name, module in sys.modules.items() if name.partition(".")[0] in OWN]
    return any(_is_newer(Path(file)) for module in loaded if (file := getattr(module, "__file__", None)))


def _is_newer(file: Path) -> bool:
    try:
        return file.stat().st_ctime > STARTED
    except FileNotFoundError:
        return True
    except OSError:  # in an archive
        return False
