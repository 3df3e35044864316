"""Questions, and the passages that answers cite."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from starlette.responses import Response

from daemon import views, wire
from daemon.api import questions
from daemon.api.routing import stream
from daemon.api.services import Services
from daemon.jobs.activity import Channel
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError

MOST_HITS = 200


async def ask(
    services: Services,
    question: str,
    as_of: datetime | None,
    within: wire.Scope | None,
    conversation: int | None,
    effort: str,
    replay: bool,
    strategy: str,
    own_words: bool,
    agent: str,
) -> Response:
    channel = Channel()
    begin = partial(
        questions.begin, services.memory, services.writer, channel, question, services.models.choose,
        services.models.drive, as_of=as_of, within=within, conversation=conversation,
        is_loading=services.models.is_loading, effort=effort, replay=replay, strategy=strategy,
        telling=services.telling if own_words and as_of is None else None, agent=agent,
    )  # fmt: skip
    return await _answer(services, channel, begin)


async def ask_again(services: Services, id: int, conversation: int | None, replay: bool) -> Response:
    channel = Channel()
    begin = partial(
        questions.ask_again, services.memory, services.writer, channel, id, services.models.choose,
        services.models.drive, conversation=conversation, is_loading=services.models.is_loading, replay=replay,
    )  # fmt: skip
    return await _answer(services, channel, begin)


async def _answer(services: Services, channel: Channel, begin: Callable[[], Callable[[], None]]) -> Response:
    services.questions.submit(await services.read(begin))
    return stream(channel.events())


def recall(
    memory: Memory, question: str, k: int, as_of: datetime | None, within: wire.Scope | None, strategy: str
) -> wire.RecallReply:
    if not 1 <= k <= MOST_HITS:
        raise InvalidInputError(f"k is {k}; ask for 1 to {MOST_HITS} episodes.")
    began = time.monotonic()
    reply = memory.recall(question, k, as_of, questions.checked_scope(memory, within), strategy=strategy)
    return views.recall_reply(reply, round((time.monotonic() - began) * 1000, 1))


def context(
    memory: Memory, task: str, tokens: int, as_of: datetime | None, within: wire.Scope | None
) -> wire.TaskContext:
    return memory.questions.write_context(task, tokens, as_of, questions.checked_scope(memory, within))


def strategies(memory: Memory) -> Mapping[str, str]:
    from plugins.manager import load

    return load().describe_strategies()


def episode(memory: Memory, id: int) -> wire.Passage:
    for passage in memory.sources.episodes([id]):
        return views.passage(passage)
    raise NotFoundError(f"There is no passage {id}.")


def surroundings(memory: Memory, id: int) -> wire.Surroundings:
    return views.surroundings(*memory.sources.surroundings(id))
