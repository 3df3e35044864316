"""A memory on another computer, reached through OpenSSH: the socket of its daemon is forwarded to one of this computer.

No port is opened and there is no password of ours: keys, hosts and names are those of ~/.ssh. All commands share one
connection (OpenSSH's ControlMaster), which ends an hour after the last one; after a sleep, or when the server was down,
the next command makes another.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import sys
import threading
from dataclasses import dataclass
from typing import Any, NoReturn

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.paths import AT, HOME, Paths, private_folder
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


@dataclass(frozen=True, slots=True)
class Server:
    """A computer with a memory. `home` is its PALIMPSEST_HOME; "" for the usual folders."""

    host: str
    port: str = ""
    home: str = ""

    @classmethod
    def parse(cls, address: str) -> Server:
        """Reads `me@server` or `ssh://me@server:22/home/of/memory`. InvalidInputError."""
        parts = ADDRESS.fullmatch(address)
        if parts is None:
            raise InvalidInputError(
                f"{address!r} is not the address of a server. Write me@server or ssh://me@server:22"
            )
        return cls(re.sub(r"[\[\]]", "", parts["host"]), parts["port"] or "", parts["home"] or "")

    def write_command(self, arguments: list[str]) -> str:
        """The line that runs `pal` there, for any shell. A setting of that computer leads it no further."""
        home = f" {HOME}={shlex.quote(self.home)}" if self.home else ""
        return f"sh -c {shlex.quote(f'{PLACES} {AT}={home} exec pal {shlex.join(arguments)}')}"


def forward_socket(paths: Paths, start: bool) -> None:
    """Forwards the socket of the daemon there, which is started if needed. InvalidInputError; DaemonDownError if the
    server cannot be reached or has no `pal`; DaemonError if its version is another."""
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


NO_SSH = "There is no `ssh` on this computer. Install OpenSSH."


@functools.cache
def find_daemon(paths: Paths, start: bool = True) -> dict[str, Any]:
    """Where the daemon there has its socket and puts files of other computers; it is started if needed.
    DaemonDownError."""
    import json

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
    """Exit code, output, and the last line of the errors. DaemonDownError without OpenSSH."""
    import subprocess
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
    """`ssh` with the shared connection to a server, before its name."""
    control = paths.socket.with_suffix(".ssh")
    options = [f"-o{name}={value}" for name, value in {**OPTIONS, "ControlPath": str(control)}.items()]
    return ["ssh", *options, *(["-p", server.port] if server.port else [])]
