"""Whether config.toml exposes a key: no setting is for keys, but people write them into it."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path


def describe_exposure(config: Path) -> str:
    """The problem, with the command that repairs it, if others can read a config.toml with a key or password in it; ""
    if not. The text does not contain the key."""
    try:
        if os.name != "posix" or not config.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            return ""
        text = config.read_text("utf-8", "replace")
    except OSError:
        return ""
    from daemon.config.settings import Settings, render
    from memory.text.secrets import find_secrets  # 35 ms, which only a file that others can read should cost

    usual = {*render(Settings()).splitlines()}  # names of files that hold passwords are among the defaults
    text = "\n".join("" if line in usual else line for line in text.splitlines())
    secrets = find_secrets(text)
    if not secrets:
        return ""
    line = text.count("\n", 0, secrets[0].start) + 1
    kind = secrets[0].kind.replace("-", " ")
    return (
        f"Others can read {config}, and line {line} looks like it holds your {kind}. To fix that:"
        f" chmod 600 {shlex.quote(str(config))}"
    )
