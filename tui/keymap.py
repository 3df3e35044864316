"""Keys of one's own: `keys.toml` beside the settings says which key does what instead of the one that the chat has.

Whatever stands in that file, the chat opens: what cannot be done is said in a sentence, and the key stays as it was.
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
TYPED_IN: Final = ("app", "chat", "prompt", "finding")  # a letter does nothing there but stand in the text
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
    """The keys that are not the chat's own, by the ids of their actions, as Textual takes them; and what is wrong with
    others, a sentence each."""

    changed: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def actions_of(self, where: Where) -> tuple[Action, ...]:
        """The actions of one place, with the keys that they have here."""
        return tuple(map(self._give_key, actions_of(where)))

    def keys_of(self, handler: str) -> str:
        """The keys that do something."""
        return self._give_key(next(one for one in ACTIONS if one.handler == handler and one.key)).key

    def _give_key(self, action: Action) -> Action:
        keys = self.changed.get(action.id)
        return replace(action, key=keys) if keys and action.key else action


def load_keymap(path: Path) -> Keymap:
    """The keys that a file names; those of the chat where there is none."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return Keymap()
    except (OSError, UnicodeError) as error:
        return Keymap(problems=(f"{path} cannot be read: {error}.",))
    import tomllib  # not before somebody has keys of their own

    try:
        return read_keymap(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Keymap(problems=(f"{path} is no TOML: {error}. All keys are the chat's own.",))


def read_keymap(told: Mapping[str, object]) -> Keymap:
    """Keys as TOML has them, `{"evidence": {"copy": "c"}}`. What clashes with another key is left out."""
    problems: list[str] = []
    wanted: dict[str, str] = {}
    by_id = {action.id: action for action in ACTIONS if action.key}
    for id, value in _flatten(told):
        if id not in by_id:
            problems.append(f"No key does {id}." + "".join(f" Is it {near}?" for near in _find_near(id, by_id)))
        elif keys := _read_keys(by_id[id], value, problems):
            wanted[id] = ",".join(keys)
    while (clash := _find_clash(wanted, by_id)) is not None:
        id, key, other = clash
        del wanted[id]
        problems.append(f"{key_names(key)} is {other} already: {id} stays at {key_names(by_id[id].key)}.")
    return Keymap(wanted, tuple(problems))


def _find_near(id: str, ids: Iterable[str]) -> list[str]:
    """The one that may be meant, if there is one."""
    from difflib import get_close_matches

    return get_close_matches(id, list(ids), 1, 0.7)


def _flatten(told: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for place, value in told.items():
        if isinstance(value, Mapping):
            yield from ((f"{place}.{name}", inner) for name, inner in value.items())
        else:
            yield place, value


def _read_keys(action: Action, value: object, problems: list[str]) -> list[str]:
    """The keys that are wanted for an action; none if one of them cannot be had."""
    listed = value if isinstance(value, list) else [value]
    written = [one for one in listed if isinstance(one, str)]
    if not written or len(written) < len(listed):
        problems.append(f'{action.id} takes a key in quotes, like "ctrl+e", or several in brackets.')
        return []
    keys = [parse_key(one) for one in written]
    for one, key in zip(written, keys, strict=True):
        if not _is_key(key):
            problems.append(f"There is no key {one!r}: {action.id} stays at {key_names(action.key)}.")
            return []
        if len(key) == 1 and action.where in TYPED_IN:
            problems.append(f"{one} is typed as text there: {action.id} takes a key with Ctrl or Alt, or an F key.")
            return []
        if key in PAGE_DIGITS:
            problems.append(f"{one} goes to a page: {action.id} stays at {key_names(action.key)}.")
            return []
    return keys


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    return all(one in _MODIFIERS for one in modifiers) and (last in _KEYS or (len(last) == 1 and last.isprintable()))


def _find_clash(wanted: Mapping[str, str], by_id: Mapping[str, Action]) -> tuple[str, str, str] | None:
    """An action whose new key does something else where it is: its id, the key, and the id of the other."""
    for id, keys in wanted.items():
        action = by_id[id]
        for key in _new_keys(keys, action):
            for other in by_id.values():
                if (
                    other.id != id
                    and key in wanted.get(other.id, other.key).split(",")
                    and _is_same_place(action, other)
                ):
                    return id, key, other.id
    return None


def _new_keys(keys: str, action: Action) -> Iterable[str]:
    return (key for key in keys.split(",") if key not in action.key.split(","))


def _is_same_place(one: Action, other: Action) -> bool:
    """Whether both could be done with a key at the same moment."""
    return (
        one.where == other.where
        or "app" in (one.where, other.where)
        or other.where in _AROUND.get(one.where, ())
        or one.where in _AROUND.get(other.where, ())
    )
