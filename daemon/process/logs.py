"""The daemon's log: rotating text files that only their owner can read.

At INFO a line has counts, ids and reasons, never a question, an answer or text of a file.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from daemon.paths import private_folder

FILE_BYTES = 10 << 20
FILES = 5
SAME_A_MINUTE = 10  # lines that say the same
LONGEST = 10_000  # characters of a message; a library may quote anything
FORMAT = "%(asctime)s %(levelname)-7s %(name)s  %(message)s%(note)s"
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A rotating file that is created 0600, also after it was rotated, removed or moved away with its folder."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # then it goes on where it was
            if not self._is_current():
                private_folder(Path(self.baseFilename).parent)
                self.close()  # it is opened with the next line
        super().emit(record)

    def _is_current(self) -> bool:
        """Whether the open file is still the one of that name."""
        try:
            return self.stream is None or os.path.samestat(
                Path(self.baseFilename).stat(), os.fstat(self.stream.fileno())
            )
        except FileNotFoundError:
            return False

    def _open(self):  # type: ignore[no-untyped-def]
        os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        return super()._open()


class _OneLine(logging.Formatter):
    """Formats a record as one line with visible control characters, so that a file name can neither forge a line nor
    control a terminal. Cuts long lines."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]} [cut, of {len(text):,} characters]"
        text = _CONTROL.sub(lambda char: f"\\x{ord(char[0]):02x}", text)
        return text.replace("\n", "\n    ")  # a traceback belongs to the line above it


def _limit_rate() -> Callable[[logging.LogRecord], bool]:
    """Returns a filter that limits how often per minute the same message passes (a warning regardless of its values),
    so that a recurring fault does not fill the disk."""
    counts: Counter[tuple[int, str, int, str]] = Counter()

    def count(record: logging.LogRecord) -> bool:
        text = str(record.msg) if record.levelno >= logging.WARNING else record.getMessage()
        same = (int(record.created // 60), record.name, record.levelno, text)
        if counts and next(iter(counts))[0] != same[0]:
            counts.clear()
        counts[same] += 1
        if counts[same] == SAME_A_MINUTE:
            record.note = " (the same is left out until this minute is over)"
        return counts[same] <= SAME_A_MINUTE

    return count


def configure(log: Path, level: str, *, console: bool = False) -> None:
    """Logs the daemon's own modules from `level` on, and other libraries' warnings, to `log`, and with `console` also
    to the terminal."""
    private_folder(log.parent)
    logging.raiseExceptions = False  # a log that cannot be written is no reason to write elsewhere, without an end
    handlers: list[logging.Handler] = [_PrivateFile(log, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")]
    if console:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.addFilter(_limit_rate())
        handler.setFormatter(_OneLine(FORMAT, defaults={"note": ""}))
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    for name in ("daemon", "memory", "plugins"):
        logging.getLogger(name).setLevel(level)
    logging.captureWarnings(True)
