"""The chat sessions over the API: listed, read, made, renamed, deleted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from daemon import views, wire
from daemon.api.routing import Api
from daemon.api.services import Services
from memory.store import conversations

MOST_SESSIONS = 1000

T = TypeVar("T")


def routes(api: Api, services: Services) -> None:
    store = services.memory.store

    def get(id: int) -> wire.MessagesReply:
        with store.reading() as conn:
            conversation, messages = conversations.get(conn, id)
        return wire.MessagesReply(views.conversation(conversation), tuple(map(views.message, messages)))

    async def write(unit: Callable[[Any], T]) -> T:
        def call() -> T:
            with store.writing() as conn:
                return unit(conn)

        return await services.write(call)

    @api.get("/conversations")
    async def listed() -> wire.ConversationsReply:
        def call() -> wire.ConversationsReply:
            with store.reading() as conn:
                found = conversations.listing(conn, limit=MOST_SESSIONS)
            return wire.ConversationsReply(tuple(map(views.conversation, found)))

        return await services.work(call)

    @api.post("/conversations")
    async def new(request: wire.ConversationRequest) -> wire.Conversation:
        id = await write(lambda conn: conversations.create(conn, request.title, views.now()))
        return (await services.work(partial(get, id))).conversation

    @api.get("/conversations/{id}")
    async def messages(id: int) -> wire.MessagesReply:
        return await services.work(partial(get, id))

    @api.put("/conversations/{id}")
    async def rename(id: int, request: wire.ConversationRequest) -> wire.Conversation:
        await write(lambda conn: conversations.rename(conn, id, request.title))
        return (await services.work(partial(get, id))).conversation

    @api.delete("/conversations/{id}")
    async def delete(id: int) -> wire.Done:
        await write(lambda conn: conversations.delete(conn, id))
        return wire.Done()
