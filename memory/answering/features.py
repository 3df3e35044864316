"""Features: how well candidates match a question, by relevance and newness (docs/decisions.md)."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain

import numpy as np

from memory.answering.candidates import AnswerCandidate, Features, Sentence, read_candidates, stems
from memory.answering.exact_names import ExactNames
from memory.graph.arrays import Floats
from memory.nouns import Episode, Fact, Hit
from memory.protocols import Embedder
from memory.retrieval.question_type import SHAPES, ExpectedType, expected_types, find_owned
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.store import episodes, facts, graph, relations, text, vectors
from memory.store.connect import Connection
from memory.text.languages import ENGLISH, is_unspaced, stem, stem_set, stop_words, word_numbers, word_set
from memory.text.mentions import Mention, mentions
from memory.text.words import WORD, Term, index_form, strip_accents, words

COSINES, COSINES_ELSEWHERE = (0.15, 0.6), (0.3, 0.8)  # of unrelated words and of synonyms: in English, in others
UNDATED = 0.5  # the newness of a line without a date
RECENCY = 1.25  # the newest line counts by this much more than the oldest of equal relevance
SCORE_DIGITS = 6  # the digits of a score that do not depend on the order of vectors in a matrix
ENDED_PENALTY = -1.5  # it is struck out, or its fact has ended without a successor
EXPECTED = 0.8  # it contains the kind of thing that the question asks for
NO_ANSWER = -6.0  # it is a heading, files something, asks, or repeats its title
GENERIC = stem_set("asks", "generic")  # of words that say little of what is asked

_NUMBER = re.compile(r"\d[\d.,:/-]*\w*")  # which matches exactly or not
_ASKING = re.compile(r"[?？؟\u037e]$|[すた]か。?$")  # the last is Japanese


class QueryFeatures:
    """The features of texts for a question. `stems` (n,): of its words; `shares` (n,): their weights (IDF), with the
    sum 1."""

    def __init__(
        self,
        question: QuestionState,
        frequencies: Mapping[str, int],
        total: int,
        embedder: Embedder,
        hits: Sequence[Hit] = (),
    ) -> None:
        """`frequencies`: term -> the number of the `total` episodes that contain it; `hits`: the retrieved episodes."""
        self.question = question
        self.embedder = embedder
        self._language = question.language
        self._weights: dict[str, float] = {}
        word_of: dict[str, str] = {}  # stem -> the question's word
        self._prefixes: list[tuple[str, str]] = []  # of words that full text matches, each with the question's stem
        for term in question.topic or question.terms:
            weight = math.log(1 + total / (1 + frequencies.get(term, 0)))
            key = stem(term, question.language)
            self._weights[key] = max(weight, self._weights.get(key, 0.0))
            word_of.setdefault(key, str(term))
            if isinstance(term, Term):
                self._prefixes += [(strip_accents(form.removesuffix("*")), key) for form in term.forms]
        self._total = sum(self._weights.values()) or 1.0
        self.stems = tuple(self._weights)
        self.shares: Floats = np.array(list(self._weights.values()), np.float32) / self._total
        asked = [word_of[key] for key in self.stems]
        self.asked_shapes = {  # attribute -> its stems in the question
            attribute: keys
            for attribute in SHAPES
            if (keys := {key for key in self.stems if word_of[key] in word_set("owner", "attributes", attribute)})
        }
        self._asked = embedder.embed_documents(asked) if asked else np.zeros((0, embedder.dimension), np.float32)
        self._similarity: dict[str, Floats] = {}  # word -> (n,) to the question's words
        self._words: dict[str, set[str]] = {}
        self._nearest: dict[str, Floats] = {}  # text -> (n,) similarities of its nearest words
        self._best_cosine = self._best_late = 0.0  # of the lines that were scored first
        self._subject_stems: frozenset[str] | None = None  # of the question's names in the most relevant of these
        self._all_alike = False  # to the embedder, which hardly knows their script
        self.expected = expected_types(question.text, question.language)
        self._times = sorted({hit.episode.at for hit in hits if hit.episode.at})
        self._stem_of: dict[str, str] = {}
        self._passages: dict[int, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}
        self.mentions: Callable[[str], list[Mention]] = cache(mentions)
        self._values: dict[str, frozenset[str]] = {}
        self._stemmed: dict[str, list[str]] = {}
        names = (
            name.surface
            for name in question.mentions
            if name.kind != "date" and find_owned(question.text, question.language)
        )
        self._names = self.find_stems(word for name in names for word in self.stem_words(name))

    def score(self, candidates: Sequence[AnswerCandidate], cosines: Mapping[int, float]) -> list[AnswerCandidate]:
        """Returns the candidates with their features and scores, in their order. `cosines`: thesis id -> cosine of the
        question with the sentence's vector; the mean for a line without one. The relevance of a line is the mean of its
        cosine and its late interaction, each as a share of the best. It is multiplied by a term that grows with
        newness: of lines about the same thing the newest is usually current. For "Ana's phone" newness counts only in
        lines about Ana, and never in an agent's. Fitted weights do not find more on lives that they were not fitted on
        (docs/decisions.md)."""
        if not candidates:
            return []
        if not is_unspaced(self._language):  # pieces of words have no meaning
            lines = [(line.shown, line.context, line.source.episode.title) for line in candidates]
            self.embed_words(set(chain.from_iterable(lines)))
        measured = [self.measure(line) for line in candidates]
        mean = sum(cosines.values()) / len(cosines) if cosines else 0.0
        near = [max(0.0, cosines.get(line.source.thesis_id, mean)) for line in measured]
        self._best_cosine = self._best_cosine or max(0.3, *near)  # below, the nearest is hardly nearer than others
        self._best_late = self._best_late or max(line.features.late for line in measured)
        if self._subject_stems is None:
            nearest = (line.features.covered for line in measured if line.features.late >= self._best_late - 1e-6)
            self._subject_stems = self._names & frozenset[str]().union(*nearest)
        return [self._score(line, cosine) for line, cosine in zip(measured, near, strict=True)]

    def _score(self, candidate: AnswerCandidate, cosine: float) -> AnswerCandidate:
        """Returns a measured candidate with its score."""
        features = candidate.features
        near, late = cosine / (self._best_cosine or 1.0), features.late / (self._best_late or 1.0)
        relevance = (min(1.0, near) + min(1.0, late)) / 2
        is_of_subject = not self._subject_stems or not self._subject_stems.isdisjoint(features.covered)
        newness = self.newness(candidate.episode) if is_of_subject and not candidate.by_agent else 0.0
        score = 4.5 * relevance * (1 + RECENCY * newness)  # so differences are about log odds
        if self._states_nothing(candidate):
            score += NO_ANSWER
        elif self.holds_expected(candidate.shown):
            score += EXPECTED
        score += ENDED_PENALTY * candidate.is_struck
        of_line = features.covered, features.coverage, features.line_coverage, features.late
        features = Features(*of_line, cosine, relevance)
        return replace(candidate, features=features, score=round(score, SCORE_DIGITS))

    def _states_nothing(self, candidate: AnswerCandidate) -> bool:
        """Whether a line is a heading, leads to the next line, only files something, asks, or repeats its title; that
        of a note without a file was made of its text."""
        sentence = candidate.source
        title = self._stem_passage(sentence.episode)[0]
        is_title = title.issuperset(self.stem_words(candidate.shown)) and candidate.shown[-1:] not in ".!。"
        is_title = is_title and not sentence.episode.source.uri.startswith("note:")
        is_lead = sentence.place.kind in ("heading", "filing") or candidate.shown.endswith(":")
        return is_lead or is_title or bool(_ASKING.search(sentence.text))

    def measure(self, candidate: AnswerCandidate) -> AnswerCandidate:
        """Returns the candidate with its features, without a score. A line after a question also covers that question's
        words."""
        sentence = candidate.source
        title, location, passage = self._stem_passage(sentence.episode)
        line = self.find_covered(candidate.shown)
        if _ASKING.search(sentence.before):
            line |= self.find_stems(self.stem_words(sentence.before))
        if sentence.facts:
            line |= self.find_stems(self.stem_words(". ".join(fact.words for fact in sentence.facts)))
        context = candidate.context
        above = line | self.find_stems(self.stem_words(context))
        exact = above | self.find_stems(title) | location
        covered = exact | passage
        late = self._interact((candidate.shown, context, sentence.episode.title), exact)
        return replace(
            candidate,
            words=frozenset(self.stem_words(sentence.text)),
            values=self.new_values(sentence.text) if sentence.place.kind != "heading" else frozenset(),
            features=Features(covered, self._share(covered), self._share(above), late),
        )

    def _interact(self, texts: Sequence[str], exact: Collection[str]) -> float:
        """Returns the late interaction in [0, 1]: the weighted mean, over the question's words, of the best match in
        these texts: a line, its heads and its title."""
        nearest: Floats = np.array([key in exact for key in self.stems], np.float32)
        if not is_unspaced(self._language):
            nearest = np.maximum.reduce([nearest, *map(self.max_similarity, texts)])
        return float(nearest @ self.shares)

    def cosines(self, texts: Sequence[str], part: str | None = None) -> Floats:
        """(n,) texts -> (n,) cosines with the question, or with a `part` of it."""
        query = self.embedder.embed_query(self.question.text if part is None else part)
        cosines: Floats = self.embedder.embed_documents(texts) @ query
        return cosines

    def newness(self, episode: Episode) -> float:
        """Returns, in [0, 1], the share of the dated episodes retrieved that are not newer; UNDATED without a date."""
        if not self._times:
            return 0.0
        return bisect_right(self._times, episode.at) / len(self._times) if episode.at else UNDATED

    def coverage(self, *texts: str) -> float:
        """Returns the share of the question's weight that these texts cover together."""
        return self._share(self.find_stems(chain.from_iterable(map(self.stem_words, texts))))

    def stem_words(self, text: str) -> list[str]:
        """Returns the stems of a text's content words; the question's stem for a word that full text matches.
        Cached."""
        if text not in self._stemmed:
            if self._prefixes:
                little, words_of = stop_words(self._language), WORD.findall(index_form(text).lower())
                self._stemmed[text] = [self._stem(word) for word in words_of if word not in little]
            else:
                self._stemmed[text] = stems(text, self._language)
        return self._stemmed[text]

    def is_asked_with(self, word: str) -> bool:
        """Whether the question contains this word."""
        return not self._weights.keys().isdisjoint(self.stem_words(word))

    def embed_words(self, texts: Iterable[str]) -> None:
        """Compares all words of these texts with those of the question in one call, for later use."""
        new = sorted(set[str]().union(*map(self._content_words, texts)) - self._similarity.keys())
        if new:
            cosines = self.embedder.embed_documents(new) @ self._asked.T
            unrelated, synonym = COSINES if self._language == ENGLISH else COSINES_ELSEWHERE
            near = np.clip((cosines - unrelated) / (synonym - unrelated), 0, 1)
            if len(new) >= 20 and not is_unspaced(self._language):
                self._all_alike |= float(near.mean()) > 0.22  # 0.04 at most in Latin script
            if self._all_alike:
                near[:] = 0.0
            near[[place for place, word in enumerate(new) if _NUMBER.search(word)]] = 0.0
            near[:, [place for place, stem in enumerate(self.stems) if _NUMBER.search(stem)]] = 0.0
            self._similarity.update(zip(new, near, strict=True))

    def max_similarity(self, text: str) -> Floats:
        """Returns (n,) in [0, 1]: the similarity of each word of the question to the nearest word of a text; 1 for the
        same word. Cached. Late interaction, MaxSim (Khattab & Zaharia 2020, eq. 3, with words for tokens): the vector
        of a whole sentence shows its topic, but not whether it contains each thing that the question asks for. "Pays"
        is near to "rent", "fee" to "cost"."""
        if text not in self._nearest:
            self.embed_words([text])
            covered = self.find_covered(text)
            exact = np.array([key in covered for key in self.stems], np.float32)
            similarities = [self._similarity[word] for word in self._content_words(text)]
            self._nearest[text] = np.maximum.reduce([exact, *similarities])
        return self._nearest[text]

    def new_values(self, text: str) -> frozenset[str]:
        """Returns a text's names, dates and numbers that the question does not contain. Cached."""
        if text not in self._values:
            names = {name.norm for name in self.mentions(text) if not self.is_asked_with(name.surface)}
            numbers = {word for word in _NUMBER.findall(text) if self._stem(word) not in self._weights}
            self._values[text] = frozenset(names | numbers)
        return self._values[text]

    def holds_expected(self, text: str) -> frozenset[ExpectedType]:
        """Returns the kinds of thing that the question asks for and that a text contains."""
        if not self.expected:
            return frozenset()
        kinds, weekdays = {mention.kind for mention in self.mentions(text)} & {"date"}, word_numbers("time", "weekdays")
        for value in self.new_values(text):
            if value[0].isdigit():
                kinds.add("number")
            elif value[0].isalpha() and weekdays.keys().isdisjoint((value, value.removesuffix("s"))):
                kinds.add("name")
        return self.expected & kinds

    def _content_words(self, text: str) -> set[str]:
        if text not in self._words:
            self._words[text] = {*words(text)} - stop_words(self._language)
        return self._words[text]

    def _stem_passage(self, episode: Episode) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Returns the stems of the title and speaker; the question's stems in its file's path, and anywhere in the
        passage."""
        if episode.id not in self._passages:
            title = frozenset(self.stem_words(f"{episode.title} {episode.speaker or ''}"))
            location = self.find_stems(self.stem_words(episode.source.place))
            self._passages[episode.id] = title, location, self.find_stems([*title, *self.stem_words(episode.text)])
        return self._passages[episode.id]

    def _stem(self, word: str) -> str:
        """Returns the stem of a word; the question's stem if full text matches the word."""
        if word not in self._stem_of:
            plain = strip_accents(word)
            keys = (key for prefix, key in self._prefixes if plain.startswith(prefix))
            self._stem_of[word] = next(keys, None) or stem(word, self._language)
        return self._stem_of[word]

    def find_stems(self, words: Iterable[str]) -> frozenset[str]:
        """Returns which of these stems the question has."""
        return frozenset(self._weights.keys() & words)

    def find_covered(self, text: str) -> frozenset[str]:
        """Returns the question's stems that a text covers; a phone number covers "phone"."""
        covered = self.find_stems(self.stem_words(text))
        for attribute, keys in self.asked_shapes.items():
            if SHAPES[attribute].search(text):
                covered |= keys
        return covered

    def _share(self, covered: frozenset[str]) -> float:
        return sum(map(self._weights.__getitem__, covered)) / self._total


class AnswerState:
    """The input of one answer: the retrieval result (`result`), the features of the question, and the `objects` (node
    ids) that it is about. `conn` must see the state that was searched. Each passage is read once."""

    def __init__(self, conn: Connection, result: RetrievalResult, embedder: Embedder) -> None:
        self.conn, self.result, self.question = conn, result, result.question
        frequencies = text.document_frequencies(conn, result.question.terms)
        self.features = QueryFeatures(result.question, frequencies, result.n_allowed, embedder, result.recall.hits)
        self.objects = [*result.named_objects, *(graph.owner(conn) if result.question.of_owner else ())]
        self._read: dict[int, list[AnswerCandidate]] = {}  # by episode

    @cached_property
    def exact_names(self) -> ExactNames:
        return ExactNames(self.question, self.features.stems, self.features.stem_words)

    @cached_property
    def beside_names(self) -> frozenset[str]:
        """Returns the question's stems that are not part of names."""
        labels = graph.object_labels(self.conn, sorted(set(self.objects)))
        names = " ".join([*self.result.named_objects.values(), *labels.values()])
        return frozenset(self.features.stems).difference(stems(names, self.question.language))

    def read(self, of: Iterable[Episode]) -> list[AnswerCandidate]:
        """Returns the candidates of these episodes with their scores, best first."""
        passages = {passage.id: passage for passage in of}
        new = {id: passage for id, passage in passages.items() if id not in self._read}
        self._read |= {id: [] for id in new}
        candidates = read_candidates(self.conn, self.result, new) if new else []
        for line in self.features.score(candidates, self._compare(candidates)):
            self._read[line.source.episode.id].append(line)
        lines = (line for id in passages for line in self._read[id])  # sorted independently of ids
        return sorted(lines, key=lambda line: (-line.score, line.shown, line.source.episode.source.uri, line.start))

    def _compare(self, candidates: Sequence[AnswerCandidate]) -> dict[int, float]:
        """Returns {thesis id: the cosine of the question with its sentence's vector}; for a model's thesis that of its
        sentence."""
        embedder, ids = self.result.embedder, sorted({line.episode.id for line in candidates})
        query = embedder.embed_query(self.question.text)
        if not query.any():
            return {}
        cosines = vectors.sentence_cosines(self.conn, vectors.find_embedder(self.conn, embedder), ids, query)
        sentences = [line for line in candidates if not line.source.is_thesis and line.thesis_id in cosines]
        for thesis in candidates:
            if thesis.source.is_thesis:
                read_from = [cosines[line.thesis_id] for line in sentences if line.overlaps(thesis)]
                cosines |= {thesis.thesis_id: max(read_from)} if read_from else {}
        return cosines

    def read_found(self) -> list[AnswerCandidate]:
        """Returns the candidates of the retrieved episodes, best first."""
        return self.read(hit.episode for hit in self.result.recall.hits)

    def find_supporting(self, ids: Sequence[int], known: Sequence[AnswerCandidate]) -> dict[int, AnswerCandidate]:
        """Returns {fact (relation id): the best sentence that states it and that the question may see}: the newest,
        agents' sentences last. `known`: candidates that were read already."""
        quotes, properties = relations.evidence(self.conn, ids), relations.property_evidence(self.conn, ids)
        lines_of = self._read_evidence({row[1] for row in (*quotes, *properties) if self.result.sees(row[1])}, known)
        best: dict[int, AnswerCandidate] = {}

        def rank(line: AnswerCandidate) -> tuple[bool, int, float, str]:
            return not line.by_agent, line.newness, line.score, line.episode.source.uri

        for id, episode, start, end in quotes:
            for line in lines_of.get(episode, ()):
                if line.source.start < end and start < line.source.start + len(line.source.text):
                    best[id] = max(best.get(id, line), line, key=rank)
        for id, episode, predicate, value in properties:  # in the frontmatter
            fields = [line for line in lines_of.get(episode, ()) if ":" in line.source.text]
            stating = (line for line in fields if value in line.source.text)
            naming = (line for line in fields if predicate in line.source.text.lower())
            if id not in best and (field := next(chain(stating, naming), None)) is not None:
                best[id] = field
        return {id: line.cut_to_sentence() for id, line in best.items()}

    def _read_evidence(
        self, ids: Collection[int], known: Sequence[AnswerCandidate]
    ) -> dict[int, list[AnswerCandidate]]:
        """Returns {passage id: its candidates}, for these passages and those of `known`. Copies of a passage share the
        candidates of one of them, since their evidence is in the same places."""
        lines_of: dict[int, list[AnswerCandidate]] = defaultdict(list)
        for line in known:
            lines_of[line.source.episode.id].append(line)
        passages_of = {id: lines[0].source.episode for id, lines in lines_of.items()}
        distinct = {passage.content: passage for passage in passages_of.values()}
        others = sorted(set(ids) - lines_of.keys())
        passages = episodes.get_many(self.conn, others) if others else []
        copy_of = {passage.id: distinct.setdefault(passage.content, passage).id for passage in passages}
        for line in self.read(passage for passage in distinct.values() if passage.id in copy_of):
            lines_of[line.episode.id].append(line)
        return {**lines_of, **{id: lines_of[copy] for id, copy in copy_of.items()}}

    def find_former(self, ids: Sequence[int], notes: Collection[int]) -> list[tuple[Fact, AnswerCandidate]]:
        """Returns the facts among these (relation or thesis ids) that a version of one of these `notes` (source ids)
        stated before it was edited, each with its words there. For display only: the old version is no evidence."""
        former = [fact for fact in facts.get_many(self.conn, ids) if fact.quote] if ids else []
        passages = {
            passage.id: passage for passage in episodes.get_many(self.conn, [fact.episode_id for fact in former])
        }
        pairs = []
        for fact in former:
            episode = passages[fact.episode_id]
            if episode.source.id in notes and not self.result.sees(episode.id):
                start = max(0, episode.text.find(fact.quote))
                pairs.append(
                    (fact, AnswerCandidate(Sentence(episode, fact.id), start, fact.quote, fact.text, earlier=True))
                )
        return pairs
