"""Litestream, the program that keeps a replica of the memory: its addresses, configuration and commands.

An address is `file:///folder`, `sftp://[user@]host[:port]/folder` or `s3://bucket/folder`. For SFTP the user, the key
and the host's key are those of OpenSSH; for S3 the environment has the credentials, AWS_ACCESS_KEY_ID and so on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from memory.errors import InvalidInputError, NotAvailableError, NotFoundError
from plugins.installing import install_command

SCHEMES = ("file", "sftp", "s3")
MARKER = "palimpsest-replica"  # in a folder that has a replica: an empty place where a drive is not mounted has none
LIST_SECONDS = 60
SSH_OPTIONS = ("user", "hostname", "port", "identityfile", "userknownhostsfile")


def find_program() -> str:
    """Returns the program of the extra `replica`, or the system's. NotAvailableError."""
    own = Path(sys.executable).with_name("litestream")
    program = str(own) if own.exists() else shutil.which("litestream")
    if program is None:
        raise NotAvailableError(f"That needs the extra replica: {install_command('replica')}")
    return program


def read_address(text: str) -> str:
    """Parses an address; a folder's path is one, too. InvalidInputError."""
    if "://" not in text:
        return Path(text).expanduser().absolute().as_uri()
    scheme = text.partition("://")[0]
    if scheme not in SCHEMES:
        raise InvalidInputError(f"A replica is in a folder, at sftp:// or at s3://, not at {scheme}://.")
    return text


def folder_of(address: str) -> Path | None:
    """Returns the folder of a replica on this computer; None for another computer."""
    url = urlsplit(address)
    return Path(unquote(url.path)) if url.scheme == "file" else None


def describe_place(address: str) -> dict[str, Any]:
    """Returns the place in the program's configuration format. InvalidInputError if the host's key is unknown."""
    url = urlsplit(address)
    if url.scheme == "file":
        return {"path": unquote(url.path)}
    if url.scheme == "s3":
        return {"url": address}
    host = f"{url.username}@{url.hostname}" if url.username else str(url.hostname)
    printed = _run(["ssh", "-G", *(["-p", str(url.port)] if url.port else []), host])
    options: dict[str, list[str]] = {name: [] for name in SSH_OPTIONS}
    for line in printed.splitlines():
        name, _, value = line.partition(" ")
        if name in options:
            options[name].append(value)
    [user], [name], [port] = options["user"], options["hostname"], options["port"]
    known = name if port == "22" else f"[{name}]:{port}"
    host_keys: list[str] = []
    for file in (Path(name).expanduser() for name in options["userknownhostsfile"][0].split()):
        lines = _run(["ssh-keygen", "-F", known, "-f", str(file)]).splitlines() if file.exists() else []
        host_keys += [line.split(None, 1)[1] for line in lines if not line.startswith("#")]
    if not host_keys:
        raise InvalidInputError(f"The key of {known} is not known yet. Connect once: ssh {host}")
    place = {"type": "sftp", "host": f"{name}:{port}", "user": user, "path": url.path, "host-key": host_keys[0]}
    own = next((key for file in options["identityfile"] if (key := Path(file).expanduser()).exists()), None)
    return place | ({"key-path": str(own)} if own else {})


def list_times(address: str) -> list[datetime]:
    """Lists when each of the replica's files was written; empty without a replica. NotAvailableError."""
    with _configuration(address) as file:
        asked = ["ltx", "-config", str(file), "-level", "all", "-json", "/memory.db"]
        printed = _run([find_program(), *asked], LIST_SECONDS)
    return [datetime.fromisoformat(row["timestamp"]) for row in json.loads(printed or "null") or ()]


def restore(address: str, to: Path) -> None:
    """Writes the newest memory of a replica to a new file. NotFoundError, NotAvailableError."""
    if not list_times(address):
        raise NotFoundError(f"There is no replica at {address}.")
    with _configuration(address) as file:
        _run([find_program(), "restore", "-config", str(file), "-o", str(to), "/memory.db"])


@contextmanager
def _configuration(address: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "litestream.json"
        file.write_text(json.dumps({"dbs": [{"path": "/memory.db", "replica": describe_place(address)}]}), "utf-8")
        yield file


def _run(command: Sequence[str], seconds: float | None = None) -> str:
    """Returns a command's output; NotAvailableError with its last words if it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=seconds, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAvailableError(f"{Path(command[0]).name} failed: {error}") from error
    if done.returncode and command[0] != "ssh-keygen":  # which fails if it finds no key
        raise NotAvailableError((done.stderr.strip().splitlines() or ["it failed"])[-1].removeprefix("Error: "))
    return done.stdout
