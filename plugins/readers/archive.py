"""The files in a zip, one after the other and never on the disk."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from plugins.readers import MIB, Unread, Unreadable

MAX_MEMBERS = 100_000
MAX_UNPACKED = 4096 * MIB  # of all that is read
MAX_RATIO = 200  # an export packs to a fifth, or a thirtieth where it says the same a lot
SMALL = 16 * MIB  # which no bomb is
DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError)
NESTED = (".zip", ".gz", ".tgz", ".tar", ".7z", ".rar", ".xz", ".bz2", ".zst")


def is_archive(file: BinaryIO) -> bool:
    """Whether it begins as a zip does; the file is at its begin again."""
    begin = file.read(4)
    file.seek(0)
    return begin in (b"PK\x03\x04", b"PK\x05\x06")


def members(file: BinaryIO, suffixes: tuple[str, ...]) -> Iterator[tuple[str, BinaryIO] | Unread]:
    """The files in it with one of these suffixes, by name, each to be read before the next; and what of it cannot be
    read, with the reason. Raises Unreadable."""
    try:
        packed = zipfile.ZipFile(file)
    except (*DAMAGED, ValueError) as error:
        raise Unreadable(f"a damaged archive: {error}") from error
    with packed:
        infos = packed.infolist()
        if len(infos) > MAX_MEMBERS:
            raise Unreadable(f"an archive of {len(infos):,} files; {MAX_MEMBERS:,} are read: unpack it")
        left = MAX_UNPACKED
        for info in sorted(infos, key=lambda info: info.filename):
            name = PurePosixPath(info.filename.replace("\\", "/")).name or "unnamed"
            suffix = PurePosixPath(name).suffix.lower()
            if info.is_dir() or info.filename.startswith("__MACOSX/"):
                continue
            if suffix in NESTED:
                yield Unread(name, "an archive inside an archive is not opened; unpack it and add what is in it")
            elif suffix in suffixes:
                if reason := _refusal(info, left):
                    yield Unread(name, reason)
                    continue
                left -= info.file_size
                try:
                    with packed.open(info) as opened:
                        yield name, cast(BinaryIO, opened)
                except DAMAGED as error:
                    yield Unread(name, f"damaged in the archive: {error}")


def _refusal(info: zipfile.ZipInfo, left: int) -> str:
    """Why a file in the archive is not unpacked, if it is not."""
    if info.flag_bits & 1:
        return "encrypted; unpack it with its password and add what is in it"
    if info.file_size > left:
        return f"unpacked it has {info.file_size // MIB:,} MiB; {MAX_UNPACKED // MIB:,} MiB of an archive are read"
    if info.file_size > SMALL and info.file_size > MAX_RATIO * max(1, info.compress_size):
        return f"it unpacks to {info.file_size // max(1, info.compress_size):,} times its size, as no export does"
    return ""
