"""The subject and predicate of which a sentence gives a value, as far as its form shows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.facts.rules import phrases
from memory.text.languages import word_set

Slot = tuple[str, str]  # a subject and what of it is spoken of; ("", "") if it is not clear

_PERSON = re.compile(
    r"(?:\W{0,4}\b(?:so|and|but|then|ok|okay|well|yes|today|yesterday|finally|now)\b){0,3}\W{0,4}"
    r"(?:i|we)(?:['’](?:ve|m|re|d|ll))?(?![\w'’])",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\W{0,4}(?:from|as of|starting|effective|since|on|in|after|because of|per)\b[^.,;:!?()]{1,40}?"
    r"(?:,|(?= (?:the|our|my|i|we)\b))\s?",
    re.IGNORECASE,
)
_OWN = re.compile(r"\W{0,4}(?:my|our)\s(?:new\s|current\s)?", re.IGNORECASE)
_STOPS = phrases.STOPS | word_set("facts", "change_verbs")
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w’'-]{2,}(?: [A-ZÀ-Þ][\w’'-]+){0,3}")
_ARTICLE = re.compile(r"\b(?:the|a|an|this|that)\s+$", re.IGNORECASE)
_THEY = frozenset("she he it they this that".split())


# One of a rule's cue words stands in every sentence that the rule matches.
CUES = {
    rule: frozenset(tokens.split())
    for rule, tokens in {
        "from_to": "from",
        "was": "(was (were (from (until (till (before (previously (formerly (up (down (used (instead (was: (until:"
        " (formerly: (previously: up down previously formerly",
        "value": "moves moved goes went extended pushed postponed raised lowered increased reduced cut dropped drops"
        " changed rose rises slips slipped bumped now",
        "not_any_more": "no not",
        "instead": "instead place lieu",
        "arrow": "-> → => ⇒",
        "own": "i i'm i’m i've i’ve my we we're we’re we’ve we've our",
    }.items()
}
ALL_CUES = frozenset[str]().union(*CUES.values())
CUE_TOKEN = re.compile(r"\(?[^\W_][^\s.,;!?()*\"“”]*|->|→|=>|⇒")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence [start, end) of an episode's `text`. `topic`: what its note is about; `speaker`: who "I" is; `label`:
    the key before it in its line; `paragraph`: where the sentences before it begin; `cues`: its cue words;
    `field_keys`: the keys, in lower case, of the fields of its whole note."""

    text: str
    start: int
    end: int
    topic: str
    speaker: str
    label: str = ""
    paragraph: int = 0
    cues: frozenset[str] = frozenset()
    field_keys: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        return self.text[self.start : self.end]


def slot_before(sentence: Sentence, before: int, predicate: str) -> Slot:
    """What the sentence speaks of before the place `before`.

    "Dues go up" is about dues, "my rent" about its speaker's rent, "Rent: up" in a note about a flat about the flat's
    rent; "she" is whoever was named last. `predicate` where the words name none.
    """
    text, start = sentence.text, sentence.start
    if (logged := phrases.LOGGED.match(text, start, before)) is not None:
        start = logged.end()
    if sentence.label and (colon := text.find(":", start, before)) >= 0:
        return _slot_of_label(sentence, colon + 1, before, predicate)
    lead = _LEAD.match(text, start, before)
    if lead is not None:
        start = lead.end()
    if _PERSON.match(text, start, before):
        return sentence.speaker, predicate
    if not text[start:before].strip(" *_\"'-–—:([#"):  # it begins with its verb, as in a diary
        return (sentence.speaker, predicate) if not sentence.topic else ("", "")
    own = _OWN.match(text, start, before)
    span = phrases.phrase_after(text, own.end() if own else start, before, _STOPS)
    name = phrases.clean(text[span[0] : span[1]]) if span else ""
    name = name.removesuffix("'s").removesuffix("’s")
    words = name.lower().split()
    if not words:
        first = text[start:before].split(maxsplit=1)[0].lower()
        words = [re.split(r"\W", first.strip("*_\"'"), maxsplit=1)[0]]
    if words[0] in _THEY:
        who = named_before(sentence, sentence.start)
        return (who, predicate) if who else ("", "")
    if words[0] in phrases.PRONOUNS or words[0] in phrases.STOPS or len(words) > 6 or not name:
        return "", ""
    if span and text.startswith(" of ", span[1]):  # "the price of the boat": not mine, nor the price of everything
        return "", ""
    if own:
        return sentence.speaker, name
    if span and _is_name(text, start, span, predicate != "is"):
        return name, predicate
    return thing_slot(sentence, name, predicate)


def _slot_of_label(sentence: Sentence, start: int, before: int, predicate: str) -> Slot:
    """What stands between a key and the place `before`, or the key itself."""
    span = phrases.phrase_after(sentence.text, start, before, _STOPS)
    thing = phrases.clean(sentence.text[span[0] : span[1]]) if span else ""
    if not thing or thing.lower().split()[0] in phrases.PRONOUNS | phrases.STOPS:
        return sentence.topic or sentence.speaker, sentence.label
    return (sentence.label, thing) if len(sentence.label.split()) <= 2 else (thing, predicate)


def thing_slot(sentence: Sentence, name: str, predicate: str = "is") -> Slot:
    """The place of a thing that has no name of its own: whose rent or deadline it is says the note or its speaker.
    Left by itself it would be one with the rent of everybody else."""
    if phrases.value_kind(name) != "word":  # a date before it, not a thing
        name = ""
    words = f"{name} {predicate}".strip() if predicate != "is" or not name else name
    return sentence.topic or sentence.speaker, words


def _is_name(text: str, start: int, span: tuple[int, int], acts: bool) -> bool:
    """Whether a phrase is a name. A single word that begins its sentence is, if it `acts` as only people do or if the
    text has it with a capital within a sentence."""
    phrase = text[span[0] : span[1]]
    if not phrase[:1].isupper() or _ARTICLE.search(text, start, span[0]):
        return text.startswith("[[", max(0, span[0] - 2))
    if acts or any(word[:1].isupper() for word in phrase.split()[1:]):
        return True
    near = text[max(0, span[0] - 1000) : span[1] + 1000]
    first = re.escape(phrase.split()[0])
    return re.search(rf"[\w,(] {first}\b", near) is not None or any(c.isupper() or c.isdigit() for c in phrase[1:])


def named_before(sentence: Sentence, place: int) -> str:
    """Who or what was named last before a place, in its paragraph; "" if nothing was."""
    names = _NAME.findall(sentence.text, max(sentence.paragraph, place - 300), place)
    names = [name for name in names if re.split(r"[\s'’]", name.lower())[0] not in phrases.PRONOUNS | phrases.CALENDAR]
    return names[-1] if names else ""
