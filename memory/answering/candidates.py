"""Answer candidates: the sentences of retrieved passages that may answer a question, with the facts that they state;
and an answer as the lines that are made of them, each with what it cites."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby, pairwise
from pathlib import PurePosixPath

from memory.answering.places import NOWHERE, Place, Span, find_units, show_unit
from memory.facts.rules.phrases import clean, is_name, value_kind
from memory.graph.arrays import NO_END, NO_TIME
from memory.nouns import Answer, Citation, Episode, Step, Token
from memory.retrieval.state import RetrievalResult
from memory.store import episodes, graph, relations
from memory.store.connect import Connection
from memory.store.episodes import Thesis
from memory.store.relations import Relation
from memory.text.languages import ENGLISH, stem, stop_words
from memory.text.predicates import same_value, statement
from memory.text.words import EVENT_RECURS, lines_around, show_links, words
from memory.time.expressions import told_day
from memory.time.recurrence import list_event_days, show_next
from memory.time.timestamps import from_wall, to_wall

_BEFORE_KEY = re.compile(r": |[.;]\s|\s[–—-]\s")
SAME_STATEMENT_OVERLAP = 0.5  # share of words, values apart, from which two sentences say the same


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """Stems of a text's content words, in order."""
    little = stop_words(language)
    return [stem(word, language) for word in words(text) if word not in little]


@dataclass(frozen=True, slots=True)
class SentenceFact:
    """A relation that a sentence states: `words` are its subject, predicate and object, `subject` the first of them."""

    relation: Relation
    words: str
    subject: str


@dataclass(frozen=True, slots=True)
class AnswerCandidate:
    """A sentence that may answer, with what stands beside it. `score`, any real number, orders candidates.

    `start` and `quote`: where its unit stands in its episode and the words there, `shown` how they are shown;
    `sentence` the sentence alone, from `sentence_start` on, `before` the one before it; `place` where it stands;
    `newness` its time in ms. `is_statement`: what is shown is a fact in words of its own; `retold`: a thesis in those
    of a model. Its features, 0 or empty as long as nobody measured them: `words` are its stems, `values` its numbers,
    dates and names that the question does not name; `covered` the question's stems that it or its passage holds,
    `coverage` their share of the question's weight, `held` that of its line with what stands above it; `cosine` that
    of the question and the sentence under its title, `late` their late interaction, `relevance` in [0, 1] both.
    `newer` is the candidate (its thesis id) whose fact replaced its own, and `earlier` says that it is no longer so.
    `also` are other candidates that prove what is shown. `own`: its fact is the owner's and has just what is asked of
    the owner. `value` are the words of `shown` that are what is asked for, where that is clear; what is `folded` is
    shown when it is asked for.
    """

    episode: Episode
    thesis_id: int
    start: int
    quote: str
    shown: str
    words: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    covered: frozenset[str] = frozenset()
    coverage: float = 0.0
    held: float = 0.0
    late: float = 0.0
    relevance: float = 0.0
    cosine: float = 0.0
    score: float = 0.0
    newness: int = 0
    earlier: bool = False
    newer: int | None = None
    also: tuple[AnswerCandidate, ...] = ()
    own: bool = False
    before: str = ""
    facts: tuple[SentenceFact, ...] = ()
    value: str = ""
    folded: bool = False
    sentence: str = ""
    sentence_start: int = 0
    place: Place = NOWHERE
    is_statement: bool = False
    retold: bool = False

    @classmethod
    def from_thesis(
        cls,
        episode: Episode,
        thesis: Thesis,
        unit: tuple[Span, Place] | None = None,
        before: str = "",
        facts: Sequence[SentenceFact] = (),
        today: date | None = None,
    ) -> AnswerCandidate:
        """The candidate of a sentence (thesis) of an episode, read in its `unit` if it has one; not measured yet. An
        event that comes again is shown as of `today`."""
        begin = thesis.span_from or 0
        (start, end), place = unit or ((begin, begin + len(thesis.text)), NOWHERE)
        quote = episode.text[start:end] if unit else thesis.text
        again = show_next(episode.text[place.start : place.end], today) if today and place.kind == "event" else ""
        return cls(
            episode,
            thesis.id,
            start,
            quote,
            show_unit(quote, place, again),
            newness=to_wall(episode.at) if episode.at else 0,
            before=before,
            facts=tuple(facts),
            sentence=thesis.text,
            sentence_start=begin,
            place=place,
        )

    def cut_to_sentence(self) -> AnswerCandidate:
        """The same with its sentence only, as the proof of a fact."""
        shown = show_unit(self.sentence, self.place) if self.place.kind == "row" else show_links(self.sentence)
        return replace(self, start=self.sentence_start, quote=self.sentence, shown=shown)

    @property
    def by_agent(self) -> bool:
        """Whether an agent wrote its passage: beside what anybody else wrote that is no news."""
        return self.episode.source.by_agent

    @property
    def context(self) -> str:
        """What stands above its line in the passage, and whose turn it is."""
        place = self.place
        return " ".join(f"{part}. " for part in (*place.above, ", ".join(place.head), place.speaker) if part)

    @property
    def claim(self) -> str:
        """What it says itself: its fact, its cells with their heads, or its sentence without what stands beside it."""
        is_whole = self.is_statement or self.place.kind == "row"
        return self.shown if is_whole else self.sentence or self.shown

    def overlaps(self, other: AnswerCandidate) -> bool:
        """Whether the units of both share words of one passage."""
        start, end = max(self.start, other.start), min(self.start + len(self.quote), other.start + len(other.quote))
        return self.episode.id == other.episode.id and start < end

    def citation(self, n: int) -> Citation:
        """The citation of its sentence, under number `n`."""
        cited = cite(n, self.episode, self.start, self.quote, self.earlier)
        return replace(cited, folded=self.folded, value=self.value)


def retell(found: RetrievalResult, of: Mapping[int, Episode], theses: Iterable[Thesis]) -> list[AnswerCandidate]:
    """Candidates of theses in a model's words that hold at the time asked of, each with the words of its passage."""
    return [
        AnswerCandidate(
            episode=of[one.episode_id],
            thesis_id=one.id,
            start=one.span_from,
            quote=of[one.episode_id].text[one.span_from : one.span_to],
            shown=" ".join(one.text.split()),
            newness=to_wall(of[one.episode_id].at) or 0,
            sentence=of[one.episode_id].text[one.span_from : one.span_to],
            sentence_start=one.span_from,
            is_statement=True,
            retold=True,
        )
        for one in theses
        if one.origin == "model" and one.modality in ("asserted", "plan") and one.span_from is not None
        if found.valid_time.covers(one.valid_from, one.valid_to)
    ]


def drop_retold(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """The candidates, the best first, without those that say in other words what a better one says: of a sentence and
    what a model made of it only the better."""
    kept: list[AnswerCandidate] = []
    of_episode: dict[int, list[AnswerCandidate]] = defaultdict(list)
    for one in candidates:
        here = of_episode[one.episode.id]
        if not any((one.retold or other.retold) and one.overlaps(other) for other in here):
            here.append(one)
            kept.append(one)
    return kept


def cite(n: int, episode: Episode, start: int, quote: str, earlier: bool) -> Citation:
    """A citation of the words `quote` of an episode, from `start` on."""
    turn = episode.turn_at(start)
    return Citation(
        n=n,
        episode_id=episode.id,
        uri=episode.source.uri,
        title=episode.title,
        quote=quote,
        line=episode.line_at(start),
        end_line=episode.line_at(start + len(quote)),
        at=(turn.at if turn else None) or episode.at,
        speaker=(turn.speaker if turn else None) or episode.speaker,
        passage=episode.text,
        earlier=earlier,
        message=turn.number if turn else None,
        stamped=not (turn and turn.at) and episode.is_stamped,
    )


def read_candidates(conn: Connection, found: RetrievalResult, of: Mapping[int, Episode]) -> list[AnswerCandidate]:
    """The sentences of these episodes (by id) that hold at the time asked of, in their order, and a model's theses.
    Left out are those whose only fact a person said was never true."""
    told = episodes.theses_of(conn, list(of))
    theses = [
        thesis
        for thesis in told
        if thesis.origin == "sentence" and found.valid_time.covers(thesis.valid_from, thesis.valid_to)
    ]
    stated = facts_of_sentences(conn, theses)
    rejected = relations.rejected_quotes(conn, list(of))
    theses = [one for one in theses if one.id in stated or not _overlaps_any(one, rejected.get(one.episode_id, ()))]
    before = {b.id: a.text for a, b in pairwise(theses) if a.episode_id == b.episode_id}
    units: dict[int, tuple[Span, Place]] = {}
    for episode, group in groupby(theses, lambda one: one.episode_id):
        sentences = list(group)
        spans = [(one.span_from or 0, one.span_to or 0) for one in sentences]
        units |= zip((one.id for one in sentences), find_units(of[episode].text, spans), strict=True)
    today, elsewhere = found.question.today, found.snapshot.entry_versions(conn).elsewhere

    def is_on(id: int, place: Place) -> bool:
        event = of[id].text[place.start : place.end]
        return place.kind != "event" or _takes_place(found, event, elsewhere.get(id, frozenset()))

    return [
        AnswerCandidate.from_thesis(
            of[one.episode_id], one, units[one.id], before.get(one.id, ""), stated.get(one.id, ()), today
        )
        for one in theses
        if not EVENT_RECURS.match(one.text) and is_on(one.episode_id, units[one.id][1])
    ] + retell(found, of, told)


def _takes_place(found: RetrievalResult, event: str, elsewhere: frozenset[date]) -> bool:
    """Whether an event is on the days that a question is for, if it is for nothing but some days."""
    when = found.question.when
    if found.question.topic or when is None or when.kind == "now" or not (when.since or when.kind == "range"):
        return True
    since = when.since.date() if when.since else date.min
    until = when.until.date() if when.until else date.max
    return bool(list_event_days(event, since, until, elsewhere))


def _overlaps_any(thesis: Thesis, quotes: Iterable[Span]) -> bool:
    return any((thesis.span_from or 0) < end and start < (thesis.span_to or 0) for start, end in quotes)


def facts_of_sentences(conn: Connection, theses: Iterable[Thesis]) -> dict[int, list[SentenceFact]]:
    """Thesis id -> the relations whose quote begins in it or covers it."""
    spans = [(one.id, one.episode_id, one.span_from or 0, one.span_to or 0) for one in theses]
    by_episode: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for relation, episode, start, end in relations.of_episodes(conn, sorted({span[1] for span in spans})):
        by_episode[episode].append((relation, start, end))
    ids = {id for quotes in by_episode.values() for id, _, _ in quotes}
    known = {one.id: one for one in relations.by_id(conn, sorted(ids)) if one.modality in ("asserted", "plan")}
    names = read_names(conn, known.values())
    stated: dict[int, list[SentenceFact]] = defaultdict(list)
    for thesis, episode, start, end in spans:
        for id, first, last in by_episode.get(episode, ()):
            if id in known and first < end and start < last and (start <= first or end <= last):
                one = known[id]
                words = statement(names[one.subject], one.predicate, names[one.object])
                stated[thesis].append(SentenceFact(one, words, names[one.subject]))
    return dict(stated)


def read_names(conn: Connection, facts: Iterable[Relation]) -> dict[int, str]:
    """The names of their subjects and objects, by node id."""
    return graph.object_labels(conn, sorted({node for one in facts for node in (one.subject, one.object)}))


def read_evidence(
    conn: Connection, found: RetrievalResult, facts: Sequence[int]
) -> dict[int, list[tuple[Episode, int, int]]]:
    """(episode, start, end) of the words that support each of these facts (relation ids), as far as the question may
    see them, the newest first."""
    rows = [row for row in relations.evidence(conn, facts) if found.sees(row[1])]
    there = {one.id: one for one in episodes.by_ids(conn, sorted({episode for _, episode, _, _ in rows}))}
    places: dict[int, list[tuple[Episode, int, int]]] = defaultdict(list)
    for id, episode, start, end in rows:
        if episode in there:
            places[id].append((there[episode], start, end))
    for of_fact in places.values():
        of_fact.sort(key=lambda place: (-(place[0].at.timestamp() if place[0].at else 0.0), place[0].id))
    return places


def titling_objects(found: RetrievalResult, episode: int) -> list[int]:
    """The objects (node ids) that give an episode its title; none if it is newer than the graph."""
    row, graph = found.graph.row_of.get(episode), found.graph
    begin, end = (0, 0) if row is None else graph.titled.indptr[row : row + 2]
    titling: list[int] = graph.object_ids[graph.titled.indices[begin:end]].tolist()
    return titling


def begins_after(fact: Relation, at: int) -> bool:
    """Whether a fact is not valid yet at a time (wall ms)."""
    return fact.valid_from is not None and fact.valid_from > at


def holds_at(fact: Relation, at: int) -> bool:
    """Whether a fact's valid time holds a time (ms UTC)."""
    start = NO_TIME if fact.valid_from is None else fact.valid_from
    end = NO_END if fact.valid_to is None else fact.valid_to
    return start <= at < end


def is_current(fact: Relation, at: int) -> bool:
    """Whether a fact may be told of a time (ms UTC): it holds then, or is planned."""
    return fact.modality in ("asserted", "plan") and holds_at(fact, at)


def as_told_then(fact: Relation, at: int) -> Relation:
    """The fact as it could be told at a time (ms UTC): without the end that what took its place gave it later."""
    was_open = fact.superseded_by is not None and fact.valid_to is not None and fact.valid_to > at
    return fact._replace(valid_to=None) if was_open else fact


def select_current(conn: Connection, known: Iterable[Relation], at: int) -> list[Relation]:
    """Those of these that hold then. A sentence may have been read twice, by a rule and by a model: if what the one
    found there has been replaced, the other's finding goes with it, unless it was told again since."""
    current = {one.id: as_told_then(one, at) for one in known if is_current(one, at)}
    pairs = relations.find_overlapping(conn, list(current))
    twins = {one.id: one for one in relations.by_id(conn, sorted({other for _, other in pairs}))}
    names = read_names(conn, [*current.values(), *twins.values()])
    for id, other in pairs:
        one, twin = current.get(id), twins.get(other)
        if one is None or twin is None or twin.valid_to is None or twin.superseded_by is None or holds_at(twin, at):
            continue
        told_again = (one.last_asserted or 0) >= twin.valid_to
        if not told_again and same_value(names[one.object], names[twin.object]):
            del current[id]
    return list(current.values())


def begins_ms(relation: Relation) -> int:
    """When it begins, for an order: of what is known to have ended only, a moment before the end."""
    if relation.valid_from is not None:
        return relation.valid_from
    return relation.valid_to - 1 if relation.valid_to is not None else relation.last_asserted or 0


def describe_time(fact: Relation, episode: Episode, start: int, quote: str, written: bool = False) -> list[str]:
    """Since when and until when a fact that a `quote` of an episode states holds, as far as that is known, in words.
    With `written`, what only stands in a note of some day is known to have held then."""
    parts = ["planned"] if fact.modality == "plan" else []
    if fact.valid_from is not None:
        written_at = to_wall(episode.at)
        is_later = written_at is not None and fact.valid_from > written_at
        word = "as of" if written and fact.valid_from == written_at else "from" if is_later else "since"
        parts.append(f"{word} {show_day(fact.valid_from, episode, start, quote)}")
    if fact.valid_to is not None:
        parts.append(f"until {show_day(fact.valid_to, episode, start, quote)}")
    return parts


def show_day(ms: int, episode: Episode, start: int = 0, quote: str = "") -> str:
    """The day of a time (ms UTC), as 2024-05-31, or the month or year as which the line of a `quote` of an episode
    names it; of the time of the episode also as which its title or its file's name does."""
    said = lines_around(episode.text, start, start + len(quote)) if quote else ""
    if ms == to_wall(episode.at):
        said = f"{said}\n{episode.title}\n{PurePosixPath(episode.source.uri).stem}"
    return told_day(from_wall(ms), said, episode.at)


def same_statement(a: AnswerCandidate, b: AnswerCandidate) -> bool:
    """Whether both say the same of the same subject at different times, with other values of the same kind.

    Apart from their values they share their words, two at least: "Hourly rate 48" and "Hourly rate 52". A name that one
    begins with is its subject: "Flights cost 210" is no past of "The press costs 400". Who says it does not count.
    Two fields say the same if their keys do, in one note or in notes of one title that are named alike.
    """
    if a.newness == b.newness:
        return False
    (key, value), (other_key, other_value) = _split_field(a), _split_field(b)
    if key and other_key:
        return key == other_key and _may_follow(value, other_value) and _same_subject(a.episode, b.episode)
    if not same_kind(a.values - b.values, b.values - a.values):
        return False
    if _of_another(a, b) or _of_another(b, a):
        return False
    left, right = a.words - _stems_of(a.values), b.words - _stems_of(b.values)
    shared = left & right
    beside = shared.difference(stems(a.episode.speaker or ""), stems(b.episode.speaker or ""))
    return bool(beside) and len(shared) >= 2 and len(shared) / len(left | right) >= SAME_STATEMENT_OVERLAP


def _may_follow(value: str, other_value: str) -> bool:
    """Whether two values of one field are of one kind and not the same."""
    if same_value(value, other_value) or value_kind(value) != value_kind(other_value):
        return False
    return value_kind(value) != "word" or (is_name(value) and is_name(other_value))


def _split_field(line: AnswerCandidate) -> tuple[str, str]:
    """The key, in lower case, and the value of a field; the key is "" where the line is a speaker's sentence."""
    before, _, value = line.sentence.rpartition(": ")
    key = clean(_BEFORE_KEY.split(before)[-1]).casefold()
    return ("" if key == (line.episode.speaker or "").casefold() else key), clean(value)


def _same_subject(one: Episode, other: Episode) -> bool:
    """Whether two passages are about one thing by their place: one note, or notes of one title in one folder, the name
    of one of which begins with that of the other."""
    if one.source.id == other.source.id:
        return True
    if one.at is None or other.at is None:
        return False
    paths = [PurePosixPath(passage.source.uri.partition("#")[0]) for passage in (one, other)]
    stems = sorted((path.stem.casefold() for path in paths), key=len)
    titles = {passage.source.title.casefold() for passage in (one, other)}
    return len(titles) == 1 and paths[0].parent == paths[1].parent and stems[1].startswith(stems[0])


def _of_another(one: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether it begins with a name that the other does not hold."""
    first = next(iter(stems(one.shown)), "")
    return first not in other.words and first in _stems_of(frozenset(v for v in one.values if not v[0].isdigit()))


def same_kind(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether some number stands against a number, or some name against a name."""
    return bool({value[0].isdigit() for value in left} & {value[0].isdigit() for value in right})


def _stems_of(values: frozenset[str]) -> frozenset[str]:
    return frozenset(word for value in values for word in stems(value))


# What an answer is made of --------------------------------------------------------------------

ShownChain = tuple[tuple[AnswerCandidate, ...], tuple[str, ...]]
"""Candidates, and the names of the objects before each of them and after the last."""
Line = tuple[str, tuple[Citation, ...]]  # of an answer: its text without the numbers, and what it cites


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer with the lines that it is made of, none if it is a refusal. `candidates`: those that it shows, then
    what else there was, the best first. A digest rests on its candidates alone, whatever else was found."""

    answer: Answer
    lines: tuple[Line, ...]
    step: Step
    candidates: tuple[AnswerCandidate, ...] = ()
    is_digest: bool = False


def make_answer(lines: Sequence[Line], confidence: float, missing: tuple[str, ...] = ()) -> Answer:
    """These lines as an answer, numbered, with what they cite."""
    events = list(stream_lines(lines))
    text = "".join(event.text for event in events if isinstance(event, Token)).rstrip()
    citations = tuple(event for event in events if isinstance(event, Citation))
    return Answer(text, citations, missing=missing, confidence=confidence)


def stream_lines(lines: Iterable[Line], behind: int = 0) -> Iterator[Token | Citation]:
    """Each line with its numbers, behind the citations that are cited for the first time: whoever shows it knows what
    it is. All are numbered on behind that many others."""
    seen: set[int] = set()
    for text, cited in lines:
        numbered = [replace(one, n=one.n + behind) for one in cited]
        yield from (one for one in numbered if one.n not in seen)
        yield Token(" ".join([text, *(f"[{one.n}]" for one in numbered)]) + "\n")
        seen.update(one.n for one in numbered)
