"""Follow-up questions: a question that depends on the previous one becomes a complete question for the search.

    "Where is the studio?"   "and what does it cost?"  ->  "what does the studio cost?"    the subject for its pronoun
    "Who is Ana?"            "and the phone?"          ->  "the phone (Ana)?"              a part of the subject
    "What is Ana's phone?"   "and Bob's?"              ->  "What is Bob's phone?"          another name
    "What happened in May?"  "and in June?"            ->  "What happened in June?"        another time

The subject is the object that the previous question names, or the person its answer names if it asks who. Other
follow-ups ("since when?", "and before?") are searched together with the whole previous question.
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

MAX_EARLIER_CHARS = 500
MAX_EARLIER_QUESTIONS = 3  # the newest
MAX_LINES = 3  # of an answer, searched for a person's name


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """The answer to an earlier question: the names of its objects, and the citations. `is_title`: whether a name in
    lower case is the title of notes."""

    named: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    is_title: Callable[[str], bool] = lambda name: False


UNKNOWN = EarlierAnswer()


def resolve_followup(
    question: str, before: Sequence[str], last: EarlierAnswer = UNKNOWN, now: datetime | None = None
) -> str:
    """Returns the text to search for: the question, or a complete question if it depends on the newest question
    `before` it that names something. `last`: the answer to the last question."""
    text = question.strip().lstrip("¿¡ ")
    if not before or len(text.split()) > 8:
        return question
    language = guess_language(f"{before[-1][:MAX_EARLIER_CHARS]} {text}")
    if not _refers(text, language):
        return question
    rest, opening = text, _make_pattern("goes_on", language).match(text)
    while match := _make_pattern("goes_on", language).match(rest):  # "and what about Bob?"
        rest = rest[match.end() :].strip(" ,")
    names = find_names(rest, language)
    if not opening and names:
        return question
    earlier = _find_earlier(before, language)
    known = last if earlier == before[-1] else UNKNOWN
    earlier = earlier.strip()[:MAX_EARLIER_CHARS]
    pronoun = asks_with_pronoun(rest, language)
    changed = None if pronoun or not opening else _replace_name(earlier, rest, names, known, language, now)
    asks_all = pronoun == "thing" and _asks_nothing_else(rest, language)  # "who does it?" asks of all that was asked
    if changed is None and not asks_all and (subject := _find_subject(earlier, known, pronoun == "thing", language)):
        if pronoun:
            changed = put_name(rest, subject, language)
        elif opening and not _is_bare(rest, language):
            changed = f"{rest.rstrip(' ?')} ({subject})?"
    return changed or f"{earlier} {text}"


def _find_earlier(before: Sequence[str], language: str) -> str:
    """Returns the newest question that names something or depends on no other."""
    complete = (text for text in reversed(before) if find_names(text, language) or not _refers(text.strip(), language))
    return next(complete, before[-1])


def _refers(text: str, language: str) -> bool:
    return _make_pattern("refers", language).search(text) is not None


@cache
def _make_pattern(key: str, language: str) -> re.Pattern[str]:
    """Returns a pattern of a language's words that refer to something named before, or that begin a follow-up."""
    return re.compile(alternatives("followup", key, language=language) or "(?!)", re.IGNORECASE)


def _asks_nothing_else(rest: str, language: str) -> bool:
    """Whether it contains only generic verbs: "who does it?"."""
    return not content_words(rest, language) and not generic_verbs().isdisjoint(words(rest))


def _is_bare(rest: str, language: str) -> bool:
    """Whether it names nothing that could be a part of something: "before", "since when", "why not"."""
    return not content_words(rest, language) or _make_pattern("refers", language).fullmatch(rest) is not None


# Another name or time ---------------------------------------------------------------------------


def _replace_name(
    earlier: str, rest: str, names: Sequence[str], known: EarlierAnswer, language: str, now: datetime | None
) -> str | None:
    """Returns the earlier question with another name or time, or the rest if that is a complete question; None
    otherwise."""
    objects = [name for label in known.named if (name := _find_written(label, earlier))]
    if not names:
        thing = rest.rstrip(" ?")
        if len(objects) == 1 and known.is_title(_drop_article(thing)) and known.is_title(_drop_article(objects[0])):
            return earlier.replace(objects[0], thing)
        return _replace_time(earlier, thing, language, (now or datetime.now(UTC)))
    name_words = {part for name in names for part in words(name)}
    if set(content_words(rest, language)) - name_words or is_complete(rest, language):
        return rest
    replaced = find_names(earlier, language) or objects
    if len(replaced) > 1:  # the name after the same word, such as "about"
        leading = rest[: rest.index(names[0])].split()[-1:]
        replaced = [name for name in replaced if earlier[: earlier.index(name)].split()[-1:] == leading]
    return earlier.replace(replaced[0], names[0]) if len(replaced) == 1 else f"{earlier} {rest}"


def _replace_time(earlier: str, rest: str, language: str, now: datetime) -> str | None:
    """Returns the earlier question with another time, if the rest is only a time: "and in June", "and the day
    before"."""
    old = resolve_time(earlier, now)
    if old and (span := _find_bare_time(old.words, now)) and _find_bare_time(rest, now) == rest:
        return earlier.replace(span, rest)
    for text in (rest, f"{rest} {old.words}" if old else ""):
        new = resolve_time(f"{text}?", now) if text else None
        if new is not None and not content_words(text.replace(new.words, " "), language):
            return earlier.replace(old.words, new.words) if old else f"{earlier.rstrip(' ?')} {new.words}?"
    return None


def _find_bare_time(text: str, now: datetime) -> str:
    """Returns the time at the end of a text without its preposition: "Friday" of "on Friday"."""
    parts, local = text.split(), now.astimezone().replace(tzinfo=None)
    ends = (" ".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in ends if _names_span(end, local)), "")


def _names_span(text: str, local: datetime) -> bool:
    try:
        return parse_span(text, local) is not None
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return False


# The subject ------------------------------------------------------------------------------------


def _find_subject(earlier: str, known: EarlierAnswer, is_thing: bool, language: str) -> str:
    """Returns the name of the topic of the earlier question and its answer; "" if ambiguous."""
    asked = question_type(earlier, language, known.named)
    if asked.kind == "about":
        return asked.subjects[0]
    names = find_names(earlier, language)
    who = alternatives("followup", "who", language=language)
    asks_who = bool(who) and re.search(rf"(?<!\w)(?:{who})(?!\w)", earlier, re.IGNORECASE) is not None
    answered = _find_answered(earlier, known.citations, language) if asks_who and not is_thing else ""
    things = [name for label in known.named if (name := _find_written(label, earlier))]
    subjects = [*things, *names] if is_thing else [*names, *things]
    if is_thing and len({name.casefold() for name in subjects}) > 1:
        return ""
    thing = find_thing(earlier, language)
    return answered or next(iter(subjects), "") or (thing if len(thing.split()) <= 2 else "")


def _find_answered(earlier: str, citations: Sequence[Citation], language: str) -> str:
    """Returns the first new name in the answer's line that contains half of the question's words and fewest others."""
    asked = {stem(word, language) for word in content_words(earlier, language)}
    names: list[tuple[float, str]] = []
    for line in [line for line in citations if not line.folded and not line.earlier][:MAX_LINES]:
        stems = [stem(word, language) for word in content_words(line.quote, language)]
        new = (name for name in find_names(line.quote, language) if asked.isdisjoint(_list_stems(name, language)))
        covered = asked & {*stems, *_list_stems(line.title, language)}
        if (name := next(new, "")) and len(covered) >= len(asked) / 2:
            names.append((len(asked.intersection(stems)) / len(stems), name))
    return max(names, key=lambda pair: pair[0], default=(0.0, ""))[1]


def _list_stems(text: str, language: str) -> set[str]:
    return {stem(word, language) for word in words(text)}


def _find_written(name: str, question: str) -> str:
    """Returns a name with its article as a question writes it; "" if the question does not contain it."""
    match = re.search(rf"(?<!\w)(?:{_make_articles()} )?{re.escape(name)}(?!\w)", question, re.IGNORECASE)
    return match[0] if match else ""


def _drop_article(thing: str) -> str:
    """Returns a name without its article, in lower case."""
    return re.sub(rf"^{_make_articles()} ", "", thing.lower())


@cache
def _make_articles() -> str:
    return rf"(?:{'|'.join(sorted(word_set('facts', 'articles')))})"
