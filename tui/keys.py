"""How keys are written for people."""

from __future__ import annotations

_NAMES = {
    "escape": "Esc", "enter": "Enter", "tab": "Tab", "space": "Space", "delete": "Del",
    "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓", "end": "End",
    "ctrl": "Ctrl", "alt": "Alt", "shift": "Shift",
}  # fmt: skip


def short_key(keys: str) -> str:
    """`ctrl+s` -> `^S`, for where room is short; of several the first."""
    return key_names(keys.partition(",")[0]).replace("Ctrl+", "^")


def key_names(keys: str) -> str:
    """`ctrl+q,ctrl+c` -> `Ctrl+Q or Ctrl+C`."""
    return " or ".join("+".join(_name(part, key) for part in key.split("+")) for key in keys.split(","))


def _name(part: str, key: str) -> str:
    return _NAMES.get(part) or (part.upper() if "+" in key or part.startswith("f") else part)
