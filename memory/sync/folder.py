"""The shared folder of encrypted files, FOLDER/<computer>/<number>.update; each computer writes only its own.

Files are written under a temporary name and renamed, so they are complete. The program that copies the folder may
deliver them late, twice, in any order, in part, or as copies under other names; unreadable files are skipped and tried
again."""

import hashlib
import os
import re
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from mnemonic import Mnemonic

from memory.errors import InvalidInputError, NotAvailableError

MAGIC = b"PALSYNC1"
MARKER = "palimpsest-sync"  # a file that tells the folder from an empty place where a drive is not mounted
NONCE_BYTES = 12
MOST_FILES = 50  # of this computer, before they are joined into one
MOST_BYTES = 256 << 20  # of a file, and of what is in it: 1,000 times what 2,500 items take
WORDS = 12
_NAME = re.compile(r"\d{8}\.update")
_MACHINE = re.compile(r"[a-z0-9-]{1,60}")
NO_COMPUTER = "its name is not a computer's"
COPY = "another program wrote it, perhaps as a copy of a conflict"
NOT_WHOLE = "it is not whole yet, was damaged, or was written with other words"


def make_words() -> str:
    """Generates a key as words of the BIP 39 list: 128 bits and a checksum."""
    return str(Mnemonic("english").generate(128))


def read_words(words: str) -> bytes:
    """Decodes the key from its words. InvalidInputError for invalid words."""
    spoken = " ".join(words.casefold().split())
    if len(spoken.split()) != WORDS or not Mnemonic("english").check(spoken):
        raise InvalidInputError(
            f"These are not the {WORDS} words of a key. Compare each with the ones that were shown."
        )
    return bytes(Mnemonic("english").to_entropy(spoken))


class SharedFolder:
    """The shared folder as seen by the computer `machine`. `problems`: path of a skipped file -> reason."""

    def __init__(self, path: Path, machine: str, words: str) -> None:
        key = read_words(words)
        self.path = path
        self.machine = machine
        self.problems: dict[str, str] = {}
        self.secret = hashlib.blake2b(key, person=b"pal sync names").digest()[:32]  # of the keys of items
        self._cipher = ChaCha20Poly1305(hashlib.blake2b(key, digest_size=32, person=b"pal sync files").digest())
        self._read: dict[str, tuple[int, int]] = {}  # relative path -> size, mtime_ns of what was read
        self._failed: dict[str, tuple[int, int]] = {}  # of what could not be read

    def open(self) -> None:
        """Creates the folder, or checks that its key matches. InvalidInputError, NotAvailableError."""
        with self._explaining():
            self.path.mkdir(parents=True, exist_ok=True)
            if not (self.path / MARKER).exists():
                self._put(MARKER, b"")
            try:
                self._load(MARKER)
            except (InvalidTag, ValueError) as error:
                raise InvalidInputError(f"These words are not those of {self.path}.") from error

    def find_changes(self, again: bool = False) -> list[str]:
        """Lists unread files as relative paths; unreadable ones once only, unless `again`. NotAvailableError if the
        folder is missing."""
        if not (self.path / MARKER).exists():
            raise NotAvailableError(f"{self.path} is not there, or empty: there is no file {MARKER} in it.")
        changed: list[str] = []
        problems: dict[str, str] = {}
        for computer in self._scan(self.path):
            if not computer.is_dir(follow_symlinks=False) or computer.name.startswith("."):
                continue
            if not _MACHINE.fullmatch(computer.name):
                problems[computer.name] = NO_COMPUTER
                continue
            for file in self._scan(Path(computer.path)):
                name = f"{computer.name}/{file.name}"
                if file.name.startswith("."):
                    continue
                if not _NAME.fullmatch(file.name):
                    problems[name] = COPY
                elif (stamp := _stamp(file)) != self._read.get(name) and (again or stamp != self._failed.get(name)):
                    changed.append(name)
                elif stamp == self._failed.get(name):
                    problems[name] = NOT_WHOLE
        self.problems = problems
        return sorted(changed)

    def read(self, names: list[str], take: Callable[[bytes], None]) -> None:
        """Passes the updates in these files to `take`; skips unreadable ones and those it rejects with a ValueError."""
        for name in names:
            stamp = 0, 0
            try:
                stamp = _stamp(self.path / name)
                take(self._load(name))
            except (OSError, InvalidTag, ValueError, zlib.error):
                self.problems[name], self._failed[name] = NOT_WHOLE, stamp
            else:
                self._read[name] = stamp

    def write(self, update: bytes) -> None:
        """Writes an update as this computer's next file. NotAvailableError."""
        name = self.next_name()
        with self._explaining():
            (self.path / self.machine).mkdir(mode=0o700, exist_ok=True)
            self._put(name, update)
            self._read[name] = _stamp(self.path / name)

    def rewrite(self, snapshot: bytes) -> None:
        """Writes the whole document as one file and removes this computer's earlier files. NotAvailableError."""
        earlier, own = self.list_own(), f"{self.machine}/"
        self._read = {name: stamp for name, stamp in self._read.items() if not name.startswith(own)}
        self.write(snapshot)
        with self._explaining():
            for name in earlier:
                (self.path / name).unlink(missing_ok=True)

    def list_own(self) -> list[str]:
        """Lists this computer's files in order."""
        own = self.path / self.machine
        return sorted(f"{self.machine}/{file.name}" for file in own.glob("*.update") if _NAME.fullmatch(file.name))

    def next_name(self) -> str:
        last = max((int(Path(name).stem) for name in self.list_own()), default=0)
        return f"{self.machine}/{last + 1:08d}.update"

    def has_all(self) -> bool:
        """Whether all own files that this computer read or wrote still exist."""
        return all((self.path / name).exists() for name in self._read if name.startswith(f"{self.machine}/"))

    def remove_machine(self, machine: str) -> None:
        """Removes another computer's files; keeps link targets and subfolders."""
        folder = self.path / machine
        if _MACHINE.fullmatch(machine) and folder.is_dir() and not folder.is_symlink():
            with suppress(OSError):  # what another program holds now goes with a later round
                for file in folder.iterdir():
                    file.unlink(missing_ok=True)
                folder.rmdir()

    def _scan(self, path: Path) -> list[os.DirEntry[str]]:
        with self._explaining(), os.scandir(path) as entries:
            return list(entries)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise NotAvailableError(f"{self.path} cannot be used: {error.strerror or error}.") from error

    def _put(self, name: str, update: bytes) -> None:
        """Writes a file atomically. OSError."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, zlib.compress(update), MAGIC + name.encode())
        file = self.path / name
        trial = file.with_name(f".{file.name}.new")
        trial.unlink(missing_ok=True)
        with trial.open("xb") as stream:
            stream.write(MAGIC + nonce + sealed)
            stream.flush()
            os.fsync(stream.fileno())
        trial.replace(file)

    def _load(self, name: str) -> bytes:
        """Reads and decrypts a file. OSError, InvalidTag, zlib.error; ValueError for a file that is not regular or too
        large, since reading a pipe would not end."""
        file = self.path / name
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise ValueError(name)
        content = file.read_bytes()
        if not content.startswith(MAGIC):
            raise ValueError(name)
        nonce, sealed = content[len(MAGIC) :][:NONCE_BYTES], content[len(MAGIC) + NONCE_BYTES :]
        decompressor = zlib.decompressobj()
        update = decompressor.decompress(self._cipher.decrypt(nonce, sealed, MAGIC + name.encode()), MOST_BYTES)
        if not decompressor.eof:
            raise ValueError(name)
        return update


def _stamp(file: Path | os.DirEntry[str]) -> tuple[int, int]:
    status = os.lstat(file)
    return status.st_size, status.st_mtime_ns
