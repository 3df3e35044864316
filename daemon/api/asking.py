"""Questions, and the passages that answers cite, as clients ask for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from functools import partial

from starlette.responses import Response

from daemon import views, wire
from daemon.api import questions
from daemon.api.routing import Api, stream
from daemon.api.services import Services
from daemon.jobs.activity import Channel
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Recall

MOST_HITS = 200


def routes(api: Api, services: Services) -> None:
    """Questions, and the passages that answers cite."""
    memory = services.memory

    models = services.models.choose, services.models.drive

    async def answer(channel: Channel, begin: Callable[[], Callable[[], None]]) -> Response:
        services.questions.submit(await services.read(begin))
        return stream(channel.events())

    @api.post("/ask")
    async def ask(
        question: str,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        conversation: int | None = None,
        effort: str = "normal",
        replay: bool = True,
        strategy: str = "",
        own_words: bool = False,
        agent: str = "",
    ) -> Response:
        channel = Channel()
        begin = partial(
            questions.begin, memory, services.writer, channel, question, *models, as_of=as_of, within=within,
            conversation=conversation, is_loading=services.models.is_loading, effort=effort, replay=replay,
            strategy=strategy, telling=services.telling if own_words and as_of is None else None, agent=agent,
        )  # fmt: skip
        return await answer(channel, begin)

    @api.post("/traces/{id}/again")
    async def again(id: int, conversation: int | None = None, replay: bool = True) -> Response:
        channel = Channel()
        begin = partial(
            questions.ask_again, memory, services.writer, channel, id, *models, conversation=conversation,
            is_loading=services.models.is_loading, replay=replay,
        )  # fmt: skip
        return await answer(channel, begin)

    @api.post("/recall")
    async def recall(
        question: str,
        k: int = 10,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        strategy: str = "",
    ) -> wire.RecallReply:
        if not 1 <= k <= MOST_HITS:
            raise InvalidInputError(f"k is {k}; ask for 1 to {MOST_HITS} episodes.")
        began = time.monotonic()

        def call() -> Recall:
            return memory.recall(question, k, as_of, questions.checked_scope(memory, within), strategy=strategy)

        found = await services.read(call)
        return views.recall_reply(found, round((time.monotonic() - began) * 1000, 1))

    @api.post("/context")
    async def context(
        task: str, tokens: int = 1000, as_of: datetime | None = None, within: wire.Scope | None = None
    ) -> wire.TaskContext:
        def call() -> wire.TaskContext:
            return memory.questions.write_context(task, tokens, as_of, questions.checked_scope(memory, within))

        return await services.read(call)

    @api.get("/episodes/{id}")
    async def episode(id: int) -> wire.Passage:
        def call() -> wire.Passage:
            for found in memory.sources.episodes([id]):
                return views.passage(found)
            raise NotFoundError(f"There is no episode {id}.")

        return await services.read(call)

    @api.get("/episodes/{id}/around")
    async def surroundings(id: int) -> wire.Surroundings:
        return await services.read(lambda: views.surroundings(*memory.sources.surroundings(id)))
