"""Labels of passages, objects and relations for a model.

The words are those of passages, cut to the relevant part. A name or a relation may come from a local-only text although
its object also occurs in others. So with `only_open`, for a remote model, a name is shown only as written in a passage
that may leave, and a relation only if all its texts may leave.
"""

from collections.abc import Iterable, Sequence

from memory.facts.extraction import OWNER
from memory.graph.walk import EPISODE, Walkable
from memory.nouns import Episode
from memory.store import episodes, relations, sources
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.store.graph import EDGE_KINDS
from memory.text.mentions import mentions
from memory.text.predicates import NAMELESS
from memory.text.quotes import Quotable, one_line
from memory.text.sentences import sentences
from memory.text.words import words
from memory.time.timestamps import from_wall

MAX_TITLE_CHARS, MAX_SENTENCE_CHARS = 48, 72  # of an option
MAX_PASSAGES_SEARCHED = 5  # passages in which a name is looked for
MAX_NAME_CHARS, MAX_PREDICATE_CHARS, MAX_PREVIEW_CHARS = 120, 60, 200  # in the results of tools
_REL = EDGE_KINDS.index("rel")


def title_label(episode: Episode, day: bool = True) -> str:
    """`"Title" (2024-05-01)`."""
    when = f" ({episode.at.date().isoformat()})" if day and episode.at else ""
    return f'"{one_line(episode.title, MAX_TITLE_CHARS)}"{when}'


def describe(path: str, episode: Episode, terms: Sequence[str]) -> str:
    """Returns a passage with the path to it: `"Pond" -> Zelda Fitz -> "Old list": a sentence`, the one with most of the
    terms and of the names on the path, without the words of its title."""
    wanted = {*terms, *words(path)}.difference(words(episode.title))
    return f"{path}: {preview(episode.text, wanted, MAX_SENTENCE_CHARS)}"


def name_objects(conn: Connection, walk: Walkable, nodes: Sequence[int], only_open: bool) -> dict[int, str]:
    """Node id -> name in one line; "" for objects that may not be named or seen. `walk` sees only what may be shown;
    with `only_open` names must be written there."""
    labels = stored.object_labels(conn, nodes)
    names = {}
    for node in nodes:
        name = labels.get(node, "") if walk.visible(node) else ""
        if name and only_open and name not in (OWNER, NAMELESS):
            name = _as_written(conn, walk, node, name)
        names[node] = one_line(name)[:MAX_NAME_CHARS]
    return names


def _as_written(conn: Connection, walk: Walkable, node: int, label: str) -> str:
    near = walk.neighbours(node).vertices
    mentioning = near[walk.kinds(near) == EPISODE][:MAX_PASSAGES_SEARCHED].tolist()
    passages = [passage for passage in episodes.get_many(conn, mentioning) if passage.source.policy == "any"]
    if _is_named(label, passages):
        return label
    for passage in passages:
        surfaces = {mention.norm: mention.surface for mention in mentions(passage.text, passage.title)}
        for name, nodes in stored.objects_by_norm(conn, list(surfaces)).items():
            if node in nodes:
                return surfaces[name]
    return ""


def _is_named(name: str, passages: Iterable[Episode]) -> bool:
    texts = (Quotable.from_text(f"{passage.title}\n{passage.text}\n{passage.speaker or ''}") for passage in passages)
    return any(text.names(name) for text in texts)


def name_relations(conn: Connection, walk: Walkable, node: int, only_open: bool) -> dict[int, list[str]]:
    """Object -> its relations to the object `node`, the newest last, over the typed edges that `walk` may follow. With
    `only_open`, for a remote model, only relations without a local-only text, and without their times, which other
    facts may have changed."""
    near = walk.neighbours(node)
    lines: dict[int, list[str]] = {}
    may_leave = sources.open_ids(conn) if only_open else []
    for relation in relations.get_many(conn, near.edges[near.kinds == _REL].tolist()):
        if only_open and not relation.sources.issubset(may_leave):
            continue
        times = [] if only_open else [("since", relation.valid_from), ("until", relation.valid_to)]
        parts: list[str] = [relation.modality] if relation.modality != "asserted" else []
        parts += [f"{word} {at.date().isoformat()}" for word, ms in times if (at := from_wall(ms))]
        predicate = one_line(relation.predicate)[:MAX_PREDICATE_CHARS]
        arrow = f"-[{predicate}]->" if relation.subject == node else f"<-[{predicate}]-"
        neighbour = relation.object if relation.subject == node else relation.subject
        lines.setdefault(neighbour, []).append(f"{arrow} ({', '.join(parts)})" if parts else arrow)
    return lines


def best_sentences(text: str, terms: Iterable[str], most: int) -> list[tuple[int, int]]:
    """Returns the spans of the sentences with most of these words, the best first, of equals the earlier."""
    wanted = {*terms}
    return sorted(sentences(text), key=lambda span: -len({*words(text[slice(*span)])} & wanted))[:most]


def preview(text: str, terms: Iterable[str], most: int = MAX_PREVIEW_CHARS) -> str:
    """Returns the beginning of a text from the sentence with most of these words on, `most` characters at most."""
    start = next((start for start, _ in best_sentences(text, terms, 1)), 0)
    return one_line(text[start:], most)
