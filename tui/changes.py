"""How the chat words facts that were replaced, ended or disputed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content

from daemon import wire
from daemon.terminal import describe_outcome, display_safe, statement
from tui.wording import day, short_path

Span = tuple[int, int]

# relation -> its words, its meaning, and the names of the two facts
KINDS = {
    "supersedes": ("Replaced", "The new one replaced the old one.", "Before", "Now"),
    "negates": ("Ended", "The old one ended without a replacement.", "Before", "Now"),
    "contradicts": (
        "Two notes disagree",
        "Both cannot be true; both stay until you decide.",
        "One says",
        "Another says",
    ),
    "duplicates": ("Duplicate", "Both say the same and count once.", "First", "Again"),
}
FOUND_BY = {"rule": "Found by a rule.", "user": "You said so."}
_VERDICTS = {"settled": "both", "undone": "undo", "open": "open"}


def name_kind(revision: wire.Revision) -> str:
    """`Replaced`, `Two notes disagree`."""
    return KINDS[revision.relation][0]


def explain(revision: wire.Revision) -> str:
    """Why the memory assumes this change, in a few sentences; and the person's verdict."""
    finder = FOUND_BY.get(revision.author) or f"Found by a model that is {revision.confidence:.0%} sure."
    verdict = "" if revision.state == "open" else f"\nYou said: {describe_outcome(revision)}"
    if revision.state == "kept" and revision.settled is None:
        verdict = ""  # it was sure enough not to ask
    return f"{KINDS[revision.relation][1]} {revision.reason} {finder}{verdict}"


def verdict_of(revision: wire.Revision) -> str:
    """The verdict that would bring a revision to where it is."""
    if revision.state == "kept":
        return "old" if revision.new.retired and revision.relation != "duplicates" else "keep"
    return _VERDICTS[revision.state]


def news(revision: wire.Revision, folders: Iterable[str]) -> str:
    """A fact that has just changed, in one line, with its former value."""
    old, new = _strip_end(statement(revision.old)), _strip_end(statement(revision.new))
    place = source_label(revision.new, folders)
    if revision.relation == "contradicts":
        return f"Two notes disagree: {new} / {old}, from {place}"
    if revision.relation == "negates":
        return f"No longer true: {old}, from {place}"
    return f"Changed: {new} (was {describe_before(revision)}), from {place}"


def describe_before(revision: wire.Revision) -> str:
    """The former value: the words that changed, or all."""
    old = statement(revision.old)
    start, end = find_difference(old, statement(revision.new))[0]
    return _strip_end(old[start:end] or old)


def find_difference(old: str, new: str) -> tuple[Span, Span]:
    """The spans of the words that differ between two texts, apart from their common beginning and end."""
    olds, news = ([(match.start(), match.end()) for match in re.finditer(r"\S+", text)] for text in (old, new))
    first = 0
    while first < min(len(olds), len(news)) and _word(old, olds[first]) == _word(new, news[first]):
        first += 1
    last = 0
    while last < min(len(olds), len(news)) - first and _word(old, olds[-1 - last]) == _word(new, news[-1 - last]):
        last += 1
    return _span(olds[first : len(olds) - last]), _span(news[first : len(news) - last])


def mark_difference(fact: wire.Fact, other: wire.Fact) -> Content:
    """A fact's text with the words that differ from the other one highlighted."""
    text = display_safe(statement(fact))
    start, end = find_difference(text, display_safe(statement(other)))[0]
    return Content.styled(text, "bold").stylize("$accent underline", start, end)


def source_label(fact: wire.Fact, folders: Iterable[str] = ()) -> str:
    """The place of a fact: `notes/a.md:12`, or the title of its note."""
    if fact.line is not None and not fact.uri.startswith("note:"):
        return wire.name_place(short_path(fact.uri, folders), fact.line)
    return "what you said" if fact.uri.startswith("note:me/") else fact.title or "a note"


def describe_time(fact: wire.Fact) -> str:
    """When a fact was true, or when it was read."""
    if fact.since and fact.until and fact.since != fact.until:
        return f"{fact.since} to {fact.until}"
    if fact.until:
        return f"until {fact.until}"
    word = "from" if fact.valid_from and fact.valid_from > fact.recorded else "since"
    return f"{word} {fact.since}" if fact.since else f"read {day(fact.recorded)}"


def _strip_end(text: str) -> str:
    return text.rstrip(".,;")


def _word(text: str, span: Span) -> str:
    return text[slice(*span)].strip(".,;:!?").casefold()


def _span(words: list[Span]) -> Span:
    return (words[0][0], words[-1][1]) if words else (0, 0)
