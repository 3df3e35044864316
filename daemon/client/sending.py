"""Files of this computer for the memory of another one: rsync copies them there, through the same ssh connection.

Nothing is queued: a folder and its copy are compared, so what changed while there was no connection, or when either
side was killed, is sent with the next comparison. What is never read is never sent. The copies are below RECEIVED, by
the name of this computer and their path from its home: `laptop/notes/x.md`, which a citation shows as
`laptop:notes/x.md`.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from daemon import wire
from daemon.calls.declaration import Call
from daemon.client.client import Client, DaemonDownError
from daemon.client.remote import Server, find_daemon, forward_socket, ssh_command
from daemon.paths import RECEIVED, Paths, private_folder, write_private
from daemon.terminal import count

QUIET_SECONDS = 2.0  # after a change, before it is sent
RETRY_SECONDS = (5.0, 300.0)  # between two attempts without a connection: the first wait, doubled up to the second
COMPARE_SECONDS = 3600.0  # between two comparisons of everything, which find what events missed


class RemoteClient(Client):
    """Makes calls of the daemon on another computer. Paths are those of this computer: files and folders to add or
    watch are sent first, and the daemon gets the paths of their copies. `say` gets a sentence about what takes a while.

    The first call finds out whether the connection still works, and makes another if not: to ask before would take two
    trips more.
    """

    def __init__(self, paths: Paths, start: bool, say: Callable[[str], None]) -> None:
        super().__init__(paths)
        self._start = start
        self._say = say
        self._is_proved = False

    def reconnect(self) -> None:
        """Forwards the daemon's socket again. Raises what `forward_socket` does."""
        self._say(f"Connecting to {Server.parse(self.paths.at).host}.")
        forward_socket(self.paths, self._start)
        self._is_proved = True

    def make(self, call: Call, arguments: dict[str, Any]) -> Any:
        if call.name == "count":
            return count_missing(self, arguments["paths"])
        if call.name in ("add", "watch"):
            paths = arguments.get("paths") or [arguments["path"]]
            for path in paths:
                self._say(f"Sending {path} to {Server.parse(self.paths.at).host}.")
                send(self, Path(path))
            if call.name == "watch":
                _write_folders(self, {*list_folders(self), *map(str, paths)})
        if call.name == "unwatch":
            _write_folders(self, {*list_folders(self)} - {str(Path(arguments["path"]).absolute())})
        there = {name: self._name_there(value) for name, value in arguments.items()}
        try:
            reply = super().make(call, there)
        except DaemonDownError:
            if self._is_proved:
                raise
            self.reconnect()
            return super().make(call, there)
        self._is_proved = True
        return reply

    def _name_there(self, value: Any) -> Any:
        if isinstance(value, list | tuple) and value and isinstance(value[0], Path):
            return [self._name_there(path) for path in value]
        return find_copy(self, value) if isinstance(value, Path) and RECEIVED not in value.parts else value


def connect_remote(paths: Paths, start: bool, say: Callable[[str], None]) -> RemoteClient:
    """A client of the daemon at `paths.at`. While its socket is forwarded already, nothing is asked of the network.
    Raises what `forward_socket` does."""
    client = RemoteClient(paths, start, say)
    if not paths.socket.exists():
        client.reconnect()
    return client


def find_copy(client: Client, path: Path) -> Path:
    """Where the copy of a file or folder of this computer is, on the server."""
    return Path(find_daemon(client.paths)["received"], _name_computer(), _relative(path))


def send(client: Client, path: Path) -> int:
    """Copies a file, or a folder with all deletions, and returns the number of files that were copied.
    DaemonDownError."""
    return len(_copy(client, path))


def count_missing(client: Client, paths: Iterable[Path]) -> wire.Counted:
    """The files that the server does not have yet, and their size; none is sent."""
    sizes = [size for path in paths for size in _copy(client, path, "--dry-run")]
    return wire.Counted(len(sizes), sum(sizes), True)


def list_folders(client: Client) -> list[str]:
    """The folders of this computer whose changes are sent to this server."""
    with suppress(OSError, ValueError):
        return list(json.loads(_list_file(client).read_text("utf-8")).get(client.paths.at, []))
    return []


def keep_sending(client: Client, say: Callable[[str], None], stopped: threading.Event) -> None:
    """Sends all folders, and from then on each that changes, until `stopped`. Without a connection it tries again."""
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers import Observer

    changed: set[str] = set(list_folders(client))
    woken = threading.Event()

    class Handler(FileSystemEventHandler):
        def __init__(self, folder: str) -> None:
            self._folder = folder

        def on_any_event(self, event: FileSystemEvent) -> None:
            if event.event_type in ("created", "modified", "moved", "deleted"):
                changed.add(self._folder)
                woken.set()

    observer = Observer()
    for folder in changed:
        with suppress(OSError):  # a drive that is out: compared with the next round
            observer.schedule(Handler(folder), folder, recursive=True)
    observer.start()
    wait = RETRY_SECONDS[0]
    try:
        while not stopped.is_set():
            try:
                for folder in sorted(changed):
                    changed.discard(folder)
                    if files := _send_again(client, folder, changed):
                        say(f"Sent {count(files, 'file')} of {folder}.")
                wait = RETRY_SECONDS[0]
            except DaemonDownError as error:
                say(f"{error} Trying again in {wait:.0f} s.")
                stopped.wait(wait)
                wait = min(wait * 2, RETRY_SECONDS[1])
                continue
            if not woken.wait(COMPARE_SECONDS):
                changed.update(list_folders(client))
            stopped.wait(QUIET_SECONDS)
            woken.clear()
    finally:
        observer.stop()
        observer.join()


def _send_again(client: Client, folder: str, changed: set[str]) -> int:
    """Sends a folder; it counts as changed until that is done. The copy of a missing folder is kept."""
    try:
        return send(client, Path(folder)) if Path(folder).is_dir() else 0
    except DaemonDownError:
        changed.add(folder)
        raise


def _copy(client: Client, path: Path, *options: str) -> Sequence[int]:
    """Runs rsync; returns the size of each file that was copied. DaemonDownError."""
    server = Server.parse(client.paths.at)
    there = find_copy(client, path if path.is_dir() else path.parent)
    place = shlex.quote(str(there))
    rules = ["--delete", *_list_rules(client)] if path.is_dir() else []
    command = [
        "rsync", "--recursive", "--times", "--compress", "--partial-dir=.rsync-partial", "--out-format=%l %n",
        f"--rsync-path=umask 077; mkdir -p {place} && cd {place} && rsync",
        f"--rsh={shlex.join(ssh_command(client.paths, server))}", *rules, *options,
        f"{path}/" if path.is_dir() else str(path), f"{server.host}:./",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except FileNotFoundError as error:
        raise DaemonDownError("There is no `rsync` on this computer. Install it.") from error
    if done.returncode:
        reason = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["rsync ended"])[0]
        raise DaemonDownError(f"{path} could not be sent to {server.host}: {reason}.")
    lines = (line.partition(b" ") for line in done.stdout.splitlines())
    return [int(size) for size, _, name in lines if size.isdigit() and not name.endswith(b"/")]


def _list_rules(client: Client) -> list[str]:
    """What is never read there is never sent: patterns of the settings of this computer, and of the folders."""
    from daemon.config.settings import load

    watch = load(client.paths.config).watch
    return [*(f"--exclude={name}" for name in (*watch.ignore, *watch.key_files)), "--filter=:- .palimpsestignore"]


def _relative(path: Path) -> PurePosixPath:
    path = path.expanduser().absolute()
    base = Path.home() if path.is_relative_to(Path.home()) else path.anchor
    return PurePosixPath(*path.relative_to(base).parts)


def _name_computer() -> str:
    return os.uname().nodename.partition(".")[0] or "computer"


def _list_file(client: Client) -> Path:
    return client.paths.data / "sent.json"


def _write_folders(client: Client, folders: set[str]) -> None:
    private_folder(client.paths.data)
    lists: dict[str, list[str]] = {}
    with suppress(OSError, ValueError):
        lists = json.loads(_list_file(client).read_text("utf-8"))
    lists[client.paths.at] = sorted(folders)
    write_private(_list_file(client), json.dumps(lists))
