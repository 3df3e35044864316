"""Whose program listens on a port of this machine: any user may take the port of a model server."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from memory.errors import ModelUnavailableError

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS = "0A"  # state of a socket
REACHED = ("00000000", "0100007F", "0" * 32, f"{'0' * 24}01000000")  # local addresses that a client here may reach
FIRST_PERSON, NOBODY = 1000, 65534  # user ids: below are services that root has installed
OTHERS = "belongs to another user of this machine"


def refuse_other_user(url: str) -> None:
    """ModelUnavailableError if another person's program listens on the port of this URL at this machine. Linux says
    whose it is; other systems do not."""
    parts = urlsplit(url)
    if parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return
    port = f"{parts.port or 80:04X}"
    for table in TABLES:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for _, local, _, state, _, _, _, user, *_ in map(str.split, lines):
            address, _, its_port = local.partition(":")
            if state == LISTENS and its_port == port and address in REACHED and _is_other_person(int(user)):
                raise ModelUnavailableError(
                    f"What listens on {url} {OTHERS} (user {user}), so nothing is sent to it. Run your own server on"
                    " another port and name its address: pal config set ollama.host ADDRESS",
                    lasting=True,
                )


def _is_other_person(user: int) -> bool:
    return FIRST_PERSON <= user != os.getuid() and user != NOBODY
