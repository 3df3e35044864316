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


def export(memory: Memory, pages: bool) -> Iterator[bytes]:
    if pages:
        return memory.exporting.read_pages(read_version(), partial(make_page, memory))
    return memory.exporting.read(read_version())


def export_with_secrets(memory: Memory) -> Iterator[bytes]:
    return memory.exporting.read(read_version(), unmask=True)


def secrets(memory: Memory, placeholders: Sequence[str]) -> Mapping[str, str]:
    return memory.secrets.find(tuple(placeholders))


def secret_places(memory: Memory) -> wire.SecretPlacesReply:
    """Looks through all that was read."""
    return wire.SecretPlacesReply(tuple(memory.secrets.list_places()), tuple(memory.secrets.list_unmasked()))


def make_page(memory: Memory, name: str) -> dict[str, Any]:
    """What is known of a thing; {} if nothing is."""
    try:
        page = objects.object(memory, name)
    except NotFoundError:
        return {}
    return {item.name: getattr(page, item.name) for item in fields(page)}
