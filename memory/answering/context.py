"""The prompt context of one question: numbered evidence, each piece with its passage.

A few whole passages come first, best first, then sentences of other passages, under one head for each passage. Facts
are left out: sentences and passages state them as well. The invariant: every piece has an episode, and a piece
`is_local` if its source's text stays on this machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from memory.answering.candidates import AnswerCandidate
from memory.answering.facts import asks_past
from memory.answering.grounding import Proof
from memory.llm import about_tokens
from memory.nouns import Episode
from memory.retrieval.state import RetrievalResult
from memory.text.quotes import one_line, strip_unseen

MAX_WHOLE = 4  # passages that are shown whole, at most
MAX_PASSAGES_MORE = 15  # of a second look
MAX_PASSAGE_CHARS = 3_000  # of one passage

PieceKind = Literal["line", "passage"]


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """A piece of evidence: its shown text, and `quote`, the words of `episode` from `start` on that support it. A
    "line" has one sentence in each row."""

    kind: PieceKind
    text: str
    episode: Episode
    start: int
    quote: str
    is_local: bool
    earlier: bool = False

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
        return "\n".join(_format_piece(number, piece) for number, piece in enumerate(self.pieces, 1))

    def look_further(self, pieces: Iterable[EvidencePiece], tokens: int, left_out: int = 0) -> PromptContext | None:
        """Returns the context for a second look: the best passage of this one, or several short ones, which may be half
        of an answer, and at most MAX_PASSAGES_MORE new pieces, of about `tokens` tokens; None without new ones."""
        known = {(piece.episode.id, piece.quote.strip()) for piece in self.pieces}
        new = [piece for piece in pieces if (piece.episode.id, piece.quote.strip()) not in known]
        new = [piece for piece in new if piece.kind == "passage" or not any(map(piece.repeats, self.pieces))]
        if not new:
            return None
        spent = accumulate(about_tokens(piece.quote) for piece in self.pieces)
        best = self.pieces[: max(1, sum(cost <= 250 for cost in spent))]
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
    """Returns the pieces that fit in about `tokens` tokens, without duplicates: those of the first `most_whole`
    passages that fit, then the first lines of other passages that fit in a quarter. It has at least one piece."""
    passages, lines = ([item for item in pieces if item.kind == kind] for kind in ("passage", "line"))
    left = tokens * (0.75 if lines else 1.0)  # of the room
    chosen: list[EvidencePiece] = []
    for piece in passages[:most_whole]:
        cost = about_tokens(_format_piece(len(pieces), piece))
        if cost <= left:
            chosen.append(piece)
            left -= cost
    shown = PromptContext(tuple(chosen), left_out)
    left = 0.25 * tokens if passages else float(tokens)  # of the room
    chosen += _fit_lines((line for line in lines if line.episode.id not in shown.whole), left)
    if pieces and not chosen:
        chars = max(200, tokens)
        chosen = [replace(pieces[0], text=pieces[0].text[:chars])]
    return PromptContext(tuple(chosen), left_out)


def _fit_lines(lines: Iterable[EvidencePiece], tokens: float) -> list[EvidencePiece]:
    """Returns the first lines that fit, as one piece for each passage."""
    of: dict[tuple[int, bool], list[EvidencePiece]] = {}
    taken: list[EvidencePiece] = []
    for line in lines:
        key = (line.episode.id, line.earlier)
        cost = about_tokens(f" {line.text}\n" if key in of else _format_piece(1, line))
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
    result: RetrievalResult,
    lines: Iterable[AnswerCandidate],
    *,
    chosen: Collection[int] = (),
    only_lines: bool = False,
    is_second: bool = False,
) -> tuple[EvidencePiece, ...]:
    """Returns all pieces that may be shown to a model. `lines` may answer, best first; outdated ones are left out
    unless the question is about the past. The `chosen` passages (episode ids) come first, then those that retrieval and
    lines rank best together (reciprocal rank fusion). With `only_lines` only the lines are shown. In a second look
    passages similar to the first ones come first: a missed passage shares no word with the question."""
    if only_lines:
        return tuple(map(_line, lines))
    hits = result.order_by_feedback() if is_second else [hit.episode for hit in result.recall.hits]
    is_past = asks_past(result.question)
    lines = [line for line in lines if is_past or not line.earlier]
    ranks: dict[int, float] = defaultdict(float)
    for ranked in (hits, [] if is_second else [line.episode for line in lines]):
        for place, id in enumerate(dict.fromkeys(episode.id for episode in ranked)):
            ranks[id] += 1 / (3 + place)  # not the usual 60: the first of ten count more
    hits.sort(key=lambda episode: (episode.id not in chosen, -ranks[episode.id]))
    return (*map(_passage, hits), *map(_line, lines))


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


def _format_piece(number: int, piece: EvidencePiece) -> str:
    episode = piece.episode
    day = episode.at.date().isoformat() if episode.at else "undated"
    head: list[str] = [day]
    own = (day, *(piece.text[:400].splitlines() if piece.kind == "passage" else ()))
    title = episode.title.split(" › ")
    while title and _is_named(title[-1], own):
        title.pop()
    if any(title):
        head.append(f'in "{one_line(" › ".join(title), 160)}"')
    if episode.speaker and not _is_named(episode.speaker, own):
        head.append(f"by {one_line(episode.speaker, 160)}")
    if piece.earlier:
        head.append("no longer so")
    body = "\n".join(f" {row}" for row in piece.text.splitlines() if row.strip())
    return f"[{number}] {', '.join(head)}:\n{body}"


def _is_named(name: str, rows: Iterable[str]) -> bool:
    """Whether one of the rows is that heading, or a field with it as its label or value, as in the head of a mail."""
    for row in rows:
        label, _, value = row.partition(":")
        if row.lstrip("# ") == name or label == name or value.strip().startswith(name):
            return True
    return False
