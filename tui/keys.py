"""Display names of keys, and key sequences that Textual does not know."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from enum import Enum
from functools import partial
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

NAMES = {
    "escape": "Esc", "enter": "Enter", "tab": "Tab", "space": "Space", "delete": "Del",
    "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓", "left": "←", "right": "→", "home": "Home",
    "end": "End", "backspace": "Backspace", "slash": "/",
    "left_square_bracket": "[", "right_square_bracket": "]",
    "ctrl": "Ctrl", "alt": "Alt", "shift": "Shift",
}  # fmt: skip

_CALLED = {name.lower(): key for key, name in NAMES.items()}


class _Keys(Enum):
    ALT_ENTER = "alt+enter"


def teach_alt_enter() -> None:
    """Adds Alt+Enter of terminals without the kitty protocol to Textual's parser, which takes `ESC CR` for Enter alone,
    and the next keys for a broken sequence."""
    sequences = cast(dict[str, Any], ANSI_SEQUENCES_KEYS)
    sequences["\x1b\r"] = sequences["\x1b\n"] = (_Keys.ALT_ENTER,)


def take_any_bytes() -> None:
    """Lets Textual's driver replace invalid UTF-8, from terminals of other encodings, by �; otherwise it ends the
    app."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        cast(Any, linux_driver).getincrementaldecoder = lambda name: partial(getincrementaldecoder(name), "replace")


def is_modified_enter(key: str) -> bool:
    """Whether this is Enter with a modifier. With xterm's `modifyOtherKeys` the parser calls it `shift+\\r`, and
    Alt+Enter `\\r`; plain Enter is `enter` there too."""
    return key != "enter" and key.rpartition("+")[2] in ("enter", "\r")


def parse_key(written: str) -> str:
    """A key as a person writes it, `Ctrl+E` or `PgUp`, as Textual calls it."""
    parts = written.strip().split("+") if written.strip() != "+" else ["+"]
    if len(parts) == 1 and len(parts[0]) == 1:
        return _CALLED.get(parts[0], parts[0])
    return "+".join(_CALLED.get(part.strip().lower(), part.strip().lower()) for part in parts)


def short_key(keys: str) -> str:
    """`ctrl+s` -> `^S`, for where room is short; of several the first."""
    return key_names(keys.partition(",")[0]).replace("Ctrl+", "^")


def key_names(keys: str) -> str:
    """`ctrl+q,ctrl+c` -> `Ctrl+Q or Ctrl+C`."""
    return " or ".join("+".join(_name(part, key) for part in key.split("+")) for key in keys.split(","))


def _name(part: str, key: str) -> str:
    return NAMES.get(part) or (part.upper() if "+" in key or (part[:1] == "f" and part[1:].isdigit()) else part)
