"""The chat sessions over the API: listed, searched, read, made, forked, renamed, deleted."""

from __future__ import annotations

from functools import partial

from daemon import wire
from daemon.api.routing import Api
from daemon.api.services import Services

MOST_SESSIONS = 1000


def routes(api: Api, services: Services) -> None:
    conversations = services.memory.conversations

    def get(id: int) -> wire.MessagesReply:
        return wire.MessagesReply(*conversations.get(id), conversations.state(id))

    @api.get("/conversations")
    async def listed() -> wire.ConversationsReply:
        found = await services.work(partial(conversations.latest, MOST_SESSIONS))
        return wire.ConversationsReply(tuple(found))

    @api.post("/conversations")
    async def new(title: str = "") -> wire.Conversation:
        id = await services.write(partial(conversations.create, title))
        return (await services.work(partial(get, id))).conversation

    @api.get("/conversations/{id}")
    async def messages(id: int) -> wire.MessagesReply:
        return await services.work(partial(get, id))

    @api.put("/conversations/{id}")
    async def rename(id: int, title: str = "") -> wire.Conversation:
        await services.write(partial(conversations.rename, id, title))
        return (await services.work(partial(get, id))).conversation

    @api.post("/conversations/{id}/fork")
    async def fork(id: int, messages: int, title: str = "") -> wire.Conversation:
        new = await services.write(partial(conversations.fork, id, max(0, messages), title))
        return (await services.work(partial(get, new))).conversation

    @api.get("/messages")
    async def search(words: str, limit: int = 50) -> wire.MatchesReply:
        found = await services.work(partial(conversations.search, words, max(0, min(limit, MOST_SESSIONS))))
        return wire.MatchesReply(words, tuple(found))

    @api.delete("/conversations/{id}")
    async def delete(id: int) -> None:
        await services.write(partial(conversations.delete, id))
