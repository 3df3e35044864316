"""Who may come over HTTP: a token for each agent's program, of which only a hash is kept."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from pathlib import Path

from daemon.paths import private_folder

TOKEN_BYTES = 32


class Tokens:
    """The tokens in a file that only its owner may read. It is read anew for each request: a token that was taken back
    lets nobody in any more."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def issue(self, name: str) -> str:
        """A new token of a program; the one before is good no more."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._write(self._read() | {name: _hash(token)})
        return token

    def revoke(self, name: str) -> bool:
        """Whether there was one to take back."""
        hashes = self._read()
        known = hashes.pop(name, None) is not None
        if known:
            self._write(hashes)
        return known

    def find(self, token: str) -> str | None:
        """Whose token it is."""
        given, found = _hash(token), None
        for name, known in self._read().items():
            if hmac.compare_digest(given, known):
                found = name
        return found

    def names(self) -> list[str]:
        """The programs that have one."""
        return sorted(self._read())

    def _read(self) -> dict[str, str]:
        try:
            held = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(name): str(one) for name, one in held.items()} if isinstance(held, dict) else {}

    def _write(self, hashes: dict[str, str]) -> None:
        private_folder(self._file.parent)
        new = self._file.with_name(f".{self._file.name}.new")
        new.unlink(missing_ok=True)
        new.touch(0o600)
        new.write_text(json.dumps(hashes, indent=1) + "\n", "utf-8")
        new.replace(self._file)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
