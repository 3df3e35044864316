"""Whether the program was replaced while it runs, as an upgrade does: what it imports next may not fit, or be gone."""

from __future__ import annotations

import sys
import time
from pathlib import Path

STARTED = time.time()  # seconds since the epoch, as times of files
OWN = ("tui", "daemon", "textual", "rich")
REPLACED = "Palimpsest was upgraded while this chat was open. Nothing is lost; to go on: pal"


def is_replaced() -> bool:
    """Whether the file of a module that is loaded was written, linked or removed since the start. Looks at hundreds of
    files: to be asked when something has gone wrong."""
    loaded = [module for name, module in sys.modules.items() if name.partition(".")[0] in OWN]
    return any(_is_newer(Path(file)) for module in loaded if (file := getattr(module, "__file__", None)))


def _is_newer(file: Path) -> bool:
    try:
        return file.stat().st_ctime > STARTED
    except FileNotFoundError:
        return True
    except OSError:  # in an archive
        return False
