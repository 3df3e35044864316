"""The memory's nouns as clients get them, where these are not the nouns themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from daemon import wire
from memory import Memory
from memory.nouns import ENTRY_VERSIONS, Episode, Fact, Hit, Recall
from memory.revisions import Revision
from memory.views import Stats
from plugins.installing import read_version

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


def status(stats: Stats, **more: Any) -> wire.Status:
    """What the memory holds, with what else is known of the daemon."""
    return wire.Status(version=read_version(), protocol=wire.PROTOCOL, pid=os.getpid(), stats=stats, **more)


def surroundings(before: Episode | None, after: Episode | None, properties: Mapping[str, Any]) -> wire.Surroundings:
    texts = {str(key): _describe_property(value) for key, value in properties.items() if key != ENTRY_VERSIONS}
    return wire.Surroundings(before.to_passage() if before else None, after.to_passage() if after else None, texts)


def _describe_property(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def recall_reply(recall: Recall, ms: float) -> wire.RecallReply:
    return wire.RecallReply(tuple(map(_make_found, recall.hits)), ms, recall.trace.steps)


def _make_found(hit: Hit) -> wire.Found:
    return wire.Found(
        hit.episode.to_passage(), float(hit.score), {name: float(score) for name, score in hit.channels.items()}
    )


def quote_sentences(memory: Memory, listed: Sequence[Revision]) -> list[Revision]:
    """The revisions with the whole sentences of their quotes: a person is to judge them."""
    ids = {fact.episode_id for each in listed for fact in (each.old, each.new)}
    passages = {episode.id: episode for episode in memory.sources.episodes(sorted(ids))}

    def whole(fact: Fact) -> Fact:
        passage = passages.get(fact.episode_id)
        for match in re.finditer(re.escape(fact.quote), passage.text) if passage and fact.quote else ():
            if passage and passage.line_at(match.start()) == fact.line:
                start = max((end.end() for end in SENTENCE_END.finditer(passage.text, 0, match.start())), default=0)
                end = SENTENCE_END.search(passage.text, max(match.start(), match.end() - 1))
                return replace(fact, quote=passage.text[start : end.start() if end else None].strip())
        return fact

    return [replace(each, old=whole(each.old), new=whole(each.new)) for each in listed]
