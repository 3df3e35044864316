"""Answer candidates: the sentences of retrieved passages, with the facts they state; and an answer as lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby, pairwise
from pathlib import PurePosixPath

from memory.answering.places import NOWHERE, Place, Span, find_units, show_unit
from memory.graph.arrays import NO_END, NO_TIME
from memory.nouns import Citation, Episode
from memory.retrieval.state import RetrievalResult
from memory.store import episodes, graph, relations
from memory.store.connect import Connection
from memory.store.graph import Thesis
from memory.store.relations import Relation
from memory.text.languages import ENGLISH, stem, stop_words
from memory.text.predicates import statement
from memory.text.words import EVENT_RECURS, lines_around, show_links, words
from memory.time.expressions import name_day
from memory.time.recurrence import list_event_days, show_next
from memory.time.timestamps import from_wall, to_wall


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """Returns the stems of a text's content words, in order."""
    little = stop_words(language)
    return [stem(word, language) for word in words(text) if word not in little]


@dataclass(frozen=True, slots=True)
class SentenceFact:
    """A relation stated by a sentence: in `words`, with the name of its `subject`."""

    relation: Relation
    words: str
    subject: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence (thesis) of a passage, at `start` in it. `before`: the previous sentence; `facts`: the ones it states;
    `place`: its line; `is_thesis`: it is a model's thesis about the passage's words."""

    episode: Episode
    thesis_id: int
    text: str = ""
    start: int = 0
    before: str = ""
    facts: tuple[SentenceFact, ...] = ()
    place: Place = NOWHERE
    is_thesis: bool = False


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a sentence for a question. `covered`: the question's stems in the sentence or its passage;
    `coverage`: their share of the question's weight; `line_coverage`: that share for the line with its headings;
    `cosine`: of the question and the sentence under its title; `late`: their late interaction; `relevance`, in [0, 1]:
    the mean of both, each relative to the best."""

    covered: frozenset[str] = frozenset()
    coverage: float = 0.0
    line_coverage: float = 0.0
    late: float = 0.0
    cosine: float = 0.0
    relevance: float = 0.0


NOT_MEASURED = Features()


@dataclass(frozen=True, slots=True)
class AnswerCandidate:
    """A sentence that may answer. `score`, any real number, orders candidates. `start` and `quote`: its unit in its
    episode; `shown`: the text that an answer shows; `is_statement`: that is a fact in generated words. `words`: the
    stems of the sentence; `values`: its numbers, dates and names that are not in the question; both are empty until it
    is measured. `newer`: the candidate (thesis id) whose fact replaced its own; `earlier`: it is outdated. `also`:
    other candidates that support `shown`. `own`: it is the owner's fact for exactly the requested attribute. `value`:
    the requested words of `shown`, if known. `folded`: hidden until the person unfolds it."""

    source: Sentence
    start: int
    quote: str
    shown: str
    words: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    features: Features = NOT_MEASURED
    score: float = 0.0
    earlier: bool = False
    newer: int | None = None
    also: tuple[AnswerCandidate, ...] = ()
    own: bool = False
    value: str = ""
    folded: bool = False
    is_statement: bool = False

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
        """Returns the unmeasured candidate of a sentence (thesis) with its `unit`. A recurring event shows its next
        time from `today`."""
        begin = thesis.span_from or 0
        (start, end), place = unit or ((begin, begin + len(thesis.text)), NOWHERE)
        quote = episode.text[start:end] if unit else thesis.text
        again = show_next(episode.text[place.start : place.end], today) if today and place.kind == "event" else ""
        sentence = Sentence(episode, thesis.id, thesis.text, begin, before, tuple(facts), place)
        return cls(sentence, start, quote, show_unit(quote, place, again))

    def cut_to_sentence(self) -> AnswerCandidate:
        """Returns the candidate with its sentence only, as the proof of a fact."""
        text = self.source.text
        shown = show_unit(text, self.place) if self.place.kind == "row" else show_links(text)
        return replace(self, start=self.source.start, quote=text, shown=shown)

    @property
    def episode(self) -> Episode:
        return self.source.episode

    @property
    def thesis_id(self) -> int:
        return self.source.thesis_id

    @property
    def facts(self) -> tuple[SentenceFact, ...]:
        return self.source.facts

    @property
    def place(self) -> Place:
        return self.source.place

    @property
    def newness(self) -> int:
        """Returns the time of its passage (wall ms), 0 without one."""
        return to_wall(self.source.episode.at) or 0

    @property
    def by_agent(self) -> bool:
        """Whether an agent wrote its passage. Other writers take precedence."""
        return self.source.episode.source.by_agent

    @property
    def is_struck(self) -> bool:
        """Whether its writer struck out the whole sentence."""
        return re.fullmatch(r"\s*~~[^~]+~~\W*", self.source.text) is not None

    @property
    def context(self) -> str:
        """Returns the headings above its line in the passage, and the speaker."""
        place = self.source.place
        return " ".join(map("{}. ".format, filter(None, (*place.above, ", ".join(place.head), place.speaker))))

    @property
    def claim(self) -> str:
        """Returns its claim: its fact, its cells with their heads, or its sentence without the rest of its unit."""
        is_whole = self.is_statement or self.source.place.kind == "row"
        return self.shown if is_whole else self.source.text or self.shown

    def overlaps(self, other: AnswerCandidate) -> bool:
        """Whether two units share words of one passage."""
        start, end = max(self.start, other.start), min(self.start + len(self.quote), other.start + len(other.quote))
        return start < end and self.source.episode.id == other.source.episode.id

    def citation(self, n: int) -> Citation:
        """Returns the citation of its sentence, under number `n`."""
        cited = cite(n, self.episode, self.start, self.quote, self.earlier)
        return replace(cited, folded=self.folded, value=self.value)


def drop_paraphrases(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Drops the lower-ranked of a sentence and a model's thesis about it. `candidates`: best first."""
    lines = list(candidates)
    if not any(line.source.is_thesis for line in lines):
        return lines
    kept: list[AnswerCandidate] = []
    of_episode: dict[int, list[AnswerCandidate]] = defaultdict(list)
    for line in lines:
        others = of_episode[line.episode.id]
        if any((line.source.is_thesis or other.source.is_thesis) and line.overlaps(other) for other in others):
            continue
        others.append(line)
        kept.append(line)
    return kept


def covered_by(candidates: Iterable[AnswerCandidate]) -> frozenset[str]:
    """Returns the question's stems that at least one of them, or its passage, contains."""
    return frozenset[str]().union(*(candidate.features.covered for candidate in candidates))


def cite(n: int, episode: Episode, start: int, quote: str, earlier: bool) -> Citation:
    """Returns a citation of the words `quote` of an episode, from character `start` on."""
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
        is_markdown=episode.source.is_markdown,
    )


def read_candidates(conn: Connection, result: RetrievalResult, passages: dict[int, Episode]) -> list[AnswerCandidate]:
    """Returns the sentences of these passages (by id) that are valid at the question's time, in their order, then a
    model's theses. A sentence that is struck out or whose fact has ended is marked as earlier. A sentence whose only
    fact a person rejected is left out."""
    valid = result.valid_time
    theses = [line for line in episodes.theses_of(conn, list(passages)) if valid.covers(line.valid_from, None)]
    ended = {line.id for line in theses if not valid.covers(None, line.valid_to)}
    sentences = [thesis for thesis in theses if thesis.origin == "sentence"]
    facts = facts_of_sentences(conn, sentences)
    rejected = relations.rejected_quotes(conn, list(passages))
    sentences = [
        line
        for line in sentences
        if line.id in facts or not (line.id in ended or _overlaps_any(line, rejected.get(line.episode_id, ())))
    ]
    before = {b.id: a.text for a, b in pairwise(sentences) if a.episode_id == b.episode_id}
    units = _find_units(passages, sentences)
    today, elsewhere = result.question.today, result.snapshot.entry_versions(conn).elsewhere
    candidates = []
    for line in sentences:
        episode, unit, stated = passages[line.episode_id], units[line.id], facts.get(line.id, ())
        if not EVENT_RECURS.match(line.text) and _is_on_days(result, episode, unit[1], elsewhere):
            candidate = AnswerCandidate.from_thesis(episode, line, unit, before.get(line.id, ""), stated, today)
            candidates.append(replace(candidate, earlier=line.id in ended or candidate.is_struck))
    return candidates + _make_thesis_candidates(passages, [line for line in theses if line.id not in ended])


def _find_units(passages: Mapping[int, Episode], sentences: Sequence[Thesis]) -> dict[int, tuple[Span, Place]]:
    """Returns {sentence (thesis id): its unit and place}. `sentences` are in the order of their passages."""
    units: dict[int, tuple[Span, Place]] = {}
    for episode, group in groupby(sentences, lambda line: line.episode_id):
        lines = list(group)
        spans = [(line.span_from or 0, line.span_to or 0) for line in lines]
        units |= zip((line.id for line in lines), find_units(passages[episode].text, spans), strict=True)
    return units


def _make_thesis_candidates(passages: Mapping[int, Episode], theses: Iterable[Thesis]) -> list[AnswerCandidate]:
    """Returns the candidates of the model's theses among these, each with the words of its passage."""
    candidates = []
    for thesis in theses:
        episode, start = passages[thesis.episode_id], thesis.span_from
        if thesis.origin == "model" and thesis.modality in ("asserted", "plan") and start is not None:
            quote, shown = episode.text[start : thesis.span_to], " ".join(thesis.text.split())
            sentence = Sentence(episode, thesis.id, quote, start, is_thesis=True)
            candidates.append(AnswerCandidate(sentence, start, quote, shown, is_statement=True))
    return candidates


def _is_on_days(
    result: RetrievalResult, episode: Episode, place: Place, elsewhere: Mapping[int, frozenset[date]]
) -> bool:
    """Whether a line is no event, or is on the days of a question that asks only for these."""
    question, when = result.question, result.question.when
    if place.kind != "event" or question.topic or when is None or when.kind == "now":
        return True
    since = when.since.date() if when.since else date.min
    until = when.until.date() if when.until else date.max
    event = episode.text[place.start : place.end]
    is_bounded = when.since is not None or when.kind == "range"
    return not is_bounded or bool(list_event_days(event, since, until, elsewhere.get(episode.id, frozenset())))


def _overlaps_any(thesis: Thesis, quotes: Iterable[Span]) -> bool:
    return any((thesis.span_from or 0) < end and start < (thesis.span_to or 0) for start, end in quotes)


def facts_of_sentences(conn: Connection, theses: Iterable[Thesis]) -> dict[int, list[SentenceFact]]:
    """Returns {thesis id: the relations whose quote begins in it or covers it}."""
    sentences = list(theses)
    by_episode: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for relation, episode, start, end in relations.list_by_episodes(
        conn, sorted({line.episode_id for line in sentences})
    ):
        by_episode[episode].append((relation, start, end))
    ids = {id for quotes in by_episode.values() for id, _, _ in quotes}
    known = {fact.id: fact for fact in relations.get_many(conn, sorted(ids)) if fact.modality in ("asserted", "plan")}
    names = read_names(conn, known.values())
    stated: dict[int, list[SentenceFact]] = defaultdict(list)
    for line in sentences:
        start, end = line.span_from or 0, line.span_to or 0
        for id, first, last in by_episode.get(line.episode_id, ()):
            if id in known and first < end and start < last and (start <= first or end <= last):
                fact = known[id]
                words = statement(names[fact.subject], fact.predicate, names[fact.object])
                stated[line.id].append(SentenceFact(fact, words, names[fact.subject]))
    return dict(stated)


def read_names(conn: Connection, facts: Iterable[Relation]) -> dict[int, str]:
    """Returns the names of their subjects and objects, by node id."""
    return graph.object_labels(conn, sorted({node for fact in facts for node in (fact.subject, fact.object)}))


def titling_objects(result: RetrievalResult, episode: int) -> list[int]:
    """Returns the objects (node ids) that are the title of an episode; empty if it is newer than the graph."""
    graph = result.graph
    row = graph.row_of.get(episode)
    begin, end = (0, 0) if row is None else graph.titled.indptr[row : row + 2]
    return list(graph.object_ids[graph.titled.indices[begin:end]].tolist())


def begins_after(fact: Relation, at: int) -> bool:
    """Whether a fact begins to be valid after a time (wall ms)."""
    return fact.valid_from is not None and fact.valid_from > at


def holds_at(fact: Relation, at: int) -> bool:
    """Whether a fact is valid at a time (ms UTC)."""
    start = NO_TIME if fact.valid_from is None else fact.valid_from
    end = NO_END if fact.valid_to is None else fact.valid_to
    return start <= at < end


def is_current(fact: Relation, at: int) -> bool:
    """Whether a fact is asserted or planned, and valid at a time (ms UTC)."""
    return fact.modality in ("asserted", "plan") and holds_at(fact, at)


def as_known_then(fact: Relation, at: int) -> Relation:
    """Returns the fact as known at a time (ms UTC): without an end that a later fact gave it."""
    was_open = fact.superseded_by is not None and fact.valid_to is not None and fact.valid_to > at
    return fact._replace(valid_to=None) if was_open else fact


def select_current(known: Iterable[Relation], at: int) -> list[Relation]:
    """Returns the facts valid at a time (ms UTC), as known then."""
    return [as_known_then(fact, at) for fact in known if is_current(fact, at)]


def begins_ms(relation: Relation) -> int:
    """Returns the begin of a fact as a sort key; a moment before its end if only that is known."""
    if relation.valid_from is not None:
        return relation.valid_from
    return relation.valid_to - 1 if relation.valid_to is not None else relation.last_asserted or 0


def describe_time(fact: Relation, episode: Episode, start: int, quote: str, written: bool = False) -> list[str]:
    """Describes the known valid time of a fact that a `quote` of an episode states. `written`: a fact that begins when
    its note was written is shown "as of" that day."""
    parts = ["planned"] if fact.modality == "plan" else []
    if fact.valid_from is not None:
        written_at = to_wall(episode.at)
        is_later = written_at is not None and begins_after(fact, written_at)
        word = "as of" if written and fact.valid_from == written_at else "from" if is_later else "since"
        parts.append(f"{word} {show_day(fact.valid_from, episode, start, quote)}")
    if fact.valid_to is not None:
        parts.append(f"until {show_day(fact.valid_to, episode, start, quote)}")
    return parts


def show_day(ms: int, episode: Episode, start: int = 0, quote: str = "") -> str:
    """Formats the day of a time (ms UTC) as 2024-05-31, or the month or year as the lines of a `quote` of an episode
    write it; for the episode's own time also as its title or file name write it."""
    text = lines_around(episode.text, start, start + len(quote)) if quote else ""
    if ms == to_wall(episode.at):
        text = f"{text}\n{episode.title}\n{PurePosixPath(episode.source.uri).stem}"
    return name_day(from_wall(ms), text, episode.at)
