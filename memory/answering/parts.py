"""An answer as lines; for a question with several parts each line once, under its part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from memory.answering.candidates import AnswerCandidate
from memory.answering.chains import ShownChain, write_chains
from memory.nouns import Answer, Citation, Step, Token
from memory.stages import AnswerNote
from memory.stages import step as make_step

NOT_SAID = "Your memory does not say:"
MAX_LINES_PER_PART = 4

Line = tuple[str, tuple[Citation, ...]]  # of an answer: its text without numbers, and its citations
_Key = tuple[int, str]  # of a line: its first passage and its text


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer with its lines, empty for a refusal. `candidates`: the shown ones, then the others, best first;
    `chains`: the paths to them. A digest uses its candidates only."""

    answer: Answer
    lines: tuple[Line, ...]
    step: Step
    candidates: tuple[AnswerCandidate, ...] = ()
    is_digest: bool = False
    chains: tuple[ShownChain, ...] = ()


def make_answer(lines: Sequence[Line], confidence: float, missing: tuple[str, ...] = ()) -> Answer:
    """Returns an answer of these lines, numbered, with their citations."""
    events = list(stream_lines(lines))
    text = "".join(event.text for event in events if isinstance(event, Token)).rstrip()
    citations = tuple(event for event in events if isinstance(event, Citation))
    return Answer(text, citations, missing=missing, confidence=confidence)


def stream_lines(lines: Iterable[Line], behind: int = 0) -> Iterator[Token | Citation]:
    """Streams each line with its numbers, after the citations that it is the first to use. Numbers start after the
    offset."""
    seen: set[int] = set()
    for text, cited in lines:
        numbered = [replace(citation, n=citation.n + behind) for citation in cited]
        yield from (citation for citation in numbered if citation.n not in seen)
        yield Token(" ".join([text, *(f"[{citation.n}]" for citation in numbered)]) + "\n")
        seen.update(citation.n for citation in numbered)


def merge_answers(answers: Sequence[ExtractiveAnswer], parts: Sequence[str]) -> ExtractiveAnswer:
    """Merges at least one answer per question in `parts`: each under its question, each line once, numbered
    consecutively, and last the questions without an answer. A refusal only if all answers are."""
    candidates = _interleave([answer.candidates for answer in answers])
    missing = tuple(dict.fromkeys(term for answer in answers for term in answer.answer.missing))
    answered = [(part, answer) for part, answer in zip(parts, answers, strict=True) if not answer.answer.no_answer]
    if not answered:
        refusal = replace(answers[0].answer, missing=missing)
        return replace(answers[0], answer=refusal, step=_merge_steps(answers, ()), candidates=candidates)
    lines: list[Line] = []
    cited: dict[_Key, tuple[Citation, ...]] = {}  # by each merged line
    shown = [[line for line in answer.lines if line[1]][:MAX_LINES_PER_PART] for _, answer in answered]
    part_of = _assign_lines(shown)
    for place, (part, _) in enumerate(answered):
        lines.append((f"\n{part}" if lines else part, ()))
        lines += _renumber([line for line in shown[place] if part_of[_make_key(line)] <= place], cited)
    unanswered = [part for part, answer in zip(parts, answers, strict=True) if answer.answer.no_answer]
    if unanswered:
        lines.append((f"\n{NOT_SAID} {' '.join(unanswered)}", ()))
    least = min(answer.answer.confidence for _, answer in answered)
    merged = make_answer(lines, least, missing)
    return ExtractiveAnswer(merged, tuple(lines), _merge_steps(answers, merged.citations), candidates)


def _make_key(line: Line) -> _Key:
    text, cited = line
    return cited[0].episode_id if cited else 0, text


def _assign_lines(answers: Sequence[Sequence[Line]]) -> dict[_Key, int]:
    """Returns {line: the number of the part that shows it}: the first in which it ranks highest."""
    best: dict[_Key, tuple[int, int]] = {}
    for part, lines in enumerate(answers):
        for rank, line in enumerate(lines):
            best[_make_key(line)] = min(best.get(_make_key(line), (rank, part)), (rank, part))
    return {line: part for line, (_, part) in best.items()}


def _renumber(lines: Sequence[Line], cited: dict[_Key, tuple[Citation, ...]]) -> list[Line]:
    """Returns the lines of an answer, numbered on from `cited`, to which their citations are added. Lines of an earlier
    part become one line "- as above", at the top if they are the best."""
    numbered: list[Line] = []
    repeated: list[Citation] = []
    for line in lines:
        key = _make_key(line)
        if key in cited:
            repeated.append(cited[key][0])
            continue
        count = sum(map(len, cited.values()))
        cited[key] = tuple(replace(citation, n=count + place) for place, citation in enumerate(line[1], 1))
        numbered.append((line[0], cited[key]))
    if repeated:
        is_best = cited[_make_key(lines[0])][0] == repeated[0]
        numbered.insert(0 if is_best else len(numbered), ("- as above", tuple(dict.fromkeys(repeated))))
    return numbered


def _interleave(answers: Sequence[Sequence[AnswerCandidate]]) -> tuple[AnswerCandidate, ...]:
    """Returns the best candidate of each answer, then the second of each, and so on, each once."""
    merged: dict[int, AnswerCandidate] = {}
    for candidate in chain.from_iterable(zip_longest(*answers)):
        if candidate is not None:
            merged.setdefault(candidate.thesis_id, candidate)
    return tuple(merged.values())


def _merge_steps(answers: Sequence[ExtractiveAnswer], citations: Sequence[Citation]) -> Step:
    """Merges all steps, with the chains that these `citations` contain and the details of each part."""
    steps = [answer.step for answer in answers]
    n_lines = sum(AnswerNote.from_detail(step.detail).lines for step in steps)
    chains = write_chains(chain.from_iterable(answer.chains for answer in answers), citations)
    note = AnswerNote(n_lines, chains, tuple(dict(step.detail) for step in steps))
    return make_step(note, sum(step.ms for step in steps))
