"""Questions that were asked: why an answer is what it is, verdicts, what is learnt from them; and the chat sessions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from starlette.responses import Response

from daemon import wire
from daemon.api import sources
from daemon.api.routing import MOST_ROWS, follow
from daemon.api.services import Services
from daemon.calls.questions import Opinion
from daemon.jobs.activity import Channel
from daemon.jobs.workers import Writer
from daemon.terminal import title_of
from memory import Memory
from memory.errors import InvalidInputError

REBUILT = ("memory", "rows", "text", "vectors")
MOST_SESSIONS = 1000


def traces(memory: Memory, limit: int, offset: int) -> wire.TracesReply:
    if not 0 <= limit <= MOST_ROWS or offset < 0:
        raise InvalidInputError(f"Ask for 0 to {MOST_ROWS} traces, from 0 on.")
    newest = memory.questions.traces(limit, offset)
    return wire.TracesReply(tuple(newest), memory.questions.count_traces())


def trace(memory: Memory, id: int) -> wire.Traced:
    return memory.questions.trace(id)


def why(memory: Memory, id: int) -> wire.Why:
    return memory.questions.why(id)


def whynot(memory: Memory, id: int, words: str) -> wire.WhyNot:
    return memory.questions.why_not(id, words)


def judge(memory: Memory, id: int, verdict: Opinion) -> wire.Judged:
    before = memory.questions.trace(id)
    if before.answer is None:
        raise InvalidInputError(f"Trace {id} looked for passages only; there is no answer to judge.")
    memory.questions.feedback(id, verdict)
    after = memory.questions.trace(id).asked
    passages = 0 if before.answer.no_answer else len({citation.episode_id for citation in before.answer.citations})
    return wire.Judged(after, before.asked.verdict, passages)


def diagnosis(memory: Memory) -> wire.Diagnosis:
    return memory.maintenance.diagnose()


async def rebuild(services: Services, what: Sequence[str]) -> Response:
    if not what or not set(what) <= set(REBUILT):
        raise InvalidInputError(f"Say what to rebuild: {' or '.join(REBUILT)}.")
    build = partial(_rebuild, services.memory, services.writer, services.backups, tuple(what))
    return follow(services, build, "rebuilding")


async def train(services: Services) -> Response:
    return follow(services, lambda channel: services.learning.study(channel.put), "learning")


def undo_training(services: Services) -> wire.TrainingUndone:
    return services.learning.undo()


def _rebuild(memory: Memory, writer: Writer, backups: Path, what: tuple[str, ...], channel: Channel) -> wire.Rebuilt:
    """Rebuilds views of the traces and the text."""

    def tell(done: int, total: int) -> None:
        channel.put(wire.Progress(done, total, "Rebuilding"))

    edges, passages, vectors, rows = 0, 0, 0, 0

    if "rows" in what:
        rows = writer.write_later(partial(memory.maintenance.repair_rows, backups))
    if "memory" in what:
        edges = memory.maintenance.rebuild_edge_memory(tell, writer.write_later)
    if "text" in what:
        passages = writer.write_later(partial(_index, memory))
    if "vectors" in what:
        vectors = memory.maintenance.rebuild_vectors(tell, writer.write_later)
    return wire.Rebuilt(edges, passages, vectors, rows)


def _index(memory: Memory) -> int:
    memory.maintenance.rebuild_text()
    return memory.browsing.stats().episodes


def conversations(memory: Memory) -> Sequence[wire.Conversation]:
    memory.state.pending.try_write()
    return memory.conversations.latest(MOST_SESSIONS)


def conversation(memory: Memory, id: int) -> wire.MessagesReply:
    return wire.MessagesReply(*memory.conversations.get(id))


def new_conversation(services: Services, title: str) -> wire.Conversation:
    id = services.writer.write(partial(services.memory.conversations.create, title_of(title)))
    return conversation(services.memory, id).conversation


def rename_conversation(services: Services, id: int, title: str) -> wire.Conversation:
    services.writer.write(partial(services.memory.conversations.rename, id, title))
    return conversation(services.memory, id).conversation


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
