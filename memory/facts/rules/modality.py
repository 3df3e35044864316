"""How a sentence is meant: asserted, planned, supposed, asked. In doubt it is not asserted.

Words decide, English ones so far; another language adds its own to the tables.
"""

from __future__ import annotations

import re

from memory.nouns import Modality

_ASKS = re.compile(r"\?[\"'”’)*_\s]*$")
_SUPPOSES = re.compile(
    r"\b(?:if|unless|whether|might|maybe|perhaps|possibly|probably|presumably|apparently|supposedly|allegedly|rumou?rs?|"
    r"rumou?red|could|would|wouldn't|couldn't|should|shouldn't|wonder(?:ing)?|suppose|imagine|dream(?:t|ed|s|ing)?|"
    r"hypothetical(?:ly)?|in theory|what if|as if|as though|"
    r"(?:i|we|he|she|they)'d (?:like|love|rather|prefer|want|be|have to|go|need)|rather than|"
    r"suggest(?:s|ed)?|propos(?:e|es|ed|al)|recommend(?:s|ed)?|considering|consider|thinking (?:of|about)|"
    r"not sure|i guess|i think|i believe|looking at|looks like|seems?|joke|joking|kidding|for example|e\.g\.|"
    r"tempted|offered|offers|asked (?:for|if|whether|me to)|wants? (?:me|us) to|quoted|until we|turned down|declined)\b"
    r"|(?<!you )\bmay (?!\d)(?=[a-z])",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"\b(?:going to (?!the |a |my |our )|gonna|plan(?:s|ned|ning)? (?:to|on|is)|want(?:s|ed)? to|wanna|"
    r"hop(?:e|es|ing) to|"
    r"intend(?:s|ing)? to|aim(?:s|ing)? to|would like to|need(?:s)? to|have to|has to|must|to ?do|let's|i'll|we'll|"
    r"i will|we will|(?:he|she|they|it)(?:'ll| will)|will|shall|about to|supposed to|trying to|tried to|resolution)\b",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:says?|said|tells?|told (?:me|us|him|her|them)(?! wrong)|claims?|claimed|thinks?|thought|"
    r"writes?|wrote|argues?|argued|"
    r"according to|insists?|insisted|swears?|swore|heard (?:that|from))\b(?! so\b)",
    re.IGNORECASE,
)
_DATED = re.compile(r"\b(?:from|as of|as from|effective|starting|on or after|since)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:used to|back then|in those days|formerly|previously|at the time|once upon)\b", re.IGNORECASE)


def mood(sentence: str, own: bool = False) -> Modality:
    """What a sentence is. What somebody else says is a hypothesis here: that they said it is no proof of it.

    `own`: it speaks of its writer, so that "will" is a plan, while an announcement with its date ("will be paid within
    45 days from 1 October") is decided.
    """
    if _ASKS.search(sentence):
        return "question"
    if _SUPPOSES.search(sentence) or _REPORTS.search(sentence):
        return "hypothesis"
    planned = _PLANS.search(sentence)
    if planned and (own or planned[0].lower() not in ("will", "it will", "they will") or not _DATED.search(sentence)):
        return "plan"
    return "asserted"


def is_past(sentence: str) -> bool:
    """Whether it tells how things were before."""
    return _PAST.search(sentence) is not None


_STALE_TITLE = re.compile(
    r"\b(?:old (?:copy|version|template)|outdated|obsolete|superseded|deprecated|archived?|template|example|"
    r"sample|boilerplate|"
    r"in review|year(?:ly)? review|(?:self|performance|annual)[ -]review|retrospective|look(?:ing)? back|"
    r"recap|memories|history of)\b",
    re.IGNORECASE,
)
_STALE_TEXT = re.compile(
    r"\b(?:do not use|don't use this|this is the old|is outdated|out of date|no longer valid|superseded by|obsolete)\b",
    re.IGNORECASE,
)


def is_stale(title: str, text: str) -> bool:
    """Whether a note says of itself that it is an old copy, or looks back at how things were."""
    return _STALE_TITLE.search(title) is not None or _STALE_TEXT.search(text, 0, 400) is not None
