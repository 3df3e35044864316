"""The answers to the parts of a question as one answer: each under the question it answers, each line once, numbered
through; and said once what nothing was found about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from memory.answering.candidates import Line
from memory.answering.extractive import Extract
from memory.nouns import Answer, Citation, Step

OF_PART = 4  # lines of an answer to a part at most
NOTHING_ABOUT = "There is nothing in your memory about:"
_Said = tuple[str, list[Citation]]  # a line of an answer without its numbers, and what it cites
_Key = tuple[int, str]  # of a line: its passage and its words


def together(answers: Sequence[Extract], parts: Sequence[str]) -> Extract:
    """One answer of those to each of `parts`, one each, at least one; NoAnswer only if all of them are."""
    step = _step(answers)
    lines = _in_turn([one.lines for one in answers])
    answered = [(part, one) for part, one in zip(parts, answers, strict=True) if not one.answer.no_answer]
    if not answered:
        missing = tuple(dict.fromkeys(term for one in answers for term in one.answer.missing))
        return replace(answers[0], answer=replace(answers[0].answer, missing=missing), step=step, lines=lines)
    pieces: list[str | Citation] = []
    citations: list[Citation] = []
    said: dict[_Key, int] = {}  # a line -> the number that it has
    shown = [_lines(one.pieces)[:OF_PART] for _, one in answered]
    homes = _homes(shown)
    for place, (part, _) in enumerate(answered):
        pieces.append(f"{chr(10) if pieces else ''}{part}\n")
        pieces += _renumbered([line for line in shown[place] if homes[_key(line)] <= place], citations, said)
    unanswered = [part for part, one in zip(parts, answers, strict=True) if one.answer.no_answer]
    if unanswered:
        pieces.append(f"\n{NOTHING_ABOUT} {' '.join(unanswered)}\n")
    text = "".join(piece for piece in pieces if isinstance(piece, str)).rstrip()
    missing = tuple(dict.fromkeys(term for one in answers for term in one.answer.missing))
    confidence = min(one.answer.confidence for _, one in answered)
    answer = Answer(text, tuple(citations), missing=missing, confidence=confidence)
    return Extract(answer, tuple(pieces), step, lines)


def _key(line: _Said) -> _Key:
    text, cited = line
    return cited[0].episode_id if cited else 0, text.strip()


def _homes(answers: Sequence[Sequence[_Said]]) -> dict[_Key, int]:
    """Each line -> the part, by number, under which it belongs: where it stands highest, the first of several."""
    homes: dict[_Key, tuple[int, int]] = {}
    for part, lines in enumerate(answers):
        for height, line in enumerate(lines):
            homes[_key(line)] = min(homes.get(_key(line), (height, part)), (height, part))
    return {line: part for line, (_, part) in homes.items()}


def _renumbered(lines: Sequence[_Said], citations: list[Citation], said: dict[_Key, int]) -> list[str | Citation]:
    """The lines of an answer, with the numbers that follow on `citations`, to which it adds its own; one that stands
    under an earlier part is only pointed to, in its place if it is the best."""
    pieces: list[str | Citation] = []
    pointed: list[int] = []
    for line in lines:
        text, cited = line
        key = _key(line)
        if key in said:
            pointed.append(said[key])
            continue
        new = [replace(citation, n=len(citations) + place) for place, citation in enumerate(cited, 1)]
        if new:
            said[key] = new[0].n
        numbers = "".join(f" [{citation.n}]" for citation in new)
        pieces += [f"{text}{numbers}\n", *new]
        citations += new
    if pointed:
        above = f"- as above {' '.join(f'[{number}]' for number in dict.fromkeys(pointed))}\n"
        pieces.insert(0 if said[_key(lines[0])] == pointed[0] else len(pieces), above)
    return pieces


def _lines(pieces: Sequence[str | Citation]) -> list[_Said]:
    """The lines of an answer without their numbers, each with the citations that follow it."""
    lines: list[_Said] = []
    for piece in pieces:
        if isinstance(piece, str):
            lines.append((piece.rstrip(), []))
        else:
            lines[-1][1].append(piece)
    return [(text.removesuffix(" ".join(f"[{one.n}]" for one in cited)).rstrip(), cited) for text, cited in lines]


def _in_turn(answers: Sequence[Sequence[Line]]) -> tuple[Line, ...]:
    """The best line of each, then the second of each, and so on, each once."""
    found: dict[int, Line] = {}
    for line in chain.from_iterable(zip_longest(*answers)):
        if line is not None:
            found.setdefault(line.thesis_id, line)
    return tuple(found.values())


def _step(answers: Sequence[Extract]) -> Step:
    """One step for all of them, with that of each part."""
    details = [dict(one.step.detail) for one in answers]
    lines = sum(int(detail.get("lines", 0)) for detail in details)
    considered = sum(int(detail.get("considered", 0)) for detail in details)
    detail = {"lines": lines, "considered": considered, "parts": details}
    return Step("answer", sum(one.step.ms for one in answers), detail)
