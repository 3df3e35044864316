"""Items of a model's reply, and whether one is learnt from a note."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from memory.facts.llm_requests import parse_extractions
from memory.nouns import Episode, Source


def triple(subject: str, predicate: str, object: str, quote: str) -> dict[str, Any]:
    return {
        "subject": subject, "predicate": predicate, "object": object, "modality": "asserted", "valid_from": None,
        "valid_until": None, "quote": quote,
    }  # fmt: skip


def thesis(text: str, quote: str) -> dict[str, Any]:
    return {
        "text": text, "objects": [], "modality": "asserted", "valid_from": None, "valid_until": None, "quote": quote,
    }  # fmt: skip


def learnt(text: str, item: dict[str, Any], owner: Sequence[str] = (), title: str = "a") -> bool:
    """Whether a fact of the item gets in. `owner`: the owner's names."""
    episode = Episode(
        7, Source(1, "/notes/a.md", "file", title, "markdown"), 0, title, text, datetime(2024, 6, 3, tzinfo=UTC)
    )
    kind = "statements" if "text" in item else "facts"
    reply = {"episodes": [{"episode": 1, "facts": [], "statements": [], "objects": [], kind: [item]}]}
    extractions, _ = parse_extractions(reply, [episode], owner)
    return bool(extractions[7])
