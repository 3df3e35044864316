"""Signposts: what is said of a passage before a model that may choose it, each in one short line.

The words are those of passages, cut around what matters. A name, and what joins two of them, may come from another
text than the passages that are shown; with `only_open` both are left out unless they stand in these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC

from memory.facts.extraction import OWNER
from memory.nouns import Episode
from memory.retrieval.analyse import Question
from memory.store.relations import Relation
from memory.text.languages import stem
from memory.text.mentions import norm
from memory.text.quotes import Quotable, one_line, strip_unseen
from memory.text.relation_sentences import NAMELESS
from memory.text.sentences import sentences
from memory.text.words import words
from memory.time.timestamps import from_ms

TITLE, NAME, WORDS = 48, 36, 72  # characters that a title, a name and the words behind them may have
LOOKED_AT = 20_000  # characters of a passage in which its best sentence is looked for
TOLD_AS_FACT = ("asserted", "plan")


def titled(episode: Episode, day: bool = True) -> str:
    """`"Title" (2024-05-01)`."""
    when = f" ({episode.at.date().isoformat()})" if day and episode.at else ""
    return f'"{one_line(episode.title, TITLE)}"{when}'


def around(line: str, name: str, most: int) -> str:
    """A line cut at so many characters, with `name` in the middle of it."""
    if len(line) <= most:
        return line
    place = line.casefold().find(name.casefold()) if name else -1
    start = max(0, min(place - (most - len(name)) // 2, len(line) - most)) if place > 0 else 0
    end = start + most
    return f"{'…' if start else ''}{line[start:end].strip()}{'…' if end < len(line) else ''}"


class Signposts:
    """Lines about passages for one question. `objects`: node id -> name; `relations` by edge id."""

    def __init__(
        self,
        question: Question,
        only_open: bool,
        objects: Mapping[int, str] | None = None,
        relations: Mapping[int, Relation] | None = None,
    ) -> None:
        self._only_open = only_open
        self._objects = objects or {}
        self._relations = relations or {}
        self._language = question.language
        self._asked = {stem(word, self._language) for word in question.topic or question.terms}

    def found(self, episode: Episode) -> str:
        """A passage that is known: its title, and the sentence that has most of the question's words."""
        return f"{titled(episode)}: {self._sentence(episode)}"

    def opening(self, episode: Episode, beside: Episode | None = None) -> str:
        """A passage by itself, or as one that stands beside a known one."""
        same = beside is not None and norm(beside.title) == norm(episode.title)
        where = ", another part" if same else f", next to {titled(beside, day=False)}" if beside else ""
        return f"open {titled(episode)}{where}: {self._sentence(episode)}"

    def over(self, object: int, source: Episode | None, episode: Episode, about: bool) -> str:
        """A passage that an object leads to: `"Free Guy" -> "Shawn Levy": the sentence`, or with the object's name
        between them where no title says it.

        If it is `about` the object, the words are those of the known passage which speak of it, else its own.
        """
        if source is not None and norm(source.title) == norm(episode.title):
            return self.opening(episode, source)
        shown = [one for one in (source, episode) if one is not None]
        name = self._name(object, shown)
        known = {norm(one.title) for one in shown}
        parts = [titled(source, day=False)] if source else []
        parts += [name] if name and norm(name) not in known else []
        parts += [titled(episode)]
        words = self._sentence(source if source and about else episode, name)
        return f"{'' if len(parts) > 1 else 'open '}{' -> '.join(parts)}: {words}"

    def related(self, link: int, source: Episode | None, episode: Episode) -> str | None:
        """A passage that a fact leads to: `Shawn Levy -[born in]-> Montreal (since 2021-03-01), in "Canada": the
        sentence`; None if the fact may not be told."""
        fact = self._relations.get(link)
        if fact is None or fact.modality not in TOLD_AS_FACT:
            return None
        shown = [one for one in (source, episode) if one is not None]
        subject, object = self._name(fact.subject, shown), self._name(fact.object, shown)
        if not subject or not object:
            return None
        if self._only_open and not fact.sources <= {one.source.id for one in shown}:
            return None
        since = from_ms(fact.valid_from) if fact.valid_from is not None and not self._only_open else None
        day = f" (since {since.astimezone(UTC).date().isoformat()})" if since else ""
        way = f"{subject} -[{one_line(fact.predicate, NAME)}]-> {object}{day}"
        text = episode.text.casefold()
        name = object if object.casefold() in text else subject
        return f"{way}, in {titled(episode)}: {self._sentence(episode, name)}"

    def _name(self, object: int, shown: Sequence[Episode]) -> str:
        """What an object is called before the model; "" if it may not be named."""
        name = self._objects.get(object, "")
        if self._only_open and name not in (OWNER, NAMELESS):
            texts = (Quotable.of(f"{one.title}\n{one.text}\n{one.speaker or ''}") for one in shown)
            if not any(text.names(name) for text in texts):
                return ""
        return one_line(name, NAME)

    def _sentence(self, episode: Episode, name: str = "") -> str:
        """The sentence of a passage that has most of the question's words, of those that hold `name` if any does; cut
        so that it stays short."""
        text = strip_unseen(episode.text)[:LOOKED_AT]
        spans = [text[start:end] for start, end in sentences(text)] or [text]
        if name:
            spans = [one for one in spans if name.casefold() in one.casefold()] or spans
        own = {stem(word, self._language) for word in words(episode.title)}
        wanted = (self._asked - own) or self._asked
        best = max(spans, key=lambda one: len(wanted & {stem(word, self._language) for word in words(one)}))
        line = " ".join(best.split())
        if line.casefold().startswith(episode.title.casefold()) and len(line) > WORDS:  # it stands there already
            line = f"…{line[len(episode.title) :].lstrip()}"
        return around(line, name, WORDS)
