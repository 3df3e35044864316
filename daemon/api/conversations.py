"""The chat sessions: listed, searched, read, made, forked, renamed, deleted; and what a person states in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from daemon import wire
from daemon.api import sources
from daemon.api.services import Services
from daemon.terminal import title_of
from memory import Memory

MOST_SESSIONS = 1000


def conversations(memory: Memory) -> Sequence[wire.Conversation]:
    memory.state.pending.try_write()
    return memory.conversations.latest(MOST_SESSIONS)


def conversation(memory: Memory, id: int) -> wire.MessagesReply:
    return wire.MessagesReply(*memory.conversations.get(id), memory.conversations.state(id))


def new_conversation(services: Services, title: str) -> wire.Conversation:
    id = services.writer.write(partial(services.memory.conversations.create, title_of(title)))
    return conversation(services.memory, id).conversation


def rename_conversation(services: Services, id: int, title: str) -> wire.Conversation:
    services.writer.write(partial(services.memory.conversations.rename, id, title))
    return conversation(services.memory, id).conversation


def fork_conversation(services: Services, id: int, messages: int, title: str) -> wire.Conversation:
    new = services.writer.write(partial(services.memory.conversations.fork, id, max(0, messages), title))
    return conversation(services.memory, new).conversation


def search_conversations(memory: Memory, words: str, limit: int) -> Sequence[wire.ConversationMatch]:
    memory.state.pending.try_write()
    return memory.conversations.search(words, max(0, min(limit, MOST_SESSIONS)))


def delete_conversation(memory: Memory, id: int) -> None:
    memory.conversations.delete(id)


def tell(services: Services, text: str, conversation: int | None) -> wire.Told:
    return services.telling.keep(text, conversation)


def set_telling(services: Services, remember: Literal["ask", "yes", "no"]) -> None:
    services.telling.set(remember)


async def take_back_told(services: Services, source: str) -> wire.Told:
    last = await services.work(partial(services.telling.find_last, source))
    await sources.forget(services, last.source, None, None, None, False)
    return last
