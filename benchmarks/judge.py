"""Is an answer right? By containment, as the rules of the lifelog data say, or exactly; no model judges.

A question carries `accept` (and `accept_also`), `reject` and, for histories, `require`: strings that are
looked for in the answer. Case, white space, `*` and backticks do not matter; a match may not begin inside
a word or number nor end inside a number, so that "3" is not found in "13", "2.3" or "3.5".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

VALUED = ("current", "past_as_of")  # the types that ask for a value which has other values at other times


def contains(answer: str, wanted: str) -> bool:
    """True if `wanted` stands in `answer` by the rules above."""
    wanted, answer = _plain(wanted), _plain(answer)
    pattern = re.escape(wanted)
    if wanted[:1].isalnum():
        pattern = r"(?<![^\W_])" + pattern
    if wanted[:1].isdigit():
        pattern = r"(?<!\d[.,:])" + pattern
    if wanted[-1:].isdigit():
        pattern += r"(?![.,:]?\d)"
    return re.search(pattern, answer) is not None


def _plain(text: str) -> str:
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("*", "").replace("`", "")
    return re.sub(r"\s+", " ", text).lower()  # \s covers the no-break space


def is_right(question: Mapping[str, Any], answer: str) -> bool:
    """True if the answer holds an accepted value and no rejected one.

    A history must name all of `require`; neither it nor a `when_changed` answer is held against `reject`.
    A `no_answer` question accepts the words of a refusal.
    """
    spared = question["type"] in ("history", "when_changed")
    return is_accepted(question, answer) and (spared or not _rejected(question, answer))


def is_accepted(question: Mapping[str, Any], answer: str) -> bool:
    """True if the answer holds an accepted value, whatever else it holds; a history all of `require`."""
    if question["type"] == "history":
        return all(contains(answer, wanted) for wanted in question["require"])
    return any(contains(answer, wanted) for wanted in [*question["accept"], *question.get("accept_also", [])])


def is_stale(question: Mapping[str, Any], answer: str) -> bool:
    """True if a question for a value was answered with one that does not hold at the asked time."""
    return question["type"] in VALUED and not is_right(question, answer) and _rejected(question, answer)


def _rejected(question: Mapping[str, Any], answer: str) -> bool:
    return any(contains(answer, wrong) for wrong in question["reject"])


def words(text: str) -> list[str]:
    """What is compared exactly: lower case, without punctuation and articles, as question answering sets do it."""
    return [word for word in re.findall(r"\w+", re.sub(r"[’']", "", text.lower())) if word not in ("a", "an", "the")]


def is_exact(answer: str, wanted: str) -> bool:
    """True if both are the same words."""
    return words(answer) == words(wanted)


def overlap(answer: str, wanted: str) -> float:
    """F1 of the words that both have, 0 to 1."""
    said, right = Counter(words(answer)), Counter(words(wanted))
    if not said or not right:
        return float(said == right)
    return 2 * (said & right).total() / (said.total() + right.total())
