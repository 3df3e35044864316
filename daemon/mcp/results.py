"""Results for an agent: dictionaries; every piece of the person's text has its source.

Each is marked as untrusted: notes may contain instructions, and an agent must not follow them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from daemon import wire
from daemon.mcp.access import MAX_BYTES


def passage_result(passage: wire.Passage, score: float | None = None) -> dict[str, Any]:
    """A passage as an agent sees it."""
    result = {
        "id": passage.episode_id,
        "source": passage.uri,
        "title": passage.title,
        "line": passage.line,
        "at": _format_moment(passage.at),
        "speaker": passage.speaker,
        "untrusted": True,
        "text": passage.text,
    }
    return result if score is None else result | {"score": round(score, 4)}


def citation_result(cited: wire.Citation) -> dict[str, Any]:
    """A citation as an agent sees it."""
    return {
        "n": cited.n,
        "id": cited.episode_id,
        "source": cited.uri,
        "title": cited.title,
        "line": cited.line,
        "at": _format_moment(cited.at),
        "earlier": cited.earlier,
        "verdict": cited.verdict,
        "untrusted": True,
        "text": cited.quote,
    }


def fact_result(fact: wire.Fact) -> dict[str, Any]:
    """A fact as an agent sees it."""
    return {
        "id": fact.id,
        "objects": list(fact.objects),
        "predicate": fact.predicate,
        "since": fact.since or _format_moment(fact.valid_from),
        "until": fact.until or _format_moment(fact.valid_to),
        "replaced": fact.superseded_by is not None,
        "source": fact.uri,
        "line": fact.line,
        "untrusted": True,
        "text": fact.text,
    }


def cut_to_size(results: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """The first results that fit into one answer, and whether there were more. Their own size is that of their text."""
    fitting: list[dict[str, Any]] = []
    size = 0
    for result in results:
        size += len(str(result["text"]).encode("utf-8", "replace"))
        if size > MAX_BYTES:
            return fitting, True
        fitting.append(result)
    return fitting, False


def _format_moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
