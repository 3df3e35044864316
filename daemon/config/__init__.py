"""Dataclasses of settings as sections of TOML: read and checked with line numbers, listed, and written.

A field that is a dataclass is a section, a Mapping of dataclasses a table of sections named by the user, and a field
with a sentence (`memory.settings.setting`) a setting. The others are parameters of the program: read if a file has
them, listed nowhere. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from memory.errors import PalimpsestError
from memory.settings import MOST, describe_range

LIKELY_TYPO = 0.8  # similarity from which an unknown name is a mistyped one
LINE_CHARS = 100  # of a list

TABLE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # of a section in a table


class SettingsError(PalimpsestError):
    """config.toml is invalid; the message has the line and a remedy."""


class SectionReader:
    """Creates dataclasses of settings from TOML data, and collects in `ignored` names that are not settings, as of an
    earlier version. A name that resembles a setting is an error: it is probably a typing error."""

    def __init__(self, path: Path, text: str) -> None:
        self.ignored: list[str] = []
        self._path = path
        self._text = text

    def read(self, kind: Any, data: dict[str, Any], section: str = "") -> Any:
        """Creates a `kind` from TOML's `section`. SettingsError with the line."""
        types = get_type_hints(kind)
        values = {}
        for name, value in data.items():
            if name in types:
                values[name] = self._convert(types[name], value, section, name)
            elif close := get_close_matches(name, types, 1, LIKELY_TYPO):
                raise self._error(section, name, f"is not a setting. Did you mean {close[0]}? Correct or remove it.")
            else:
                self.ignored.append(_join(section, name))
        for item in fields(kind):
            value = values.get(item.name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                least, most = item.metadata.get("least", 0), item.metadata.get("most", MOST)
                if not least <= value <= most:
                    message = f"must be a number {describe_range(least, most)}, not {value}."
                    raise self._error(section, item.name, message)
        return kind(**values)

    def _convert(self, kind: Any, value: Any, section: str, name: str) -> Any:
        if is_dataclass(kind):
            if not isinstance(value, dict):
                message = f"is a section: write [{_join(section, name)}] above its settings."
                raise self._error(section, name, message)
            return self.read(kind, value, _join(section, name))
        if get_origin(kind) is Mapping:
            return self._read_table(get_args(kind)[1], value, section, name)
        if (kind is bool and isinstance(value, bool)) or (kind is str and isinstance(value, str)):
            return value
        if kind in (int, float) and isinstance(value, kind | int) and not isinstance(value, bool):
            return kind(value) if abs(value) <= MOST else value
        if get_origin(kind) in (Union, UnionType):  # a number, or a word that stands for one
            number, words = get_args(kind)
            if isinstance(value, str) and value not in get_args(words):
                message = f"must be a number or {', '.join(get_args(words))}, not {value!r}."
                raise self._error(section, name, message)
            return value if isinstance(value, str) else self._convert(number, value, section, name)
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                message = f"must be one of {', '.join(get_args(kind))}, not {value!r}."
                raise self._error(section, name, message)
            return value
        if kind == tuple[str, ...] and isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        descriptions = {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes"}
        message = f"must be {descriptions.get(kind, 'a list of texts in quotes')}, not {value!r}."
        raise self._error(section, name, message)

    def _read_table(self, kind: Any, value: Any, section: str, table: str) -> dict[str, Any]:
        """Reads sections named by the user."""
        place = _join(section, table)
        if not isinstance(value, dict):
            message = f"is a table of sections: write [{place}.NAME] above the settings of each."
            raise self._error(section, table, message)
        for name, values in value.items():
            if not TABLE_NAME.fullmatch(name):
                message = "is no name of a program: small letters, digits, dashes, 40 at most."
                raise self._error(place, name, message)
            if not isinstance(values, dict):
                raise self._error(place, name, f"is a section: write [{place}.{name}] above its settings.")
        return {name: self.read(kind, values, f"{place}.{name}") for name, values in value.items()}

    def _error(self, section: str, name: str, what: str) -> SettingsError:
        """Returns an error with the setting's line in config.toml."""
        here, number = "", None
        for n, line in enumerate(self._text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
                here = header[1]
                if here == _join(section, name):
                    number = number or n
            elif here == section and re.match(rf"""\s*["']?{re.escape(name)}["']?\s*[=.]""", line):
                number = n
        place = f"{self._path}, line {number}" if number else str(self._path)
        return SettingsError(f"{place}: {_join(section, name)} {what}")


def _join(section: str, name: str) -> str:
    return f"{section}.{name}".lstrip(".")


def list_sections(values: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every dataclass of settings in `values`, with its path."""
    for item in fields(values):
        inner = getattr(values, item.name)
        if is_dataclass(inner):
            name = _join(path, item.name)
            if not all(map(is_section, fields(inner))):
                yield name, inner
            tables = [(leaf.name, getattr(inner, leaf.name)) for leaf in fields(inner) if is_table(leaf)]
            yield from ((f"{name}.{table}.{key}", row) for table, of in tables for key, row in sorted(of.items()))
            yield from list_sections(inner, name)


def is_listed(item: Field[Any]) -> bool:
    """Whether it is a setting for a person, or a table of settings."""
    return "help" in item.metadata


def is_section(item: Field[Any]) -> bool:
    """Whether it is a dataclass of settings."""
    return is_dataclass(item.default_factory)


def is_table(item: Field[Any]) -> bool:
    """Whether it has sections named by the user."""
    return item.default_factory is dict


def show_example(values: Any, section: str, item: Field[Any]) -> Iterator[str]:
    """Yields an example of such a section, as a comment."""
    kind = get_args(get_type_hints(type(values))[item.name])[1]
    yield f"# {item.metadata['help']}"
    yield f"# [{section}.{item.name}.NAME]"
    for setting in fields(kind):
        yield f"# {setting.name} = {to_toml(setting.default)}  # {describe_setting(setting)}"


def describe_setting(item: Field[Any]) -> str:
    """Returns a setting's sentence for config.toml and the tables, with the range of a number if it has one."""
    least, most = item.metadata["least"], item.metadata["most"]
    limits = "" if (least, most) == (0, MOST) else f" {describe_range(least, most).capitalize()}."
    return f"{item.metadata['help']}{limits}"


def first_line(values: Any) -> str:
    """Returns a section's first docstring line."""
    return (type(values).__doc__ or "").strip().splitlines()[0]


def to_toml(value: Any) -> str:
    """Converts a value to TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(_escape(char) for char in value) + '"'
    if isinstance(value, tuple):
        lines = [""]
        for item in map(to_toml, value):
            lines += [""] * (len(lines[-1]) + len(item) > LINE_CHARS)
            lines[-1] += f"{item}, "
        return f"[{lines[0][:-2]}]" if len(lines) == 1 else "\n  ".join(["[", *map(str.rstrip, lines)]) + "\n]"
    return repr(value)


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
