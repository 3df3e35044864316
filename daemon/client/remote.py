"""A memory on another computer, reached through OpenSSH: the socket of its daemon is forwarded to one of this computer.

No port is opened and there is no password of ours: keys, hosts and names are those of ~/.ssh. All commands share one
connection (OpenSSH's ControlMaster), which ends an hour after the last one; after a sleep, or when the server was down,
the next command makes another.

Files of this computer are copied there by rsync, through the same connection. Nothing is queued: a folder and its copy
are compared, so what changed while there was no connection, or when either side was killed, is sent with the next
comparison. What is never read is never sent. The copies are below RECEIVED, by the name of this computer and their path
from its home: `laptop/notes/x.md`, which a citation shows as `laptop:notes/x.md`.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from daemon import wire
from daemon.calls import Call
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.paths import AT, HOME, RECEIVED, Paths, private_folder, write_private
from daemon.terminal import count
from memory.errors import InvalidInputError

ADDRESS = re.compile(
    r"(?:ssh://)?(?P<host>(?:\w[\w.+-]*@)?(?:\w[\w.-]*|\[[0-9a-fA-F:]+\]))(?::(?P<port>\d{1,5}))?(?P<home>/.*)?"
)
NOT_THERE, NO_CONNECTION = 127, 255  # exit codes of a shell without the program, and of ssh
OPTIONS = {
    "ControlMaster": "auto",
    "ControlPersist": "1h",
    "ConnectTimeout": "15",
    "ServerAliveInterval": "10",  # a connection that a sleep has cut is noticed after half a minute
    "ServerAliveCountMax": "3",
    "ExitOnForwardFailure": "yes",
    "StreamLocalBindUnlink": "yes",
    "StreamLocalBindMask": "0177",
}
# Where `pal` may be; a shell without a terminal knows fewer places than one with it.
PLACES = 'PATH="$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin:$PATH"'
NO_SSH = "There is no `ssh` on this computer. Install OpenSSH."
QUIET_SECONDS = 2.0  # after a change, before it is sent
RETRY_SECONDS = (5.0, 300.0)  # between two attempts without a connection: the first wait, doubled up to the second
COMPARE_SECONDS = 3600.0  # between two comparisons of everything, which find what events missed


@dataclass(frozen=True, slots=True)
class Server:
    """A computer with a memory. `home` is its PALIMPSEST_HOME; "" for the usual folders."""

    host: str
    port: str = ""
    home: str = ""

    @classmethod
    def parse(cls, address: str) -> Server:
        """Parses `me@server` or `ssh://me@server:22/home/of/memory`. InvalidInputError."""
        parts = ADDRESS.fullmatch(address)
        if parts is None:
            raise InvalidInputError(
                f"{address!r} is not the address of a server. Write me@server or ssh://me@server:22"
            )
        return cls(re.sub(r"[\[\]]", "", parts["host"]), parts["port"] or "", parts["home"] or "")

    def write_command(self, arguments: list[str]) -> str:
        """Returns the command line that runs `pal` there, in any shell. That computer's own setting for a remote memory
        is ignored."""
        home = f" {HOME}={shlex.quote(self.home)}" if self.home else ""
        return f"sh -c {shlex.quote(f'{PLACES} {AT}={home} exec pal {shlex.join(arguments)}')}"


def forward_socket(paths: Paths, start: bool) -> None:
    """Forwards the socket of the remote daemon, which is started if needed. InvalidInputError; DaemonDownError if the
    server cannot be reached or has no `pal`; DaemonError if its version differs."""
    find_daemon.cache_clear()  # the daemon there may have ended meanwhile
    there = find_daemon(paths, start)
    if (protocol := there["protocol"]) != wire.PROTOCOL:
        which, remedy = (
            ("a newer", "Upgrade this one.") if protocol > wire.PROTOCOL else ("an older", "Upgrade it there.")
        )
        raise DaemonError(wire.Failed("protocol", f"{paths.at} has {which} Palimpsest ({there['version']}).", remedy))
    forward = ["-L", f"{paths.socket}:{there['socket']}"]
    _run_ssh(paths, ["-O", "cancel", *forward])
    code, _, error = _run_ssh(paths, ["-O", "forward", *forward])
    if code:
        raise DaemonDownError(f"The socket of {paths.at} cannot be forwarded: {error}.")


def forward_port(paths: Paths, port: int) -> None:
    """Opens a port of the server on this computer, for its browser. DaemonDownError."""
    where = f"127.0.0.1:{port}:127.0.0.1:{port}"
    code, _, error = _run_ssh(paths, ["-O", "forward", "-L", where])
    if code:
        raise DaemonDownError(f"Port {port} cannot be used on this computer ({error}). Choose another: pal web --port")


def run_there(paths: Paths, arguments: list[str]) -> NoReturn:
    """Replaces this process by `pal` on the server, with its terminal if there is one. InvalidInputError."""
    server = Server.parse(paths.at)
    terminal = ["-t"] if sys.stdin.isatty() and sys.stdout.isatty() else []
    line = server.write_command(arguments)
    command = [*ssh_command(paths, server), "-oLogLevel=ERROR", *terminal, server.host, line]
    try:
        os.execvp(command[0], command)
    except FileNotFoundError as error:
        raise DaemonDownError(NO_SSH) from error


@functools.cache
def find_daemon(paths: Paths, start: bool = True) -> dict[str, Any]:
    """Returns the paths of the remote daemon's socket and of received files; starts it if needed. DaemonDownError."""
    server = Server.parse(paths.at)
    private_folder(paths.socket.parent)
    line = server.write_command(["daemon", "start" if start else "status", "--json"])
    code, output, error = _run_ssh(paths, [], line)
    if code == NO_CONNECTION:
        raise DaemonDownError(f"{server.host} cannot be reached: {error}.")
    if code == NOT_THERE:
        raise DaemonDownError(f"There is no `pal` on {server.host}. Install palimpsest-memory there.")
    try:
        there: dict[str, Any] = json.loads(output)
        return {name: there[name] for name in ("socket", "received", "protocol", "version")}
    except (ValueError, KeyError, TypeError) as trouble:
        raise DaemonDownError(f"The memory on {server.host} did not start: {error or output}.") from trouble


def _run_ssh(paths: Paths, options: list[str], *command: str) -> tuple[int, str, str]:
    """Returns exit code, output, and the last line of the errors. DaemonDownError without OpenSSH."""
    import tempfile

    server = Server.parse(paths.at)
    # A worker thread of the chat cannot ask for a passphrase: the terminal is the chat's.
    can_ask = threading.current_thread() is threading.main_thread() and sys.stderr.isatty()
    batch = [] if can_ask else ["-o", "BatchMode=yes"]
    # Files, not pipes: the shared connection keeps the descriptors of who made it.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            code = subprocess.run(
                [*ssh_command(paths, server), *batch, *options, server.host, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                check=False,
            ).returncode
        except FileNotFoundError as error:
            raise DaemonDownError(NO_SSH) from error
        output.seek(0)
        errors.seek(0)
        last = errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        return code, output.read().decode("utf-8", "replace"), last.removeprefix("ssh: ").strip(" .\r")


def ssh_command(paths: Paths, server: Server) -> list[str]:
    """Returns the `ssh` command with the shared connection to a server, up to its name."""
    control = paths.socket.with_suffix(".ssh")
    options = [f"-o{name}={value}" for name, value in {**OPTIONS, "ControlPath": str(control)}.items()]
    return ["ssh", *options, *(["-p", server.port] if server.port else [])]


class RemoteClient(Client):
    """A client of the daemon on another computer. Paths are those of this computer: files and folders to add or watch
    are sent first, and the daemon gets the paths of their copies. `say` receives a sentence about slow steps. The first
    call checks the connection and opens another if needed, which saves two round trips."""

    def __init__(self, paths: Paths, start: bool, say: Callable[[str], None]) -> None:
        super().__init__(paths)
        self._start = start
        self._say = say
        self._is_proved = False

    def reconnect(self) -> None:
        """Forwards the daemon's socket again. Raises like `forward_socket`."""
        self._say(f"Connecting to {Server.parse(self.paths.at).host}.")
        forward_socket(self.paths, self._start)
        self._is_proved = True

    def make(self, call: Call, arguments: dict[str, Any]) -> Any:
        if call.name == "count":
            sizes = [size for path in arguments["paths"] for size in _copy(self, path, "--dry-run")]
            return wire.Counted(len(sizes), sum(sizes), True)  # what the server does not have yet; none is sent
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
    """Returns a client of the daemon at `paths.at`. Uses no network while its socket is forwarded. Raises like
    `forward_socket`."""
    client = RemoteClient(paths, start, say)
    if not paths.socket.exists():
        client.reconnect()
    return client


def find_copy(client: Client, path: Path) -> Path:
    """Returns the path on the server of the copy of a local file or folder."""
    path, home = path.expanduser().absolute(), Path.home()
    below = path.relative_to(home if path.is_relative_to(home) else path.anchor)
    computer = os.uname().nodename.partition(".")[0] or "computer"
    return Path(find_daemon(client.paths)["received"], computer, below)


def send(client: Client, path: Path) -> int:
    """Copies a file, or a folder with all deletions; returns the number of copied files. DaemonDownError."""
    return len(_copy(client, path))


def list_folders(client: Client) -> list[str]:
    """Lists the folders of this computer whose changes are sent to this server."""
    with suppress(OSError, ValueError):
        return list(json.loads(_list_file(client).read_text("utf-8")).get(client.paths.at, []))
    return []


def keep_sending(client: Client, say: Callable[[str], None], stopped: threading.Event) -> None:
    """Sends all folders, then each that changes, until `stopped`. Retries without a connection."""
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
    """Sends a folder; it counts as changed until that succeeds. The copy of a missing folder stays."""
    try:
        return send(client, Path(folder)) if Path(folder).is_dir() else 0
    except DaemonDownError:
        changed.add(folder)
        raise


def _copy(client: Client, path: Path, *options: str) -> Sequence[int]:
    """Runs rsync; returns the size of each copied file. DaemonDownError."""
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
    """Returns the ignore patterns of this computer's settings and of the folders."""
    from daemon.config.settings import load

    watch = load(client.paths.config).watch
    return [*(f"--exclude={name}" for name in (*watch.ignore, *watch.key_files)), "--filter=:- .palimpsestignore"]


def _list_file(client: Client) -> Path:
    return client.paths.data / "sent.json"


def _write_folders(client: Client, folders: set[str]) -> None:
    private_folder(client.paths.data)
    lists: dict[str, list[str]] = {}
    with suppress(OSError, ValueError):
        lists = json.loads(_list_file(client).read_text("utf-8"))
    lists[client.paths.at] = sorted(folders)
    write_private(_list_file(client), json.dumps(lists))
