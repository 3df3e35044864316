"""What writes, as clients ask for it: notes, files that are read once, forgetting."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from starlette.responses import Response

from daemon import views, wire
from daemon.api import documents
from daemon.api.routing import MOST_ROWS, Api, stream
from daemon.api.services import Services
from daemon.jobs.activity import Channel
from memory.errors import InvalidInputError


def routes(api: Api, services: Services) -> None:
    """What writes: notes, files that are read once, forgetting."""
    memory = services.memory

    @api.post("/remember")
    async def remember(
        text: str,
        title: str | None = None,
        source: str | None = None,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
    ) -> wire.Receipt:
        """A note has the time it was made, unless it says another."""
        at = at or datetime.now().astimezone()
        return await services.write(
            partial(memory.remember, text, title=title, source=source, at=at, speaker=speaker, ref=ref)
        )

    @api.post("/forget")
    async def forget(
        source: str | None = None,
        object: str | None = None,
        episode: int | None = None,
        fact: int | None = None,
        retired: bool = False,
    ) -> wire.Forgotten:
        if retired:
            if (object, episode, fact) != (None, None, None):
                raise InvalidInputError("Retired text is forgotten as a whole, or that of a source or folder.")
            erase = partial(documents.forget_retired, memory, services.erasing, services.backups, source or "")
            return await services.work(erase)
        unit = partial(documents.forget, memory, services.backups, source, object, episode, fact)
        return services.erasing.watch(await services.write(unit))

    @api.get("/retired")
    async def list_retired(limit: int = 100) -> wire.RetiredReply:
        def call() -> wire.RetiredReply:
            listed, total = memory.retention.list_retired(max(0, min(limit, MOST_ROWS)))
            return wire.RetiredReply(tuple(listed), total)

        return await services.work(call)

    @api.post("/add")
    async def add(paths: tuple[str, ...], policy: str | None = None, again: bool = False) -> Response:
        channel = Channel()
        there = await services.work(partial(documents.find_existing, paths))

        def tell(event: wire.Event) -> None:
            channel.put(event)
            if isinstance(event, wire.Added | wire.Failed):
                channel.end()

        chosen = views.policy(policy)
        await services.work(lambda: services.adds.add(there, tell, chosen, services.policy(), again))
        return stream(channel.events())
