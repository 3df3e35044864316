"""One answer to a question that asks several things, of the answers to each: every line once, under its question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from memory.answering.candidates import AnswerCandidate, ExtractiveAnswer, Line, make_answer
from memory.nouns import Citation, Step
from memory.stages import AnswerNote, step

NOT_SAID = "Your memory does not say:"
MAX_LINES_PER_PART = 4  # of an answer to a part of a question

_Key = tuple[int, str]  # of a line: its passage and its words


def merge_answers(answers: Sequence[ExtractiveAnswer], parts: Sequence[str]) -> ExtractiveAnswer:
    """One answer of those to each of the questions `parts`, at least one: each under its question, each line once,
    numbered through, and said once what nothing was found about. NoAnswer only if all of them are."""
    step = _merged_step(answers)
    candidates = _in_turn([one.candidates for one in answers])
    missing = tuple(dict.fromkeys(term for one in answers for term in one.answer.missing))
    answered = [(part, one) for part, one in zip(parts, answers, strict=True) if not one.answer.no_answer]
    if not answered:
        answer = replace(answers[0].answer, missing=missing)
        return replace(answers[0], answer=answer, step=step, candidates=candidates)
    lines: list[Line] = []
    cited: dict[_Key, tuple[Citation, ...]] = {}  # by each line that stands there
    shown = [one.lines[:MAX_LINES_PER_PART] for _, one in answered]
    homes = _homes(shown)
    for place, (part, _) in enumerate(answered):
        lines.append((f"\n{part}" if lines else part, ()))
        lines += _renumbered([line for line in shown[place] if homes[_key(line)] <= place], cited)
    unanswered = [part for part, one in zip(parts, answers, strict=True) if one.answer.no_answer]
    if unanswered:
        lines.append((f"\n{NOT_SAID} {' '.join(unanswered)}", ()))
    least = min(one.answer.confidence for _, one in answered)
    return ExtractiveAnswer(make_answer(lines, least, missing), tuple(lines), step, candidates)


def _key(line: Line) -> _Key:
    text, cited = line
    return cited[0].episode_id if cited else 0, text


def _homes(answers: Sequence[Sequence[Line]]) -> dict[_Key, int]:
    """Each line -> the part, by number, under which it belongs: where it stands highest, the first of several."""
    homes: dict[_Key, tuple[int, int]] = {}
    for part, lines in enumerate(answers):
        for height, line in enumerate(lines):
            homes[_key(line)] = min(homes.get(_key(line), (height, part)), (height, part))
    return {line: part for line, (_, part) in homes.items()}


def _renumbered(lines: Sequence[Line], cited: dict[_Key, tuple[Citation, ...]]) -> list[Line]:
    """The lines of an answer, numbered on from what is `cited`, to which it adds its own; one that stands under an
    earlier part is only pointed to, in its place if it is the best."""
    numbered: list[Line] = []
    pointed: list[Citation] = []
    for line in lines:
        key = _key(line)
        if key in cited:
            pointed.append(cited[key][0])
            continue
        known = sum(map(len, cited.values()))
        cited[key] = tuple(replace(one, n=known + place) for place, one in enumerate(line[1], 1))
        numbered.append((line[0], cited[key]))
    if pointed:
        is_best = cited[_key(lines[0])][0] == pointed[0]
        numbered.insert(0 if is_best else len(numbered), ("- as above", tuple(dict.fromkeys(pointed))))
    return numbered


def _in_turn(answers: Sequence[Sequence[AnswerCandidate]]) -> tuple[AnswerCandidate, ...]:
    """The best candidate of each, then the second of each, and so on, each once."""
    merged: dict[int, AnswerCandidate] = {}
    for one in chain.from_iterable(zip_longest(*answers)):
        if one is not None:
            merged.setdefault(one.thesis_id, one)
    return tuple(merged.values())


def _merged_step(answers: Sequence[ExtractiveAnswer]) -> Step:
    """One step for all of them, with that of each part."""
    notes = [AnswerNote.from_detail(one.step.detail) for one in answers]
    lines, considered = sum(one.lines for one in notes), sum(one.considered for one in notes)
    whole = AnswerNote(lines, considered, parts=tuple(dict(one.step.detail) for one in answers))
    return step(whole, sum(one.step.ms for one in answers))
