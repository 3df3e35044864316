"""Questions that go on from the one before: what is searched for is a complete question.

    "Where is the studio?"   "and what does it cost?"  ->  "what does the studio cost?"    the subject for its pronoun
    "Who is Ana?"            "and the phone?"          ->  "the phone (Ana)?"              what belongs to it
    "What is Ana's phone?"   "and Bob's?"              ->  "What is Bob's phone?"          another name
    "What happened in May?"  "and in June?"            ->  "What happened in June?"        another time

The subject is what the question before was found to name; where that asked who somebody is, whom its answer names. What
goes on in no such way ("since when?", "and before?") is searched with the whole question before it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from memory.nouns import Citation
from memory.retrieval.question_type import (
    asks_with_pronoun,
    find_names,
    find_thing,
    is_complete,
    put_name,
    question_type,
)
from memory.text.languages import alternatives, content_words, guess_language, stem, word_set
from memory.text.words import words
from memory.time.expressions import generic_verbs, parse_span, resolve_time

MAX_FOLLOWUP_WORDS = 8  # words of a question that may need the one before it
MAX_EARLIER_CHARS = 500  # characters of the one before
MAX_EARLIER_QUESTIONS = 3  # questions that are looked at, the newest
MAX_THING_WORDS = 2  # of a thing with its article, which more words may not be all of
MAX_LINES = 3  # of an answer that are looked at for whom it names


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """What is known of the answer to a question: the objects that the question was found to name, by their names, and
    what the answer cites. `is_title`: whether notes are called by a name, in lower case."""

    named: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    is_title: Callable[[str], bool] = lambda name: False


UNKNOWN = EarlierAnswer()


def resolve_followup(
    question: str, before: Sequence[str], last: EarlierAnswer = UNKNOWN, now: datetime | None = None
) -> str:
    """The text to search for: the question, or a complete one if it needs the newest one `before` it that
    names something. `last` is what is known of the very last one."""
    text = question.strip().lstrip("¿¡ ")
    if not before or len(text.split()) > MAX_FOLLOWUP_WORDS:
        return question
    language = guess_language(f"{before[-1][:MAX_EARLIER_CHARS]} {text}")
    if not _refers(text, language):
        return question
    rest, begins = text, _pattern("goes_on", language).match(text)
    while match := _pattern("goes_on", language).match(rest):  # "and what about Bob?"
        rest = rest[match.end() :].strip(" ,")
    names = find_names(rest, language)
    if not begins and names:
        return question
    earlier = _find_earlier(before, language)
    known = last if earlier == before[-1] else UNKNOWN
    earlier = earlier.strip()[:MAX_EARLIER_CHARS]
    pronoun = asks_with_pronoun(rest, language)
    changed = None if pronoun or not begins else _change(earlier, rest, names, known, language, now)
    of_all = pronoun == "thing" and _asks_nothing_else(rest, language)  # "who does it?" asks of all that was asked
    if changed is None and not of_all and (subject := _find_subject(earlier, known, pronoun == "thing", language)):
        if pronoun:
            changed = put_name(rest, subject, language)
        elif begins and not _is_bare(rest, language):
            changed = f"{rest.rstrip(' ?')} ({subject})?"
    return changed or f"{earlier} {text}"


def _find_earlier(before: Sequence[str], language: str) -> str:
    """The newest question that names something, or that needs none before it."""
    of = (one for one in reversed(before) if find_names(one, language) or not _refers(one.strip(), language))
    return next(of, before[-1])


def _refers(text: str, language: str) -> bool:
    return _pattern("refers", language).search(text) is not None


@cache
def _pattern(key: str, language: str) -> re.Pattern[str]:
    """The words that refer to what was named before, or with which a question goes on, in a language."""
    return re.compile(alternatives("followup", key, language=language) or "(?!)", re.IGNORECASE)


def _asks_nothing_else(rest: str, language: str) -> bool:
    """Whether it only says that something happens or is done."""
    return not content_words(rest, language) and not generic_verbs().isdisjoint(words(rest))


def _is_bare(rest: str, language: str) -> bool:
    """Whether it names nothing that could belong to something: "before", "since when", "why not"."""
    return not content_words(rest, language) or _pattern("refers", language).fullmatch(rest) is not None


# Another name or time ---------------------------------------------------------------------------


def _change(
    earlier: str, rest: str, names: Sequence[str], known: EarlierAnswer, language: str, now: datetime | None
) -> str | None:
    """The earlier question with another name or time, or what is a complete question. None if it is neither."""
    of_named = [one for name in known.named if (one := _written(name, earlier))]
    if not names:
        thing = rest.rstrip(" ?")
        if len(of_named) == 1 and known.is_title(_bare(thing)) and known.is_title(_bare(of_named[0])):
            return earlier.replace(of_named[0], thing)
        return _change_time(earlier, thing, language, (now or datetime.now(UTC)))
    said = {part for name in names for part in words(name)}
    if set(content_words(rest, language)) - said or is_complete(rest, language):
        return rest
    of = find_names(earlier, language) or of_named
    leading = rest[: rest.index(names[0])].split()[-1:]  # "about", of two names that are spoken of
    alike = [name for name in of if len(of) == 1 or earlier[: earlier.index(name)].split()[-1:] == leading]
    return earlier.replace(alike[0], names[0]) if len(alike) == 1 else f"{earlier} {rest}"


def _change_time(earlier: str, rest: str, language: str, now: datetime) -> str | None:
    """The earlier question of another time, if a time is all that is said: "and in June", "and the day before"."""
    old = resolve_time(earlier, now)
    if old and (span := _bare_time(old.words, now)) and _bare_time(rest, now) == rest:
        return earlier.replace(span, rest)
    for said in (rest, f"{rest} {old.words}" if old else ""):
        new = resolve_time(f"{said}?", now) if said else None
        if new is not None and not content_words(said.replace(new.words, " "), language):
            return earlier.replace(old.words, new.words) if old else f"{earlier.rstrip(' ?')} {new.words}?"
    return None


def _bare_time(said: str, now: datetime) -> str:
    """The time that some words end with, without what says how it relates: "Friday" of "on Friday"."""
    parts, local = said.split(), now.astimezone().replace(tzinfo=None)
    ends = (" ".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in ends if _names_span(end, local)), "")


def _names_span(said: str, local: datetime) -> bool:
    try:
        return parse_span(said, local) is not None
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return False


# The subject ------------------------------------------------------------------------------------


def _find_subject(earlier: str, known: EarlierAnswer, is_thing: bool, language: str) -> str:
    """What the earlier question and its answer are about, as it is called there; "" if that is not clear."""
    asked = question_type(earlier, language, known.named)
    if asked.kind == "about":
        return asked.subjects[0]
    names = find_names(earlier, language)
    who = alternatives("followup", "who", language=language)
    asks_who = bool(who) and re.search(rf"(?<!\w)(?:{who})(?!\w)", earlier, re.IGNORECASE) is not None
    answered = _find_answered(earlier, known.citations, language) if asks_who and not is_thing else ""
    of_things = [one for name in known.named if (one := _written(name, earlier))]
    said = [*of_things, *names] if is_thing else [*names, *of_things]
    if is_thing and len({one.casefold() for one in said}) > 1:  # nobody knows which
        return ""
    thing = find_thing(earlier, language)
    return answered or next(iter(said), "") or (thing if len(thing.split()) <= MAX_THING_WORDS else "")


def _find_answered(earlier: str, citations: Sequence[Citation], language: str) -> str:
    """The first name that a line of an answer has and its question has not: of the lines that have half of what
    is asked, the one that says least else."""
    asked = {stem(word, language) for word in content_words(earlier, language)}
    found: list[tuple[float, str]] = []
    for line in [one for one in citations if not one.folded and not one.earlier][:MAX_LINES]:
        said = [stem(word, language) for word in content_words(line.quote, language)]
        new = (name for name in find_names(line.quote, language) if asked.isdisjoint(_stems(name, language)))
        held = asked & {*said, *_stems(line.title, language)}
        if (name := next(new, "")) and len(held) >= len(asked) / 2:
            found.append((len(asked.intersection(said)) / len(said), name))
    return max(found, key=lambda one: one[0], default=(0.0, ""))[1]


def _stems(text: str, language: str) -> set[str]:
    return {stem(word, language) for word in words(text)}


def _written(name: str, question: str) -> str:
    """A name as a question writes it, with its article; "" if it does not hold the name."""
    found = re.search(rf"(?<!\w)(?:{_articles()} )?{re.escape(name)}(?!\w)", question, re.IGNORECASE)
    return found[0] if found else ""


def _bare(thing: str) -> str:
    """A name without its article, in lower case."""
    return re.sub(rf"^{_articles()} ", "", thing.lower())


@cache
def _articles() -> str:
    return rf"(?:{'|'.join(sorted(word_set('facts', 'articles')))})"
