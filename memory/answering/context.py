"""What a model gets to read for one question: numbered evidence, each piece with the passage it stands in.

Facts that hold come first, with since when, and those that contradict each other; then whole passages, the best first,
as many as there is room for; then lines of others. Chains say how they lead to each other, as "Ana -> works at [1] ->
Nordlys -> [2] -> Oslo; Bergen, since 2024-05-01" (after ReG). The invariant: every piece has an episode, and a piece
`is_local` if anything in it comes from a source whose text stays on this machine, be it a name or a day; every name of
a chain stands in what the pieces beside it tell.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

from memory.answering.candidates import (
    AnswerCandidate,
    ShownChain,
    as_told_then,
    describe_time,
    is_current,
    read_evidence,
    read_names,
    stems,
)
from memory.answering.grounding import Proof
from memory.facts.extraction import OWNER
from memory.llm import about_tokens
from memory.nouns import Episode, Step
from memory.protocols import Embedder
from memory.retrieval.chains import MIN_RELEVANCE, Candidate, Chain, Statement, find_chains, score_facts
from memory.retrieval.state import RetrievalResult
from memory.stages import FilterNote, step
from memory.store import graph, relations, revisions
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.predicates import NAMELESS, statement
from memory.text.quotes import Quotable, one_line, strip_unseen

MAX_RELATIONS_NEAR = 60  # relations of the question's objects that are looked at, the newest
MAX_FACTS_SHOWN = 10  # shown at most, beside those that contradict each other
MAX_SENTENCES_SHOWN = 8  # shown at most
RANK_OFFSET = 3  # of reciprocal ranks: of some ten passages the first count more than with the usual 60
FACT_TOKEN_SHARE, LINE_TOKEN_SHARE = 0.15, 0.25  # of the room that each may take
MAX_CHAINS_SHOWN, MAX_CHAIN_FACTS, MAX_CHAIN_ENDS = 4, 2, 3  # chains at most, facts of one, and its ends
MAX_PASSAGE_CHARS = 3_000  # of one passage
MAX_HEAD_CHARS = 160  # characters of a title, a name, a fact

_BREAK = re.compile(r"[.!?]\s+|\n\s*")

PieceKind = Literal["fact", "line", "passage"]


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """A piece of evidence: its words as they are shown, and `quote`, the words of `episode` from `start` on that it
    rests on. `against`: the fact (relation id) that contradicts it; `id`: its own."""

    kind: PieceKind
    text: str
    episode: Episode
    start: int
    quote: str
    is_local: bool
    earlier: bool = False
    id: int = 0
    against: int = 0

    @property
    def proof(self) -> Proof:
        """What can be proved by it: the passage that a person is shown beside it."""
        episode = self.episode
        day = episode.at.date().isoformat() if episode.at else ""
        topic = f"{episode.title}\n{episode.speaker or ''}"
        ended = self.text if self.kind == "fact" and self.earlier else ""
        return Proof("\n".join([self.text, topic, day, episode.text]), episode.at, topic, ended)


EvidenceChain = tuple[tuple[tuple[str, str, tuple[EvidencePiece, ...]], ...], tuple[tuple[str, str], ...]]
"""The steps of a chain, each with the name that it goes on from, its predicate ("^works at" backwards, "" where a
sentence tells it), and the pieces that tell it, one for each of the ends; and its ends, each with since when."""


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Numbered evidence; piece number n is `pieces[n - 1]`. `left_out` local passages are not in it. `chains` say how
    pieces lead to each other, by their numbers."""

    pieces: tuple[EvidencePiece, ...]
    left_out: int = 0
    chains: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether any of it must stay on this machine."""
        return any(piece.is_local for piece in self.pieces)

    @property
    def proofs(self) -> dict[int, Proof]:
        return {number: piece.proof for number, piece in enumerate(self.pieces, 1)}

    def text(self) -> str:
        """The pieces as they are shown; only a number begins at the beginning of a line."""
        place = {piece.id: number for number, piece in enumerate(self.pieces, 1) if piece.id}
        return "\n".join(_shown(number, piece, place) for number, piece in enumerate(self.pieces, 1))


def drop_local(pieces: Iterable[EvidencePiece]) -> tuple[tuple[EvidencePiece, ...], int]:
    """The pieces that may leave this machine, and how many passages (episodes) may not."""
    pieces = tuple(pieces)
    kept = tuple(piece for piece in pieces if not piece.is_local)
    shown = {piece.episode.id for piece in kept}
    return kept, len({piece.episode.id for piece in pieces} - shown)


def fit_context(
    pieces: Sequence[EvidencePiece], tokens: int, left_out: int = 0, chains: Iterable[EvidenceChain] = ()
) -> PromptContext:
    """As much of it as has room in so many tokens, nothing twice: facts, then passages, then lines of other passages.
    What comes first in its kind goes in first, facts and lines beside others take no more than their share, and one
    piece at least is in it. Of the `chains` those whose steps are all told by a piece, and not all by one passage."""
    share = LINE_TOKEN_SHARE if any(piece.kind != "line" for piece in pieces) else 1.0
    room = {"fact": FACT_TOKEN_SHARE * tokens, "passage": float(tokens), "line": share * tokens}
    left = float(tokens)
    chosen: list[EvidencePiece] = []
    for piece in sorted(pieces, key=lambda one: [*room].index(one.kind)):
        cost = about_tokens(_shown(len(pieces), piece, {}))
        if cost <= min(left, room[piece.kind]) and not _is_repeated(piece, chosen):
            chosen.append(piece)
            left -= cost
            room[piece.kind] -= cost
    if pieces and not chosen:
        chars = max(200, tokens)
        chosen = [replace(pieces[0], text=pieces[0].text[:chars])]
    there = {piece.id for piece in chosen}
    told = tuple(one if one.against in there else replace(one, against=0) for one in chosen)
    shown = list(dict.fromkeys(filter(None, (_chain_text(chain, told) for chain in chains))))[:MAX_CHAINS_SHOWN]
    return PromptContext(told, left_out, tuple(one for one in shown if (left := left - about_tokens(one)) >= 0))


def _is_repeated(line: EvidencePiece, chosen: Iterable[EvidencePiece]) -> bool:
    """Whether a line stands in a passage that is chosen, or a fact that is was read from it; what is no longer so is
    said of the line alone."""
    if line.kind != "line" or line.earlier:
        return False
    words = " ".join(line.quote.split())
    return any(
        words in " ".join(one.text.split())
        if one.kind == "passage"
        else line.start < one.start + len(one.quote) and one.start < line.start + len(line.quote)
        for one in chosen
        if one.episode.id == line.episode.id
    )


def _chain_text(chain: EvidenceChain, pieces: Sequence[EvidencePiece]) -> str:
    """The chain with the numbers of the pieces that tell its steps; "" if one is told by none, or all by one passage,
    where it can be read."""
    steps, ends = chain
    if len({piece.episode.id for *_, telling in steps for piece in telling}) < 2:
        return ""
    told = []
    for name, how, telling in steps:
        numbers = [_number_of(piece, pieces) for piece in telling]
        if not all(numbers):
            return ""
        arrow = "<-" if how[:1] == "^" else "->"
        step = " ".join(filter(None, [how.lstrip("^"), "".join(f"[{n}]" for n in dict.fromkeys(numbers))]))
        told.append(f"{name} {arrow} {step} {arrow}")
    return " ".join([*told, "; ".join(", ".join(filter(None, end)) for end in ends)])


def _number_of(piece: EvidencePiece, pieces: Sequence[EvidencePiece]) -> int:
    """The number under which the piece is shown, or the passage that it stands in; 0 if neither is."""
    same = [
        n for n, one in enumerate(pieces, 1) if (one.kind, one.id, one.start) == (piece.kind, piece.id, piece.start)
    ]
    there = [n for n, one in enumerate(pieces, 1) if one.kind == "passage"]
    return next((n for n in (*same, *there) if pieces[n - 1].episode.id == piece.episode.id), 0)


def gather_evidence(
    conn: Connection,
    found: RetrievalResult,
    lines: Sequence[AnswerCandidate],
    embedder: Embedder,
    chosen: Collection[int] = (),
    chains: Iterable[ShownChain] | None = (),
    only_lines: bool = False,
) -> tuple[tuple[EvidencePiece, ...], tuple[EvidenceChain, ...], Step]:
    """All that may be shown to a model, the chains that join it, and the step that chose its facts. `lines` are those
    of the answer, in their order, `chains` those among them, None if none are wanted, nor of facts. Of the passages the
    `chosen` ones (episode ids) come first, then those that retrieval and lines rank best together (reciprocal rank
    fusion). `embedder` compares facts with the question; `conn` must see what the retrieval saw. With `only_lines` the
    lines are all that is shown."""
    if only_lines:
        return tuple(map(_line, lines)), (), step(FilterNote(), 0.0)
    hits = [hit.episode for hit in found.recall.hits]
    start = perf_counter()
    told, of_facts, note = _facts(conn, found, hits, embedder, MAX_CHAIN_FACTS if chains is not None else 0)
    filtered = step(note, (perf_counter() - start) * 1000)
    lines = lines[:MAX_SENTENCES_SHOWN]
    ranks: dict[int, float] = defaultdict(float)
    for ranked in (hits, [line.episode for line in lines]):
        for place, id in enumerate(dict.fromkeys(episode.id for episode in ranked)):
            ranks[id] += 1 / (RANK_OFFSET + place)
    hits.sort(key=lambda episode: (episode.id not in chosen, -ranks[episode.id]))
    pieces = (*told, *map(_line, lines), *map(_passage, hits))
    joined = (chain for chain in [*of_facts, *_chains_of_lines(chains or ())] if _is_told(chain))
    return pieces, tuple(joined), filtered


def _chains_of_lines(chains: Iterable[ShownChain]) -> list[EvidenceChain]:
    """Those with an end."""
    return [
        (tuple((name, "", (_line(one),)) for name, one in zip(names, lines, strict=False)), ((names[-1], ""),))
        for lines, names in chains
        if len(names) > len(lines)
    ]


def _is_told(chain: EvidenceChain) -> bool:
    """Whether each name stands in what the pieces before or behind it tell: an object may be called by a name that only
    a source tells that must stay here."""
    steps, ends = chain
    texts = [Quotable.from_text(" ".join(piece.proof.text for piece in telling)) for *_, telling in steps]
    told = all(
        any(text.names(name) for text in texts[max(0, place - 1) : place + 1]) or name in (OWNER, NAMELESS)
        for place, (name, *_) in enumerate(steps)
    )
    return told and all(texts[-1].names(name) or name in (OWNER, NAMELESS) for name, _ in ends)


def _line(line: AnswerCandidate) -> EvidencePiece:
    text = " ".join(strip_unseen(line.shown if line.retold else line.quote).split())
    return EvidencePiece("line", text, line.episode, line.start, line.quote, _stays(line.episode), line.earlier)


def _passage(episode: Episode) -> EvidencePiece:
    return EvidencePiece(
        "passage", strip_unseen(episode.text)[:MAX_PASSAGE_CHARS], episode, 0, episode.text, _stays(episode)
    )


def _stays(episode: Episode) -> bool:
    return episode.source.policy != "any"


def _shown(number: int, piece: EvidencePiece, place: Mapping[int, int]) -> str:
    episode = piece.episode
    head: list[str] = [piece.kind]
    if episode.at is not None:
        head.append(f"written {episode.at.date().isoformat()}")
    if episode.title:
        head.append(f'in "{one_line(episode.title, MAX_HEAD_CHARS)}"')
    if episode.speaker:
        head.append(f"by {one_line(episode.speaker, MAX_HEAD_CHARS)}")
    if piece.earlier:
        head.append("no longer so")
    if piece.against:
        other = place.get(piece.against)
        head.append(f"contradicts [{other}], and nobody knows which holds" if other else "contradicted")
    body = "\n".join(f"    {row}" for row in piece.text.splitlines() if row.strip())
    if piece.kind != "passage":
        return f"[{number}] {', '.join(head)}: {' '.join(body.split())}"
    return f"[{number}] {', '.join(head)}:\n{body}"


# Facts -----------------------------------------------------------------------------------------


def _facts(
    conn: Connection, found: RetrievalResult, hits: Sequence[Episode], embedder: Embedder, length: int
) -> tuple[list[EvidencePiece], list[EvidenceChain], FilterNote]:
    """Facts that hold and have to do with the question, the most first; beside each the one that contradicts it. Chains
    of at most `length` of them from what the question names. And for the trace how many there were to choose from, and
    the ids of those."""
    told = {id for id, *_ in relations.of_episodes(conn, [episode.id for episode in hits])}
    near = [*found.named_objects, *(graph.owner(conn) if found.question.of_owner else ())]
    known = {one.id: one for one in relations.by_id(conn, sorted(told))}
    known |= {one.id: one for one in relations.find_incident(conn, near, MAX_RELATIONS_NEAR)}
    pairs = revisions.contradictions(conn, list(known))
    disputed = {new: old for old, new in pairs} | dict(pairs)  # both ways, where nobody has said which holds
    known |= {one.id: one for one in relations.by_id(conn, sorted({*disputed} - known.keys()))}
    known = {id: as_told_then(one, found.time_ms) for id, one in known.items()}
    current = [one for one in known.values() if is_current(one, found.time_ms)]
    evidence = read_evidence(conn, found, [one.id for one in current])
    names = read_names(conn, current)
    asked = set(stems(found.question.text, found.question.language))
    top = max((hit.score for hit in found.recall.hits), default=0.0) or 1.0
    ranks = {hit.episode.id: hit.score / top for hit in found.recall.hits}

    def overlap(text: str) -> float:
        return len(asked.intersection(stems(text, found.question.language))) / (len(asked) or 1)

    pieces: dict[int, EvidencePiece] = {}
    candidates: list[Candidate] = []
    for one in current:
        if one.id not in evidence:
            continue
        words = statement(names[one.subject], one.predicate, names[one.object])
        telling = [episode for episode, *_ in evidence[one.id]]
        episode, *span = evidence[one.id][0]
        start, end = _sentence(episode.text, *span)
        sentence = episode.text[start:end]
        stays = not _may_leave(conn, one, (names[one.subject], names[one.object]), telling)
        time = describe_time(one, episode, start, sentence)
        text = one_line(words, MAX_HEAD_CHARS) + (f" ({', '.join(time)})" if time else "")
        pieces[one.id] = EvidencePiece("fact", text, episode, start, sentence, stays, id=one.id)
        shares = overlap(words), overlap(f"{words} {sentence}")
        rank = max(ranks.get(episode.id, 0.0) for episode in telling)
        candidates.append(Candidate(one.id, words, one.predicate, sentence, *shares, rank, one.subject in near))
    score = dict(zip(pieces, score_facts(conn, found, candidates, embedder).tolist(), strict=True))
    needed = [id for id in score if score[id] > MIN_RELEVANCE]
    needed.sort(key=lambda id: (-score[id], -(known[id].last_asserted or 0), id))
    statements = [Statement(id, (), (known[id].subject, known[id].object), score[id]) for id in needed]
    joined = _chains_of_facts(find_chains(statements, {}, near, length), known, names, pieces)
    joining = [piece.id for steps, _ in joined for *_, telling in steps for piece in telling]
    ordered: dict[int, EvidencePiece] = {}
    for id in dict.fromkeys([*needed[:MAX_FACTS_SHOWN], *joining]):
        ordered.setdefault(id, pieces[id])
        other = disputed.get(id)
        if other in pieces:
            ordered[id] = replace(pieces[id], against=other)
            ordered[other] = replace(pieces[other], against=id)
    return list(ordered.values()), joined, FilterNote(len(pieces), tuple(ordered))


def _chains_of_facts(
    chains: Iterable[Chain],
    known: Mapping[int, Relation],
    names: Mapping[int, str],
    pieces: Mapping[int, EvidencePiece],
) -> list[EvidenceChain]:
    """Those of several facts, the best; those that differ in their last fact only are one with several ends."""
    alike: dict[tuple[tuple[int, ...], tuple[str, ...]], list[Chain]] = defaultdict(list)
    for chain in chains:
        facts = [known[id] for id in chain.facts]
        along = [fact.subject == vertex for fact, vertex in zip(facts, chain.vertices, strict=True)]
        how = tuple(f"{'' if forth else '^'}{fact.predicate}" for fact, forth in zip(facts, along, strict=True))
        if len(facts) > 1:
            alike[chain.vertices, how].append(chain)
    found = []
    for (vertices, how), same in list(alike.items())[:MAX_CHAINS_SHOWN]:
        called = [one_line(names[node], MAX_HEAD_CHARS) for node in vertices]
        last = [(one.ends[0], one.facts[-1]) for one in same[:MAX_CHAIN_ENDS]]
        telling = [*((pieces[id],) for id in same[0].facts[:-1]), tuple(pieces[id] for _, id in last)]
        ends = [(one_line(names[node], MAX_HEAD_CHARS), _time_of(known[id], pieces[id])) for node, id in last]
        found.append((tuple(zip(called, how, telling, strict=True)), tuple(ends)))
    return found


def _time_of(fact: Relation, piece: EvidencePiece) -> str:
    return ", ".join(describe_time(fact, piece.episode, piece.start, piece.quote))


def _may_leave(conn: Connection, fact: Relation, names: Sequence[str], tellers: Sequence[Episode]) -> bool:
    """Whether nothing of a fact comes from a source whose text stays here: all that tells it is open, it has the names
    that stand there, and no other fact has changed when it holds."""
    if any(_stays(episode) for episode in tellers) or not fact.sources <= {one.source.id for one in tellers}:
        return False
    if fact.superseded_by is not None or revisions.has_changed(conn, fact.id, "valid_from"):
        return False
    if fact.valid_to is not None and revisions.has_changed(conn, fact.id, "valid_to"):
        return False
    text = Quotable.from_text(f"{tellers[0].title}\n{tellers[0].text}\n{tellers[0].speaker or ''}")
    return all(name in (OWNER, NAMELESS) or text.names(name) for name in names)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence, or the line, begins and ends in which these words stand."""
    before = max((match.end() for match in _BREAK.finditer(text, 0, start)), default=0)
    after = _BREAK.search(text, max(start, end - 1))
    stop = text.find("\n", end) if after is None else after.start()
    until = len(text) if stop < 0 else max(end, stop)
    return before, min(until + 1, len(text)) if text[until : until + 1] in (".", "!", "?") else until
