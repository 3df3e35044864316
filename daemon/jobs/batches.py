"""Which passages a model reads in one call."""

from __future__ import annotations

from collections.abc import Sequence

from memory.facts.llm_requests import MAX_EPISODE_CHARS
from memory.nouns import Episode

BATCH_CHARS = 2_400  # of one episode, of all in a batch on average


def make_batches(unread: Sequence[Episode], here: int, away: int) -> list[list[int]]:
    """Ids of episodes for one call each: `here` of them where text must stay on this machine, else `away`; never mixed.
    A source that fits is read in one call; small ones share one."""
    sources: dict[int, list[Episode]] = {}
    for episode in unread:
        sources.setdefault(episode.source.id, []).append(episode)
    open_batches: dict[str, list[Episode]] = {}
    batches: list[list[Episode]] = []
    for episodes in sources.values():
        policy = episodes[0].source.policy
        size = here if policy == "local" else away
        for part in _cut(episodes, size):
            batch = open_batches.get(policy, [])
            if not batch or not _fits([*batch, *part], size):
                batch = open_batches[policy] = []
                batches.append(batch)
            batch += part
    return [[episode.id for episode in batch] for batch in batches]


def _cut(episodes: Sequence[Episode], size: int) -> list[list[Episode]]:
    parts: list[list[Episode]] = []
    for episode in episodes:
        if not parts or not _fits([*parts[-1], episode], size):
            parts.append([])
        parts[-1].append(episode)
    return parts


def _fits(episodes: Sequence[Episode], size: int) -> bool:
    chars = sum(min(len(episode.text), MAX_EPISODE_CHARS) for episode in episodes)
    return len(episodes) <= size and chars <= size * BATCH_CHARS
