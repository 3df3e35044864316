"""Dataclasses of settings as sections of TOML: read and checked with the line of what is wrong, listed, and written.

A field that is a dataclass is a section, one that is a Mapping of dataclasses a table of sections by names of the
user's. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from memory.errors import PalimpsestError
from memory.settings import MOST, describe_range

# Settings of earlier versions. `pal init` writes every setting, so any config.toml may have them: they are ignored.
REMOVED = frozenset(
    "mcp.port anthropic.batches learning.calls memory.recall.chat_graph_weight memory.answer.prompt_chains"
    " plugins.inside plugins.call_s plugins.memory_mb traversers.walk.vertices traversers.walk.mixed_weight"
    " traversers.circles.edges traversers.paths.step traversers.paths.pairs traversers.paths.count"
    " traversers.synergy.formula".split()
)

TABLE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # of a section in a table


class SettingsError(PalimpsestError):
    """config.toml cannot be read; the message names the line and says what to do."""


def locate_error(path: Path, text: str, section: str, name: str, what: str) -> SettingsError:
    """An error with the line of config.toml that has the setting."""
    here, number = "", None
    for n, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
            here = header[1]
            if here == f"{section}.{name}".lstrip("."):
                number = number or n
        elif here == section and re.match(rf"""\s*["']?{re.escape(name)}["']?\s*[=.]""", line):
            number = n
    place = f"{path}, line {number}" if number else str(path)
    return SettingsError(f"{place}: {f'{section}.{name}'.lstrip('.')} {what}")


def build_section(
    kind: Any, data: dict[str, Any], section: str, error: Callable[[str, str, str], SettingsError]
) -> Any:
    """A `kind`, a dataclass of settings, of what TOML has under `section`. Raises what `error` makes of section, name
    and what is wrong with it."""
    types = get_type_hints(kind)
    data = {name: value for name, value in data.items() if f"{section}.{name}" not in REMOVED}
    for name in data:
        if name not in types:
            raise error(section, name, f"is not a setting.{_find_nearest(name, types)} Correct or remove it.")
    values = {name: _convert(types[name], value, section, name, error) for name, value in data.items()}
    for item in fields(kind):
        value = values.get(item.name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            least, most = item.metadata["least"], item.metadata["most"]
            if not least <= value <= most:
                raise error(section, item.name, f"must be a number {describe_range(least, most)}, not {value}.")
    return kind(**values)


def _convert(kind: Any, value: Any, section: str, name: str, error: Callable[[str, str, str], SettingsError]) -> Any:
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise error(section, name, f"is a section: write [{f'{section}.{name}'.lstrip('.')}] above its settings.")
        return build_section(kind, value, f"{section}.{name}".lstrip("."), error)
    if get_origin(kind) is Mapping:
        return _build(kind, value, f"{section}.{name}".lstrip("."), error)
    if (kind is bool and isinstance(value, bool)) or (kind is str and isinstance(value, str)):
        return value
    if kind in (int, float) and isinstance(value, kind | int) and not isinstance(value, bool):
        return kind(value) if abs(value) <= MOST else value
    if get_origin(kind) in (Union, UnionType):  # a number, or a word that stands for one
        number, words = get_args(kind)
        if isinstance(value, str) and value not in get_args(words):
            raise error(section, name, f"must be a number or {', '.join(get_args(words))}, not {value!r}.")
        return value if isinstance(value, str) else _convert(number, value, section, name, error)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise error(section, name, f"must be one of {', '.join(get_args(kind))}, not {value!r}.")
        return value
    if kind == tuple[str, ...] and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    descriptions = {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes"}
    raise error(section, name, f"must be {descriptions.get(kind, 'a list of texts in quotes')}, not {value!r}.")


def _build(kind: Any, value: Any, section: str, error: Callable[[str, str, str], SettingsError]) -> dict[str, Any]:
    """Sections by names of the user's."""
    outer, _, last = section.rpartition(".")
    if not isinstance(value, dict):
        raise error(outer, last, f"is a table of sections: write [{section}.NAME] above the settings of each.")
    for name, values in value.items():
        if not TABLE_NAME.fullmatch(name):
            raise error(section, name, "is no name of a program: small letters, digits, dashes, 40 at most.")
        if not isinstance(values, dict):
            raise error(section, name, f"is a section: write [{section}.{name}] above its settings.")
    return {
        name: build_section(get_args(kind)[1], values, f"{section}.{name}", error) for name, values in value.items()
    }


def _find_nearest(name: str, names: dict[str, Any]) -> str:
    import difflib

    close = difflib.get_close_matches(name, names, 1)
    return f" Did you mean {close[0]}?" if close else ""


def list_sections(values: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every dataclass below `values` that holds settings, with its path."""
    for item in fields(values):
        inner = getattr(values, item.name)
        if is_dataclass(inner):
            name = f"{path}.{item.name}".lstrip(".")
            if any(not is_section(leaf) for leaf in fields(inner)):
                yield name, inner
            tables = [(leaf.name, getattr(inner, leaf.name)) for leaf in fields(inner) if is_table(leaf)]
            yield from ((f"{name}.{table}.{key}", row) for table, of in tables for key, row in sorted(of.items()))
            yield from list_sections(inner, name)


def is_section(item: Field[Any]) -> bool:
    """Whether it is a dataclass of settings."""
    return is_dataclass(item.default_factory)


def is_table(item: Field[Any]) -> bool:
    """Whether it holds sections by names of the user's."""
    return item.default_factory is dict


def show_example(values: Any, section: str, item: Field[Any]) -> Iterator[str]:
    """How such a section is written, as a comment."""
    kind = get_args(get_type_hints(type(values))[item.name])[1]
    yield f"# {item.metadata['help']}"
    yield f"# [{section}.{item.name}.NAME]"
    for setting in fields(kind):
        yield f"# {setting.name} = {to_toml(setting.default)}  # {describe_setting(setting)}"


def describe_setting(item: Field[Any]) -> str:
    """A setting's sentence for config.toml and the tables, with the range of a number if it has one."""
    least, most = item.metadata["least"], item.metadata["most"]
    limits = "" if (least, most) == (0, MOST) else f" {describe_range(least, most).capitalize()}."
    return f"{item.metadata['help']}{limits}"


def first_line(values: Any) -> str:
    """What a section is about."""
    return (type(values).__doc__ or "").strip().splitlines()[0]


def to_toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(_escape(char) for char in value) + '"'
    if isinstance(value, tuple):
        return "[" + "".join(f"\n  {to_toml(item)}," for item in value) + ("\n]" if value else "]")
    return repr(value)


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
