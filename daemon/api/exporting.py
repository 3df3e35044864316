"""The whole memory as lines of JSON, and the secrets for its placeholders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from daemon import wire
from daemon.api import objects
from memory import Memory
from memory.errors import NotFoundError
from plugins.installing import read_version


def export(memory: Memory, kinds: Sequence[str]) -> Iterator[bytes]:
    return read_lines(memory, kinds)


def export_with_secrets(memory: Memory, kinds: Sequence[str]) -> Iterator[bytes]:
    return read_lines(memory, kinds, secrets=True)


def secrets(memory: Memory, placeholders: Sequence[str]) -> Mapping[str, str]:
    return memory.secrets.find(tuple(placeholders))


def secret_places(memory: Memory) -> wire.SecretPlacesReply:
    """Looks through all that was read."""
    return wire.SecretPlacesReply(tuple(memory.secrets.list_places()), tuple(memory.secrets.list_unmasked()))


def read_lines(memory: Memory, kinds: Sequence[str] = (), secrets: bool = False) -> Iterator[bytes]:
    """Pieces of lines of these kinds, or of all that is true. InvalidInputError."""
    return memory.exporting.read(read_version(), tuple(kinds), secrets, partial(make_page, memory))


def make_page(memory: Memory, name: str) -> dict[str, Any]:
    """What is known of a thing; {} if nothing is."""
    try:
        page = objects.object(memory, name)
    except NotFoundError:
        return {}
    return {item.name: getattr(page, item.name) for item in fields(page)}
