"""A model that knows what is true: what a question's answer is, and in which passages that stands. What it says follows
from what it is shown: it answers if all of those passages are there, says NO ANSWER if not, and picks what leads to
them. So whatever is wrong in the end was lost around the model. With an error rate it goes wrong as often as is asked.

    with FakeOllama(OllamaModel("oracle"), answer=Oracle({"Where is the boat?": Known("Oslo", gold=[Gold(text)])})):
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.answering import prompt, sketches
from tests.fakes.answering import question as asked
from tests.fakes.driving import driven
from tests.fakes.manners import Manners
from tests.fakes.recorded import Noise
from tests.fakes.server import Reply, Says
from tests.fakes.talents import text_of
from tests.fakes.truth import Gold, Known, holds, plain, uncut

NO_ANSWER = "NO ANSWER"
DONE = "DONE"
END = "END"
PICKS = 3
SHORT = 4  # letters of words that are capital for another reason
INVENTED = "Quentin Zabriskie"

_KEPT = "The sentences before it are kept."  # of what was said before, the first sentences

_SECTION = r":\n([A-Z]{6})\n(.*?)\n\1$"
_EVIDENCE = re.compile(f"^(?:The|More) evidence{_SECTION}", re.MULTILINE | re.DOTALL)
_FOUND = re.compile(f"^What was found{_SECTION}", re.MULTILINE | re.DOTALL)
_NEXT = re.compile(f"^Where to look next{_SECTION}", re.MULTILINE | re.DOTALL)
_NUMBERED = re.compile(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)
_ROWS = re.compile(r"([^\n]*):\n(.*)", re.DOTALL)
_TITLE = re.compile(r', in "(.*)"(?:, by |, no longer|$)')
_DAY = r"(?: \(\d{4}-\d\d-\d\d\))?"
_LISTED = re.compile(rf'- "(.*?)"{_DAY}: (.*)')
_TARGET = re.compile(
    rf'(?:^|^open |-> |, in )"((?:(?!" -> )[^\n])+?)"{_DAY}(?:, another part|, next to "[^\n]*?")?: (.*)', re.MULTILINE
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\S)[^.!?\n]*)*[.!?]*")
_NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)*")


@dataclass(frozen=True)
class Piece:
    """A numbered piece of evidence: where it stands, and its words."""

    number: int
    title: str
    text: str


def evidence(said: str) -> list[Piece]:
    """The numbered pieces of a prompt; none where there is no evidence."""
    pieces = []
    for number, text in (row for _, shown in _EVIDENCE.findall(said) for row in _NUMBERED.findall(shown)):
        if match := _ROWS.match(text):
            title = _TITLE.search(match[1])
            pieces.append(Piece(int(number), title[1] if title else "", match[2]))
    return pieces


def standing(gold: Gold, pieces: Iterable[Piece], forms: Sequence[str] = ()) -> list[Piece]:
    """The pieces in which a gold passage stands: with its beginning at least, or with a line of it in which one
    of the `forms` of the answer stands."""
    return [piece for piece in pieces if gold.stands_in(piece.text) or _tells(piece, gold, forms)]


def _tells(piece: Piece, gold: Gold, forms: Sequence[str]) -> bool:
    """Whether one of the `forms` stands in a line of a gold passage."""
    return any(
        holds(row, form) and any(plain(row) in plain(text) for text in gold.texts)
        for row in piece.text.splitlines()
        for form in forms
    )


@dataclass
class Oracle:
    """The talent. `known`: by the question as it is asked. `error`: how often each decision goes wrong, 0 to 1; the
    same decision goes wrong each time, whatever was asked before. `count` tells how many tokens a text has (words).
    With `manners` it says what it knows in other words, refuses in prose, and where to look next it does not know. One
    that is `blind` knows nothing: it says whatever sentence shares most words with the question."""

    known: Mapping[str, Known]
    error: float = 0.0
    seed: int = 42
    manners: Manners | None = None
    blind: bool = False
    count: Callable[[str], int] = field(default=lambda text: len(text.split()))
    _seen: dict[str, list[Gold]] = field(default_factory=dict, init=False)  # the gold in the evidence shown last
    _kept: dict[str, dict[int, Gold]] = field(default_factory=dict, init=False)  # by its number, of a search

    def __call__(self, body: dict[str, Any]) -> Reply:
        read = sum(self.count(text_of(turn)) for turn in body["messages"])
        if body.get("tools"):
            return self._driven(body, read)
        said = prompt(body)
        if sketches(body):
            return Says("NONE", read=read)  # it knows what is true, not how notes tell it
        text = self._picked(said, body) if _NEXT.search(said) else self._composed(said, body)
        return Says(text, read=read, written=self.count(text))

    def _driven(self, body: dict[str, Any], read: int) -> Reply:
        """The next turn of a search with tools."""
        question = asked(body)
        if all(turn["role"] != "assistant" for turn in body["messages"]):
            self._kept[question] = {}
        known, kept = self.known.get(question, Known()), self._kept.setdefault(question, {})
        text, calls = driven(body, question, known, kept, Noise(self.error, self.seed))
        return Says(text, calls, read=read, written=self.count(text) + 20 * len(calls))

    # Answers --------------------------------------------------------------------------------------

    def _composed(self, said: str, body: dict[str, Any]) -> str:
        question, pieces = asked(body), evidence(said)
        known = self.known.get(question, Known())
        before = [text_of(message) for message in body["messages"] if message["role"] == "assistant"]
        before = [text for text in before if text != NO_ANSWER]  # with which it was shown more
        there = [standing(gold, pieces, known.told) for gold in known.gold]
        what = (question, len(before), [(piece.number, piece.title, piece.text[:60]) for piece in pieces])
        if self.blind:
            return self._guessed(question, pieces)
        complete = _is_enough(known, there)
        self._seen[question] = [gold for gold, found in zip(known.gold, there, strict=True) if found]
        there = [found for found in there if found]
        if Noise(self.error, self.seed).strikes("answer", *what):
            return self._wrong(known, pieces, [piece for found in there for piece in found], complete, what)
        if not complete:
            return self._refused(question)
        if self.manners is None:
            short = _short(known, there)
            return _sentence(known, there) if short in before else short
        form = _form(known, there)
        numbers = _cited(there, form)
        answer = _unbracketed(form or known.answer)
        if _KEPT in said:
            return END
        if not before:
            return self.manners.answer(question, answer, numbers, _behind(form, there))
        words, number = _sentence_of(known, there)
        return self.manners.quote(question, words, number)

    def _refused(self, question: str) -> str:
        return self.manners.refusal(question) if self.manners else f"{NO_ANSWER}: {question.rstrip(' ?')}"

    def _guessed(self, question: str, pieces: Sequence[Piece]) -> str:
        """The sentence that shares most words with the question, as who knows nothing takes it for the answer."""
        wanted = {word for word in plain(question).split() if len(word) >= SHORT}
        said = [
            (len(wanted & set(plain(words).split())), -piece.number, words)
            for piece in pieces
            for words in _SENTENCE.findall(piece.text)
            if words.strip()
        ]
        shared, number, words = max(said, default=(0, 0, ""))
        if not shared:
            return self._refused(question)
        if self.manners:
            return self.manners.quote(question, _unbracketed(words), -number)
        return f"{_unbracketed(words).rstrip('.!?')} [{-number}]."

    def _wrong(self, known: Known, pieces: list[Piece], right: list[Piece], complete: bool, what: object) -> str:
        """An answer as a bad model gives it: none, one that another piece is said to prove, a name that stands nowhere,
        or one that does."""
        draw = Noise(1, self.seed).of("how", what)
        others = [piece for piece in pieces if piece not in right]
        ways = (
            ["invents", "mistakes"] + (["refuses"] if complete else []) + (["misplaces"] if complete and others else [])
        )
        way = draw.choice(ways) if pieces else "refuses"
        if way == "refuses":
            return self.manners.refusal(str(what)) if self.manners else f"{NO_ANSWER}: it is not there"
        piece = draw.choice(others or pieces)
        if way == "misplaces":
            return f"{_unbracketed(known.answer)} [{piece.number}]."
        named = [name for name in _NAME.findall(piece.text) if len(name) > SHORT]
        names = [name for name in named if not any(holds(form, name) or holds(name, form) for form in known.forms)]
        name = draw.choice(names) if way == "mistakes" and names else INVENTED
        return f"{name} [{piece.number}]."

    # Ways -----------------------------------------------------------------------------------------

    def _picked(self, said: str, body: dict[str, Any]) -> str:
        """The numbers of up to three options that are what is missing; else of those that may lead there; else the
        first, as everybody would."""
        question = asked(body)
        known = self.known.get(question, Known())
        section, listed = _NEXT.search(said), _FOUND.search(said)
        options = _NUMBERED.findall(section[2] if section else "")
        found = listed[2].splitlines() if listed else []
        if self.manners or self.blind:
            return (self.manners or Manners(self.seed)).pick(question, [number for number, _ in options], found)
        if Noise(self.error, self.seed).strikes("pick", question, options, found):
            draw = Noise(1, self.seed).of("which", question, options, found)
            picked: str = draw.choice([DONE, *(number for number, _ in options)])
            return picked
        seen = self._seen.get(question, [])
        missing = [gold for gold in known.gold if gold not in seen and not _is_listed(gold, found)]
        if not missing:
            return DONE
        worth = {number: max(_leads(label, gold) for gold in missing) for number, label in options}
        best = [number for number in worth if worth[number] == max(worth.values())]
        return ", ".join(best[:PICKS] if any(worth.values()) else best[:1])


def _is_enough(known: Known, there: Sequence[Sequence[Piece]]) -> bool:
    """Whether a question can be answered from the pieces in which each gold passage stands: with one that tells the
    answer, or all parts of it, and with all that tell nothing of it, which lead there."""
    shown = [piece.text for found in there for piece in found]
    telling = [bool(found) for gold, found in zip(known.gold, there, strict=True) if gold.tells(known.told)]
    leading = [bool(found) for gold, found in zip(known.gold, there, strict=True) if not gold.tells(known.told)]
    if not known.answer or not shown or not all(leading):
        return False
    if known.parts:
        return all(any(holds(text, part) for text in shown) for part in known.parts)
    return any(telling) or not telling


def _form(known: Known, there: Sequence[Sequence[Piece]]) -> str:
    """The form of the answer that stands in the evidence, "" if none does."""
    return next((form for form in known.forms if any(holds(one.text, form) for found in there for one in found)), "")


def _short(known: Known, there: Sequence[Sequence[Piece]]) -> str:
    """The answer as it stands in the evidence, or as it is known, and one piece of each gold passage."""
    form = _form(known, there)
    return f"{_unbracketed(form or known.answer)} {''.join(f'[{number}]' for number in _cited(there, form))}."


def _sentence(known: Known, there: Sequence[Sequence[Piece]]) -> str:
    words, number = _sentence_of(known, there)
    return f"{words.rstrip('.!?')} [{number}]."


def _sentence_of(known: Known, there: Sequence[Sequence[Piece]]) -> tuple[str, int]:
    """A sentence of a gold passage, word for word, and its piece: the one in which the answer stands, or most of its
    words."""
    wanted = set(plain(" ".join(known.forms)).split())
    said = [
        (any(holds(words, form) for form in known.forms), len(wanted & set(plain(words).split())), -n, words, piece)
        for found in there
        for piece in found
        for n, words in enumerate(_SENTENCE.findall(piece.text))
        if words.strip()
    ]
    *_, words, piece = max(said, key=lambda one: one[:3])
    return _unbracketed(words), piece.number


def _behind(form: str, there: Sequence[Sequence[Piece]]) -> str:
    """What stands behind the answer, where it stands as it is known."""
    texts = (one.text for found in there for one in found)
    return next((text[at + len(form) :][:20] for text in texts if form and (at := text.find(form)) >= 0), "")


def _cited(there: Sequence[Sequence[Piece]], form: str) -> list[int]:
    """The number of one piece of each gold passage, first of those in which the answer stands."""
    first = [next((one for one in found if form and holds(one.text, form)), found[0]) for found in there]
    first.sort(key=lambda one: not (form and holds(one.text, form)))
    return list(dict.fromkeys(one.number for one in first))


def _unbracketed(text: str) -> str:
    return " ".join(re.sub(r"[\[\]]", " ", text).split())


def _is_listed(gold: Gold, found: Sequence[str]) -> bool:
    """Whether one of the lines `- "title" (day): sentence` is of this passage."""
    listed = [match.groups() for line in found if (match := _LISTED.match(line))]
    return any(gold.has(sentence) or (not gold.around and gold.is_called(title)) for title, sentence in listed)


def _leads(label: str, gold: Gold) -> int:
    """How well an option leads to a passage: 3 it is that one, 2 it names where that is, 1 it is named there."""
    target = _TARGET.search(label)
    title, sentence = target.groups() if target else ("", "")
    if gold.has(sentence) or (gold.is_called(title) and not gold.around):
        return 3
    if gold.title and holds(label, gold.title):
        return 2
    return int(any(holds(text, uncut(title)) for text in gold.texts))
