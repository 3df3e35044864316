"""How the chat words facts that were replaced, ended or disputed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from textual.content import Content

from daemon import wire
from daemon.terminal import describe_outcome, display_safe, statement
from tui.wording import day, short_path

Span = tuple[int, int]

# what was noticed -> its words, what it means, and what the two facts are called
KINDS = {
    "supersedes": ("Replaced", "The new one took the place of the old one.", "Before", "Now"),
    "negates": ("Ended", "The old one ended, and nothing took its place.", "Before", "Told now"),
    "contradicts": (
        "Two notes disagree",
        "Both cannot be true, and both stay until you say.",
        "One says",
        "Another says",
    ),
    "duplicates": ("Told twice", "Both say the same, and count as one.", "First", "Again"),
}
FOUND_BY = {"rule": "Found by a rule.", "user": "You said so."}
_VERDICTS = {"settled": "both", "undone": "undo", "open": "open"}


def name_kind(revision: wire.Revision) -> str:
    """`Replaced`, `Two notes disagree`."""
    return KINDS[revision.relation][0]


def explain(revision: wire.Revision) -> str:
    """Why the memory thinks so, in a few sentences; and what a person said of it."""
    by = FOUND_BY.get(revision.author) or f"Found by a model that is {revision.confidence:.0%} sure."
    said = "" if revision.state == "open" else f"\nYou said: {describe_outcome(revision)}"
    if revision.state == "kept" and revision.settled is None:
        said = ""  # it was sure enough not to ask
    return f"{KINDS[revision.relation][1]} {revision.reason} {by}{said}"


def verdict_of(revision: wire.Revision) -> str:
    """The verdict that would bring a revision to where it is."""
    if revision.state == "kept":
        return "old" if revision.new.retired and revision.relation != "duplicates" else "keep"
    return _VERDICTS[revision.state]


def news(revision: wire.Revision, folders: Iterable[str]) -> str:
    """A fact that has just changed, in one line, with what stood there before."""
    old, new = _bare(statement(revision.old)), _bare(statement(revision.new))
    place = source_label(revision.new, folders)
    if revision.relation == "contradicts":
        return f"Two notes disagree: {new} / {old}, from {place}"
    if revision.relation == "negates":
        return f"No longer so: {old}, from {place}"
    return f"Changed: {new} (was {describe_before(revision)}), from {place}"


def describe_disputes(
    revisions: Iterable[wire.Revision], citations: Sequence[wire.Citation], folders: Iterable[str] = ()
) -> list[str]:
    """Which of the lines that an answer cites another note contradicts, where nobody has said yet who is right."""
    told: dict[str, None] = {}
    for one in revisions:
        if one.relation != "contradicts" or one.state != "open":
            continue
        olds, news = (_find_cited(fact, citations) for fact in (one.old, one.new))
        if olds and news and olds != news:
            told[f"! {olds} and {news} contradict each other, and nobody has said which holds."] = None
        elif olds or news:
            other = one.new if olds else one.old
            said = f"“{_bare(statement(other))}”, says {source_label(other, folders)}"
            told[f"! {olds or news} is contradicted, and nobody has said which holds: {said}."] = None
    return [display_safe(text, line=True) for text in told]


def _find_cited(fact: wire.Fact, citations: Sequence[wire.Citation]) -> str:
    """The number of the citation that has a fact's words, as it is shown; "" if none has."""
    words = " ".join((fact.quote or fact.text).split())
    for cited in citations:
        quote = " ".join(cited.quote.split())
        if cited.episode_id == fact.episode_id and words and quote and (words in quote or quote in words):
            return f"[{cited.n}]"
    return ""


def describe_before(revision: wire.Revision) -> str:
    """What stood there before: the words that are others now, or all."""
    old = statement(revision.old)
    start, end = find_difference(old, statement(revision.new))[0]
    return _bare(old[start:end] or old)


def find_difference(one: str, other: str) -> tuple[Span, Span]:
    """Where the words of the one stand that the other does not have at its beginning or its end, and those of the
    other."""
    ones, others = ([(match.start(), match.end()) for match in re.finditer(r"\S+", text)] for text in (one, other))
    first = 0
    while first < min(len(ones), len(others)) and _word(one, ones[first]) == _word(other, others[first]):
        first += 1
    last = 0
    while last < min(len(ones), len(others)) - first and _word(one, ones[-1 - last]) == _word(other, others[-1 - last]):
        last += 1
    return _span(ones[first : len(ones) - last]), _span(others[first : len(others) - last])


def mark_difference(fact: wire.Fact, other: wire.Fact) -> Content:
    """What a fact says; the words in which the other one differs stand out."""
    text = display_safe(statement(fact))
    start, end = find_difference(text, display_safe(statement(other)))[0]
    return Content.styled(text, "bold").stylize("$accent underline", start, end)


def source_label(fact: wire.Fact, folders: Iterable[str] = ()) -> str:
    """Where a fact stands: `notes/a.md:12`, or what its note is called."""
    if fact.line is not None and not fact.uri.startswith("note:"):
        return wire.name_place(short_path(fact.uri, folders), fact.line)
    return "what you said" if fact.uri.startswith("note:me/") else fact.title or "a note"


def describe_time(fact: wire.Fact) -> str:
    """From when and until when a fact held, or when it was read."""
    if fact.since and fact.until and fact.since != fact.until:
        return f"{fact.since} to {fact.until}"
    if fact.until:
        return f"until {fact.until}"
    word = "from" if fact.valid_from and fact.valid_from > fact.recorded else "since"
    return f"{word} {fact.since}" if fact.since else f"read {day(fact.recorded)}"


def _bare(text: str) -> str:
    return text.rstrip(".,;")


def _word(text: str, span: Span) -> str:
    return text[slice(*span)].strip(".,;:!?").casefold()


def _span(words: list[Span]) -> Span:
    return (words[0][0], words[-1][1]) if words else (0, 0)
