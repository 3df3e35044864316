"""Questions: from the request to the last event; why an answer is what it is, verdicts, what is learnt from them; the
chat sessions.

The work on a question runs in one thread until the last event, and stops when nobody listens any more. It waits for no
writer: the writing thread stores the question, and after the last event the trace and the answer: whole, or "partial"
if it broke off.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from starlette.responses import Response

from daemon import wire
from daemon.api import sources
from daemon.api.routing import follow, stream
from daemon.api.services import Services
from daemon.api.statements import answer_statement, answer_unsaved
from daemon.calls.knowledge import Opinion
from daemon.failures import failure
from daemon.jobs.activity import Channel
from daemon.jobs.workers import Writer
from daemon.terminal import title_of
from memory import Memory
from memory.errors import InvalidInputError, ModelCancelledError, NotFoundError
from memory.nouns import Answer, AskEvent, Citation, Effort, Preview, Scope, Token
from memory.services.sources import fold_name

log = logging.getLogger(__name__)

NAMES = 5  # of chats, listed if an unknown one is named
NAME_CHARS = 80
REBUILT = ("memory", "rows", "text", "vectors")
MOST_SESSIONS = 1000


@dataclass
class Turn:
    """A question being answered, with or without a chat session. `is_loading` returns whether a model must be loaded
    first."""

    memory: Memory
    writer: Writer
    channel: Channel
    chat: int | None = None
    is_loading: Callable[[str], bool] = lambda name: False
    began: float = field(default_factory=time.monotonic)

    def begin(self, question: str, events: Iterator[AskEvent]) -> Callable[[], None]:
        """Queues the question for its chat session; returns the work that fills the channel with the events.
        NotFoundError for an unknown session."""
        if self.chat is not None:
            self.memory.conversations.check(self.chat)
        self._add_later(partial(self.memory.conversations.add_question, text=question))
        return partial(self._work, events)

    def _add_later(self, add: Callable[[int], None]) -> None:
        if self.chat is not None:
            self.memory.state.pending.add(partial(add, self.chat))
            self.writer.submit(self.memory.state.pending.try_write, urgent=True)

    def _work(self, events: Iterator[AskEvent]) -> None:
        """Fills the channel with the events, and stores the answer in the chat session."""
        channel, add_answer = self.channel, self.memory.conversations.add_answer
        pieces: list[str] = []
        cited: list[Citation] = []
        preview = Preview("")
        answer: Answer | None = None
        try:
            for event in events:
                if channel.abandoned:
                    break
                if isinstance(event, Answer):
                    answer = event
                    self._add_later(partial(add_answer, answer=answer))
                    self.writer.submit(partial(deque, events, 0), urgent=True)  # which stores the trace
                    channel.put(end_question(answer, self.began, self.chat))
                    break
                if isinstance(event, Token):
                    pieces.append(event.text)
                if isinstance(event, Citation):
                    cited.append(event)
                if isinstance(event, Preview):
                    event = preview = replace(event, is_loading=self.is_loading(event.model))
                channel.put(event)
        except ModelCancelledError:
            log.info("the client left before the end of the answer")
        except (Exception, SystemExit) as error:  # of a plug-in, perhaps
            log.error("a question failed: %s", type(error).__name__)
            channel.put(failure(error))
        finally:
            if answer is None:
                seen = Answer("".join(pieces), tuple(cited)) if pieces else Answer(preview.text, preview.citations)
                self._add_later(partial(add_answer, answer=seen, state="partial"))
            channel.end()


def end_question(answer: Answer, began: float, conversation: int | None = None) -> wire.Answered:
    """Returns the last event of a question."""
    values = {item.name: getattr(answer, item.name) for item in fields(answer)}
    return wire.Answered(**values, conversation=conversation, ms=round((time.monotonic() - began) * 1000, 1))


def checked_scope(memory: Memory, within: Scope | None) -> Scope | None:
    """Returns the scope, None for no limit. NotFoundError for an unknown chat, with the names of some known ones."""
    if within is not None and within.conversation is not None:
        with memory.store.reading():
            if not memory.sources.has_chat(within.conversation):
                raise NotFoundError(_describe_missing_chat(within.conversation, memory.sources.chat_names()))
    return within if within != Scope() else None


def _describe_missing_chat(name: str, names: list[str]) -> str:
    shown = f"There is no chat {name[:NAME_CHARS]!r}."
    if not names:
        return f"{shown} No chat has been read yet. Read one: pal add chat.json"
    folded = fold_name(name)
    by_form = {fold_name(known): known for known in names}
    alike = [form for form in by_form if folded and folded in form] + get_close_matches(folded, by_form)
    first = list(dict.fromkeys([*alike, *by_form]))[:NAMES]
    more = f" and {len(by_form) - len(first):,} more" if len(by_form) > len(first) else ""
    return f"{shown} There are: {', '.join(repr(by_form[form][:NAME_CHARS]) for form in first)}{more}."


async def ask(
    services: Services,
    question: str,
    as_of: datetime | None,
    within: wire.Scope | None,
    conversation: int | None,
    effort: Effort,
    replay: bool,
    strategy: str,
    own_words: bool,
    agent: str,
) -> Response:
    """Answers a question. Statements in it are stored first if the person agreed to that; then only the rest is looked
    up. If the person has not decided yet, the proposal is sent, and the whole question is looked up."""
    memory, models, statements, channel = services.memory, services.models, services.statements, Channel()
    turn = Turn(memory, services.writer, channel, conversation, models.is_loading)

    def begin() -> Callable[[], None]:
        scope = checked_scope(memory, within)
        proposal, choice = statements.detect(question) if own_words and as_of is None else (None, "no")
        statement = proposal if choice == "yes" else None
        if statement is not None and not statement.besides:
            note = statements.keep(statement.text, conversation)
            channel.put(note)
            return turn.begin(question, answer_statement(memory, note))
        events = memory.questions.ask(
            question if statement is None else statement.besides,
            statement="" if statement is None else statement.text,
            as_of=as_of, conversation=conversation, within=scope, llm=models.choose, driver=models.drive,
            cancelled=lambda: channel.abandoned, effort=effort, replay=replay, strategy=strategy,
            agent=agent,
        )  # fmt: skip
        if statement is not None:  # before anything is looked up: it begins with the first event
            channel.put(replace(statements.keep(statement.text, conversation), besides=statement.besides))
        elif proposal is not None:
            if choice == "ask":
                channel.put(proposal)
            if not proposal.besides:
                events = answer_unsaved(events)
        return turn.begin(question, events)

    services.questions.submit(await services.read(begin))
    return stream(channel.events())


def recall(
    memory: Memory, question: str, k: int, as_of: datetime | None, within: wire.Scope | None, strategy: str
) -> wire.RecallReply:
    began = time.monotonic()
    recalled = memory.questions.retrieve(question, k, as_of, checked_scope(memory, within), strategy=strategy).recall
    hits = (
        wire.Found(hit.episode.to_passage(), float(hit.score), {name: float(of) for name, of in hit.channels.items()})
        for hit in recalled.hits
    )
    return wire.RecallReply(tuple(hits), round((time.monotonic() - began) * 1000, 1), recalled.trace.steps)


def context(
    memory: Memory, task: str, tokens: int, as_of: datetime | None, within: wire.Scope | None
) -> wire.TaskContext:
    return memory.questions.write_context(task, tokens, as_of, checked_scope(memory, within))


def episode(memory: Memory, id: int) -> wire.Passage:
    for passage in memory.sources.episodes([id]):
        return passage.to_passage()
    raise NotFoundError(f"There is no passage {id}.")


def traces(memory: Memory, limit: int, offset: int) -> wire.TracesReply:
    newest = memory.questions.traces(limit, offset)
    return wire.TracesReply(tuple(newest), memory.questions.count_traces())


def judge(memory: Memory, id: int, verdict: Opinion) -> wire.VerdictReply:
    before = memory.questions.trace(id)
    if before.answer is None:
        raise InvalidInputError(f"Trace {id} looked for passages only; there is no answer to judge.")
    memory.questions.feedback(id, verdict)
    after = memory.questions.trace(id).asked
    passages = 0 if before.answer.no_answer else len({citation.episode_id for citation in before.answer.citations})
    return wire.VerdictReply(after, before.asked.verdict, passages)


async def rebuild(services: Services, what: Sequence[str]) -> Response:
    if not what or not set(what) <= set(REBUILT):
        raise InvalidInputError(f"Say what to rebuild: {' or '.join(REBUILT)}.")
    build = partial(_rebuild, services.memory, services.writer, services.backups, tuple(what))
    return follow(services, build, "rebuilding")


async def train(services: Services) -> Response:
    return follow(services, lambda channel: services.nightly.train(channel.put), "learning")


def _rebuild(memory: Memory, writer: Writer, backups: Path, what: tuple[str, ...], channel: Channel) -> wire.Rebuilt:
    """Rebuilds data derived from traces and text."""

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


async def undo_statement(services: Services, source: str) -> wire.SavedStatement:
    last = await services.work(partial(services.statements.find_last, source))
    await sources.forget(services, last.source, None, None, None, False)
    return last
