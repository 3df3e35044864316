"""The type of a question: what an answer to it looks like, by the question's words alone.

One fact, one line; "what do I know about X" a briefing; "which ... did I" one line for each. A wrong guess costs an
order of lines and nothing else, so what the rules do not know is a question for one fact. They know English and German.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memory.text.languages import ENGLISH, alternatives, languages, stem, stop_words, tables, word_set
from memory.text.mentions import is_date, mentions, norm
from memory.text.words import UNSPACED

Kind = Literal["fact", "when_changed", "compare", "list", "count", "about", "yes_no"]

MANY = 30  # episodes that a question of many is answered from
NAME_WORDS = 4  # of a name that is asked about without anything else


_HONORIFIC = re.compile(r"^(?:(?:dr|prof|mr|mrs|ms|sir|dame|herr|frau)\b\.?\s+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionType:
    """`subjects`: as they stand in the question, what a briefing is about, or the two sides of a comparison; none for
    other kinds. `in_order`: it asks what was when, one after the other, or how often something was."""

    kind: Kind = "fact"
    subjects: tuple[str, ...] = ()
    in_order: bool = False


FACT = QuestionType()


def asks_course(question: str) -> bool:
    """Whether a question asks how something changed, not how it is."""
    return re.search(alternatives("question_types", "course"), question, re.IGNORECASE) is not None


@cache
def course_words(language: str) -> frozenset[str]:
    """The stems of the words by which a question asks how something changed."""
    return frozenset(stem(word, language) for word in word_set("question_types", "course_words", language=language))


def question_type(question: str, language: str = ENGLISH, known: Collection[str] = ()) -> QuestionType:
    """What a question in that language asks for. `known`: names of objects that it was found to name."""
    text = " ".join(question.split()).rstrip(" ?!.,;:？。")
    words = _patterns(language) or _patterns(ENGLISH)
    if not text:
        return FACT
    in_order = asks_course(text)
    if re.match(alternatives("question_types", "on_list"), text, re.IGNORECASE):
        return QuestionType("list")
    subject = _only_name(text, known) or _asked_about(text, words, known)
    if subject:
        return QuestionType("about", (subject,))
    if not _patterns(language):
        return FACT
    if words["count"].search(text) and not words["count_of_measures"].search(text):
        return QuestionType("count", in_order=words["count_times"].search(text) is not None)
    compared = sides(text, language)
    if compared:
        return QuestionType("compare", compared)
    if words["when_changed"].match(text) and not words["not_when_changed"].search(text):
        return QuestionType("when_changed")
    if in_order or words["list"].search(text):
        return QuestionType("list", in_order=in_order)
    return QuestionType("yes_no") if words["yes_no"].match(text) else FACT


def format_hint(type: QuestionType) -> str:
    """How an answer of that type is to be written, as a sentence for a model; "" where that needs no word."""
    return _IN_ORDER if type.kind == "list" and type.in_order else _HINTS[type.kind]


def episode_count(type: QuestionType, usual: int) -> int:
    """How many episodes an answer of that type is made from, where one fact takes the `usual` number."""
    many = type.kind in ("list", "about") or (type.kind == "count" and type.in_order)
    return max(usual, MANY) if many else usual


_HINTS: dict[Kind, str] = {
    "fact": "",
    "yes_no": "Begin the first sentence with yes or no.",
    "when_changed": "Say from which day on it has been so, and what was before, where that is known.",
    "compare": "Say what holds of each side in a sentence of its own, then how they compare.",
    "list": "Name every one that the evidence names, each on a line of its own, with its date where it has one.",
    "count": "Put each one that counts on a line of its own, with its date where it has one.",
    "about": "Write a briefing of a few lines: what or who it is, what belongs to it and since when, what has changed,"
    " and what is newest.",
}
_IN_ORDER = "Say what was when, the oldest first, each on a line of its own with its date."


def sides(text: str, language: str) -> tuple[str, ...]:
    """The two things that a question without the marks at its end compares, as they stand there; none if it compares
    no two."""
    words = _patterns(language)
    match = (
        (_EITHER.search(text) or words["compared"].search(text)) if words and words["compares"].search(text) else None
    )
    if match is None:
        return ()
    found = tuple(match[side].strip(" \"'“”„«»*") for side in "ab")
    named = all(mentions(f"the {_bare(side)}") for side in found)
    return found if named and norm(found[0]) != norm(found[1]) else ()


def _only_name(text: str, known: Collection[str]) -> str:
    """The text, if it is a name and nothing else."""
    return text if is_name(text) or (norm(text) and norm(text) in {norm(name) for name in known}) else ""


def _asked_about(text: str, words: dict[str, re.Pattern[str]], known: Collection[str]) -> str:
    match = words["about"].match(text)
    if match is None:
        return ""
    if match["name"]:
        return _bare(match["name"])
    asked = _bare(match["what"])
    alone = asked.lower() == asked and norm(asked) in {norm(name) for name in known}
    return asked if asked and (is_name(asked) or alone) else ""


def _bare(name: str) -> str:
    """A name without quotation marks and its article."""
    return re.sub(r"^(?:the|der|die|das|dem|den)\s+", "", name.strip(" \"'“”„«»*"), flags=re.IGNORECASE)


def is_name(text: str) -> bool:
    """Whether all of `text` is one name as it is written in a text."""
    name = _HONORIFIC.sub("", text)
    first = name.split()[0].lower() if name.split() else ""
    shouted = name.isupper() and len(name.split()) > 1
    if (
        not first
        or shouted
        or UNSPACED.search(name)
        or len(name.split()) > NAME_WORDS
        or any(first in stop_words(one) for one, data in languages().items() if "question_types" in data)
    ):
        return False
    found = [mention for mention in mentions(name) if not is_date(mention.norm)]
    return len(found) == 1 and found[0].norm == norm(name)


@cache
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    """What tells the types of question apart in a language, looked for without the marks at its end; none for most."""
    side = r"(?:(?:the|der|die|das|dem|den)\s+)?(?-i:[^\W\d_a-zäöüß]|\d)[^,;?]{0,60}?"
    [keys], own = tables("question_types", language=ENGLISH), tables("question_types", language=language)
    return {
        key: re.compile(table.get(key, "(?!)").replace("\n", "").replace("{side}", side), re.IGNORECASE)
        for table in own
        for key in keys
        if key != "course_words"
    }


_EITHER = re.compile(r"[,:]\s+(?P<a>[^,;:]{1,60}?),?\s+(?:or|oder)\s+(?P<b>[^,;:]{1,60})$", re.IGNORECASE)
