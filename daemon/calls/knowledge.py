"""Calls about what is known: facts and their history, objects, the graph, the owner's profile."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from daemon import wire
from daemon.calls.declaration import Calls, call

State = Annotated[str, Literal["open", "kept", "undone", "settled", "all"]]
Verdict = Annotated[str, Literal["keep", "both", "old", "open", "undo"]]


class KnowledgeCalls(Calls):
    """Facts, revisions, objects, the profile."""

    @call("GET", "/facts", thread="read", offline=True, tool="facts")
    def facts(
        self, about: str, as_of: datetime | None = None, known_on: datetime | None = None, history: bool = False
    ) -> wire.FactsReply:
        """List the facts about a person, place or thing that hold, or held at `as_of`, as the memory knew them on
        `known_on`; with `history` replaced ones as well."""

    @call("GET", "/history", thread="read", offline=True, tool="history")
    def history(self, about: str) -> wire.HistoryReply:
        """Show how each fact about a person, place or thing changed, old values included."""

    @call("GET", "/revisions", thread="read", tool="revisions")
    def revisions(self, state: State = "open", about: str | None = None, limit: int = 50) -> wire.RevisionsReply:
        """List replaced facts, the newest first."""

    @call("GET", "/revisions/{id}", thread="read")
    def revision(self, id: int) -> wire.Revision:
        """Read a revision."""

    @call("POST", "/revisions/{id}", thread="write", slow=True)
    def settle(self, id: int, verdict: Verdict) -> wire.Revision:
        """Decide about a revision. `verdict`: keep (the new fact is right) | both (both hold) | old (the old one is
        right, the new one was never true) | open (nothing is decided) | undo (all is as before the revision)."""

    @call("POST", "/names", thread="write", slow=True)
    def names(self, one: str, other: str, same: bool) -> wire.Names:
        """Decide that two names mean the same object, or two."""

    @call("GET", "/names", thread="read", field="names")
    def names_beginning(self, begin: str, limit: int = 20) -> tuple[str, ...]:
        """Complete a name of a person, place or thing, the shortest first."""

    @call("GET", "/tags", thread="read", field="tags")
    def tags(self) -> tuple[wire.Tag, ...]:
        """List the tags of sources, the most used first."""

    @call("GET", "/search/objects")
    def search_objects(self, words: str = "", limit: int = 100, offset: int = 0) -> wire.FoundObjects:
        """Find people, places and things with all the words in one of their names."""

    @call("GET", "/search/facts")
    def search_facts(self, words: str = "", limit: int = 100, offset: int = 0) -> wire.FoundFacts:
        """Find facts with all the words, the newest first."""

    @call("GET", "/search/notes")
    def search_notes(self, words: str = "", limit: int = 100, offset: int = 0) -> wire.FoundNotes:
        """Find notes with all the words in their title or in one passage."""

    @call("GET", "/object")
    def object(self, name: str) -> wire.ObjectReply:
        """Show what is known of a person, place or thing, by any of its names."""

    @call("GET", "/note")
    def note(self, uri: str) -> wire.NoteReply:
        """Show what was read of one source, by its uri."""

    @call("GET", "/neighbourhood")
    def neighbourhood(self, about: str, limit: int = 40, as_of: datetime | None = None) -> wire.GraphReply:
        """Show what surrounds an object, now or at a time: by facts, and by passages that mention both."""

    @call("GET", "/graph")
    def graph(self, about: str = "", limit: int = 200) -> wire.GraphReply:
        """Show the best connected part of the graph, or what surrounds an object, by its name, or a note, by its
        uri."""

    @call("GET", "/plans")
    def plans(self, days: int = 60) -> wire.PlansReply:
        """List the plans for the next days, and the tasks in notes."""

    @call("POST", "/correct", thread="write", slow=True)
    def correct(self, fact: int, value: str) -> wire.Corrected:
        """Correct the value of a fact by hand; the old value becomes history."""

    @call("POST", "/correct/remove", thread="write", slow=True)
    def take_back_correction(self, fact: int) -> wire.Corrected:
        """Undo the correction of a fact."""

    @call("GET", "/home")
    def home(self, since: datetime | None = None, day: str = "") -> wire.Home:
        """Show what is new since a time, what waits for review and the plans; or how that was or will be on a
        `day` like "2026-03-09"."""

    @call("GET", "/profile", thread="read")
    def profile(self) -> wire.ProfileReply:
        """Show what is known of the memory's owner."""

    @call("POST", "/profile", thread="write", slow=True)
    def set_profile(self, key: str, value: str) -> wire.ProfileReply:
        """Set an entry of the owner's profile by hand; what it replaces is among the revisions."""

    @call("POST", "/profile/remove", thread="write", slow=True)
    def remove_from_profile(self, key: str) -> wire.ProfileReply:
        """Remove an entry of the profile that was set by hand."""
