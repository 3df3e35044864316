"""The chat sessions over the API: listed, read, made, renamed, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from fastapi import FastAPI, Response

from daemon import views, wire
from daemon.api.gate import reply
from daemon.jobs.writer import Writer
from memory.store import conversations
from memory.store.store import Store

MOST_SESSIONS = 1000

T = TypeVar("T")
Work = Callable[[Callable[[], T]], Coroutine[Any, Any, T]]


def routes(app: FastAPI, store: Store, writer: Writer, work: Work[Any]) -> None:
    """`work` calls in a thread."""

    def get(id: int) -> wire.MessagesReply:
        with store.reading() as conn:
            conversation, messages = conversations.get(conn, id)
        return wire.MessagesReply(views.conversation(conversation), tuple(map(views.message, messages)))

    async def write(unit: Callable[[Any], T]) -> T:
        def call() -> T:
            with store.writing() as conn:
                return unit(conn)

        return await asyncio.wrap_future(writer.submit(call, urgent=True))

    @app.get("/conversations", response_model=wire.ConversationsReply)
    async def listed() -> Response:
        def call() -> wire.ConversationsReply:
            with store.reading() as conn:
                found = conversations.listing(conn, limit=MOST_SESSIONS)
            return wire.ConversationsReply(tuple(map(views.conversation, found)))

        return reply(await work(call))

    @app.post("/conversations", response_model=wire.Conversation)
    async def new(request: wire.ConversationRequest) -> Response:
        id = await write(lambda conn: conversations.create(conn, request.title, views.now()))
        return reply((await work(partial(get, id))).conversation)

    @app.get("/conversations/{id}", response_model=wire.MessagesReply)
    async def messages(id: int) -> Response:
        return reply(await work(partial(get, id)))

    @app.put("/conversations/{id}", response_model=wire.Conversation)
    async def rename(id: int, request: wire.ConversationRequest) -> Response:
        await write(lambda conn: conversations.rename(conn, id, request.title))
        return reply((await work(partial(get, id))).conversation)

    @app.delete("/conversations/{id}", response_model=wire.Done)
    async def delete(id: int) -> Response:
        await write(lambda conn: conversations.delete(conn, id))
        return reply(wire.Done())
