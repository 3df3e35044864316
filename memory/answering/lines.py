"""An answer as lines with their citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory.answering.candidates import AnswerCandidate
from memory.answering.chains import ShownChain
from memory.nouns import Answer, Citation, Step, Token

Line = tuple[str, tuple[Citation, ...]]  # of an answer: its text without numbers, and its citations


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer with its lines, none if it is a refusal. `candidates`: those that it shows, then the others, the best
    first; `chains`: the ways that lead to them. A digest uses its candidates only."""

    answer: Answer
    lines: tuple[Line, ...]
    step: Step
    candidates: tuple[AnswerCandidate, ...] = ()
    is_digest: bool = False
    chains: tuple[ShownChain, ...] = ()


def make_answer(lines: Sequence[Line], confidence: float) -> Answer:
    """An answer of these lines, numbered, with their citations."""
    events = list(stream_lines(lines))
    text = "".join(event.text for event in events if isinstance(event, Token)).rstrip()
    citations = tuple(event for event in events if isinstance(event, Citation))
    return Answer(text, citations, confidence=confidence)


def stream_lines(lines: Iterable[Line], behind: int = 0) -> Iterator[Token | Citation]:
    """Each line with its numbers, which start after the offset, after its citations."""
    for text, cited in lines:
        numbered = [replace(citation, n=citation.n + behind) for citation in cited]
        yield from numbered
        yield Token(" ".join([text, *(f"[{citation.n}]" for citation in numbered)]) + "\n")
