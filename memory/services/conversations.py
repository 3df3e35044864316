"""Chat sessions: the questions and answers of each."""

from memory.nouns import Answer
from memory.services import read_by, write_by
from memory.services.state import State
from memory.store import conversations, episodes, traces
from memory.store.connect import Connection
from memory.store.conversations import MessageState as MessageState
from memory.store.forget import FORGOTTEN_ANSWER
from memory.time.timestamps import now_ms
from memory.views import ChatMessage, Conversation


class Conversations:
    """Chat sessions. All methods except `latest` and `search` raise NotFoundError for an unknown session. Secrets in a
    person's messages are masked."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    latest = read_by(conversations.list_conversations)
    search = read_by(conversations.search)
    check = read_by(conversations.check)
    delete = write_by(conversations.delete)

    def get(self, id: int) -> tuple[Conversation, tuple[ChatMessage, ...]]:
        """Returns a session with its messages in order."""
        self._state.pending.try_write()
        return self._store.read(conversations.get, id)

    def create(self, title: str) -> int:
        """Creates an empty session; returns its id."""
        return self._store.write(conversations.create, self._state.mask(title), now_ms())

    def rename(self, id: int, title: str) -> None:
        self._store.write(conversations.rename, id, self._state.mask(title))

    def add_question(self, id: int, text: str) -> None:
        self._store.write(conversations.append, id, "user", self._state.mask(text), now_ms())

    def add_answer(self, id: int, answer: Answer, state: MessageState = "complete") -> None:
        """Adds an answer, complete or "partial"; without its words if some of its evidence was forgotten since."""
        with self._store.writing() as conn:
            if not _is_there(conn, answer):
                answer = Answer(FORGOTTEN_ANSWER)
            conversations.append(
                conn, id, "memory", answer.text, now_ms(), state=state, citations=answer.citations,
                no_answer=answer.no_answer, trace_id=answer.trace_id,
            )  # fmt: skip


def _is_there(conn: Connection, answer: Answer) -> bool:
    """Whether all evidence of the answer is still in memory."""
    cited = {citation.episode_id for citation in answer.citations}
    is_traced = answer.trace_id is None or traces.exists(conn, answer.trace_id)
    return is_traced and len(episodes.get_many(conn, sorted(cited))) == len(cited)
