"""Grounding: checks whether a model's claims are proved by their citations. Pure and quick: no model, no database.

An answer is read in *claims*: text up to and including the sentence that has a citation. Each gets a verdict by its
values (`verdicts.py`): a proved claim is shown, an unproved one is shown as the model's own words, and one that is
contradicted, has an address that the notes do not have, or cites nothing, is not shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from memory.answering.verdicts import YES_OR_NO, Check, Verdict, judge
from memory.text.clauses import Clause, read_passage
from memory.text.content import DENYING
from memory.text.languages import guess_language, word_set

NO_ANSWER = "NO ANSWER"  # how a model is asked to say that the evidence does not hold the answer
REFUSAL_MARKS = " \n\t*#`\"'[("  # that may precede it

ProblemKind = Literal["no_citation", "no_words", "unknown_citation", "not_there", "contradicted"]

_CITED = r"\[\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*\]"
CITATION = re.compile(_CITED)
_STOPS, _CLOSERS = ".!?。！？…", "\"'”’)*_"
GROUP = re.compile(rf"{_CITED}(?:[ \t]*{_CITED})*")
_STOP = re.compile(rf"[ \t]*[{_STOPS}]+[{_CLOSERS}]*")
_FIRST = re.compile(rf"\s*(.+?)(?:[{_STOPS};](?=\s|$)|\n|$)", re.DOTALL)
_ADDRESS = re.compile(r"\w+://[^\s<>()\[\]]+|\bwww\.[^\s<>()\[\]]+|(?<=\]\()[^\s()]+")
_NEGATING = word_set("claims", "negating") | DENYING


@dataclass(frozen=True, slots=True)
class Proof:
    """What a citation can prove: all the words shown under its number, and the day they were written. `topic`: what its
    title and speaker say it is about."""

    text: str
    at: datetime | None = None
    topic: str = ""

    @property
    def sentences(self) -> tuple[Clause, ...]:
        return read_passage(self.text, self.topic, self.at)


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason not to show a claim. `what`: the words or numbers that are wrong."""

    kind: ProblemKind
    what: tuple[str, ...] = ()

    def describe(self) -> str:
        """Describes the problem to the model."""
        named = ", ".join(f'"{word}"' for word in self.what)
        return {
            "no_citation": "it has no citation",
            "no_words": "it says nothing",
            "unknown_citation": f"there is no evidence with the number {named}",
            "not_there": f"{named} is not in what it cites",
            "contradicted": f"what it cites contradicts {named}",
        }[self.kind]


class Judgement(NamedTuple):
    """The verdict on a claim, the check that contradicts it, and the problem if it is not shown."""

    verdict: Verdict
    problem: Problem | None = None
    check: Check = ""


def split_claims(text: str, *, ended: bool) -> tuple[list[str], str]:
    """Returns the complete claims, and the rest. Until the text has `ended` its last characters are undecided: another
    citation may follow."""
    claims: list[str] = []
    start = 0
    groups = list(GROUP.finditer(text))
    for place, group in enumerate(groups, 1):
        stop = _STOP.match(text, group.end())
        end = stop.end() if stop else group.end()
        behind = len(text) - len(text[end:].lstrip(" \t"))
        if place < len(groups) and groups[place].start() == behind:  # more citations of the same sentence
            continue
        claim = text[start : group.start()].rstrip().rstrip(_CLOSERS)
        if stop is None and not (claim and (claim[-1] in _STOPS or text[behind : behind + 1] == "\n")):
            continue
        rest = text[behind:].lstrip()
        if not ended and (not rest or (rest[0] == "[" and "]" not in rest)):
            break
        claims.append(text[start:end])
        start = end
    left = text[start:]
    if ended and CITATION.search(left):
        return [*claims, left], ""
    return claims, left


def cited_numbers(claim: str) -> tuple[int, ...]:
    """Returns the numbers that a claim cites, each once, in order; [2-4] are three."""
    numbers: dict[int, None] = {}
    for group in CITATION.findall(claim):
        for part in re.split(r"[,;]", group.strip("[] ")):
            ends = [int(number) for number in re.findall(r"\d+", part)]
            numbers.update(dict.fromkeys(range(ends[0], min(ends[-1], ends[0] + 20) + 1) if len(ends) > 1 else ends))
    return tuple(numbers)


def judge_claim(claim: str, proofs: Mapping[int, Proof], question: str) -> Judgement:
    """Returns the verdict on a claim by those of `proofs` that it cites."""
    numbers = cited_numbers(claim)
    if not numbers:
        return Judgement("unproved", Problem("no_citation"))
    if unknown := [str(number) for number in numbers if number not in proofs]:
        return Judgement("unproved", Problem("unknown_citation", tuple(unknown)))
    text = CITATION.sub(" ", claim)
    if not any(map(str.isalnum, text)):
        return Judgement("unproved", Problem("no_words"))
    cited = [proofs[number] for number in numbers]
    addresses = [match[0] for match in _ADDRESS.finditer(text) if not any(match[0] in proof.text for proof in cited)]
    if addresses:  # nobody is led anywhere that the notes do not lead to
        return Judgement("unproved", Problem("not_there", tuple(addresses[:6])))
    verdict, what, check = judge(text, [proof.sentences for proof in cited], question)
    return Judgement(verdict, Problem("contradicted", what[:6]) if verdict == "contradicted" else None, check)


def find_proofs(sentence: str, proofs: Mapping[int, Proof], question: str) -> list[int]:
    """Returns the numbers of the pieces that each prove a sentence without a citation."""
    return [n for n in proofs if judge_claim(f"{sentence} [{n}]", proofs, question).verdict == "proved"]


def is_refusal(text: str, question: str, proofs: Mapping[int, Proof]) -> bool:
    """Whether a text says that the evidence does not answer: as a model is asked to, or its first clause negates and
    has no value, and most of the words that the question does not have are not in what it cites either: "She does not
    smoke" and "No dogs are allowed on board" answer, "The notes do not mention it" does not."""
    if text.lstrip(REFUSAL_MARKS).upper().startswith(NO_ANSWER):
        return True
    match = _FIRST.match(CITATION.sub(" ", text).replace("_", " ").replace("’", "'"))
    if match is None or YES_OR_NO.fullmatch(match[1]):
        return False
    language = guess_language(f"{question} {text}")
    clause, asked = Clause(YES_OR_NO.sub("", match[1]), language), Clause(question, language)
    if _NEGATING.isdisjoint(re.findall(r"[^\W\d_]+", clause.text.lower())):
        return False
    there = [sentence for number in cited_numbers(text) if number in proofs for sentence in proofs[number].sentences]
    for value in clause.values:
        if not asked.holds(value) and (value.kind != "name" or any(sentence.holds(value) for sentence in there)):
            return False
    new = clause.roots - asked.roots - _NEGATING
    if not new:
        return clause.roots.isdisjoint(asked.roots)
    known = frozenset[str]().union(*(sentence.roots for sentence in there))
    return 2 * len(new & known) < len(new)
