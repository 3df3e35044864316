"""Parts that families of readers share: libraries of the extra `readers`, imported when a file needs them; the content
lines of calendars and contacts, each a name, parameters and a value, folded over lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from plugins.installing import install_command
from plugins.readers import Unreadable

NOT_INSTALLED = "is not installed:"  # in the reason of a file that needs a library of the extra


def import_library(name: str, package: str) -> Any:
    """Returns the module of that name. Raises Unreadable with the install command for its `package`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Unreadable(f"{package} {NOT_INSTALLED} {install_command('readers')}") from error


_NAME = re.compile(r"(?:[A-Za-z0-9-]+\.)?([A-Za-z0-9-]+)")
_PARAMETER = re.compile(r';([A-Za-z0-9-]+)(?:=("[^"]*"|[^";:]*))?')
_ESCAPE = re.compile(r"\\([\\;,:nN])")


class Property(NamedTuple):
    """A content line that begins at `line`; `group` connects related lines."""

    name: str
    parameters: dict[str, str]
    value: str
    line: int
    group: str = ""


def unfold(text: str) -> Iterator[tuple[int, str]]:
    """Yields the unfolded content lines, each with its first line number."""
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
    """Returns the property in the content line of that number, or None."""
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


def write_property(property: Property) -> str:
    """Returns a property as a content line."""
    quoted = ((key, f'"{value}"' if set(value) & set(",:;") else value) for key, value in property.parameters.items())
    return "".join([property.name, *(f";{key}={value}" for key, value in quoted), f":{property.value}"])


def unescape(value: str) -> str:
    """Returns a value without escapes."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)
