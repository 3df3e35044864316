"""Keys: their display names, sequences that Textual does not know, and custom ones from `keys.toml`.

The chat opens whatever that file contains: an invalid entry gives a message, and the key stays the default.
"""

from __future__ import annotations

import os
import signal
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final, NamedTuple, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys

from tui.actions import ACTIONS, Action, Where, actions_of

NAMES = {
    "escape": "Esc", "enter": "Enter", "tab": "Tab", "space": "Space", "delete": "Del",
    "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓", "left": "←", "right": "→", "home": "Home",
    "end": "End", "backspace": "Backspace", "slash": "/",
    "ctrl": "Ctrl", "alt": "Alt", "shift": "Shift",
}  # fmt: skip

_CALLED = {name.lower(): key for key, name in NAMES.items()}


class _Keys(Enum):
    ALT_ENTER = "alt+enter"


def teach_alt_enter() -> None:
    """Adds Alt+Enter of terminals without the kitty protocol to Textual's parser, which reads `ESC CR` as Enter alone,
    and the next keys as a broken sequence."""
    sequences = cast(dict[str, Any], ANSI_SEQUENCES_KEYS)
    sequences["\x1b\r"] = sequences["\x1b\n"] = (_Keys.ALT_ENTER,)


def prepare_input() -> None:
    """Makes Textual's driver replace invalid UTF-8, from terminals of other encodings, by �, which would end the app;
    and end the chat when its terminal disappears without a signal, after which it would read its end forever."""
    if sys.platform == "win32":
        return
    from textual.drivers import linux_driver

    def make_decoder(name: str) -> Callable[[], Any]:
        decoder = getincrementaldecoder(name)("replace")

        def decode(data: bytes, final: bool = False) -> str:
            if not data and not final:
                signal.raise_signal(signal.SIGHUP)
                os._exit(128 + signal.SIGHUP)  # it is ignored, as under nohup
            return decoder.decode(data, final)

        return lambda: SimpleNamespace(decode=decode)

    cast(Any, linux_driver).getincrementaldecoder = make_decoder


def is_modified_enter(key: str) -> bool:
    """Whether this is Enter with a modifier. With xterm's `modifyOtherKeys` the parser calls it `shift+\\r`, and
    Alt+Enter `\\r`; plain Enter is `enter` there too."""
    return key != "enter" and key.rpartition("+")[2] in ("enter", "\r")


def parse_key(written: str) -> str:
    """Converts a key as a person writes it, `Ctrl+E` or `PgUp`, to Textual's name."""
    parts = written.strip().split("+") if written.strip() != "+" else ["+"]
    if len(parts) == 1 and len(parts[0]) == 1:
        return _CALLED.get(parts[0], parts[0])
    return "+".join(_CALLED.get(part.strip().lower(), part.strip().lower()) for part in parts)


def short_key(keys: str) -> str:
    """Shortens `ctrl+s` to `^S`; of several keys the first."""
    return key_names(keys.partition(",")[0]).replace("Ctrl+", "^")


def key_names(keys: str) -> str:
    """`ctrl+q,ctrl+c` -> `Ctrl+Q or Ctrl+C`."""
    return " or ".join("+".join(_name(part, key) for part in key.split("+")) for key in keys.split(","))


def _name(part: str, key: str) -> str:
    return NAMES.get(part) or (part.upper() if "+" in key or (part[:1] == "f" and part[1:].isdigit()) else part)


FILE: Final = "keys.toml"
TYPED_IN: Final = ("app", "chat", "prompt", "finding")  # a letter is text there
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_KEYS = frozenset(key.value for key in Keys) | frozenset(NAMES)


class Keymap(NamedTuple):
    """Custom keys by the ids of their actions, in Textual's names; and problems with others, a sentence each."""

    changed: Mapping[str, str] = MappingProxyType({})
    problems: tuple[str, ...] = ()

    def actions_of(self, where: Where) -> tuple[Action, ...]:
        """Returns the actions of one place, with their effective keys."""
        return tuple(map(self.give_key, actions_of(where)))

    def keys_of(self, handler: str) -> str:
        """Returns the keys of a handler."""
        return self.give_key(next(action for action in ACTIONS if action.handler == handler and action.key)).key

    def give_key(self, action: Action) -> Action:
        """Returns an action with its effective keys."""
        keys = self.changed.get(action.id)
        return action._replace(key=keys) if keys and action.key else action


def load_keymap(path: Path) -> Keymap:
    """Loads the keys from a file; empty without a file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return Keymap()
    except (OSError, UnicodeError) as error:
        return Keymap(problems=(f"{path} cannot be read: {error}.",))
    import tomllib  # only if the user has custom keys

    try:
        return read_keymap(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Keymap(problems=(f"{path} is no TOML: {error}. All keys are the chat's own.",))


def read_keymap(entries: Mapping[str, object]) -> Keymap:
    """Reads keys from TOML, `{"evidence": {"copy": "c"}}`. A key that clashes with another is left out."""
    problems: list[str] = []
    keys_by_id: dict[str, str] = {}
    by_id = {action.id: action for action in ACTIONS if action.key}
    for id, value in _flatten(entries):
        if id not in by_id:
            problems.append(f"No key does {id}.")
        elif keys := _read_keys(by_id[id].where, value):
            keys_by_id[id] = ",".join(keys)
        else:
            kept = key_names(by_id[id].key)
            problems.append(f'{id} takes a key like "ctrl+e" or "f9", or several in brackets: it stays at {kept}.')
    while (clash := _find_clash(keys_by_id, by_id)) is not None:
        id, key, clashing_id = clash
        del keys_by_id[id]
        problems.append(f"{key_names(key)} is {clashing_id} already: {id} stays at {key_names(by_id[id].key)}.")
    return Keymap(keys_by_id, tuple(problems))


def _flatten(entries: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for place, value in entries.items():
        if isinstance(value, Mapping):
            yield from ((f"{place}.{name}", inner) for name, inner in value.items())
        else:
            yield place, value


def _read_keys(where: Where, value: object) -> list[str]:
    """Returns the keys for an action; empty if one of them is invalid, or is text in a place where text is typed."""
    keys = [
        parse_key(name) if isinstance(name, str) else "" for name in (value if isinstance(value, list) else [value])
    ]
    return keys if all(_is_key(key) and (len(key) > 1 or where not in TYPED_IN) for key in keys) else []


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    return all(name in _MODIFIERS for name in modifiers) and (last in _KEYS or (len(last) == 1 and last.isprintable()))


def _find_clash(keys_by_id: Mapping[str, str], by_id: Mapping[str, Action]) -> tuple[str, str, str] | None:
    """Returns an action whose new key has another action in the same place or everywhere: its id, the key, and the
    other's id."""
    for id, keys in keys_by_id.items():
        action = by_id[id]
        for key in set(keys.split(",")).difference(action.key.split(",")):
            for other in by_id.values():
                shares_place = other.where in (action.where, "app") or action.where == "app"
                if other is not action and shares_place and key in keys_by_id.get(other.id, other.key).split(","):
                    return id, key, other.id
    return None
