"""One private file, written completely or not at all."""

from __future__ import annotations

import gzip
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

PACKED = ".gz"  # what the name of a file ends in that is packed on the way


class NewFile:
    """Takes pieces, and gets its name when the `with` ends well; otherwise it is deleted. OSError."""

    def __init__(self, path: Path, durable: bool = True) -> None:
        """Compressed if the name ends in .gz; the same pieces give the same bytes. `durable`: synced to the disk before
        it gets its name, which takes some milliseconds."""
        self.path = path
        self._durable = durable
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._packed: BinaryIO | None = None

    def write(self, data: bytes) -> None:
        (self._packed or self._file).write(data)

    def __enter__(self) -> NewFile:
        self._temporary.unlink(missing_ok=True)
        try:
            place = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = os.fdopen(place, "wb")
            if self.path.suffix.lower() == PACKED:
                self._packed = cast(BinaryIO, gzip.GzipFile("", "wb", fileobj=self._file, mtime=0))
        except BaseException:  # Ctrl-C, right after it was made
            self._temporary.unlink(missing_ok=True)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if kind is None:
                if self._packed is not None:
                    self._packed.close()
                self._file.flush()
                if self._durable:
                    os.fsync(self._file.fileno())
        except BaseException:
            kind = OSError
            raise
        finally:
            with suppress(OSError):  # a disk that is full cannot take what is left to be written
                self._file.close()
            if kind is None:
                self._temporary.replace(self.path)
            else:
                self._temporary.unlink(missing_ok=True)


def open_packed(path: Path) -> BinaryIO:
    """A file opened for reading, decompressed if it is compressed, whatever its name."""
    file = path.open("rb")
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file
    return cast(BinaryIO, gzip.open(file))
