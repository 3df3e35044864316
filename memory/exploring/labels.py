"""Labels of passages, objects and relations for a model.

The words are those of passages, cut to the relevant part. A name or a relation may come from a local-only text although
its object also occurs in others. So with `only_open`, for a remote model, a name is shown only as written in a passage
that may leave, and a relation only if all its texts may leave.
"""

from collections.abc import Iterable, Mapping, Sequence

from memory.facts.extraction import OWNER
from memory.graph.walk import EPISODE, Walkable
from memory.nouns import Episode
from memory.retrieval.state import QuestionState
from memory.store import episodes, relations, sources
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.store.graph import EDGE_KINDS
from memory.store.relations import Relation
from memory.text.mentions import mentions, norm
from memory.text.predicates import NAMELESS
from memory.text.quotes import Quotable, one_line, strip_unseen
from memory.text.sentences import sentences
from memory.text.words import words
from memory.time.timestamps import from_wall

MAX_TITLE_CHARS, MAX_LABEL_NAME_CHARS, MAX_SENTENCE_CHARS = 48, 36, 72  # that are shown of each
MAX_CHARS_SEARCHED = 20_000  # characters of a passage in which its best sentence is looked for
TOLD_AS_FACT = ("asserted", "plan")
MAX_PASSAGES_SEARCHED = 5  # passages in which a name is looked for
MAX_NAME_CHARS, MAX_PREDICATE_CHARS, MAX_PREVIEW_CHARS = 120, 60, 200  # in the results of tools
_REL = EDGE_KINDS.index("rel")


def title_label(episode: Episode, day: bool = True) -> str:
    """`"Title" (2024-05-01)`."""
    when = f" ({episode.at.date().isoformat()})" if day and episode.at else ""
    return f'"{one_line(episode.title, MAX_TITLE_CHARS)}"{when}'


def cut_around(line: str, name: str, most: int) -> str:
    """Returns a line cut to this many characters with `name` in the middle."""
    place = max(0, line.casefold().find(name.casefold()))
    start = max(0, min(place - (most - len(name)) // 2, len(line) - most))
    return f"{'…' if start else ''}{line[start : start + most].strip()}{'…' if start + most < len(line) else ''}"


class OptionLabels:
    """Lines about passages for one question. `objects`: node id -> name."""

    def __init__(self, question: QuestionState, only_open: bool, objects: Mapping[int, str] | None = None) -> None:
        self._only_open = only_open
        self._objects = objects or {}
        self._terms = question.topic or question.terms

    def known_passage(self, episode: Episode) -> str:
        """Returns a known passage: its title, and the sentence with most of the question's words."""
        return f"{title_label(episode)}: {self._sentence(episode)}"

    def open_passage(self, episode: Episode, neighbour: Episode | None = None) -> str:
        """Returns a passage by itself, or as the neighbour of a known one."""
        same = neighbour is not None and norm(neighbour.title) == norm(episode.title)
        where = ", another part" if same else f", next to {title_label(neighbour, day=False)}" if neighbour else ""
        return f"open {title_label(episode)}{where}: {self._sentence(episode)}"

    def object_path(self, object: int, source: Episode | None, episode: Episode, about: bool) -> str:
        """Returns a passage reached through an object: `"Free Guy" -> "Shawn Levy": the sentence`, with the object's
        name between them if no title has it. If the passage is `about` the object, the sentence is that of the known
        passage about it, else its own."""
        if source is not None and norm(source.title) == norm(episode.title):
            return self.open_passage(episode, source)
        ends = [passage for passage in (source, episode) if passage is not None]
        name = self._name(object, ends)
        parts = [title_label(source, day=False)] if source else []
        parts += [name] if name and norm(name) not in {norm(passage.title) for passage in ends} else []
        parts += [title_label(episode)]
        words = self._sentence(source if source and about else episode, name)
        return f"{'' if len(parts) > 1 else 'open '}{' -> '.join(parts)}: {words}"

    def relation_path(self, fact: Relation | None, source: Episode | None, episode: Episode) -> str:
        """Returns a passage reached through a fact: `Shawn Levy -[born in]-> Montreal, in "Canada": the sentence`; ""
        if there is no fact, or it may not be shown."""
        ends = [passage for passage in (source, episode) if passage is not None]
        if fact is None or fact.modality not in TOLD_AS_FACT:
            return ""
        if self._only_open and not fact.sources <= {passage.source.id for passage in ends}:
            return ""
        subject, object = self._name(fact.subject, ends), self._name(fact.object, ends)
        if not subject or not object:
            return ""
        name = object if object.casefold() in episode.text.casefold() else subject
        path = f"{subject} -[{one_line(fact.predicate, MAX_LABEL_NAME_CHARS)}]-> {object}"
        return f"{path}, in {title_label(episode)}: {self._sentence(episode, name)}"

    def _name(self, object: int, passages: Sequence[Episode]) -> str:
        """Returns the name of an object for the model; "" if it may not be named."""
        name = self._objects.get(object, "")
        if self._only_open and name not in (OWNER, NAMELESS) and not _is_named(name, passages):
            return ""
        return one_line(name, MAX_LABEL_NAME_CHARS)

    def _sentence(self, episode: Episode, name: str = "") -> str:
        """Returns the sentence of a passage with most of the question's words, of those with `name` if there are any;
        cut to stay short."""
        text = strip_unseen(episode.text)[:MAX_CHARS_SEARCHED]
        terms = set(self._terms) - set(words(episode.title))
        spans = best_sentences(text, terms or self._terms, None) or [(0, len(text))]
        lines = [one_line(text[start:end]) for start, end in spans]
        best = next((line for line in lines if name.casefold() in line.casefold()), lines[0])
        if len(best) > MAX_SENTENCE_CHARS and best.casefold().startswith(episode.title.casefold()):
            best = f"…{best[len(episode.title) :].lstrip()}"
        return cut_around(best, name, MAX_SENTENCE_CHARS)


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
    may_leave = frozenset(sources.open_ids(conn)) if only_open else frozenset()
    for relation in relations.get_many(conn, near.edges[near.kinds == _REL].tolist()):
        if only_open and not relation.sources <= may_leave:
            continue
        words = one_line(relation.predicate)[:MAX_PREDICATE_CHARS]
        since, until = (
            (from_wall(ms) for ms in (relation.valid_from, relation.valid_to)) if not only_open else (None, None)
        )
        parts: list[str] = [relation.modality] if relation.modality != "asserted" else []
        parts += [f"since {since.date().isoformat()}"] if since else []
        parts += [f"until {until.date().isoformat()}"] if until else []
        arrow = f"-[{words}]->" if relation.subject == node else f"<-[{words}]-"
        neighbour = relation.object if relation.subject == node else relation.subject
        lines.setdefault(neighbour, []).append(f"{arrow} ({', '.join(parts)})" if parts else arrow)
    return lines


def best_sentences(text: str, terms: Iterable[str], most: int | None) -> list[tuple[int, int]]:
    """Returns the spans of the sentences with most of these words, the best first, of equals the earlier."""
    wanted = {*terms}
    return sorted(sentences(text), key=lambda span: -len({*words(text[slice(*span)])} & wanted))[:most]


def preview(text: str, terms: Iterable[str]) -> str:
    """MAX_PREVIEW_CHARS of a text from the sentence with most of these words."""
    start = next((start for start, _ in best_sentences(text, terms, 1)), 0)
    return one_line(text[start:])[:MAX_PREVIEW_CHARS]
