"""Calls about questions, what led to their answers, chat sessions; facts and their history, objects, the graph, the
owner's profile."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from daemon import wire
from daemon.calls import Calls, call
from daemon.client.connection import Stream

Effort = Annotated[str, Literal["quick", "normal", "deep"]]
Findable = Annotated[str, Literal["objects", "facts", "notes"]]
Opinion = Annotated[str, Literal["good", "bad", "none"]]
State = Annotated[str, Literal["open", "kept", "undone", "settled", "all"]]
Verdict = Annotated[str, Literal["keep", "both", "old", "open", "undo"]]
Offset = Annotated[int, range(1 << 31)]


class KnowledgeCalls(Calls):
    """Questions, traces, chat sessions; facts, revisions, objects, the profile."""

    @call("POST", "/ask", ends="Answered", offline=True, tool="ask")
    def ask(
        self,
        question: str,
        *,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        conversation: int | None = None,
        effort: Effort = "normal",
        replay: bool = True,
        strategy: str = "",
        own_words: bool = False,
        agent: str = "",
    ) -> Stream:
        """Answer a question from the memory, with the source of each line. If nothing is known, it says so and does not
        guess. `as_of`: answer as of that time. The `kind` of an answer is answer, closest (nothing says it plainly, but
        these lines come close) or none.

        Closing the stream stops the work. `conversation` is the id of a chat session the turn is saved in; `effort`:
        how far the question may go. Without `replay` nothing of earlier questions is used, and
        nothing is learnt from this one. `strategy`: what walks the graph, by default that of the settings. `own_words`:
        a person typed it, and their statements may be stored (`chat.remember`); a SavedStatement then comes first.
        `agent`: who asks, if it is no person.
        """

    @call("POST", "/recall", thread="read", slow=True, offline=True, tool="recall")
    def recall(
        self,
        question: str,
        k: Annotated[int, range(1, 201)] = 10,
        *,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        strategy: str = "",
    ) -> wire.RecallReply:
        """Find the `k` passages that fit a question best, by words, meaning and links. A score ranks a passage among
        the others; it is no probability. `unknown`: the words of the question if no passage has any of them."""

    @call("POST", "/context", thread="read", slow=True, tool="context")
    def context(
        self, task: str, tokens: int = 1000, *, as_of: datetime | None = None, within: wire.Scope | None = None
    ) -> wire.TaskContext:
        """Collect context for a task, in about this number of tokens: the valid facts, then the best sentences, each
        with the number of its source."""

    @call("GET", "/suggestions", thread="read")
    def suggestions(self) -> wire.SuggestionsReply:
        """Suggest questions to ask and notes to read."""

    @call("GET", "/episodes/{id}", thread="read")
    def episode(self, id: int) -> wire.Passage:
        """Read a passage."""

    @call("GET", "/traces", thread="read")
    def traces(self, limit: Annotated[int, range(1001)] = 50, offset: Offset = 0) -> wire.TracesReply:
        """List the questions, newest first."""

    @call("GET", "/traces/{id}", to="memory.questions.trace", thread="read")
    def trace(self, id: int) -> wire.StoredTrace:
        """Read the trace of a question."""

    @call("GET", "/traces/{id}/why", to="memory.questions.why", thread="read")
    def why(self, id: int) -> wire.Why:
        """Explain the evidence of a trace's answer."""

    @call("GET", "/traces/{id}/whynot", to="memory.questions.why_not", thread="read")
    def whynot(self, id: int, words: str) -> wire.WhyNot:
        """Explain why the answer of a trace does not contain these words."""

    @call("POST", "/traces/{id}/feedback", thread="write", slow=True, tool="judge", writes=True)
    def judge(self, id: int, verdict: Opinion) -> wire.VerdictReply:
        """Record a verdict on the answer of a trace."""

    @call("POST", "/told", to="statements.keep", slow=True)
    def tell(self, text: str, conversation: int | None = None) -> wire.SavedStatement:
        """Store a person's statement, in their own words, made now in that chat session."""

    @call("POST", "/told/undo", slow=True)
    def undo_statement(self, source: str = "") -> wire.SavedStatement:
        """Forget the person's last statement, if it is this `source`; by default any."""

    @call("PUT", "/told", to="statements.set")
    def set_telling(self, remember: Annotated[str, Literal["ask", "yes", "no"]]) -> None:
        """Set whether statements in the chat are stored from now on."""

    @call("POST", "/rebuild", ends="Rebuilt")
    def rebuild(self, what: Sequence[str]) -> Stream:
        """Rebuild derived data; continues if the stream is closed. `what`: "memory", edge memory from the traces;
        "text", the full text from the passages; "vectors"; "rows", damaged or lost rows from the backups."""

    @call("POST", "/train", ends="TrainingReport")
    def train(self) -> Stream:
        """Train the ranker on earlier questions; continues if the stream is closed."""

    @call("POST", "/train/undo", to="nightly.undo_training", field="used", slow=True)
    def undo_training(self) -> str:
        """Undo the last training. `used` now: "earlier", the ranker before it; "none"; "" if none was trained."""

    @call("GET", "/diagnosis", to="memory.maintenance.diagnose", slow=True)
    def diagnosis(self) -> wire.Diagnosis:
        """Measure how well the graph served the newest questions."""

    @call("GET", "/conversations", field="conversations")
    def conversations(self) -> tuple[wire.Conversation, ...]:
        """List the chat sessions, last used first."""

    @call("POST", "/conversations")
    def new_conversation(self, title: str = "") -> wire.Conversation:
        """Begin a chat session."""

    @call("GET", "/conversations/{id}")
    def conversation(self, id: int) -> wire.MessagesReply:
        """Read a chat session."""

    @call("PUT", "/conversations/{id}")
    def rename_conversation(self, id: int, title: str = "") -> wire.Conversation:
        """Rename a chat session."""

    @call("GET", "/messages", field="matches")
    def search_conversations(self, words: str, limit: int = 50) -> tuple[wire.ConversationMatch, ...]:
        """Find the chat sessions with all the words in one message or in their title, last used first."""

    @call("DELETE", "/conversations/{id}", to="memory.conversations.delete", thread="write")
    def delete_conversation(self, id: int) -> None:
        """Delete a chat session."""

    @call("GET", "/facts", to="memory.browsing.facts", thread="read", offline=True, tool="facts")
    def facts(
        self, about: str, as_of: datetime | None = None, known_on: datetime | None = None, history: bool = False
    ) -> wire.FactsReply:
        """List the facts about a person, place or thing, valid now or at `as_of`, as the memory knew them on
        `known_on`; `history` includes replaced ones."""

    @call("GET", "/history", to="memory.browsing.history", thread="read", offline=True, tool="history")
    def history(self, about: str) -> wire.HistoryReply:
        """Show how each fact about a person, place or thing changed, old values included."""

    @call("GET", "/revisions", thread="read", tool="revisions")
    def revisions(self, state: State = "open", about: str | None = None, limit: int = 50) -> wire.RevisionsReply:
        """List replaced facts, newest first."""

    @call("GET", "/revisions/{id}", thread="read")
    def revision(self, id: int) -> wire.Revision:
        """Read a revision."""

    @call("POST", "/revisions/{id}", thread="write", slow=True)
    def settle(self, id: int, verdict: Verdict) -> wire.Revision:
        """Decide about a revision. `verdict`: keep (the new fact is right) | both (both are valid) | old (the old one
        is right, the new one was never true) | open (undecided) | undo (revert the revision)."""

    @call("POST", "/names", thread="write", slow=True)
    def names(self, one: str, other: str, same: bool) -> wire.Names:
        """Decide whether two names mean the same object."""

    @call("GET", "/names", thread="read", field="names")
    def names_beginning(self, begin: str, limit: Annotated[int, range(101)] = 20) -> tuple[str, ...]:
        """Complete a name of a person, place or thing, shortest first."""

    @call("GET", "/tags", thread="read", field="tags", offline=True)
    def tags(self) -> tuple[wire.Tag, ...]:
        """List the tags of sources, most frequent first."""

    @call("GET", "/search/{what}")
    def search(
        self, what: Findable, words: str = "", limit: Annotated[int, range(501)] = 100, offset: Offset = 0
    ) -> wire.SearchReply:
        """Find objects (people, places and things, by their names), facts (the newest first) or notes (by their title
        or one passage) with all the words."""

    @call("GET", "/object", to="memory.browsing.object")
    def object(self, name: str) -> wire.ObjectReply:
        """Show what is known of a person, place or thing, by any of its names."""

    @call("GET", "/note", to="memory.browsing.note")
    def note(self, uri: str) -> wire.NoteReply:
        """Show a source, by its uri."""

    @call("GET", "/graph", to="memory.browsing.graph")
    def graph(self, about: str = "", limit: Annotated[int, range(1, 5001)] = 200) -> wire.GraphReply:
        """Show the best connected part of the graph, or the part around an object, by its name, or a note, by its
        uri."""

    @call("POST", "/correct", thread="write", slow=True)
    def correct(self, fact: int, value: str) -> wire.Corrected:
        """Correct the value of a fact by hand; the old value becomes history."""

    @call("POST", "/correct/remove", thread="write", slow=True)
    def take_back_correction(self, fact: int) -> wire.Corrected:
        """Undo the correction of a fact."""

    @call("GET", "/home")
    def home(self, since: datetime | None = None, day: str = "") -> wire.Home:
        """Show the changes since a time, the revisions to review and the plans; or those on a `day` like
        "2026-03-09"."""

    @call("GET", "/profile", thread="read")
    def profile(self) -> wire.ProfileReply:
        """Show the owner's profile."""

    @call("POST", "/profile", thread="write", slow=True)
    def set_profile(self, key: str, value: str) -> wire.ProfileReply:
        """Set an entry of the owner's profile by hand; the reply has the revisions this made."""

    @call("POST", "/profile/remove", thread="write", slow=True)
    def remove_from_profile(self, key: str) -> wire.ProfileReply:
        """Remove an entry of the profile that was set by hand."""
