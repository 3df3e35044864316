"""Custom keys: `keys.toml` next to the settings replaces keys of the chat.

The chat opens whatever the file contains: an invalid entry gives a message, and the key stays the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from textual.keys import Keys

from tui.actions import ACTIONS, Action, Where, actions_of
from tui.keys import NAMES, key_names, parse_key
from tui.pages import TABS

FILE: Final = "keys.toml"
TYPED_IN: Final = ("app", "chat", "prompt", "finding")  # a letter is text there
PAGE_DIGITS: Final = tuple(str(place) for place in range(1, len(TABS) + 1))
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_KEYS = frozenset(key.value for key in Keys) | frozenset(NAMES)
_AROUND: Final[dict[Where, tuple[Where, ...]]] = {  # the places whose keys go on where a place has the focus
    "prompt": ("chat",), "home": ("chat",), "transcript": ("chat",), "evidence": ("chat",), "queue": ("chat",),
    "walk": ("chat",), "finding": ("memory",), "items": ("memory",), "detail": ("memory",), "graph": ("memory",),
    "changes": ("review",), "rows": ("folders",), "watched": ("rows", "folders"), "reading": ("rows", "folders"),
    "models": ("rows", "folders"), "health": ("rows", "folders"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Keymap:
    """Custom keys by the ids of their actions, as Textual takes them; and problems with others, a sentence each."""

    changed: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def actions_of(self, where: Where) -> tuple[Action, ...]:
        """The actions of one place, with their effective keys."""
        return tuple(map(self._give_key, actions_of(where)))

    def keys_of(self, handler: str) -> str:
        """The keys that do something."""
        return self._give_key(next(action for action in ACTIONS if action.handler == handler and action.key)).key

    def _give_key(self, action: Action) -> Action:
        keys = self.changed.get(action.id)
        return replace(action, key=keys) if keys and action.key else action


def load_keymap(path: Path) -> Keymap:
    """The keys in a file; empty without a file."""
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
    """Keys as in TOML, `{"evidence": {"copy": "c"}}`. A key that clashes with another is left out."""
    problems: list[str] = []
    keys_by_id: dict[str, str] = {}
    by_id = {action.id: action for action in ACTIONS if action.key}
    for id, value in _flatten(entries):
        if id not in by_id:
            problems.append(f"No key does {id}." + "".join(f" Is it {near}?" for near in _find_near(id, by_id)))
        elif keys := _read_keys(by_id[id], value, problems):
            keys_by_id[id] = ",".join(keys)
    while (clash := _find_clash(keys_by_id, by_id)) is not None:
        id, key, clashing_id = clash
        del keys_by_id[id]
        problems.append(f"{key_names(key)} is {clashing_id} already: {id} stays at {key_names(by_id[id].key)}.")
    return Keymap(keys_by_id, tuple(problems))


def _find_near(id: str, ids: Iterable[str]) -> list[str]:
    """The id that is probably meant, if any."""
    from difflib import get_close_matches

    return get_close_matches(id, list(ids), 1, 0.7)


def _flatten(entries: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for place, value in entries.items():
        if isinstance(value, Mapping):
            yield from ((f"{place}.{name}", inner) for name, inner in value.items())
        else:
            yield place, value


def _read_keys(action: Action, value: object, problems: list[str]) -> list[str]:
    """The keys for an action; empty if one of them is invalid."""
    listed = value if isinstance(value, list) else [value]
    written = [name for name in listed if isinstance(name, str)]
    if not written or len(written) < len(listed):
        problems.append(f'{action.id} takes a key in quotes, like "ctrl+e", or several in brackets.')
        return []
    keys = [parse_key(name) for name in written]
    for name, key in zip(written, keys, strict=True):
        if not _is_key(key):
            problems.append(f"There is no key {name!r}: {action.id} stays at {key_names(action.key)}.")
            return []
        if len(key) == 1 and action.where in TYPED_IN:
            problems.append(f"{name} is typed as text there: {action.id} takes a key with Ctrl or Alt, or an F key.")
            return []
        if key in PAGE_DIGITS:
            problems.append(f"{name} goes to a page: {action.id} stays at {key_names(action.key)}.")
            return []
    return keys


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    return all(name in _MODIFIERS for name in modifiers) and (last in _KEYS or (len(last) == 1 and last.isprintable()))


def _find_clash(keys_by_id: Mapping[str, str], by_id: Mapping[str, Action]) -> tuple[str, str, str] | None:
    """An action whose new key has another action in the same place: its id, the key, and the other's id."""
    for id, keys in keys_by_id.items():
        action = by_id[id]
        for key in _new_keys(keys, action):
            for other in by_id.values():
                if (
                    other.id != id
                    and key in keys_by_id.get(other.id, other.key).split(",")
                    and _is_same_place(action, other)
                ):
                    return id, key, other.id
    return None


def _new_keys(keys: str, action: Action) -> Iterable[str]:
    return (key for key in keys.split(",") if key not in action.key.split(","))


def _is_same_place(action: Action, other: Action) -> bool:
    """Whether both could be done with a key at the same moment."""
    return (
        action.where == other.where
        or "app" in (action.where, other.where)
        or other.where in _AROUND.get(action.where, ())
        or action.where in _AROUND.get(other.where, ())
    )
