"""The files in a zip, read one after the other and never written to the disk."""

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from plugins.readers import MIB, Unread, Unreadable

MAX_MEMBERS = 100_000
MAX_UNPACKED = 4096 * MIB  # total of one archive
MAX_JSON = 64 * MIB  # that is loaded as a whole
MAX_RATIO = 200  # an export packs to a fifth, a repetitive one to a thirtieth
SMALL = 16 * MIB  # too small for a zip bomb
DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError)
NESTED = (".zip", ".gz", ".tgz", ".tar", ".7z", ".rar", ".xz", ".bz2", ".zst")


def is_archive(file: BinaryIO) -> bool:
    """Whether the file begins like a zip; rewinds it."""
    begin = file.read(4)
    file.seek(0)
    return begin in (b"PK\x03\x04", b"PK\x05\x06")


class Archive:
    """An open zip. Raises Unreadable."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._packed = zipfile.ZipFile(file)
        except (*DAMAGED, ValueError) as error:
            raise Unreadable(f"a damaged archive: {error}") from error
        self.close = self._packed.close
        infos = self._packed.infolist()
        if len(infos) > MAX_MEMBERS:
            raise Unreadable(f"an archive of {len(infos):,} files; the limit is {MAX_MEMBERS:,}: unpack it")
        self._infos = {
            PurePosixPath(info.filename.replace("\\", "/")): info
            for info in sorted(infos, key=lambda info: info.filename)
            if not info.is_dir() and not info.filename.startswith("__MACOSX/")
        }
        self._left = MAX_UNPACKED

    @property
    def paths(self) -> tuple[PurePosixPath, ...]:
        """Returns the paths of all files, sorted."""
        return tuple(self._infos)

    def members(self, suffixes: tuple[str, ...]) -> Iterator[tuple[PurePosixPath, BinaryIO] | Unread]:
        """Yields the files with one of these suffixes, sorted by name, each to be read before the next; Unread for
        files that cannot be read."""
        for path in self._infos:
            suffix = path.suffix.lower()
            if suffix in NESTED:
                reason = "an archive inside an archive is not opened; unpack it and add its files"
                yield Unread(path.name, reason)
            elif suffix in suffixes:
                yield from self._open(path)

    def _open(self, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, BinaryIO] | Unread]:
        try:
            with self._packed.open(self._admit(path)) as opened:
                yield path, cast(BinaryIO, opened)
        except Unreadable as error:
            yield Unread(path.name, error.reason)
        except DAMAGED as error:
            yield Unread(path.name, f"damaged in the archive: {error}")

    def load_json(self, path: PurePosixPath) -> Any:
        """Returns the parsed JSON file at `path`. Raises Unreadable."""
        info = self._admit(path)
        if info.file_size > MAX_JSON:
            size, most = info.file_size // MIB, MAX_JSON // MIB
            raise Unreadable(f"too large: {size:,} MiB, and {most:,} MiB are read of such a file")
        try:
            return json.loads(self._packed.read(info))
        except DAMAGED as error:
            raise Unreadable(f"damaged in the archive: {error}") from error
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"not valid JSON: {error}") from error

    def _admit(self, path: PurePosixPath) -> zipfile.ZipInfo:
        """Returns the zip entry of a file that may be unpacked. Raises Unreadable."""
        info = self._infos[path]
        times = info.file_size // max(1, info.compress_size)
        if info.flag_bits & 1:
            raise Unreadable("encrypted; unpack it with its password and add the files")
        if info.file_size > self._left:
            size, most = info.file_size // MIB, MAX_UNPACKED // MIB
            raise Unreadable(f"it unpacks to {size:,} MiB; the limit is {most:,} MiB for an archive")
        if info.file_size > SMALL and times > MAX_RATIO:
            raise Unreadable(f"it unpacks to {times:,} times its size, as no export does")
        self._left -= info.file_size
        return info
