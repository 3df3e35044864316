"""The block of YAML between two lines of "---" at the top of a note."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

MAX_CHARS = 64 * 1024  # a longer block is not frontmatter
MAX_LINES = 1000

_BETWEEN_WORDS = re.compile(r"[,\n]")
_SIMPLE = re.compile(r"([^\W\d_][\w .-]{0,60}?)\s*:(?:\s+(.*))?$")


class _Loader(yaml.BaseLoader):  # type: ignore[misc]
    """Keeps every scalar as the string in the file, so that 2024-13-45, 007, 12:30 and yes survive. Uses PyYAML's
    Python loader because deep nesting overflows the stack of the C one, and refuses aliases because they can expand a
    small text without bound."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def split(text: str) -> tuple[str | None, int]:
    """Returns (the YAML or None, the number of lines before the body)."""
    if not text.startswith("---"):
        return None, 0
    lines = text[: MAX_CHARS + 8].split("\n", MAX_LINES)
    if lines[0].rstrip() != "---":
        return None, 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:number]), number + 1
    return None, 0


def parse(block: str) -> dict[str, Any] | None:
    """Returns the properties: strings, lists and mappings of strings; None without any `key: value`. Invalid YAML
    ("title: Re: rent") is read line by line."""
    try:
        loaded = yaml.load(block, Loader=_Loader)  # noqa: S506  # a safe loader with fewer types
    except (yaml.YAMLError, RecursionError, ValueError):
        loaded = dict(_parse_lines(block))
    if not isinstance(loaded, Mapping):
        return None
    return {str(key): _simplify(value) for key, value in loaded.items()} or None


def tags(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the tags of a note, without "#"."""
    values = _list_values(properties, "tags", "tag", "keywords")
    lists = (value.split() if isinstance(value, str) and "," not in value else value for value in values)
    words = (word.lstrip("#") for value in lists for word in _split_words(value))
    return tuple(dict.fromkeys(filter(None, words)))


def aliases(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the other names of the note."""
    return tuple(
        dict.fromkeys(name for value in _list_values(properties, "aliases", "alias") for name in _split_words(value))
    )


def _list_values(properties: Mapping[str, Any], *keys: str) -> list[Any]:
    return [value for key, value in properties.items() if key.lower() in keys]


def _split_words(value: Any) -> list[str]:
    """Returns the non-empty strings of a list, or of a string with commas."""
    parts = _BETWEEN_WORDS.split(value) if isinstance(value, str) else value if isinstance(value, list) else ()
    return [part.strip() for part in parts if isinstance(part, str) and part.strip()]


def _simplify(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 1 and isinstance(value[0][0], str):
            return f"[[{value[0][0]}]]"  # YAML parses the wikilink in `up: [[Home]]` as a list in a list
        return [_simplify(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): _simplify(part) for key, part in value.items()}
    return value


def _parse_lines(block: str) -> Iterable[tuple[str, str]]:
    for line in block.split("\n"):
        if (match := _SIMPLE.match(line)) is not None:
            value = (match[2] or "").strip()
            yield match[1], value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
