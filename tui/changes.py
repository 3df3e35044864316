"""Words for facts that were replaced, ended or disputed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.wording import short_path

Span = tuple[int, int]


def news(revision: wire.Revision, folders: Iterable[str]) -> str:
    """Describes a change in one line, with the former value."""
    old, new = _strip_end(revision.old.statement), _strip_end(revision.new.statement)
    place = source_label(revision.new, folders)
    if revision.relation == "contradicts":
        return f"Two notes disagree: {new} / {old}, from {place}"
    if revision.relation == "negates":
        return f"No longer true: {old}, from {place}"
    return f"Changed: {new} (was {describe_before(revision)}), from {place}"


def describe_before(revision: wire.Revision) -> str:
    """Returns the former value: the words that changed, or all."""
    old = revision.old.statement
    start, end = find_difference(old, revision.new.statement)[0]
    return _strip_end(old[start:end] or old)


def find_difference(old: str, new: str) -> tuple[Span, Span]:
    """Returns the spans of the words that differ between two texts, apart from their common beginning and end."""
    olds, news = ([(match.start(), match.end()) for match in re.finditer(r"\S+", text)] for text in (old, new))
    first = 0
    while first < min(len(olds), len(news)) and _word(old, olds[first]) == _word(new, news[first]):
        first += 1
    last = 0
    while last < min(len(olds), len(news)) - first and _word(old, olds[-1 - last]) == _word(new, news[-1 - last]):
        last += 1
    return _span(olds[first : len(olds) - last]), _span(news[first : len(news) - last])


def mark_difference(fact: wire.Fact, other: wire.Fact) -> Content:
    """Returns a fact's text with the words highlighted that differ from the other one."""
    text = display_safe(fact.statement)
    start, end = find_difference(text, display_safe(other.statement))[0]
    return Content.styled(text, "bold").stylize("$accent underline", start, end)


def source_label(fact: wire.Fact, folders: Iterable[str] = ()) -> str:
    """Returns the place of a fact: `notes/a.md:12`, or the title of its note."""
    if fact.line is not None and not fact.uri.startswith("note:"):
        return wire.name_place(short_path(fact.uri, folders), fact.line)
    return "what you said" if fact.uri.startswith("note:me/") else fact.title or "a note"


def _strip_end(text: str) -> str:
    return text.rstrip(".,;")


def _word(text: str, span: Span) -> str:
    return text[slice(*span)].strip(".,;:!?").casefold()


def _span(words: list[Span]) -> Span:
    return (words[0][0], words[-1][1]) if words else (0, 0)
