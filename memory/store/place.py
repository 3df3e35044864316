"""Is what is open still what stands under its name?

A file that is renamed, replaced or deleted stays open, and what is written to it then is found by nobody. Its inode,
that of its log and that of its folder tell.
"""

from dataclasses import dataclass
from pathlib import Path

Inode = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """What stood at these paths when the memory was opened."""

    folder: tuple[Path, Inode | None]
    files: tuple[tuple[Path, Inode | None], ...]  # the memory and its log

    @classmethod
    def of(cls, path: Path) -> "Place":
        """Of the memory at `path`, which is open."""
        log = path.with_name(path.name + "-wal")
        return cls((path.parent, _inode(path.parent)), tuple((file, _inode(file)) for file in (path, log)))

    @property
    def is_replaced(self) -> bool:
        """Whether something else stands there now, or nothing. 7 us."""
        return self.is_elsewhere or any(_inode(file) != was for file, was in self.files)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is the folder that was moved or deleted."""
        return _inode(self.folder[0]) != self.folder[1]


def _inode(path: Path) -> Inode | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
