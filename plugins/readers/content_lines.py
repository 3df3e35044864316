"""Content lines, of which calendars and contacts are made: a name, parameters and a value, folded over lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = re.compile(r"(?:[A-Za-z0-9-]+\.)?([A-Za-z0-9-]+)")
_PARAMETER = re.compile(r';([A-Za-z0-9-]+)(?:=("[^"]*"|[^";:]*))?')
_ESCAPE = re.compile(r"\\([\\;,:nN])")


class Property(NamedTuple):
    """A content line. `line` is where it begins; a `group` joins it with others."""

    name: str
    parameters: dict[str, str]
    value: str
    line: int
    group: str = ""


def unfold(text: str) -> Iterator[tuple[int, str]]:
    """The content lines, continuation lines joined, each with the line it begins on."""
    parts: list[str] = []
    begun = 1
    for number, line in enumerate(text.split("\n"), 1):
        if line[:1] in (" ", "\t") and parts:
            parts.append(line[1:])
            continue
        if parts:
            yield begun, "".join(parts)
        parts, begun = [line], number
    yield begun, "".join(parts)


def parse_property(content: str, number: int) -> Property | None:
    """The property in a content line of that number; None if it is none."""
    name = _NAME.match(content)
    if name is None:
        return None
    end = name.end()
    parameters: dict[str, str] = {}
    while (parameter := _PARAMETER.match(content, end)) is not None:
        key, value = parameter[1].upper(), (parameter[2] or "").strip('"')
        parameters[key] = f"{parameters[key]},{value}" if key in parameters else value
        end = parameter.end()
    if content[end : end + 1] != ":":
        return None
    group = content[: name.start(1)].rstrip(".").upper()
    return Property(name[1].upper(), parameters, content[end + 1 :], number, group)


def write_property(one: Property) -> str:
    """A property as a content line."""
    quoted = ((key, f'"{value}"' if set(value) & set(",:;") else value) for key, value in one.parameters.items())
    return "".join([one.name, *(f";{key}={value}" for key, value in quoted), f":{one.value}"])


def unescape(value: str) -> str:
    """A value as it is meant."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)
