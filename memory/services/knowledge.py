"""Temporal facts: asserting and superseding them, viewing them as of a day, a person's verdicts, and undo."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from typing import get_args

from memory.answering.places import NOWHERE, Place, find_units, show_unit
from memory.errors import InvalidInputError, NotFoundError
from memory.facts.assertion import FactAsserter
from memory.facts.extraction import OWNER, Extraction
from memory.insight.diagnosis import find_similar, list_suspects
from memory.nouns import Episode, Fact, Profile, RevisionState, Verdict
from memory.revisions import AssertionResult, Decision, Revision
from memory.services import read_by
from memory.services.state import State
from memory.store import browse, episodes, facts, graph, relations, revisions
from memory.store.connect import Connection
from memory.text.mentions import norm
from memory.text.sentences import sentences
from memory.text.words import words
from memory.time.timestamps import from_ms, now_ms, to_ms, to_wall, wall_of
from memory.views import PlannedEntry

MAX_NAMES, MAX_COMPARED = 3, 100  # names that are offered for one that nothing has; of those with its letters
ME = frozenset(("i", "me", "my", "myself", OWNER))  # how the person whose memory it is asks for themselves


class Knowledge:
    """The facts. Every change is one transaction, on the disk when the call returns."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    fact = read_by(facts.get)
    facts_by_id = read_by(facts.get_many)
    count_read = read_by(episodes.count_read)
    count_open_revisions = read_by(revisions.count_open)
    list_alias_suspects = read_by(list_suspects)
    names_beginning = read_by(graph.beginning_with)

    # Asserting ------------------------------------------------------------------------------------

    def assert_facts(self, extractions: Mapping[int, Extraction], model: str | None = None) -> AssertionResult:
        """Asserts the extractions of live episodes (by id); `model` is the one that read them, None for rules. Resolves
        names to objects, places relations in time, and supersedes facts where that is certain. Every replacement is a
        revision, so nothing is lost. Idempotent. Pairs of facts that no rule can judge are returned for
        `apply_decisions`."""
        with self.transaction() as asserter:
            asserter.assert_extractions(extractions, model)
            result = asserter.result()
            return result if model is None else replace(result, undecided=asserter.propose_pairs())

    def apply_decisions(self, decisions: Sequence[Decision], model: str) -> tuple[int, ...]:
        """Applies a model's certain decisions on pairs of facts; returns ids of the revisions."""
        with self.transaction() as asserter:
            asserter.apply_decisions(decisions, model)
            return asserter.result().revisions

    def pairs(self, ids: Iterable[Sequence[int]]) -> list[tuple[Fact, Fact]]:
        """Returns both facts of each pair (older, newer) for a model to judge, if both still exist."""
        wanted_pairs = [tuple(pair) for pair in ids]
        all_ids = sorted({id for pair in wanted_pairs for id in pair})
        with self._store.reading() as conn:
            claims = {fact.id for fact in relations.get_claims(conn, all_ids)}
            by_id = {fact.id: fact for fact in facts.get_many(conn, all_ids) if fact.id in claims}
        return [(by_id[old], by_id[new]) for old, new in wanted_pairs if old in by_id and new in by_id]

    def unread_episodes(self, limit: int) -> list[Episode]:
        """Lists live episodes that no model has read and no job covers: those found by questions, then the newest."""
        with self._store.reading() as conn:
            return episodes.get_many(conn, episodes.list_unread(conn, limit))

    def owner_names(self, *, of_mails: bool) -> tuple[str, ...]:
        """Returns the owner's names; those from notes and mails only with `of_mails`."""
        return self._state.settings.owner_names or (tuple(self._state.list_owner_names()) if of_mails else ())

    def profile(self) -> Profile:
        from memory.insight.overview import read_profile

        names = dict.fromkeys(self._state.settings.owner_names, "memory.owner_names")
        return self._store.read(read_profile, names or self._state.list_owner_names(), now_ms())

    @contextmanager
    def transaction(self) -> Iterator[FactAsserter]:
        """Opens a transaction that asserts facts; afterwards questions see the changes."""
        state = self._state
        with state.write_lock:
            with self._store.writing() as conn:
                asserter = state.asserter(conn)
                yield asserter
                asserter.complete_vectors()
                changes = asserter.graph_changes()
                state.complete_edge_memory(conn)
            if asserter.restored_passages:
                state.reload()
            else:
                state.show(changes)
            state.reload_edge_memory()

    # Looking --------------------------------------------------------------------------------------

    def facts(
        self, about: str, as_of: datetime | None = None, history: bool = False, known_on: datetime | None = None
    ) -> list[Fact]:
        """Returns the facts about an object, by any of its names ("me" is the owner), newest first: those valid at
        `as_of` (default: now), as the memory knew them on `known_on` (default: now). `history` includes facts no longer
        valid. NotFoundError for an unknown name."""
        store = self._state.past.state_at(as_of).store if known_on is None else self._store
        now = now_ms()  # after a copy was taken back, which changes facts
        known = now if known_on is None else to_ms(known_on)
        with store.reading() as conn:
            at_ms = wall_of(now) if as_of is None else to_wall(as_of)
            return _list_statements(
                conn, facts.list_about(conn, self.objects_named(conn, about), known, at_ms, history)
            )

    def revisions(self, state: str = "open", limit: int = 50, about: str | None = None) -> list[Revision]:
        """Lists revisions in a state (open | kept | undone | settled | all), newest first; `about`: only those of an
        object. InvalidInputError, NotFoundError."""
        if state != "all" and state not in get_args(RevisionState):
            choices = ", ".join(get_args(RevisionState))
            raise InvalidInputError(f"Unknown revision state {state!r}. Use one of: {choices}, all.")
        chosen: RevisionState | None = None if state == "all" else state  # type: ignore[assignment]
        with self._store.reading() as conn:
            objects = None if about is None else self.objects_named(conn, about)
            return read_revisions(conn, revisions.list_revisions(conn, chosen, limit, objects))

    def replaced_since(self, since: datetime, limit: int, until: datetime | None = None) -> tuple[list[Revision], int]:
        """Returns (the newest active replacements of facts between two times, total)."""
        with self._store.reading() as conn:
            rows, total = browse.list_replaced(conn, to_ms(since), to_ms(until), limit)
            return read_revisions(conn, rows), total

    def list_planned(self, today: date, days: int) -> list[PlannedEntry]:
        """Plans for the next `days` days from `today`, and overdue ones, in order."""
        from memory.insight.overview import list_planned

        return self._store.read(list_planned, today, days)

    def revision(self, id: int) -> Revision:
        with self._store.reading() as conn:
            return read_revisions(conn, [revisions.get(conn, id)])[0]

    # Deciding -------------------------------------------------------------------------------------

    def settle(self, revision_id: int, verdict: Verdict) -> Revision:
        """Stores a person's verdict on a revision. `keep`: the new fact is valid and the old one is history; `both`:
        both are valid, and it is not asked again; `old`: the old one is valid, the new one was never true; `open`: the
        verdict is withdrawn, and it is asked again. NotFoundError."""
        if verdict not in get_args(Verdict):
            raise InvalidInputError(f"Unknown verdict {verdict!r}. Use one of: {', '.join(get_args(Verdict))}.")
        return self._settle(revision_id, verdict)

    def undo(self, revision_id: int) -> Revision:
        """Reverts a revision exactly, and prevents that it is made again. NotFoundError."""
        return self._settle(revision_id, "undo")

    def _settle(self, revision_id: int, verdict: str) -> Revision:
        with self.transaction() as asserter:
            asserter.settle_revision(revisions.get(asserter.conn, revision_id), verdict)
        return self.revision(revision_id)

    def correct(self, fact: int, value: str, episode: int) -> int:
        """Sets the value of a relation from now on, from a passage of the person; returns the new relation. It replaces
        the old one as long as the passage exists. InvalidInputError if the value is the same."""
        with self.transaction() as asserter:
            (passage,) = episodes.read_texts(asserter.conn, [episode])
            return asserter.correct(fact, self._state.mask(value), episode, len(passage.text))

    def dispute(self, fact: int, value: str, episode: int) -> None:
        """Queues another value of a relation for review, stated by the person in a passage at the same time."""
        with self.transaction() as asserter:
            (passage,) = episodes.read_texts(asserter.conn, [episode])
            asserter.dispute(fact, value, episode, len(passage.text))

    def join_names(self, first: str, second: str) -> int:
        """Joins two names of one object: each finds both. Nothing is moved and no fact is replaced (0), so
        `separate_names` undoes it. NotFoundError; InvalidInputError if they are joined already."""
        with self.transaction() as asserter:
            ones, others = self.objects_named(asserter.conn, first), self.objects_named(asserter.conn, second)
            if set(ones) & set(others):
                raise InvalidInputError(f"{first!r} and {second!r} are already the same.")
            graph.join(asserter.conn, ones, others)
            return 0

    def separate_names(self, first: str, second: str) -> int:
        """Separates two names, also where a model took one for the other's alias; returns how many replacements it
        undid. NotFoundError; InvalidInputError if they are not joined."""
        with self.transaction() as asserter:
            ones, others = (graph.find_by_own_name(asserter.conn, norm(name)) for name in (first, second))
            if not ones or not others:
                raise NotFoundError(f"Nothing is known about {(first if not ones else second)!r}.")
            if not set(self.objects_named(asserter.conn, first)) & set(self.objects_named(asserter.conn, second)):
                raise InvalidInputError(f"{first!r} and {second!r} are already separate.")
            return asserter.separate_objects(ones, others)

    # ----------------------------------------------------------------------------------------------

    def objects_named(self, conn: Connection, name: str) -> list[int]:
        """Returns the objects of that name. NotFoundError without any."""
        key, own = norm(name), graph.owner(conn)
        named = graph.all_by_norm(conn, key)
        objects = own if own and (key in ME or own[0] in named) else named
        if not objects and not browse.search_sources(conn, "", 1)[1]:
            raise NotFoundError(
                f"Nothing is known about {name!r}: nothing has been read yet. To read a folder: pal add ~/notes"
            )
        if not objects:
            raise NotFoundError(f"Nothing is known about {name!r}.{_suggest_names(conn, key)}")
        return objects


def _suggest_names(conn: Connection, key: str) -> str:
    """Returns a sentence on the names that begin with a norm or have its words, else those that are nearly it."""
    names = graph.beginning_with(conn, key, MAX_NAMES) if key else []
    if not names and (sought := set(words(key))):
        things, _ = browse.find_objects(conn, key, MAX_COMPARED, 0)
        names = [thing.name for thing in things if sought.issubset(words(norm(thing.name)))][:MAX_NAMES]
    if len(names) == 1:
        return f" One name has these words: pal facts {shlex.quote(names[0])}"
    names = names or (find_similar(conn, key, MAX_NAMES) if key else [])
    return f" Known names: {', '.join(names)}." if names else ""


def _list_statements(conn: Connection, fact_list: Sequence[Fact]) -> list[Fact]:
    """Returns the facts without sentences that only name or file: headings, the head of a mail, dates, links. An event,
    a row and a task are one statement each."""
    quoted_episodes = {fact.episode_id for fact in fact_list if fact.origin == "sentence"}
    units: dict[tuple[int, int | None, str], tuple[str, Place]] = {}
    for episode in episodes.get_many(conn, sorted(quoted_episodes)):
        spans = sentences(episode.text)
        for (start, end), (unit, place) in zip(spans, find_units(episode.text, spans), strict=True):
            units[episode.id, episode.line_at(start), episode.text[start:end]] = (
                show_unit(episode.text[slice(*unit)], place),
                place,
            )
    listed: dict[object, Fact] = {}
    for fact in fact_list:
        unit_text, place = units.get((fact.episode_id, fact.line, fact.quote), ("", NOWHERE))
        if fact.origin != "sentence" or place.kind == "text":
            listed[fact.id] = fact
        elif place.kind not in ("heading", "filing"):
            key = (fact.episode_id, place.start)
            listed[key] = min(replace(fact, text=unit_text), listed.get(key, fact), key=lambda fact: fact.id)
    return [*listed.values()]


def read_revisions(conn: Connection, rows: Sequence[revisions.Row]) -> list[Revision]:
    """Returns the revisions of these rows with their facts, if both still exist."""
    ids = sorted({id for row in rows for id in (row.old, row.new)})
    by_id = {fact.id: fact for fact in facts.get_many(conn, ids)}
    return [
        Revision(
            row.id, row.relation, by_id[row.old], by_id[row.new], row.reason, row.author, row.conf, row.state,
            from_ms(row.t), from_ms(row.settled),
        )
        for row in rows
        if row.old in by_id and row.new in by_id
    ]  # fmt: skip
