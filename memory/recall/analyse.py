"""Analyse: what is asked (SPEC 7.4 S0, by rule): the words to search for, the names to look up, the time spoken of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memory.errors import InvalidInputError
from memory.recall.person import in_first_person
from memory.recall.when import When, moment
from memory.unicode import well_formed
from memory.write.mentions import mentions, norm

MAX_QUESTION = 4_000  # characters; more is a document, not a question
MAX_TERMS = 48
LONGEST_NAME = 6  # words

# Words that carry no content of a question; kept short, since a name may be made of common words.
STOP = frozenset(
    """a about after all also am an and any are as at be been before being between both but by can could did do
    does during each for from had has have he her hers him his how i if in into is it its just me mine more most
    much my no not now of on once only or other our ours out over own same shall she should so some such than
    that the their them then there these they this those through to too under until up us very was we were what
    when where which while who whom whose why will with would you your yours s t d ll m re ve tell say said
    please""".split()
)

_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as recall sees it: its `text` with the person's own names as "I".

    `terms`: content words, lower case, each once. `names`: norms that may be objects -> how sure the form alone
    makes us (1 for a name written as one, less for a word that merely could be). `when`: the time it speaks of.
    `content`: whether it asks for anything but what there is, or was at that time.
    """

    text: str
    terms: tuple[str, ...]
    names: dict[str, float]
    when: When | None = None
    content: bool = True


def analyse(text: str, names: Sequence[str] = (), now: datetime | None = None) -> Question:
    """What a question asks. `names` are those of the person whose memory it is; `now`, by default the clock's time, is
    what "last week" is seen from.

    Raises InvalidInputError for an empty question or one over MAX_QUESTION characters.
    """
    stripped = well_formed(text).strip()
    if not stripped:
        raise InvalidInputError("The question is empty. Ask something in words.")
    if len(stripped) > MAX_QUESTION:
        raise InvalidInputError(
            f"The question has {len(stripped):,} characters; at most {MAX_QUESTION:,} are read. "
            "Ask a shorter one, or add the text itself to memory."
        )
    when = moment(stripped, now or datetime.now(UTC))
    asked = in_first_person(stripped, names)
    terms, content = _terms(asked)
    if asked != stripped and not content:  # "Who is Ana?" is about nobody else
        asked = stripped
        terms, _ = _terms(asked)
    words = [match.group() for match in _WORD.finditer(asked)]
    if when is not None:
        _, content = _terms(asked.replace(when.words, " "))
    return Question(asked, terms, _names(asked, words), when, content)


def _terms(text: str) -> tuple[tuple[str, ...], bool]:
    """The words to search for, and whether any of them says what is asked; if none does, it is all words."""
    lowered = list(dict.fromkeys(word for word in re.findall(r"\w+", text.lower())))
    content = [word for word in lowered if word not in STOP]
    return tuple((content or lowered)[:MAX_TERMS]), bool(content)


def _names(text: str, words: list[str]) -> dict[str, float]:
    """Every run of words that could name an object; the graph decides which ones do."""
    names: dict[str, float] = {}
    for size in range(min(LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            if run[0].lower() in STOP or run[-1].lower() in STOP:
                continue
            key = norm(" ".join(run))
            sure = 1.0 if size > 1 or run[0][:1].isupper() or any(c.isdigit() for c in run[0]) else 0.5
            if key:
                names[key] = max(sure, names.get(key, 0.0))
    names.update({mention.norm: 1.0 for mention in mentions(text)})
    return names
