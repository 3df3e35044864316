"""Whether the time of a file is the time of writing, or only of copying.

A clone, an unpacked archive or a restored folder gives all files nearly the same time. Notes are written minutes or
days apart."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

BURST_NS = 10 * 10**9  # between two files that one program writes
MOST_FILES = 2000  # files looked at
MOST_FOLDERS = 1000  # folders looked into
MOST_LEVELS = 8  # folders around a file that is alone
MANY = 20  # files of one burst; no person saves that many


class CopiedFolders:
    """Compares the times of files in a folder, once per folder."""

    def __init__(self) -> None:
        self._times: dict[Path, list[int]] = {}

    def holds_copy(self, path: Path, mtime_ns: int, root: Path) -> bool:
        """Whether a file last written at `mtime_ns` was copied together with most of its folder. A file alone in its
        folder is compared with the folders around it, up to `root`."""
        times: list[int] = []
        for folder in list(path.parents)[:MOST_LEVELS]:
            times = self._find_times(folder)
            if len(times) > 1 or folder == root or not folder.is_relative_to(root):
                break
        burst = count_burst(times, mtime_ns)
        return burst > 1 and (2 * burst >= len(times) or burst >= MANY)

    def _find_times(self, folder: Path) -> list[int]:
        if folder not in self._times:
            self._times[folder] = sorted(islice(_walk(folder), MOST_FILES))
        return self._times[folder]


def count_burst(times: Sequence[int], mtime_ns: int) -> int:
    """Returns the number of `times` (sorted) in the burst around one of them."""
    place = min(bisect_left(times, mtime_ns), len(times) - 1)
    if place < 0:
        return 0
    first = last = place
    while first > 0 and times[first] - times[first - 1] <= BURST_NS:
        first -= 1
    while last + 1 < len(times) and times[last + 1] - times[last] <= BURST_NS:
        last += 1
    return last - first + 1


def _walk(folder: Path) -> Iterator[int]:
    """Yields the times of the files in a folder, then of those below it, without hidden ones."""
    waiting = [str(folder)]
    for _ in range(MOST_FOLDERS):
        if not waiting:
            return
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.stat().st_mtime_ns
