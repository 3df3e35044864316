"""Objects, facts and notes by their words, one of them, the graph around it, and what a person corrects by hand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime

from daemon import views, wire
from daemon.api.facts import strands
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Document, Fact
from memory.text.predicates import statement
from memory.time.timestamps import from_ms, from_wall

MOST_ROWS = 500
MOST_PASSAGES = 200  # of a note
BY_HAND = "note:corrected/"  # prefix of the uris of corrections by hand; then the number of the fact
MOST_VALUE = 200  # characters
MOST_DAYS = 366  # of plans
MOST_VERTICES = 5000  # of the graph
MOST_STEPS, MOST_NEAR = 6, 500  # of a neighbourhood


def search_objects(memory: Memory, words: str, limit: int, offset: int) -> wire.FoundObjects:
    rows, total = memory.browsing.find_objects(words, *_limit_page(limit, offset))
    return wire.FoundObjects(
        tuple(wire.FoundObject(row.name, name_kind(row.type), row.facts, row.notes) for row in rows), total
    )


def search_facts(memory: Memory, words: str, limit: int, offset: int) -> wire.FoundFacts:
    facts, total = memory.browsing.find_facts(words, *_limit_page(limit, offset))
    return wire.FoundFacts(tuple(facts), total)


def search_notes(memory: Memory, words: str, limit: int, offset: int) -> wire.FoundNotes:
    notes, total = memory.browsing.find_sources(words, *_limit_page(limit, offset))
    return wire.FoundNotes(tuple(notes), total)


def plans(memory: Memory, days: int) -> wire.PlansReply:
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInputError(f"days is {days}; ask for 1 to {MOST_DAYS}.")
    planned = memory.knowledge.list_planned(date.today(), days)
    return wire.PlansReply(tuple(planned), tuple(memory.browsing.list_tasks()))


def object(memory: Memory, name: str) -> wire.ObjectReply:
    """What is known of an object. NotFoundError."""
    with memory.one_moment():
        view = memory.browsing.object(name)
        episodes = {episode.id: episode for episode in memory.sources.episodes([note.episode for note in view.notes])}
    called = {known.casefold() for known in view.names}
    shown = next((known for known in view.names if known.casefold() == name.casefold()), name)
    mentioned = []
    for note in view.notes:
        episode = episodes[note.episode]
        start = _find_first_place(episode.text, called)
        line, quote = episode.line_at(start), _quote_line(episode.text, start)
        mentioned.append(wire.MentionedIn(note.uri, note.title, line, quote, note.passages, from_wall(note.at)))
    return wire.ObjectReply(
        shown,
        view.names,
        tuple(fact for fact in view.told if _holds(fact)),
        strands(view.told, view.revisions),
        tuple(mentioned),
        view.notes_total,
        tuple(wire.Neighbour(*neighbour) for neighbour in view.neighbours),
    )


def note(memory: Memory, uri: str) -> wire.NoteReply:
    with memory.one_moment():
        view = memory.browsing.read_source(uri)
        shown = view.passages[:MOST_PASSAGES]
        passages = tuple(map(views.passage, memory.sources.episodes(shown)))
        facts = tuple(memory.browsing.facts_of(shown))
    return wire.NoteReply(view.source, from_ms(view.read), view.tags, view.readers, passages, facts)


def correct(memory: Memory, fact: int, value: str) -> wire.Corrected:
    """A note by hand has the words."""
    old, value = memory.knowledge.fact(fact), " ".join(value.split())
    if old.kind != "relation" or not _holds(old):
        raise InvalidInputError("Only a current fact can be corrected. Edit its note.")
    if not 0 < len(value) <= MOST_VALUE:
        raise InvalidInputError(f"The value has {len(value)} characters; write 1 to {MOST_VALUE}.")
    if value == old.objects[-1]:
        raise InvalidInputError("That is its value already.")
    text = statement(old.objects[0], old.predicate or "is", value)
    note = Document(f"{BY_HAND}{fact}", text, title="Said by hand", at=datetime.now().astimezone())
    (receipt,) = memory.remember_many([note])
    new = memory.knowledge.correct(fact, value, receipt.episode_ids[0])
    return wire.Corrected(memory.knowledge.fact(fact), memory.knowledge.fact(new))


def take_back_correction(memory: Memory, fact: int) -> wire.Corrected:
    old = memory.knowledge.fact(fact)
    if memory.sources.get(f"{BY_HAND}{fact}") is None:
        raise NotFoundError("This fact was not corrected by hand.")
    memory.ingest.retire(f"{BY_HAND}{fact}")
    return wire.Corrected(memory.knowledge.fact(old.id))


def neighbourhood(memory: Memory, about: str, depth: int, limit: int, as_of: datetime | None) -> wire.Neighbourhood:
    if not 1 <= depth <= MOST_STEPS:
        raise InvalidInputError(f"depth is {depth}; ask for 1 to {MOST_STEPS} steps.")
    if not 1 <= limit <= MOST_NEAR:
        raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_NEAR} objects.")
    view = memory.browsing.explore(about, depth, limit, as_of)
    shown = next((name for name in view.names if name.casefold() == about.casefold()), about)
    called = {id: vertex.label for id, vertex in view.vertices.items()} | {next(iter(view.steps)): shown}
    return wire.Neighbourhood(
        shown,
        tuple(view.names),
        tuple(
            wire.NearNode(id, called[id], name_kind(view.vertices[id].type), steps)
            for id, steps in view.steps.items()
            if id in called and id in view.vertices
        ),
        tuple(
            wire.NearEdge(
                pair.one, pair.other, (pair.fact.predicate or "") if pair.fact else "", pair.fact, pair.passages
            )
            for pair in view.joined
        ),
        view.left_out,
        as_of,
    )


def graph(memory: Memory, about: str, limit: int) -> wire.GraphReply:
    if not 1 <= limit <= MOST_VERTICES:
        raise InvalidInputError(f"limit is {limit}; ask for 1 to {MOST_VERTICES} vertices.")
    view = memory.browsing.graph(about, limit)
    return wire.GraphReply(
        view.center,
        tuple(
            wire.GraphNode(node.id, node.label, name_kind(node.type), node.uri, from_wall(node.at), node.degree)
            for node in view.vertices
        ),
        tuple(
            wire.GraphEdge(
                edge.id, edge.src, edge.dst, edge.predicate, from_wall(edge.valid_from), from_wall(edge.valid_to)
            )
            for edge in view.edges
        ),
    )


def _limit_page(limit: int, offset: int) -> tuple[int, int]:
    if not 0 <= limit <= MOST_ROWS or not 0 <= offset < 1 << 31:
        raise InvalidInputError(f"Ask for 0 to {MOST_ROWS} rows, from 0 on.")
    return limit, offset


def name_kind(type: str | None) -> str:
    """What an object is, in a word; "" for what only says how it was written."""
    return "" if type in (None, "name", "title", "link") else type or ""


def _holds(fact: Fact) -> bool:
    """Whether the fact holds now."""
    ended = fact.valid_to is not None and fact.valid_to <= datetime.now(UTC)
    return fact.superseded_by is None and fact.retired is None and not ended


def _find_first_place(text: str, called: Iterable[str]) -> int:
    """Where a text first has one of the names; its beginning if they are written otherwise there."""
    folded = text.casefold()
    places = [folded.find(name) for name in called]
    first = min((place for place in places if place >= 0), default=0)
    return first if len(folded) == len(text) else 0


def _quote_line(text: str, place: int) -> str:
    """The line of a text in which a place is; if that is empty, the first that is not."""
    start = text.rfind("\n", 0, place) + 1
    line = text[start:].partition("\n")[0].strip()
    return line or text.strip().partition("\n")[0]
