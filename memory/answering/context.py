"""The prompt context of one question: numbered evidence, each piece with its passage.

Facts that contradict each other come first, then a few whole passages, best first, then sentences of other passages,
under one head for each passage. Other facts are left out: sentences and passages state them as well. The invariant:
every piece has an episode, and a piece `is_local` if anything in it, even a name or a day, comes from a source whose
text stays on this machine."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np

from memory.answering.candidates import (
    AnswerCandidate,
    as_known_then,
    describe_time,
    is_current,
    read_evidence,
    read_names,
    stems,
)
from memory.answering.facts import asks_past
from memory.answering.grounding import Proof
from memory.facts.extraction import OWNER
from memory.graph.arrays import Floats
from memory.llm import about_tokens
from memory.nouns import Episode
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.store import graph, relations, revisions
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.predicates import NAMELESS, statement
from memory.text.quotes import Quotable, one_line, strip_unseen

MIN_RELEVANCE = 0.1  # score of a fact that has to do with the question: three of four near one have less
ACTIVATION_WEIGHT = 0.2
_RELEVANCE_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.25)  # of three cosines and four features


class Candidate(NamedTuple):
    """A fact between two objects: its edge id, its words and those of its predicate, its sentence, the shares of the
    question's words that are in its words, and in its words or sentence, the score of its best passage relative to the
    best one, and whether the question names its subject."""

    id: int
    words: str
    predicate: str
    sentence: str
    shared: float
    shared_by_all: float
    rank: float
    is_named: bool


def score_facts(result: RetrievalResult, facts: Sequence[Candidate], embedder: Embedder) -> Floats:
    """Returns (n,) how likely the question needs each of these facts: how well it fits, in [-1, 1], and the activation
    of its edge. In two invented lives the right fact is among the ten best for 87 of 100 questions; by the first cosine
    alone for 77, by shared words for 81."""
    texts = [text for fact in facts for text in (fact.words, fact.predicate, fact.sentence)]
    if not texts:
        return np.zeros(0, np.float32)
    cosines = (embedder.embed_documents(texts) @ embedder.embed_query(result.question.text)).reshape(-1, 3)
    features = np.array([(fact.shared, fact.shared_by_all, fact.rank, fact.is_named) for fact in facts], np.float32)
    parts = np.array(_RELEVANCE_WEIGHTS, np.float32) / sum(_RELEVANCE_WEIGHTS)
    active = result.seeds.guidance.activation
    memory = np.array([active.get(fact.id, 0.0) for fact in facts], np.float32)
    scores: Floats = np.concatenate([cosines, features], 1) @ parts + ACTIVATION_WEIGHT * memory
    return scores.astype(np.float32)


MAX_RELATIONS_NEAR = 60  # relations of the question's objects that are looked at, the newest
MAX_FACTS_SHOWN = 10  # shown at most, without those that contradict them
RANK_OFFSET = 3  # of reciprocal ranks: of some ten passages the first count more than with the usual 60
MAX_WHOLE = 4  # passages that are shown whole, at most
MAX_PASSAGES_MORE = 15  # of a second look
MAX_TOKENS_BEST = 250  # of the best passages of the first look that the second shows again, if there are several
WHOLE_TOKEN_SHARE, FACT_TOKEN_SHARE, LINE_TOKEN_SHARE = 0.75, 0.15, 0.25  # of the room that each kind may take
HEADING_SEPARATOR = " › "  # in the title of a passage
MAX_PASSAGE_CHARS = 3_000  # of one passage
MAX_HEAD_CHARS = 160  # characters of a title, a name, a fact
MAX_OWN_HEAD_CHARS = 400  # at the beginning of a passage, in which its title and author may be named

_BREAK = re.compile(r"[.!?]\s+|\n\s*")

PieceKind = Literal["fact", "line", "passage"]


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """A piece of evidence: its shown text, and `quote`, the words of `episode` from `start` on that support it. A
    "line" has one sentence in each row. `against`: the fact (relation id) that contradicts it; `id`: its own."""

    kind: PieceKind
    text: str
    episode: Episode
    start: int
    quote: str
    is_local: bool
    earlier: bool = False
    id: int = 0
    against: int = 0

    def repeats(self, other: EvidencePiece) -> bool:
        """Whether both quote the same words of one passage, or state the same."""
        start, end = max(self.start, other.start), min(self.start + len(self.quote), other.start + len(other.quote))
        return self.episode.id == other.episode.id and (start < end or self.text == other.text)

    @property
    def proof(self) -> Proof:
        """Returns what it can prove: the passage shown to a person with it."""
        episode = self.episode
        day = episode.at.date().isoformat() if episode.at else ""
        topic = f"{episode.title}\n{episode.speaker or ''}"
        return Proof("\n".join([self.text, topic, day, episode.text]), episode.at, topic)


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Numbered evidence; piece number n is `pieces[n - 1]`. `left_out` local passages are not in it."""

    pieces: tuple[EvidencePiece, ...] = ()
    left_out: int = 0

    @property
    def is_local(self) -> bool:
        """Whether any of it must stay on this machine."""
        return any(piece.is_local for piece in self.pieces)

    @property
    def proofs(self) -> dict[int, Proof]:
        return {number: piece.proof for number, piece in enumerate(self.pieces, 1)}

    @property
    def whole(self) -> set[int]:
        """Returns the episodes (ids) that are shown whole."""
        return {piece.episode.id for piece in self.pieces if piece.kind == "passage"}

    def text(self) -> str:
        """Returns the pieces as prompt text; only a piece's number is at the start of a line."""
        place = {piece.id: number for number, piece in enumerate(self.pieces, 1) if piece.id}
        return "\n".join(_format_piece(number, piece, place) for number, piece in enumerate(self.pieces, 1))

    def look_further(self, pieces: Iterable[EvidencePiece], tokens: int, left_out: int = 0) -> PromptContext | None:
        """Returns the context for a second look: the best passage of this one, or several short ones, which may be half
        of an answer, and at most MAX_PASSAGES_MORE new pieces, of about `tokens` tokens; None without new ones."""
        known = {(piece.episode.id, piece.quote.strip()) for piece in self.pieces}
        new = [piece for piece in pieces if (piece.episode.id, piece.quote.strip()) not in known]
        new = [piece for piece in new if piece.kind == "passage" or not any(map(piece.repeats, self.pieces))]
        if not new:
            return None
        shown = [piece for piece in self.pieces if piece.kind != "fact"]
        spent = accumulate(about_tokens(piece.quote) for piece in shown)
        best = shown[: max(1, sum(cost <= MAX_TOKENS_BEST for cost in spent))]
        further = fit_context(new, tokens, 0, MAX_PASSAGES_MORE).pieces[:MAX_PASSAGES_MORE]
        return PromptContext((*best, *further), left_out)


def drop_local(pieces: Iterable[EvidencePiece]) -> tuple[tuple[EvidencePiece, ...], int]:
    """Returns the pieces that may leave this machine, and the number of passages (episodes) that may not."""
    pieces = tuple(pieces)
    kept = tuple(piece for piece in pieces if not piece.is_local)
    shown = {piece.episode.id for piece in kept}
    return kept, len({piece.episode.id for piece in pieces} - shown)


def fit_context(
    pieces: Sequence[EvidencePiece], tokens: int, left_out: int = 0, most_whole: int = MAX_WHOLE
) -> PromptContext:
    """Returns the pieces that fit in about `tokens` tokens, without duplicates: facts, then those of the first
    `most_whole` passages that fit, then the first lines of other passages that fit in a quarter. It has at least one
    piece."""
    facts, passages, lines = ([item for item in pieces if item.kind == kind] for kind in ("fact", "passage", "line"))
    left = float(tokens)
    room = {"fact": FACT_TOKEN_SHARE * tokens, "passage": (WHOLE_TOKEN_SHARE if lines else 1.0) * tokens}
    chosen: list[EvidencePiece] = []
    for piece in [*facts, *passages[:most_whole]]:
        cost = about_tokens(_format_piece(len(pieces), piece, {}))
        if cost <= min(left, room[piece.kind]):
            chosen.append(piece)
            left -= cost
            room[piece.kind] -= cost
    shown = PromptContext(tuple(chosen), left_out)
    left = min(left, LINE_TOKEN_SHARE * tokens) if passages else left
    chosen += _fit_lines((line for line in lines if line.episode.id not in shown.whole), left)
    if pieces and not chosen:
        chars = max(200, tokens)
        chosen = [replace(pieces[0], text=pieces[0].text[:chars])]
    ids = {piece.id for piece in chosen}
    numbered = tuple(piece if piece.against in ids else replace(piece, against=0) for piece in chosen)
    return PromptContext(numbered, left_out)


def _fit_lines(lines: Iterable[EvidencePiece], tokens: float) -> list[EvidencePiece]:
    """Returns the first lines that fit, as one piece for each passage."""
    of: dict[tuple[int, bool], list[EvidencePiece]] = {}
    taken: list[EvidencePiece] = []
    for line in lines:
        key = (line.episode.id, line.earlier)
        cost = about_tokens(f"    {line.text}\n" if key in of else _format_piece(1, line, {}))
        if cost <= tokens and not any(map(line.repeats, taken)):
            tokens -= cost
            taken.append(line)
            of.setdefault(key, []).append(line)
    return [_join_lines(same) for same in of.values()]


def _join_lines(lines: Sequence[EvidencePiece]) -> EvidencePiece:
    """Joins lines of one passage to a piece, in the order of the passage."""
    first, *_ = ordered = sorted(lines, key=lambda line: line.start)
    end = max(line.start + len(line.quote) for line in lines)
    text = "\n".join(line.text for line in ordered)
    return replace(first, text=text, quote=first.episode.text[first.start : end])


def gather_evidence(
    conn: Connection,
    result: RetrievalResult,
    lines: Iterable[AnswerCandidate],
    embedder: Embedder,
    *,
    chosen: Collection[int] = (),
    only_lines: bool = False,
    is_second: bool = False,
) -> tuple[EvidencePiece, ...]:
    """Returns all pieces that may be shown to a model. `lines` may answer, best first; outdated ones are left out
    unless the question is about the past. The `chosen` passages (episode ids) come first, then those that retrieval and
    lines rank best together (reciprocal rank fusion). `embedder` compares facts with the question; `conn` must see what
    the retrieval saw. With `only_lines` only the lines are shown. In a second look passages similar to the first ones
    come first: a missed passage shares no word with the question."""
    if only_lines:
        return tuple(map(_line, lines))
    hits = result.order_by_feedback() if is_second else [hit.episode for hit in result.recall.hits]
    is_past = asks_past(result.question)
    lines = [line for line in lines if is_past or not line.earlier]
    ranks: dict[int, float] = defaultdict(float)
    for ranked in (hits, [] if is_second else [line.episode for line in lines]):
        for place, id in enumerate(dict.fromkeys(episode.id for episode in ranked)):
            ranks[id] += 1 / (RANK_OFFSET + place)
    hits.sort(key=lambda episode: (episode.id not in chosen, -ranks[episode.id]))
    disputed = [piece for piece in find_facts(conn, result, embedder) if piece.against]
    return (*disputed, *map(_passage, hits), *map(_line, lines))


def _line(line: AnswerCandidate) -> EvidencePiece:
    is_reworded = line.is_statement and not line.source.is_thesis  # with what other sources may say, such as a day
    text = " ".join(strip_unseen(line.quote if is_reworded else line.shown).split())
    return EvidencePiece("line", text, line.episode, line.start, line.quote, _stays(line.episode), line.earlier)


def _passage(episode: Episode) -> EvidencePiece:
    return EvidencePiece(
        "passage", strip_unseen(episode.text)[:MAX_PASSAGE_CHARS], episode, 0, episode.text, _stays(episode)
    )


def _stays(episode: Episode) -> bool:
    return episode.source.policy != "any"


def _format_piece(number: int, piece: EvidencePiece, place: Mapping[int, int]) -> str:
    episode = piece.episode
    day = episode.at.date().isoformat() if episode.at else "undated"
    head: list[str] = [day]
    own = (day, *(piece.text[:MAX_OWN_HEAD_CHARS].splitlines() if piece.kind == "passage" else ()))
    title = episode.title.split(HEADING_SEPARATOR)
    while title and _is_named(title[-1], own):
        title.pop()
    if any(title):
        head.append(f'in "{one_line(HEADING_SEPARATOR.join(title), MAX_HEAD_CHARS)}"')
    if episode.speaker and not _is_named(episode.speaker, own):
        head.append(f"by {one_line(episode.speaker, MAX_HEAD_CHARS)}")
    if piece.earlier:
        head.append("no longer so")
    if piece.against:
        other = place.get(piece.against)
        head.append(f"contradicts [{other}], and it is unknown which is true" if other else "contradicted")
    if piece.kind == "fact":
        return f"[{number}] fact, {', '.join(head)}: {' '.join(piece.text.split())}"
    body = "\n".join(f"    {row}" for row in piece.text.splitlines() if row.strip())
    return f"[{number}] {', '.join(head)}:\n{body}"


def _is_named(name: str, rows: Iterable[str]) -> bool:
    """Whether one of the rows is that heading, or a field with it as its label or value, as in the head of a mail."""
    for row in rows:
        label, _, value = row.partition(":")
        if row.lstrip("# ") == name or label == name or value.strip().startswith(name):
            return True
    return False


# Facts -----------------------------------------------------------------------------------------


def find_facts(conn: Connection, result: RetrievalResult, embedder: Embedder) -> list[EvidencePiece]:
    """Returns valid facts related to the question, most related first; after each the one that contradicts it.
    `embedder` compares them with the question; `conn` must see what the retrieval saw."""
    hits = [hit.episode for hit in result.recall.hits]
    stated = {id for id, *_ in relations.list_by_episodes(conn, [episode.id for episode in hits])}
    near = [*result.named_objects, *(graph.owner(conn) if result.question.of_owner else ())]
    known = {fact.id: fact for fact in relations.get_many(conn, sorted(stated))}
    known |= {fact.id: fact for fact in relations.find_incident(conn, near, MAX_RELATIONS_NEAR)}
    pairs = revisions.contradictions(conn, list(known))
    disputed = {new: old for old, new in pairs} | dict(pairs)  # both ways, where nobody has said which holds
    known |= {fact.id: fact for fact in relations.get_many(conn, sorted({*disputed} - known.keys()))}
    known = {id: as_known_then(fact, result.time_ms) for id, fact in known.items()}
    current = [fact for fact in known.values() if is_current(fact, result.time_ms)]
    evidence = read_evidence(conn, result, [fact.id for fact in current])
    names = read_names(conn, current)
    asked = set(stems(result.question.text, result.question.language))
    top = max((hit.score for hit in result.recall.hits), default=0.0) or 1.0
    ranks = {hit.episode.id: hit.score / top for hit in result.recall.hits}

    def overlap(text: str) -> float:
        return len(asked.intersection(stems(text, result.question.language))) / (len(asked) or 1)

    pieces: dict[int, EvidencePiece] = {}
    candidates: list[Candidate] = []
    for fact in current:
        if fact.id not in evidence:
            continue
        words = statement(names[fact.subject], fact.predicate, names[fact.object])
        telling = [episode for episode, *_ in evidence[fact.id]]
        episode, *span = evidence[fact.id][0]
        start, end = _sentence(episode.text, *span)
        sentence = episode.text[start:end]
        stays = not _may_leave(conn, fact, (names[fact.subject], names[fact.object]), telling)
        time = describe_time(fact, episode, start, sentence)
        text = one_line(words, MAX_HEAD_CHARS) + (f" ({', '.join(time)})" if time else "")
        pieces[fact.id] = EvidencePiece("fact", text, episode, start, sentence, stays, id=fact.id)
        shares = overlap(words), overlap(f"{words} {sentence}")
        rank = max(ranks.get(episode.id, 0.0) for episode in telling)
        candidates.append(Candidate(fact.id, words, fact.predicate, sentence, *shares, rank, fact.subject in near))
    score = dict(zip(pieces, score_facts(result, candidates, embedder).tolist(), strict=True))
    needed = [id for id in score if score[id] > MIN_RELEVANCE]
    needed.sort(key=lambda id: (-score[id], -(known[id].last_asserted or 0), id))
    ordered: dict[int, EvidencePiece] = {}
    for id in needed[:MAX_FACTS_SHOWN]:
        ordered.setdefault(id, pieces[id])
        other = disputed.get(id)
        if other in pieces and all(_has_value(names[known[side].object]) for side in (id, other)):
            ordered[id] = replace(pieces[id], against=other)
            ordered[other] = replace(pieces[other], against=id)
    return list(ordered.values())


def _has_value(value: str) -> bool:
    """Whether the value is not blank: an empty field of a form contradicts nothing."""
    return any(character.isalnum() for character in value)


def _may_leave(conn: Connection, fact: Relation, names: Sequence[str], tellers: Sequence[Episode]) -> bool:
    """Whether no part of a fact comes from a source whose text must stay here: all its sources are open, the text of
    the first has its names, and no other fact has changed its valid time."""
    if any(map(_stays, tellers)) or not fact.sources <= {episode.source.id for episode in tellers}:
        return False
    if fact.superseded_by is not None or revisions.has_changed(conn, fact.id, "valid_from"):
        return False
    if fact.valid_to is not None and revisions.has_changed(conn, fact.id, "valid_to"):
        return False
    text = Quotable.from_text(f"{tellers[0].title}\n{tellers[0].text}\n{tellers[0].speaker or ''}")
    return all(name in (OWNER, NAMELESS) or text.names(name) for name in names)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns the start and end of the sentence or line that contains these words."""
    before = max((match.end() for match in _BREAK.finditer(text, 0, start)), default=0)
    after = _BREAK.search(text, max(start, end - 1))
    stop = text.find("\n", end) if after is None else after.start()
    until = len(text) if stop < 0 else max(end, stop)
    return before, min(until + 1, len(text)) if text[until : until + 1] in (".", "!", "?") else until
