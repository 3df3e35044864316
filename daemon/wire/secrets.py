"""Secrets: what stands behind placeholders, and where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecretsReply:
    """The secrets behind placeholders, by placeholder; of those that are kept no more there is none."""

    secrets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """Where a secret stands: in a source, by its line where it has lines, or in a question ("trace 12")."""

    uri: str
    line: int | None
    kind: str


@dataclass(frozen=True, slots=True)
class SecretPlacesReply:
    """Secrets that were masked when they were read, and those that the memory holds as they were written."""

    masked: tuple[SecretPlace, ...]
    unmasked: tuple[SecretPlace, ...]
