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
    """A question as recall sees it.

    `terms`: the words to search for, lower case, each once; `topic`: those of them that do not say when, possibly none.
    `names`: norms that may be objects -> how sure the form alone makes us (1 for a name written as one, less for a word
    that merely could be). The asker's own names are in none of them. `when`: the time it speaks of.
    """

    text: str
    terms: tuple[str, ...]
    topic: tuple[str, ...]
    names: dict[str, float]
    when: When | None = None


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
    if asked != stripped and not _content(asked):  # "Who is Ana?" is about nobody else
        asked = stripped
    terms = _content(asked) or tuple(re.findall(r"\w+", asked.lower()))
    topic = _content(asked.replace(when.words, " ")) if when else terms
    words = [match.group() for match in _WORD.finditer(asked)]
    return Question(stripped, terms[:MAX_TERMS], topic[:MAX_TERMS], _names(asked, words), when)


def _content(text: str) -> tuple[str, ...]:
    """The words that say what is asked, lower case, each once."""
    return tuple(dict.fromkeys(word for word in re.findall(r"\w+", text.lower()) if word not in STOP))


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
