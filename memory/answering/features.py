"""Features: how well candidates fit one question, as a weighted sum of named numbers.

The weights were fitted as one softmax over the sentences of each question, with the sentences that hold the answer as
its targets, on the questions of six invented lives for a value that holds, and rounded.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain
from typing import Literal

import numpy as np

from memory.answering.candidates import AnswerCandidate, read_candidates, stems
from memory.answering.exact_names import ExactNames
from memory.graph.arrays import Floats
from memory.nouns import Episode, Fact, Hit
from memory.protocols import Embedder
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.store import episodes, facts, graph, relations, text, vectors
from memory.store.connect import Connection
from memory.text.languages import (
    ENGLISH,
    alternatives,
    is_unspaced,
    languages,
    stem,
    stop_words,
    word_numbers,
    word_set,
)
from memory.text.mentions import Mention, mentions
from memory.text.words import WORD, Term, index_form, strip_accents, words

ExpectedType = Literal["date", "number", "name"]
EXPECTED_TYPES: tuple[ExpectedType, ...] = ("date", "number", "name")

SCALE = 4.5  # of a score: the difference of two is about the logarithm of how much likelier one line answers
RECENCY = 1.25  # how much more the newest line counts than the oldest, of the same relevance
EPSILON = 1e-6
SCORE_DIGITS = 6  # that differ for more than where in a matrix a vector is
EXPECTED = 0.8  # that it holds the kind of thing that is asked for
NO_ANSWER = -6.0  # a heading, a date, a line of a mail's head, links, words of the title or of the question only
TYPE_BONUS: Mapping[ExpectedType, float] = {"date": 1.1, "number": 0.7, "name": 1.2}  # of a fact's value
UNRELATED_COSINE, SYNONYM_COSINE = 0.3, 0.8  # at which two words have nothing in common, and mean the same
ALIKE, FEW_WORDS_COMPARED = 0.22, 20  # mean nearness (0.04 at most in Latin script), and of how many words

SHAPES: Mapping[str, re.Pattern[str]] = {  # of values that say by themselves what they are
    "phone": re.compile(
        r"(?<![\w.,-])(?<!\d )(?!\d\d?/\d{4}(?!\d))"  # no month
        r"(?:(?:\+\d|\(?0\d)[\d ()/-]{4,16}\d|(?:\d{3}[ -]\d{3}[ -]|\d{3}-)\d{4})(?![\w-])"
    ),
    "email": re.compile(r"[\w.+-]+@[\w-]+\.\w"),
}
_NUMBER = re.compile(r"\d[\d.,:/-]*\w*")
_ASKING = re.compile(r"[?？؟\u037e]$|[すた]か。?$")  # the last is Japanese


def expected_types(question: str, language: str) -> frozenset[ExpectedType]:
    """The kinds of thing that a question in `language` (ISO 639-1) asks for; none if its words do not say."""
    text = strip_accents(question.lower())
    return frozenset(kind for kind, pattern in _patterns(language).items() if pattern.search(text))


@cache
def _patterns(language: str) -> dict[ExpectedType, re.Pattern[str]]:
    """What each kind is asked for with; where words are not told apart by spaces, any place in the question counts."""
    data = languages().get(language, {})
    if "asks" not in data:
        data = languages()[ENGLISH]
    edges = ("", "") if "unspaced" in data else (r"(?<!\w)", r"(?!\w)")
    return {kind: re.compile(f"{edges[0]}(?:{strip_accents(data['asks'][kind])}){edges[1]}") for kind in EXPECTED_TYPES}


def find_owned(question: QuestionState) -> str:
    """The words that say what of somebody's the question asks for ("phone" in "Ana's phone"); "" of other questions."""
    form, ends = (alternatives("asks", key, language=question.language) for key in ("owned", "owned_ends"))
    said = re.search(form, question.text, re.IGNORECASE) if form else None
    return re.split(ends, said[1], maxsplit=1, flags=re.IGNORECASE)[0] if said else ""


def _is_weekday(word: str) -> bool:
    return not {word, word.removesuffix("s")}.isdisjoint(word_numbers("time", "weekdays"))


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


class QueryFeatures:
    """What texts of memory have in common with one question. `stems` (n,) are those of its words, `shares` (n,) what
    each counts: by how rare it is (inverse document frequency), all together 1."""

    def __init__(
        self,
        question: QuestionState,
        frequencies: Mapping[str, int],
        total: int,
        embedder: Embedder,
        hits: Sequence[Hit] = (),
    ) -> None:
        """`frequencies`: term -> how many of the `total` episodes hold it; `hits`: the retrieved episodes."""
        self.question = question
        self.embedder = embedder
        self._language = question.language
        self._weights: dict[str, float] = {}
        written: dict[str, str] = {}  # the question's word of each stem
        self._begun: list[tuple[str, str]] = []  # how a word begins that full text takes for one of the question's
        for term in question.topic or question.terms:
            weight = math.log(1 + total / (1 + frequencies.get(term, 0)))
            key = stem(term, question.language)
            self._weights[key] = max(weight, self._weights.get(key, 0.0))
            written.setdefault(key, str(term))
            if isinstance(term, Term):
                self._begun += [(strip_accents(form.removesuffix("*")), key) for form in term.forms]
        self._total = sum(self._weights.values()) or 1.0
        self.stems = tuple(self._weights)
        self.shares: Floats = np.array(list(self._weights.values()), np.float32) / self._total
        asked = [written[key] for key in self.stems]
        self.asked_shapes = {  # what is asked for whose value may be known by its shape, with its stems
            attribute: held
            for attribute in SHAPES
            if (held := {key for key in self.stems if written[key] in word_set("owner", "attributes", attribute)})
        }
        self._asked = embedder.embed_documents(asked) if asked else np.zeros((0, embedder.dimension), np.float32)
        self._similarity: dict[str, Floats] = {}  # (n,) of a word to those that are asked
        self._best_cosine = self._best_late = 0.0  # of the lines that were scored first
        self._whom: frozenset[str] | None = None  # the stems of its names that the most relevant of these holds
        self._all_alike = False  # to the embedder, which hardly knows their script: nearness says nothing
        self._expected = expected_types(question.text, question.language)
        top = max((hit.score for hit in hits), default=1.0)
        self._ranks = {hit.episode.id: hit.score / top for hit in hits}
        self._times = sorted({hit.episode.at for hit in hits if hit.episode.at})
        self._stem_of: dict[str, str] = {}
        self._passages: dict[int, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}
        self.mentions: Callable[[str], list[Mention]] = cache(mentions)  # of a text, looked for once
        self._values: dict[str, frozenset[str]] = {}
        self._stemmed: dict[str, list[str]] = {}
        names = (one.surface for one in question.mentions if one.kind != "date" and find_owned(question))
        self._names = self._covered(word for name in names for word in self.stem_words(name))

    def score(self, candidates: Sequence[AnswerCandidate], cosines: Mapping[int, float]) -> list[AnswerCandidate]:
        """The candidates with their features and scores, in their order. `cosines` of the question with the vectors of
        their sentences, by thesis; a line without one counts as the mean of the others.

        The relevance of a line is the mean of that cosine and of late interaction, each as a share of the best one. It
        counts the more the newer its passage is: of lines about the same the newest mostly holds. Of what is asked of
        somebody by name ("Ana's phone") a newer line about somebody else is no news. Equal weights found as much as
        fitted ones did on lives that they were not fitted on (docs/decisions.md).
        """
        if not candidates:
            return []
        if not is_unspaced(self._language):  # pieces of words have no meaning that could be near
            self.embed_words(text for one in candidates for text in (one.shown, one.context, one.episode.title))
        measured = [self.measure(one) for one in candidates]
        usual = sum(cosines.values()) / len(cosines) if cosines else 0.0
        near = [max(0.0, cosines.get(one.thesis_id, usual)) for one in measured]
        self._best_cosine = self._best_cosine or max(near)
        self._best_late = self._best_late or max(one.late for one in measured)
        relevances = [self._relevance(*of) for of in zip(measured, near, strict=True)]
        if self._whom is None:
            nearest = (one.covered for one in measured if one.late >= self._best_late - EPSILON)
            self._whom = self._names & frozenset[str]().union(*nearest)
        return [self._score(*of) for of in zip(measured, near, relevances, strict=True)]

    def _relevance(self, candidate: AnswerCandidate, cosine: float) -> float:
        """In [0, 1]: how much a measured line is about the question."""
        pairs = (cosine, self._best_cosine), (candidate.late, self._best_late)
        return sum(min(1.0, value / best) if best else 0.0 for value, best in pairs) / len(pairs)

    def _score(self, candidate: AnswerCandidate, cosine: float, relevance: float) -> AnswerCandidate:
        """A measured candidate with its score."""
        is_of_same = not self._whom or not self._whom.isdisjoint(candidate.covered)
        score = SCALE * relevance * (1 + RECENCY * is_of_same * self.newness(candidate.episode))
        if self._says_nothing(candidate):
            score += NO_ANSWER
        elif self.holds_expected(candidate.shown):
            score += EXPECTED
        return replace(candidate, cosine=cosine, relevance=relevance, score=round(score, SCORE_DIGITS))

    def _says_nothing(self, candidate: AnswerCandidate) -> bool:
        """Whether a line is a heading, files or names something only, asks, or repeats its title."""
        title = self._passage(candidate.episode)[0]
        is_title = title.issuperset(self.stem_words(candidate.shown)) and candidate.shown[-1:] not in ".!。"
        return candidate.place.kind in ("heading", "filing") or is_title or bool(_ASKING.search(candidate.sentence))

    def measure(self, candidate: AnswerCandidate) -> AnswerCandidate:
        """One candidate with its features, without its score. If the sentence before it asks, it is about what that one
        asks."""
        said = self.stem_words(candidate.shown)
        title, location, passage = self._passage(candidate.episode)
        line = self._held(candidate.shown, said)
        if _ASKING.search(candidate.before):
            line |= self._covered(self.stem_words(candidate.before))
        if candidate.facts:
            line |= self._covered(self.stem_words(". ".join(fact.words for fact in candidate.facts)))
        above = line | self._covered(self.stem_words(candidate.context))
        exact = above | self._covered(title) | location
        covered = exact | passage
        return replace(
            candidate,
            words=frozenset(self.stem_words(candidate.sentence)),
            values=self.new_values(candidate.sentence) if candidate.place.kind != "heading" else frozenset(),
            covered=covered,
            coverage=self._share(covered),
            held=self._share(above),
            late=self._interact(candidate, exact),
        )

    def _interact(self, candidate: AnswerCandidate, exact: Collection[str]) -> float:
        """Late interaction in [0, 1]: the mean, over the question's words by their weight, of how near the nearest word
        of a line, of what is above it and of its title comes."""
        nearest: Floats = np.array([key in exact for key in self.stems], np.float32)
        if not is_unspaced(self._language):
            for text in (candidate.shown, candidate.context, candidate.episode.title):
                nearest = np.maximum(nearest, self.max_similarity(text))
        return float(nearest @ self.shares)

    def cosines(self, texts: Sequence[str], part: str | None = None) -> Floats:
        """(n,) texts -> (n,) cosines with the question, or with a `part` of it."""
        query = self.embedder.embed_query(self.question.text if part is None else part)
        cosines: Floats = self.embedder.embed_documents(texts) @ query
        return cosines

    def rank(self, episode: Episode) -> float:
        """In [0, 1]: the episode's score in the retrieval, as a share of the best."""
        return self._ranks.get(episode.id, 0.0)

    def newness(self, episode: Episode) -> float:
        """In [0, 1]: the share of the retrieved episodes' times that are not after its own."""
        return bisect_right(self._times, episode.at) / len(self._times) if episode.at and self._times else 0.0

    def coverage(self, *texts: str) -> float:
        """The share of the question's weight that some texts hold together."""
        return self._share(frozenset[str]().union(*(self._covered(self.stem_words(text)) for text in texts)))

    def stem_words(self, text: str) -> list[str]:
        """The stems of a text's content words, those of the question where full text takes one for the other; looked
        for once."""
        if text not in self._stemmed:
            if self._begun:
                little, words_of = stop_words(self._language), WORD.findall(index_form(text).lower())
                self._stemmed[text] = [self._stem(word) for word in words_of if word not in little]
            else:
                self._stemmed[text] = stems(text, self._language)
        return self._stemmed[text]

    def is_asked_with(self, word: str) -> bool:
        """Whether the question is asked with this word."""
        return not self._weights.keys().isdisjoint(self.stem_words(word))

    def embed_words(self, texts: Iterable[str]) -> None:
        """Compares all words of these texts with those of the question at once; what is asked of them later costs
        nothing."""
        new = sorted({word for text in texts for word in self._content_words(text)} - self._similarity.keys())
        if new:
            cosines = self.embedder.embed_documents(new) @ self._asked.T
            near = np.clip((cosines - UNRELATED_COSINE) / (SYNONYM_COSINE - UNRELATED_COSINE), 0, 1).astype(np.float32)
            if len(new) >= FEW_WORDS_COMPARED and not is_unspaced(self._language):
                self._all_alike |= float(near.mean()) > ALIKE
            if self._all_alike:
                near[:] = 0.0
            near[[place for place, word in enumerate(new) if _has_digit(word)]] = 0.0  # no number is near to another
            near[:, [place for place, stem in enumerate(self.stems) if _has_digit(stem)]] = 0.0
            self._similarity.update(zip(new, near, strict=True))

    def max_similarity(self, text: str) -> Floats:
        """(n,) in [0, 1]: how near the nearest word of a text comes to each of the question's; 1 to those it holds.

        Late interaction, MaxSim (Khattab & Zaharia 2020, eq. 3, with words for tokens): the vector of a whole sentence
        says what it is about, not whether each thing that was asked is in it. "Pays" is near to "rent", "fee" to
        "cost".
        """
        self.embed_words([text])
        held = self._held(text, self.stem_words(text))
        exact: Floats = np.array([key in held for key in self.stems], np.float32)
        nearest: Floats = np.maximum.reduce([exact, *(self._similarity[word] for word in self._content_words(text))])
        return nearest

    def new_values(self, text: str) -> frozenset[str]:
        """A text's names, dates and numbers that the question does not hold, looked for once."""
        if text not in self._values:
            names = {one.norm for one in self.mentions(text) if not self.is_asked_with(one.surface)}
            numbers = {word for word in _NUMBER.findall(text) if self._stem(word) not in self._weights}
            self._values[text] = frozenset(names | numbers)
        return self._values[text]

    def holds_expected(self, text: str) -> frozenset[ExpectedType]:
        """The kinds of thing that the question asks for and a text holds."""
        if not self._expected:
            return frozenset()
        values = self.new_values(text)
        found: dict[ExpectedType, bool] = {
            "date": any(one.kind == "date" for one in self.mentions(text)),
            "number": any(value[0].isdigit() for value in values),
            "name": any(value[0].isalpha() and not _is_weekday(value) for value in values),
        }
        return frozenset(kind for kind in self._expected if found[kind])

    def type_bonus(self, text: str) -> float:
        """The bonus of a text for holding the kind of thing that was asked for."""
        return sum(TYPE_BONUS[kind] for kind in self.holds_expected(text))

    def _content_words(self, text: str) -> list[str]:
        little = stop_words(self._language)
        return [word for word in words(text) if word not in little]

    def location_stems(self, episode: Episode) -> frozenset[str]:
        """The question's stems that are in the folders or the name of a passage's file."""
        return self._passage(episode)[1]

    def _passage(self, episode: Episode) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Stems of the title and speaker, and the question's stems that are in the location, and anywhere in the
        passage."""
        if episode.id not in self._passages:
            title = frozenset(self.stem_words(f"{episode.title} {episode.speaker or ''}"))
            location = self._covered(self.stem_words(episode.source.place))
            self._passages[episode.id] = title, location, self._covered([*title, *self.stem_words(episode.text)])
        return self._passages[episode.id]

    def _stem(self, word: str) -> str:
        """The stem of a word; the question's, if full text would find the word by it."""
        if word not in self._stem_of:
            plain = strip_accents(word)
            begun = (key for begin, key in self._begun if plain.startswith(begin))
            self._stem_of[word] = next(begun, None) or stem(word, self._language)
        return self._stem_of[word]

    def _covered(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(word for word in words if word in self._weights)

    def _held(self, text: str, stems: Iterable[str]) -> frozenset[str]:
        """The question's stems that a text of these stems holds: a phone number need not be called one."""
        shaped = (keys for attribute, keys in self.asked_shapes.items() if SHAPES[attribute].search(text))
        return self._covered(stems).union(*shaped)

    def _share(self, covered: frozenset[str]) -> float:
        return sum(self._weights[word] for word in covered) / self._total


class AnswerState:
    """One answer in the making: what was retrieved (`found`), the features of its question, and the `objects` (node
    ids) that it is about. `conn` must see what the retrieval saw; what is read by it is read once."""

    def __init__(self, conn: Connection, found: RetrievalResult, embedder: Embedder) -> None:
        self.conn, self.found, self.question = conn, found, found.question
        frequencies = text.document_frequencies(conn, found.question.terms)
        self.features = QueryFeatures(found.question, frequencies, found.n_allowed, embedder, found.recall.hits)
        self.objects = [*found.named_objects, *(graph.owner(conn) if found.question.of_owner else ())]
        self._read: dict[int, list[AnswerCandidate]] = {}  # by episode

    @cached_property
    def exact_names(self) -> ExactNames:
        """What the question names that must match exactly."""
        return ExactNames(self.question, self.features.stems, self.features.stem_words)

    @cached_property
    def beside_names(self) -> frozenset[str]:
        """The question's stems that are not those of what it names."""
        labels = graph.object_labels(self.conn, sorted(set(self.objects)))
        names = " ".join([*self.found.named_objects.values(), *labels.values()])
        return frozenset(self.features.stems).difference(stems(names, self.question.language))

    def read(self, of: Iterable[Episode]) -> list[AnswerCandidate]:
        """The candidates of these episodes with their scores, best first."""
        wanted = {one.id: one for one in of}
        new = {id: one for id, one in wanted.items() if id not in self._read}
        self._read |= {id: [] for id in new}
        candidates = read_candidates(self.conn, self.found, new) if new else []
        for one in self.features.score(candidates, self._compare(candidates)):
            self._read[one.episode.id].append(one)
        read = (one for id in wanted for one in self._read[id])  # what was written first decides nothing
        return sorted(read, key=lambda one: (-one.score, one.shown, one.episode.source.uri, one.start))

    def _compare(self, candidates: Sequence[AnswerCandidate]) -> dict[int, float]:
        """Thesis id -> the cosine of the question with the vector of its sentence; of a model's thesis, that of the
        sentence it was read from."""
        embedder, ids = self.found.embedder, sorted({one.episode.id for one in candidates})
        query = embedder.embed_query(self.question.text)
        if not query.any():
            return {}
        cosines = vectors.sentence_cosines(self.conn, vectors.find_embedder(self.conn, embedder), ids, query)
        sentences = [one for one in candidates if not one.retold and one.thesis_id in cosines]
        for one in candidates:
            if one.retold:
                read_from = [cosines[other.thesis_id] for other in sentences if other.overlaps(one)]
                cosines |= {one.thesis_id: max(read_from)} if read_from else {}
        return cosines

    def read_found(self) -> list[AnswerCandidate]:
        """The candidates of the retrieved episodes, best first."""
        return self.read(hit.episode for hit in self.found.recall.hits)

    def find_supporting(self, ids: Sequence[int], known: Sequence[AnswerCandidate]) -> dict[int, AnswerCandidate]:
        """For each of these facts (relation ids) the best sentence that states it, the newest first and what agents
        wrote last, as far as the question may see one; `known` are those that were read already."""
        quotes, properties = relations.evidence(self.conn, ids), relations.property_evidence(self.conn, ids)
        elsewhere = {row[1] for row in (*quotes, *properties) if self.found.sees(row[1])}
        others = sorted(elsewhere - {one.episode.id for one in known})
        unlike = {one.episode.content: one.episode for one in known}
        copy_of: dict[int, int] = {}  # copies of a passage have their evidence in the same places
        for passage in episodes.by_ids(self.conn, others) if others else ():
            copy_of[passage.id] = unlike.setdefault(passage.content, passage).id
        by_episode: dict[int, list[AnswerCandidate]] = defaultdict(list)
        for one in (*known, *self.read(one for one in unlike.values() if one.id in copy_of)):
            by_episode[one.episode.id].append(one)
        best: dict[int, AnswerCandidate] = {}

        def rank(one: AnswerCandidate) -> tuple[bool, int, float, str]:
            return not one.by_agent, one.newness, one.score, one.episode.source.uri

        for id, episode, start, end in quotes:
            for one in by_episode.get(copy_of.get(episode, episode), ()):
                if one.sentence_start < end and start < one.sentence_start + len(one.sentence):
                    before = best.get(id)
                    if before is None or rank(one) > rank(before):
                        best[id] = one
        for id, episode, predicate, value in properties:  # the line of the frontmatter that says so
            there = [one for one in by_episode.get(copy_of.get(episode, episode), ()) if ":" in one.sentence]
            stating = (one for one in there if value in one.sentence)
            naming = (one for one in there if predicate in one.sentence.lower())
            if id not in best and (line := next(chain(stating, naming), None)) is not None:
                best[id] = line
        return {id: one.cut_to_sentence() for id, one in best.items()}

    def find_former(self, ids: Sequence[int], notes: Collection[int]) -> list[tuple[Fact, AnswerCandidate]]:
        """Of these facts (relation or thesis ids) those that one of these `notes` (source ids) stated until it was
        edited, each with the words that stood there: for the person alone, out of a passage that is no evidence any
        more."""
        former = [one for one in facts.by_id(self.conn, ids) if one.quote] if ids else []
        of = {one.id: one for one in episodes.by_ids(self.conn, [one.episode_id for one in former])}
        found = []
        for one in former:
            episode = of[one.episode_id]
            if episode.source.id in notes and not self.found.sees(episode.id):
                start = max(0, episode.text.find(one.quote))
                line = AnswerCandidate(episode, one.id, start, one.quote, one.text, earlier=True)
                found.append((one, line))
        return found
