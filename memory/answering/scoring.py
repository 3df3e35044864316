"""Scoring the sentences of episodes for one question, and finding those that tell a fact."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memory.answering.candidates import AnswerCandidate, PassageScores, QueryFeatures
from memory.facts.predicates import PERSONAL, canonical_predicate
from memory.graph.arrays import Floats
from memory.nouns import Episode
from memory.protocols import Embedder
from memory.retrieval.result import RetrievalResult
from memory.store import episodes, facts, graph, relations, text
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.mentions import norm
from memory.text.relation_sentences import statement


@dataclass(frozen=True, slots=True)
class SentenceFact:
    """A relation as a sentence tells it: `words` are its subject, predicate and object, `subject` the first of them."""

    relation: Relation
    words: str
    subject: str


def facts_of_sentences(conn: Connection, spans: Sequence[tuple[int, int, int, int]]) -> dict[int, list[SentenceFact]]:
    """Thesis id -> the relations whose quote begins in it or covers it; `spans` are (thesis, episode, start, end)."""
    by_episode: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for relation, episode, start, end in facts.of_episodes(conn, sorted({span[1] for span in spans})):
        by_episode[episode].append((relation, start, end))
    found = {id for quotes in by_episode.values() for id, _, _ in quotes}
    known = {one.id: one for one in relations.by_id(conn, sorted(found)) if one.modality in ("asserted", "plan")}
    names = graph.object_labels(conn, sorted({node for one in known.values() for node in (one.subject, one.object)}))
    told: dict[int, list[SentenceFact]] = defaultdict(list)
    for thesis, episode, start, end in spans:
        for id, first, last in by_episode.get(episode, ()):
            if id in known and first < end and start < last and (start <= first or end <= last):
                one = known[id]
                words = statement(names[one.subject], one.predicate, names[one.object])
                told[thesis].append(SentenceFact(one, words, names[one.subject]))
    return dict(told)


class CandidateSource:
    """Scores the sentences of episodes for one question. `told`: thesis id -> the facts that it tells."""

    def __init__(self, conn: Connection, found: RetrievalResult, embedder: Embedder) -> None:
        self._conn, self._found, self._embedder = conn, found, embedder
        self.scorer = QueryFeatures(
            found.question, text.document_frequencies(conn, found.question.terms), found.n_allowed, embedder
        )
        self._query = embedder.embed_query(found.question.text)
        hits = found.recall.hits
        top = max((hit.score for hit in hits), default=1.0)
        self._ranks = {hit.episode.id: hit.score / top for hit in hits}
        self._times = sorted({hit.episode.at for hit in hits if hit.episode.at})
        self.told: dict[int, list[SentenceFact]] = {}

    def is_others(self, relation: Relation, subject: str, objects: Collection[int]) -> bool:
        """Whether a relation tells of another person what the question asks of `objects`: where somebody else lives.
        Somebody whose name shares a word with one of them may be the same."""
        if not objects or relation.subject in objects or canonical_predicate(relation.predicate) not in PERSONAL:
            return False
        called = {word for name in self._found.named_objects.values() for word in norm(name).split()}
        return not called & set(norm(subject).split())

    def about(self, texts: Sequence[str], question: str | None = None) -> Floats:
        """(n,) texts -> (n,) cosines with the question, or with a part of it."""
        query = self._query if question is None else self._embedder.embed_query(question)
        cosines: Floats = self._embedder.embed_documents(texts) @ query
        return cosines

    def likeness(self, texts: Sequence[str]) -> dict[str, float]:
        """text -> its cosine with the question."""
        return dict(zip(texts, self.about(texts).tolist(), strict=True)) if texts else {}

    def of_others(self, ids: Sequence[int]) -> list[AnswerCandidate]:
        """The lines of episodes that were not recalled, as far as the question may see them."""
        return self.lines(
            {episode.id: episode for episode in episodes.by_ids(self._conn, ids) if self._found.sees(episode.id)}
        )

    def lines(self, of: Mapping[int, Episode]) -> list[AnswerCandidate]:
        """The sentences of these episodes that hold at the time asked of, best first."""
        theses = [
            thesis
            for thesis in episodes.theses_of(self._conn, list(of))
            if thesis.origin == "sentence" and self._found.valid_time.within(thesis.valid_from, thesis.valid_to)
        ]
        if not theses:
            return []
        told = facts_of_sentences(self._conn, [(t.id, t.episode_id, t.span_from or 0, t.span_to or 0) for t in theses])
        self.told |= told
        titled = self.about([f"{of[t.episode_id].title}. {t.text}" for t in theses])
        alone = self.about([t.text for t in theses])
        before = {b.id: a.text for a, b in pairwise(theses) if a.episode_id == b.episode_id}
        lines = []
        for thesis, with_title, by_itself in zip(theses, titled.tolist(), alone.tolist(), strict=True):
            episode = of[thesis.episode_id]
            place = self.place(episode, with_title, by_itself)
            words = ". ".join(one.words for one in told.get(thesis.id, ()))
            lines.append(self.scorer.line(episode, thesis, place, before.get(thesis.id, ""), words))
        return sorted(lines, key=lambda line: (-line.score, line.thesis_id))

    def place(self, episode: Episode, cosine_titled: float, cosine: float) -> PassageScores:
        """Where a line of the episode stands."""
        return PassageScores(cosine_titled, cosine, self._ranks.get(episode.id, 0.0), self._newness(episode))

    def tellers(self, ids: Sequence[int], lines: Sequence[AnswerCandidate]) -> dict[int, AnswerCandidate]:
        """For each of these facts the best line that tells it, the newest first, as far as the question may see one;
        `lines` are those that are known."""
        quotes = relations.evidence(self._conn, ids)
        known = {line.episode.id for line in lines}
        elsewhere = sorted({episode for _, episode, _, _ in quotes} - known)
        by_episode: dict[int, list[AnswerCandidate]] = defaultdict(list)
        for line in (*lines, *(self.of_others(elsewhere) if elsewhere else ())):
            by_episode[line.episode.id].append(line)
        found: dict[int, AnswerCandidate] = {}
        for id, episode, start, end in quotes:
            for line in by_episode.get(episode, ()):
                if line.start < end and start < line.start + len(line.quote):
                    before = found.get(id)
                    if before is None or (line.newness, line.score) > (before.newness, before.score):
                        found[id] = line
        return found

    def _newness(self, episode: Episode) -> float:
        """In [0, 1]: the share of the recalled episodes' times that are not after its own."""
        return bisect_right(self._times, episode.at) / len(self._times) if episode.at and self._times else 0.0
