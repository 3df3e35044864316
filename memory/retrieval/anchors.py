"""Anchors: a time that a question names by what happened then: "before I moved", "when I lived in Porto".

A dated line of the memory must say when that was: "Moved to Ghent today." in a note of 2 March 2021. Where none does,
the question has no time, and the trace says so. What a line asks, denies, supposes or refers to dates nothing, nor does
what somebody else says of themselves, nor a file's time stamp. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from memory.graph.arrays import Bools, Graph
from memory.nouns import Episode
from memory.store import episodes
from memory.store import text as full_text
from memory.store.connect import Connection
from memory.text.languages import ENGLISH, content_words
from memory.text.words import words as words_of
from memory.time.expressions import TimeExpression, apply_signal, asks_time, is_state, resolve_time
from memory.time.spans import Span, day_span
from memory.time.timestamps import to_ms

CANDIDATES = 500  # episodes that full text proposes
LONGEST = timedelta(days=366)  # a line that names a longer time dates no event
STAMPED = 1000  # ms between a file's date and its time stamp, if the one was made of the other


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a question names a time by. `words` are those of the question, `side` which side of it is meant; `who` did
    it ("i" for the asker and theirs), `verb` what, and `about` the other words that tell it from the like. `rest` is
    the question without it."""

    side: str
    words: str
    who: str
    verb: str
    about: tuple[str, ...]
    rest: str


class Dated(NamedTuple):
    """When an anchor was: the time meant, the line that says it, and where that stands."""

    when: TimeExpression
    line: str
    episode: Episode


class _Told(NamedTuple):
    span: Span
    line: str
    episode: Episode


def anchor(question: str) -> Anchor | None:
    """What the question names a time by, if it does."""
    match = _ANCHOR.search(question)
    if match is None:
        return None
    who = match["name"] or "i"
    about = tuple(word for word in content_words(match["about"], ENGLISH) if word.casefold() != match["verb"].lower())
    rest = f"{question[: match.start()]} {question[match.end() :]}".strip(" ,")
    side = match["side"].lower()
    if match["verb"].lower() in _NO_EVENTS or not any(letter.isalpha() for letter in rest) or asks_time(rest):
        return None
    if side in ("since", "after") and is_state(rest):  # how things have stood since then may have been told before
        return None
    return Anchor(side, match[0].strip(), who.casefold(), match["verb"].lower(), about, rest)


def resolve_anchor(
    conn: Connection,
    graph: Graph,
    allowed: Bools,
    of: Anchor,
    names: Sequence[str],
    now: datetime,
    zone: tzinfo | None = None,
) -> Dated | None:
    """When the anchor was, by a line of an episode that is `allowed` (n,); None if no line says it.

    `names` are the asker's. What is told several times was when it was told first; of several such events, each to or
    at another place, the last one is meant. Days are those of `zone`, by default of this machine.
    """
    state = _STATES.get(of.verb) if of.side in ("when", "while") else None
    if state is None:
        told = list(_events(_lines(conn, graph, allowed, [of.verb, *of.about]), of, names, now, zone))
        latest = _last_event(told)
    else:
        verbs = [*state.begin.split("|"), *state.end.split("|")]
        latest = _stay(_lines(conn, graph, allowed, [*verbs, *of.about]), state, of, names, now, zone)
    if latest is None:
        return None
    side = "in" if of.side in ("when", "while") else of.side
    when = apply_signal(side, latest.span, of.rest, of.words, now.astimezone(zone).replace(tzinfo=None), zone)
    return None if when is None else Dated(when, latest.line, latest.episode)


# Lines ----------------------------------------------------------------------------------------------


def _lines(conn: Connection, graph: Graph, allowed: Bools, terms: Sequence[str]) -> list[tuple[str, Episode]]:
    """The sentences of the CANDIDATES best episodes for any of the words that may be seen."""
    may_see = allowed & graph.alive
    within = None if may_see.sum() == graph.n_alive else graph.episode_ids[may_see].tolist()
    ids, _ = full_text.search(conn, terms, CANDIDATES, within=within)
    nodes = sorted(ids.tolist())
    known = {episode.id: episode for episode in episodes.by_ids(conn, nodes)}
    return [(" ".join(t.text.split()), known[t.episode_id]) for t in episodes.theses_of(conn, nodes)]


def _events(
    lines: Sequence[tuple[str, Episode]], of: Anchor, names: Sequence[str], now: datetime, zone: tzinfo | None
) -> Iterator[_Told]:
    own = re.compile(_FIRST_PERSON.format(verb=re.escape(of.verb)), re.IGNORECASE)
    other = re.compile(rf"\b{re.escape(of.who)}(?: \w+)?\s+(?:{_ADVERBS})?{re.escape(of.verb)}(?!\w)", re.IGNORECASE)
    away = re.compile(rf"\b(?:from|out of)\s+(?:the\s+)?(?:{'|'.join(map(re.escape, of.about))})(?!\w)", re.IGNORECASE)
    for line, episode in lines:
        said, speaker = _speaker(line, episode)
        if _UNSURE.search(said) or not set(of.about) <= set(words_of(said)):
            continue
        if of.about and away.search(said) and not away.search(of.words):  # the way there, not from there
            continue
        if of.who == "i":
            fits = _is_own(speaker, names) and own.search(said)
        else:
            by_them = speaker is not None and of.who in speaker.casefold().split()
            fits = other.search(said) or (by_them and own.search(said))
        if fits and (span := _dated(said, episode, now, zone)) is not None:
            yield _Told(span, line, episode)


def _last_event(told: Sequence[_Told]) -> _Told | None:
    """The last of the events, of each the line that told it first."""
    first: list[tuple[frozenset[str], _Told]] = []
    for one in sorted(told, key=lambda one: (one.span, one.episode.id, one.line)):
        place = frozenset(_PLACE.findall(one.line)) or frozenset(content_words(one.line, ENGLISH))
        if not any(place & known for known, _ in first):
            first.append((place, one))
    return first[-1][1] if first else None


def _stay(
    lines: Sequence[tuple[str, Episode]],
    state: _State,
    of: Anchor,
    names: Sequence[str],
    now: datetime,
    zone: tzinfo | None,
) -> _Told | None:
    """The last stay: from the line that tells of its beginning until one that tells of its end, or now."""
    if of.who != "i" or not of.about:
        return None
    place = r"\W+".join(map(re.escape, of.about))
    begin = re.compile(
        rf"\b(?=(?:{state.begin})\b)(?:(?!\bfrom\b|\bleft\b).)*?(?:\b{state.at}|joined)\s+(?:the\s+)?{place}(?!\w)",
        re.IGNORECASE,
    )
    leave = re.compile(rf"\b(?:{state.end})\b.*?\b{place}(?!\w)|\bfrom\s+{place}(?!\w)", re.IGNORECASE)
    onward = re.compile(rf"\b(?:{state.begin})\b.*?\b{state.at}\s+(?!{place})[^\W\d_]*", re.IGNORECASE)
    found: list[tuple[Span, str, str, Episode]] = []
    for line, episode in lines:
        said, speaker = _speaker(line, episode)
        if _UNSURE.search(said) or not _is_own(speaker, names):
            continue
        what = "begin" if begin.search(said) else "end" if leave.search(said) else ""
        if not what and (match := onward.search(said)) and match[0].split()[-1][:1].isupper():
            what = "end"
        if what and (span := _dated(said, episode, now, zone)) is not None:
            found.append((span, what, line, episode))
    latest: _Told | None = None
    open_ = False
    after = now.astimezone(zone).replace(tzinfo=None)
    for span, what, line, episode in sorted(found, key=lambda one: (one[0], one[3].id, one[2])):
        if what == "begin" and span[1] - span[0] > timedelta(days=31):  # it says itself from when until when
            latest, open_ = _Told(span, line, episode), False
        elif what == "begin" and not open_:
            latest, open_ = _Told((span[0], after), line, episode), True
        elif what == "end" and open_ and latest is not None:
            latest, open_ = latest._replace(span=(latest.span[0], span[0])), False
    return latest if latest is None or latest.span[0] < latest.span[1] else None


def _speaker(line: str, episode: Episode) -> tuple[str, str | None]:
    """The line without the name before it, and who says it; None in a note."""
    match = _SAYS.match(line)
    if episode.source.kind == "chat" and match is not None:
        return line[match.end() :], match[1]
    return line, episode.speaker


def _is_own(speaker: str | None, names: Sequence[str]) -> bool:
    if speaker is None:
        return True
    said = set(speaker.casefold().split())
    return not said.isdisjoint(("user", "me", "i")) or any(not said.isdisjoint(n.casefold().split()) for n in names)


def _dated(line: str, episode: Episode, now: datetime, zone: tzinfo | None) -> Span | None:
    """When the line says that it was, else when it was written; nothing that is yet to come."""
    source, at = episode.source, episode.at
    if at is not None and source.mtime_ns is not None and abs(to_ms(at) - source.mtime_ns // 10**6) < STAMPED:
        at = None
    here = now.astimezone(zone).replace(tzinfo=None)
    named = resolve_time(line, at or now, zone) if at or _YEAR.search(line) else None
    if named is not None and named.kind != "now":
        if named.since is None or named.until is None or (named.until - named.since > LONGEST and " from " not in line):
            return None
        span = named.since.replace(tzinfo=None), named.until.replace(tzinfo=None)
    elif at is None:
        return None
    else:
        span = day_span(at.astimezone(zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0))
    return span if span[0] <= here else None


# Words ----------------------------------------------------------------------------------------------


class _State(NamedTuple):
    """What begins and ends a state, and what stands before its place."""

    begin: str
    end: str
    at: str


_HOME = _State("moved|relocated|rented|settled|arrived|lived|live|living", "left|leave|gave up", "(?:to|in|into|at)")
_WORK = _State(
    "started|joined|began|hired|work|worked|working", "left|quit|resigned|leave", "(?:at|with|for|in|joined)"
)
_STUDY = _State("started|began|enrolled|study|studied|studying", "graduated|finished|left|quit", "(?:at|in|of)")
_STATES = {
    **dict.fromkeys(("lived", "living", "resided", "rented", "stayed"), _HOME),
    **dict.fromkeys(("worked", "working"), _WORK),
    **dict.fromkeys(("studied", "studying"), _STUDY),
}
_NO_EVENTS = frozenset(
    "was were am is are be been do did does have had has can could will would should may might must get go".split()
)
_ADVERBS = r"(?:have |has |had |just |first |finally |then |also |both |all |last )*"
_FIRST_PERSON = (
    rf"(?:^|[.!?;:,]\s+|\b(?:i|we|and|today|yesterday)\s+|\b(?:i|we)['’](?:ve|d)\s+){_ADVERBS}{{verb}}(?!\w)"
)
_UNSURE = re.compile(
    r"\?\s*$|\b(?:if|when|before|after|since|until|while|would|could|might|will|shall|not|never|wish|hope|plan|want)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_SAYS = re.compile(r"([^\W\d_][\w .'’-]{0,40}):\s+")
_PLACE = re.compile(r"\b(?:to|into|in|at|with|joined)\s+(?:the\s+)?([^\W\d_]*[^\W\d_a-zß-ÿ][\w'’-]*)")
_YEAR = re.compile(r"(?<!\d)(?:1[89]|2[01])\d\d(?!\d)")
_ANCHOR = re.compile(
    r"(?<!\w)(?P<side>(?i:before|after|since|until|till|when|while))\s+"
    rf"(?:(?i:i|we|i['’]d|we['’]d)|(?P<name>[A-Z]\w+)(?:\s+[A-Z]\w+)?)\s+{_ADVERBS}(?P<verb>[a-z]+)\b"
    r"(?P<about>(?:(?!,|\?|!|;|\.(?:\s|$)|\b(?:where|who|what|how|which|whom|did|does|was|were|is)\b).)*)"
)
