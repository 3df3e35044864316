"""The paths of a person's Palimpsest.

The environment variable PALIMPSEST_HOME puts all of it into one folder. Without it the platform's own folders are used.
The socket lies below the data folder, not in the session's runtime folder: a terminal, a cron job and an ssh login have
different runtime folders or none, and must still find the same daemon."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

HOME = "PALIMPSEST_HOME"
AT = "PALIMPSEST_AT"  # the address of the computer that has the memory
RECEIVED = "palimpsest-received"  # the folder with the files that other computers sent
REPLACED = "replaced-"  # begins the name of a memory that another one took the place of, among the backups
SETTING = re.compile(r'^\[memory\][^\[]*?^at\s*=\s*["\']([^"\']+)["\']', re.MULTILINE)
SERVES = " serves "  # in the log, before the path of the memory
SOCKET_BYTES = 100  # the kernel takes 104 (macOS) to 108 (Linux), with the ending NUL


class Place:
    """A file of `Paths`, in one of its folders."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = folder, name

    def __get__(self, paths: Paths, owner: type[Paths]) -> Path:
        folder: Path = getattr(paths, self._folder)
        return folder / self._name


@dataclass(frozen=True, slots=True)
class Paths:
    """`data` holds the memory, `config` is the settings file; the others are folders. Nothing here creates them. With
    `at`, the address of another computer, `socket` leads to the daemon there; all other paths are on this computer."""

    data: Path
    config: Path
    logs: Path
    backups: Path
    runtime: Path
    at: str = ""

    memory = Place("data", "memory.db")
    declined = Place("data", "declined")  # the extras that a person does not want to be offered, one a line
    sync = Place("data", "sync.json")  # the shared folder of this memory, if it has one, and the words of its key
    replica = Place("data", "replica.json")  # the address of the memory's replica, if it has one
    ballast = Place("data", "ballast")  # zeros, which are given up when the disk is full
    lock = Place("data", "daemon.lock")  # the running daemon holds its lock; its text is the daemon's process id
    opener = Place("runtime", "page.html")  # leads a browser to the page, as long as its link was not used
    reading = Place("runtime", "reading")  # lists what is being read, so that the next daemon knows what one died of
    log = Place("logs", "daemon.log")
    stacks = Place("logs", "stacks")  # what the daemon's threads did when its event loop was last blocked
    output = Place("logs", "daemon.out")  # of a daemon in the background: why it could not start

    @classmethod
    def from_environment(cls) -> Paths:
        if home := os.environ.get(HOME):
            return cls.in_folder(Path(home))
        import platformdirs  # 13 ms, which nothing that sets PALIMPSEST_HOME should pay

        data = platformdirs.user_data_path("palimpsest", appauthor=False)
        return cls(
            data=data,
            config=platformdirs.user_config_path("palimpsest", appauthor=False) / "config.toml",
            logs=platformdirs.user_log_path("palimpsest", appauthor=False),
            backups=data / "backups",
            runtime=data / "run",
        )

    @classmethod
    def in_folder(cls, home: Path) -> Paths:
        """Returns the paths with everything in one folder."""
        home = home.expanduser().absolute()
        return cls(home, home / "config.toml", home / "logs", home / "backups", home / "run")

    def environment(self) -> dict[str, str]:
        """Returns the variables with which another process finds the same paths, if they differ from the platform's."""
        return {HOME: str(self.data)} if replace(self, at="") == Paths.in_folder(self.data) else {}

    def all(self) -> tuple[Path, ...]:
        """Returns all paths of Palimpsest, which are never watched or read."""
        return (self.data, self.config, self.logs, self.backups, self.runtime)

    @property
    def trace_of_lost(self) -> Path | None:
        """Returns a file which proves that a now missing memory existed, or None."""
        if self.memory.exists():
            return None
        if any(self.backups.glob("*.db")):
            return self.backups
        return next((path for path in (self.sync, self.replica) if path.exists()), self._log_of_lost)

    @property
    def _log_of_lost(self) -> Path | None:
        try:
            return self.log if f"{SERVES}{self.memory}\n" in self.log.read_text("utf-8", "replace") else None
        except OSError:
            return None

    @property
    def received(self) -> Path:
        """Files of other computers, in a folder for each. Not in `data`: nothing there is read."""
        return self.data.with_name(RECEIVED)

    @property
    def socket(self) -> Path:
        """Returns the daemon's socket; in a private folder of /tmp if the data folder's path is too long."""
        socket = self.runtime / "api.sock"
        if not self.at and len(os.fsencode(socket)) < SOCKET_BYTES:
            return socket
        import hashlib

        name = hashlib.sha256(os.fsencode(f"{socket}{self.at}")).hexdigest()[:16]
        return Path(f"/tmp/palimpsest-{os.getuid()}") / f"{name}.sock"


def find_address(config: Path) -> str:
    """Returns the address in the environment or config.toml; "" for the memory of this computer."""
    if (address := os.environ.get(AT)) is not None:
        return address
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if match := SETTING.search(config.read_text("utf-8")):  # parsing all of it would cost every command 5 ms
            return match[1]
    return ""


def use_address(paths: Paths) -> Paths:
    """Returns a client's paths: those of the server in its environment or settings, if any."""
    address = find_address(paths.config)
    return replace(paths, at=address) if address else paths


def name_received(path: str) -> str:
    """Returns the path of a file that another computer sent as `laptop:notes/x.md`; any other path unchanged."""
    computer, _, rest = path.rpartition(f"/{RECEIVED}/")[2].partition("/")
    return f"{computer}:{rest}" if f"/{RECEIVED}/" in path and rest else path


def private_folder(folder: Path) -> Path:
    """Creates a folder that only its owner may enter (0700), with its parents; or restricts an existing one. It may be
    the owner's link to the owner's folder. PermissionError if it, or the link's target, belongs to another user: in
    /tmp any user could have put it there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stat = folder.stat()
    if {stat.st_uid, folder.lstat().st_uid} != {os.getuid()}:
        raise PermissionError(
            f"{folder} belongs to another user. Choose a folder of your own with {HOME}, or ask who owns it."
        )
    if stat.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def write_private(file: Path, text: str) -> None:
    """Writes a file atomically that only its owner may read (0600), whatever the umask."""
    trial = file.with_name(f".{file.name}.new")
    trial.unlink(missing_ok=True)
    handle = os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    trial.chmod(0o600)  # the umask may take even the owner's rights
    trial.replace(file)


def write_opener(paths: Paths, url: str) -> str:
    """Writes a private file that leads a browser to the page; returns its path. The browser opens this file, because
    every user of this machine can read its command line."""
    import html

    private_folder(paths.runtime)
    link = html.escape(url)
    write_private(
        paths.opener,
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0;url={link}"><title>Palimpsest</title>'
        f'<a href="{link}">Open Palimpsest</a>\n',
    )
    return str(paths.opener)


class OwnFile:
    """A file that this process has just created. It is removed only while it is the same file: after its folder was
    moved or deleted, another daemon may have created its own at the path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity = self._read_identity()

    def remove(self) -> None:
        """Removes the file, unless it is gone or another process has replaced it."""
        if self._identity and self._read_identity() == self._identity:
            self.path.unlink(missing_ok=True)

    def _read_identity(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.lstat()
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_ctime_ns  # a new file may get the number of a removed one


def name_replaced(backups: Path) -> Path:
    """Returns a new path among the backups for a memory that another one replaces."""
    return private_folder(backups) / f"{REPLACED}{datetime.now():%Y%m%d-%H%M%S}.db"


def name_backup(folder: Path) -> Path:
    """Creates the folder of backups and returns a new path in it, named after the time."""
    return private_folder(folder) / f"memory-{datetime.now():%Y%m%d-%H%M%S-%f}.db"


def find_examples() -> Path | None:
    """Returns the example notes: inside the installed package, else in the source tree; or None."""
    here = Path(__file__).parent
    return next((folder for folder in (here / "examples", here.parent / "examples" / "notes") if folder.is_dir()), None)
