"""What a question asks for, by its words alone: its type, which decides the form of the answer.

One fact, one line; "what do I know about X" a briefing; "which ... did I" one line for each. A wrong guess only changes
the order of lines, so unknown forms count as a question for one fact. The rules cover English and German.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from memory.text.languages import ENGLISH, alternatives, languages, stem, stop_words, tables, word_set
from memory.text.mentions import is_date, mentions, norm
from memory.text.words import UNSPACED, strip_accents
from memory.text.words import words as words_of

Kind = Literal["fact", "when_changed", "compare", "list", "count", "about", "yes_no"]

MANY = 30  # episodes that a question of many is answered from
NAME_WORDS = 4  # of a name that is asked about without anything else


@dataclass(frozen=True, slots=True)
class QuestionType:
    """`subjects`: the words for the subject of a briefing, or for the two sides of a comparison; otherwise empty.
    `in_order`: it asks for events in order of time, or how often something was. `of`: for any kind, whether it may ask
    for tasks in a state, entries of some days, the next entry, changes or news, or everything that happened."""

    kind: Kind = "fact"
    subjects: tuple[str, ...] = ()
    in_order: bool = False
    of: Literal["", "open", "done", "dated", "next", "when", "changed", "new", "all"] = ""

    @property
    def asks_list(self) -> bool:
        """Whether the entries of a list may answer."""
        return self.of not in ("", "all") or (self.kind in ("list", "count") and not self.in_order)


FACT = QuestionType()
_LISTED: tuple[Literal["open", "done", "new", "next", "dated", "when", "changed"], ...] = (
    "open", "done", "new", "next", "dated", "when", "changed",
)  # fmt: skip


def asks_course(question: str) -> bool:
    """Whether a question asks how something changed, not how it is."""
    return re.search(alternatives("question_types", "course"), question, re.IGNORECASE) is not None


@cache
def changed_words(language: str) -> frozenset[str]:
    """Returns the stems of the words by which a question asks what changed."""
    return frozenset(stem(word, language) for word in word_set("question_types", "changed_words", language=language))


def question_type(
    question: str, language: str = ENGLISH, known: Collection[str] = (), asks_all: bool = False
) -> QuestionType:
    """Returns the type of a question in that language. `known`: names of objects found in it; `asks_all`: it may ask
    for everything that happened."""
    type = _question_type(question, language, known)
    words = _patterns(language)
    topic = next((key for key in _LISTED if words and words[key].search(question)), None)
    if topic is None and not word_set("lists", "calendar", language=language).isdisjoint(words_of(question)):
        topic = "dated"
    if topic is None and asks_all:
        return replace(type, of="all")
    return replace(type, of=topic) if topic else type


def _question_type(question: str, language: str, known: Collection[str]) -> QuestionType:
    text = " ".join(question.split()).rstrip(" ?!.,;:？。")
    words = _patterns(language) or _patterns(ENGLISH)
    if not text:
        return FACT
    in_order = asks_course(text)
    if re.match(alternatives("question_types", "on_list"), text, re.IGNORECASE):
        return QuestionType("list")
    called = {norm(name) for name in known}
    is_only_name = is_name(text) or (norm(text) and norm(text) in called)
    if subject := text if is_only_name else _find_topic(text, words, called):
        return QuestionType("about", (subject,))
    if not _patterns(language):
        return FACT
    if words["count"].search(text) and not words["count_of_measures"].search(text):
        return QuestionType("count", in_order=words["count_times"].search(text) is not None)
    if compared := sides(text, language):
        return QuestionType("compare", compared)
    if words["when_changed"].match(text) and not words["not_when_changed"].search(text):
        return QuestionType("when_changed")
    if in_order or words["list"].search(text):
        return QuestionType("list", in_order=in_order)
    return QuestionType("yes_no") if words["yes_no"].match(text) else FACT


def find_subject(question: str, language: str) -> str:
    """Returns the subject of a request for an overview: "March" in "Summarise March"; "" for other questions."""
    words = _patterns(language)
    match = words["about"].match(" ".join(question.split()).rstrip(" ?!.,;:？。")) if words else None
    return _strip_article(match["name"]) if match and match["name"] else ""


def format_hint(type: QuestionType) -> str:
    """Returns the format of a list, a history or a briefing, as a sentence for a model; "" for other answers."""
    if type.of in ("changed", "new"):
        return _CHANGED
    return _IN_ORDER if type.kind == "list" and type.in_order else _HINTS.get(type.kind, "")


def episode_count(type: QuestionType, usual: int) -> int:
    """Returns the number of episodes for an answer of that type, if one fact takes the `usual` number."""
    many = type.kind in ("list", "about") or (type.kind == "count" and type.in_order)
    return max(usual, MANY) if many else usual


_HINTS: dict[Kind, str] = {
    "list": "Name every one that the evidence names, each on a line of its own, with its date where it has one.",
    "about": "Write a briefing of a few lines: what or who it is, what belongs to it and since when, what has changed,"
    " and what is newest.",
}
_CHANGED = "Say of each thing that changed what it was, what it is now and since when, each on a line of its own."
DIGEST_HINT = "Sum up all of the evidence, the oldest first, a line for each day or note, with its day."
_IN_ORDER = "Say what was when, the oldest first, each on a line of its own with its date."


def sides(text: str, language: str) -> tuple[str, ...]:
    """Returns the two things that a question (without its final punctuation) compares, in its own words; empty for
    other questions."""
    words = _patterns(language)
    match = (
        (_EITHER.search(text) or words["compared"].search(text)) if words and words["compares"].search(text) else None
    )
    if match is None:
        return ()
    pair = tuple(match[side].strip(" \"'“”„«»*") for side in "ab")
    are_names = all(mentions(f"the {_strip_article(side)}") for side in pair)
    return pair if are_names and norm(pair[0]) != norm(pair[1]) else ()


def _find_topic(text: str, words: dict[str, re.Pattern[str]], called: Collection[str]) -> str:
    match = words["about"].match(text)
    if match is None:
        return ""
    if match["name"]:
        return _strip_article(match["name"])
    subject = _strip_article(match["what"])
    return subject if subject and (is_name(subject) or (subject.lower() == subject and norm(subject) in called)) else ""


def _strip_article(name: str) -> str:
    """Returns a name without quotation marks and its article."""
    return re.sub(r"^(?:the|der|die|das|dem|den)\s+", "", name.strip(" \"'“”„«»*"), flags=re.IGNORECASE)


def is_name(text: str) -> bool:
    """Whether all of `text` is a single name."""
    name = _honorific().sub("", text)
    first = name.split()[0].lower() if name.split() else ""
    shouted = name.isupper() and len(name.split()) > 1
    if (
        not first
        or shouted
        or UNSPACED.search(name)
        or len(name.split()) > NAME_WORDS
        or any(first in stop_words(code) for code, data in languages().items() if "question_types" in data)
    ):
        return False
    names = [mention for mention in mentions(name) if not is_date(mention.norm)]
    return len(names) == 1 and names[0].norm == norm(name)


@cache
def _honorific() -> re.Pattern[str]:
    return re.compile(rf"^(?:(?:{'|'.join(sorted(word_set('honorifics')))})\b\.?\s+)+", re.IGNORECASE)


@cache
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    """Returns the patterns of the types of question in a language, for text without final punctuation; empty for most
    languages."""
    side = r"(?:(?:the|der|die|das|dem|den)\s+)?(?-i:[^\W\d_a-zäöüß]|\d)[^,;?]{0,60}?"
    [keys], own = tables("question_types", language=ENGLISH), tables("question_types", language=language)
    return {
        key: re.compile(table.get(key, "(?!)").replace("\n", "").replace("{side}", side), re.IGNORECASE)
        for table in own
        for key in keys
        if not key.endswith("_words")
    }


_EITHER = re.compile(r"[,:]\s+(?P<a>[^,;:]{1,60}?),?\s+(?:or|oder)\s+(?P<b>[^,;:]{1,60})$", re.IGNORECASE)


# Follow-ups ---------------------------------------------------------------------------------------


@cache
def _compile_rule(key: str, language: str) -> re.Pattern[str]:
    """Returns a pattern of a language's rules."""
    [words] = tables("references", language=language)
    return re.compile(words.get(key, "(?!)").replace("\n", ""), re.IGNORECASE)


@cache
def _beginning_pattern(language: str) -> re.Pattern[str]:
    """Returns the words with which a question begins."""
    asked, auxiliary = (_compile_rule(key, language).pattern for key in ("asked", "aux"))
    return re.compile(rf"(?:{asked}|{auxiliary})\b", re.IGNORECASE)


def asks_with_pronoun(text: str, language: str) -> Literal["", "one", "thing"]:
    """Returns the kind of pronoun in a text: "thing" if it certainly refers to a thing, "one" if it may refer to a
    person; "" without a pronoun or rules for the language."""
    rules = tables("references", language=language)
    refers = _compile_rule("pronouns", language).search(text) if rules else None
    if refers is None:
        return ""
    return "thing" if _is_of_thing(refers, rules[0]) else "one"


def put_name(text: str, name: str, language: str) -> str:
    """Returns a text with a name in place of its pronoun; in a language with cases the name follows in brackets, which
    avoids agreement."""
    [words] = tables("references", language=language)
    refers = _compile_rule("pronouns", language).search(text)
    if "possessive" not in words or refers is None:
        return f"{text.rstrip(' ?')} ({name})"
    put = words["possessive"].format(name) if refers["of"] else name
    return text[: refers.start()] + put + text[refers.end() :]


def _is_of_thing(refers: re.Match[str], words: dict[str, Any]) -> bool:
    return refers[0].lower() in words.get("of_things", "").split()


def find_thing(question: str, language: str) -> str:
    """Returns the thing at the end of a question: "the harbour office"; "" without one."""
    rules = tables("references", language=language)
    thing = _compile_rule("thing", language).search(question.rstrip(" ?!.")) if rules else None
    if thing is None:
        return ""
    return f"{rules[0]['definite'].get(thing['article'].lower(), thing['article'])} {thing['noun']}"


def is_complete(text: str, language: str) -> bool:
    """Whether a text begins as a question does."""
    return bool(tables("references", language=language)) and _beginning_pattern(language).match(text) is not None


def find_names(text: str, language: str) -> list[str]:
    """Returns the names in it, in order, without days."""
    little = stop_words(language)
    names = (mention for mention in mentions(text) if mention.kind == "name" and not is_date(mention.norm))
    return [mention.surface for mention in names if mention.norm not in little]


# The kind of value --------------------------------------------------------------------------------

ExpectedType = Literal["date", "number", "name"]
EXPECTED_TYPES: tuple[ExpectedType, ...] = ("date", "number", "name")

SHAPES: Mapping[str, re.Pattern[str]] = {  # of values that are recognised without their name
    "phone": re.compile(
        r"(?<![\w.,-])(?<!\d )(?!\d\d?/\d{4}(?!\d))"  # no month
        r"(?:(?:\+\d|\(?0\d)[\d ()/-]{4,16}\d|(?:\d{3}[ -]\d{3}[ -]|\d{3}-)\d{4}"
        r"|\d\d(?: \d\d){3,4}|\d{3} \d{3} \d{3})(?![\w-]| \d)"
    ),
    "email": re.compile(r"[\w.+-]+@[\w-]+\.\w"),
}


def expected_types(question: str, language: str) -> frozenset[ExpectedType]:
    """Returns the kinds of thing that a question in `language` (ISO 639-1) asks for; empty if its words name none."""
    text = strip_accents(question.lower())
    return frozenset(kind for kind, pattern in _compile_expected(language).items() if pattern.search(text))


@cache
def _compile_expected(language: str) -> dict[ExpectedType, re.Pattern[str]]:
    """Returns patterns of the words that ask for each kind, as whole words unless the language has no spaces."""
    data = languages().get(language, {})
    data = data if "asks" in data else languages()[ENGLISH]
    edges = ("", "") if "unspaced" in data else (r"(?<!\w)", r"(?!\w)")
    return {kind: re.compile(f"{edges[0]}(?:{strip_accents(data['asks'][kind])}){edges[1]}") for kind in EXPECTED_TYPES}


def find_owned(question: str, language: str) -> str:
    """Returns the words for a person's thing that a question asks for ("phone" in "Ana's phone"); "" for other
    questions."""
    form, ends = (alternatives("asks", key, language=language) for key in ("owned", "owned_ends"))
    match = re.search(form, question, re.IGNORECASE) if form else None
    return re.split(ends, match[1], maxsplit=1, flags=re.IGNORECASE)[0] if match else ""
