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
from memory.facts.rules.passages import MACHINE_SPEAKERS
from memory.graph.arrays import Floats
from memory.nouns import Episode, Fact, Hit
from memory.protocols import Embedder
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.store import episodes, facts, graph, relations, text
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

WEIGHTS: Mapping[str, float] = {
    "sentence": 5.4,  # share of the question's weight that the sentence itself holds
    "unit": 4.0,  # further share that what stands beside it in its line holds
    "above": 4.8,  # further share of headings, items and table heads above it, and who says it
    "title": 6.0,  # of the passage's title and speaker
    "location": 5.4,  # of the folders and the name of its file
    "passage": 1.6,  # of the rest of the passage
    "near": 5.2,  # the same as the first, of words that are near to those of the question
    "unit_near": 3.7,
    "title_near": 1.4,  # as above and title
    "cosine_titled": 2.0,  # of the question and the sentence under what stands above it
    "cosine": 2.5,  # of the question and the sentence alone
    "rank": 0.6,  # of the episode in the retrieval, 1 for the best
    "date": 1.6,  # it holds the kind of thing asked for
    "number": 0.6,
    "name": 1.1,
    "length": 1.1,  # full at MANY_WORDS
    "newness": 1.8,  # 1 for the newest of the retrieved episodes
    "short": -0.8,  # fewer than FEW_WORDS: a signature, a label
    "leads": 0.7,  # the first sentence of its line: what follows mostly comments on it
    "item": 0.5,  # of a list
    "holds": 0.8,  # it says that it holds now, or from when on
    "asks": -1.2,  # a sentence that itself asks answers nothing; what follows it may
    "machine": -1.1,  # an assistant said it, or an agent
}
NO_ANSWER = -6.0  # a heading, a date, a line of a mail's head, links, words of the title or of the question only
TYPE_BONUS: Mapping[ExpectedType, float] = {"date": 1.1, "number": 0.7, "name": 1.2}  # of a fact's value
MANY_WORDS, FEW_WORDS = 30, 3
MAX_COMPARED = 40  # candidates whose words are compared with those of the question
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
_HOLDS = re.compile(
    rf"(?<!\w)(?:{alternatives('time', 'now')}|{alternatives('time', 'signals', 'begin')})(?!\w)", re.IGNORECASE
)
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


def weigh(measured: Mapping[str, float]) -> float:
    """What these features of a candidate count together."""
    return sum(WEIGHTS[name] * value for name, value in measured.items())


def _parts(candidate: AnswerCandidate) -> tuple[str, str, str]:
    """The sentence, its unit, and what stands above both."""
    return candidate.sentence, candidate.shown, f"{candidate.context}{candidate.episode.title}"


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

    def score(self, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
        """The candidates with their features and scores, in their order. What comes near to the question's words is
        looked for in the best of them only."""
        if not candidates:
            return []
        headed = [f"{self._headline(one.episode)}. {one.context}{one.sentence}" for one in candidates]
        titled = self.cosines(headed).tolist()
        alone = self.cosines([one.sentence for one in candidates]).tolist()
        measured = [self.measure(*of) for of in zip(candidates, titled, alone, strict=True)]
        if is_unspaced(self._language):
            return measured  # pieces of words have no meaning that could be near
        best = sorted(range(len(measured)), key=lambda place: -measured[place].score)[:MAX_COMPARED]
        self.embed_words(part for place in best for part in _parts(candidates[place]))
        for place in best:
            measured[place] = self._add_similarity(measured[place])
        return measured

    def measure(self, candidate: AnswerCandidate, cosine_titled: float, cosine: float) -> AnswerCandidate:
        """One candidate with its features and score; the cosines are those of the question with it under its title and
        alone. If the sentence before it asks, it speaks of what that one asked."""
        shown, episode, place = candidate.shown, candidate.episode, candidate.place
        sentence = self.stem_words(candidate.sentence)
        said = sentence if candidate.sentence == shown else self.stem_words(shown)
        title, location, passage = self._passage(episode)
        own = self._held(candidate.sentence, sentence)
        if _ASKING.search(candidate.before):
            own |= self._covered(self.stem_words(candidate.before))
        if candidate.facts:
            own |= self._covered(self.stem_words(". ".join(fact.words for fact in candidate.facts)))
        unit = own | self._covered(said)
        above = unit | self._covered(self.stem_words(candidate.context))
        titled = above | self._covered(title)
        located = titled | location
        covered = located | passage
        shares = [self._share(one) for one in (own, unit, above, titled, located, covered)]
        expected = self.holds_expected(shown)
        is_title = title.issuperset(said) and shown[-1:] not in ".!。"  # a short note may be its own title
        only_repeats = bool(self._expected) and self._weights.keys() >= {*said}
        measured: dict[str, float] = {
            "sentence": shares[0],
            "unit": shares[1] - shares[0],
            "above": shares[2] - shares[1],
            "title": shares[3] - shares[2],
            "location": shares[4] - shares[3],
            "passage": shares[5] - shares[4],
            "cosine_titled": cosine_titled,
            "cosine": cosine,
            "rank": self.rank(episode),
            **{kind: float(kind in expected) for kind in EXPECTED_TYPES},
            "length": min(len(said), MANY_WORDS) / MANY_WORDS,
            "newness": self.newness(episode),
            "short": float(len(said) < FEW_WORDS),
            "leads": float(candidate.sentence_start == candidate.start),
            "item": float(place.is_item),
            "holds": float(_HOLDS.search(candidate.sentence) is not None),
            "asks": float(_ASKING.search(candidate.sentence) is not None),
            "machine": float(episode.source.by_agent or place.speaker.casefold() in MACHINE_SPEAKERS),
        }
        return replace(
            candidate,
            words=frozenset(sentence),
            values=self.new_values(candidate.sentence),
            covered=covered,
            coverage=shares[5],
            held=shares[2],
            cosine=cosine_titled,
            score=weigh(measured) + NO_ANSWER * (place.kind in ("heading", "filing") or is_title or only_repeats),
        )

    def _add_similarity(self, candidate: AnswerCandidate) -> AnswerCandidate:
        """The candidate with what words near to those of the question count that it does not hold itself: in the
        sentence, then further ones in its unit, then in what stands above both."""
        measured: dict[str, float] = {}
        located = self.location_stems(candidate.episode)  # these count as exact already
        nearest = np.array([key in located for key in self.stems], np.float32)
        for name, part in zip(("near", "unit_near", "title_near"), _parts(candidate), strict=True):
            held = self._covered(self.stem_words(part))
            exact = np.maximum(nearest, np.array([key in held for key in self.stems], np.float32))
            nearest = np.maximum(exact, self.max_similarity(part))
            measured[name] = float((nearest - exact) @ self.shares)
        return replace(candidate, score=candidate.score + weigh(measured))

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

    def _headline(self, episode: Episode) -> str:
        """The title of a passage, with the words of its location that the question has."""
        located = self.location_stems(episode)
        words = [word for word in WORD.findall(episode.source.place) if not located.isdisjoint(self.stem_words(word))]
        return " ".join([*dict.fromkeys(words), episode.title])

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
        for one in self.features.score(read_candidates(self.conn, self.found, new) if new else ()):
            self._read[one.episode.id].append(one)
        return sorted((one for id in wanted for one in self._read[id]), key=lambda one: (-one.score, one.thesis_id))

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

        def rank(one: AnswerCandidate) -> tuple[bool, int, float]:
            return not one.by_agent, one.newness, one.score

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
