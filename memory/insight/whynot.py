"""Why an answer does not hold some words: the nearest passages that do, and the cut that dropped each.

The question is searched for again, in the memory as it is now; what a model was shown stands in its trace.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memory.answering.candidates import AnswerCandidate, ExtractiveAnswer, facts_of_sentences, stems
from memory.errors import InvalidInputError
from memory.nouns import Citation, Episode
from memory.retrieval.scope import limit_to_time
from memory.retrieval.state import RetrievalResult
from memory.stages import AnswerNote, ComposeNote, TextNote, last_note
from memory.store import episodes, facts, text
from memory.store.connect import Connection
from memory.store.episodes import Thesis
from memory.text.languages import content_words, guess_language
from memory.text.quotes import one_line
from memory.text.words import words as words_of
from memory.time.timestamps import from_ms, from_wall, to_ms, to_wall
from memory.trace import Cut, Lost, Traced, WhyNot

MAX_WORDS = 32  # that are looked for
MAX_PROPOSED = 200  # passages with the words that are compared, beside those that were found


def explain_absence(
    conn: Connection, found: RetrievalResult, extractive: ExtractiveAnswer, traced: Traced, words: str, most: int
) -> WhyNot:
    """The `most` nearest passages that hold the words. `found` and `extractive` are what the question comes to now.
    `conn` must see what they saw. InvalidInputError for no words."""
    language = guess_language(words)
    terms = tuple(content_words(words, language) or dict.fromkeys(words_of(words)))[:MAX_WORDS]
    if not terms:
        raise InvalidInputError("Say which words the answer should have held.")
    counts = text.document_frequencies(conn, terms)
    missing = tuple(term for term in terms if not counts[term])
    wanted = frozenset(stems(" ".join(term for term in terms if counts[term]), language)) or frozenset(
        term for term in terms if counts[term]
    )
    if missing:
        retired = dict(episodes.retired_with(conn, terms, most))
        lost = [_gone(episode, retired[episode.id], missing) for episode in episodes.by_ids(conn, list(retired))]
        if lost or not wanted:
            return WhyNot(traced.asked, words, tuple(lost), missing)
    autopsy = _Autopsy(conn, found, extractive, traced, wanted, language)
    return WhyNot(traced.asked, words, tuple(autopsy.find_lost(terms, most)), missing)


def _gone(episode: Episode, at: int, missing: Sequence[str]) -> Lost:
    lines = episode.text.splitlines() or [""]
    place = next((n for n, line in enumerate(lines) if any(word in line.lower() for word in missing)), 0)
    start = sum(len(line) + 1 for line in lines[:place])
    reason = f"Its source no longer says this since {from_wall(at).date().isoformat()}, so no answer uses it."
    return Lost(episode, lines[place].strip(), episode.line_at(start), "gone", reason)


class _Autopsy:
    """What became of passages in one question."""

    def __init__(
        self,
        conn: Connection,
        found: RetrievalResult,
        extractive: ExtractiveAnswer,
        traced: Traced,
        wanted: frozenset[str],
        language: str,
    ) -> None:
        self._conn, self._found, self._extractive = conn, found, extractive
        self._traced, self._wanted, self._language = traced, wanted, language
        self._hits = {hit.episode.id: hit for hit in found.recall.hits}
        self._numbers = {line.thesis_id: number for number, line in enumerate(extractive.candidates)}
        self._composed = last_note(ComposeNote, traced.trace.steps)
        self._searched = last_note(TextNote, found.recall.trace.steps)

    def find_lost(self, terms: Sequence[str], most: int) -> list[Lost]:
        """The nearest passages: those that hold most of the words, of these the best ranked."""
        ids = text.search(self._conn, terms, MAX_PROPOSED)[0].tolist()
        ids += text.search(self._conn, terms, MAX_PROPOSED, within=list(self._hits))[0].tolist()
        near = [
            one for one in episodes.by_ids(self._conn, list(dict.fromkeys(ids))) if one.id in self._found.graph.row_of
        ]
        held = {episode.id: self._held(f"{episode.title} {episode.speaker or ''} {episode.text}") for episode in near}
        most_held = max(held.values(), default=0)
        near = [episode for episode in near if held[episode.id] == most_held]
        near.sort(key=lambda episode: (not self._found.sees(episode.id), -self._score(episode.id), episode.id))
        return [self._became(episode) for episode in near[:most]]

    def _held(self, words: str) -> int:
        return len(self._wanted & {*stems(words, self._language), *words_of(words)})

    def _score(self, id: int) -> float:
        return float(self._found.ranking[self._found.graph.row_of[id]])

    def _became(self, episode: Episode) -> Lost:
        thesis = self._sentence(episode)
        quote = " ".join(thesis.text.split()) if thesis else next(iter(episode.text.splitlines()), "")
        lost = Lost(episode, quote, episode.line_at((thesis.span_from or 0) if thesis else 0), "lines", "")
        if (citation := self._citation(episode, thesis)) is not None:
            return replace(lost, cut="used", reason=f"The answer rests on it: [{citation.n}].")
        if (unseen := self._unseen(episode)) is not None:
            return replace(lost, cut=unseen[0], reason=unseen[1])
        place, ranked = self._place(episode.id)
        top = float(self._found.ranking[self._found.allowed].max(initial=0.0)) or 1.0
        hit = self._hits.get(episode.id)
        channels = dict(hit.channels) if hit else {}
        lost = replace(lost, place=place, of=ranked, score=self._score(episode.id) / top, channels=channels)
        return self._not_said(lost, thesis) if hit else self._not_found(lost)

    def _sentence(self, episode: Episode) -> Thesis | None:
        """Of the episode's sentences the one that holds most of the words, of these the one that answers best."""
        theses = [one for one in episodes.theses_of(self._conn, [episode.id]) if one.origin == "sentence"]
        last = len(self._numbers)
        return min(
            theses, key=lambda one: (-self._held(one.text), self._numbers.get(one.id, last), one.id), default=None
        )

    def _citation(self, episode: Episode, thesis: Thesis | None) -> Citation | None:
        """The citation that shows the line."""
        answer = self._traced.answer
        cited = answer.citations if answer and not answer.no_answer else ()
        return next((one for one in cited if one.episode_id == episode.id and _overlap(one, episode, thesis)), None)

    def _unseen(self, episode: Episode) -> tuple[Cut, str] | None:
        """Why the question may not see the episode, or does not look at it."""
        asked, plan, found = self._traced.asked, self._traced.plan, self._found
        row = found.graph.row_of[episode.id]
        if not found.allowed[row]:
            if plan.as_of is not None and found.graph.event_from[row] > to_wall(plan.as_of):
                day = plan.as_of.date().isoformat()
                return "scope", f"It was written after {day}, and the question asks how it stood on that day."
            return "scope", "It lies outside the part of the memory that was asked."
        read = episodes.read_at(self._conn, [episode.id]).get(episode.id, 0)
        if read > to_ms(asked.at):
            when = from_ms(read).astimezone().strftime("%Y-%m-%d %H:%M")
            return "later", f"It was read on {when}, after the question was asked."
        when_ = found.question.when
        if when_ is None or (self._searched is not None and self._searched.any_time):
            return None
        looks_at, _ = limit_to_time(self._conn, found.graph, found.allowed, when_, only=not found.question.topic)
        if plan.as_of is not None or looks_at[row]:
            return None
        return "time", f'It lies outside the time that the question speaks of: "{when_.words}".'

    def _place(self, id: int) -> tuple[int, int]:
        ranking, allowed = self._found.ranking, self._found.allowed
        row = self._found.graph.row_of[id]
        better = int(np.count_nonzero(allowed & (ranking > ranking[row])))
        equal = int(np.count_nonzero(allowed[:row] & (ranking[:row] == ranking[row])))
        return better + equal + 1, int(np.count_nonzero(allowed & (ranking > 0)))

    def _not_found(self, lost: Lost) -> Lost:
        behind = f"ranked {lost.place:,} of {lost.of:,}, and the best {len(self._hits)} were looked at"
        if len(text.search(self._conn, self._found.question.terms, 1, within=[lost.episode.id])[0]):
            return replace(lost, cut="ranked", reason=f"It was {behind}.")
        found = f"; by meaning and links it was {behind}." if lost.score else ", and nothing leads to it."
        return replace(lost, cut="not_proposed", reason=f"It shares no word with the question{found}")

    def _not_said(self, lost: Lost, thesis: Thesis | None) -> Lost:
        """Why an episode that was found is not in the answer."""
        lines = self._extractive.candidates
        shown = AnswerNote.from_detail(self._extractive.step.detail).lines
        number = self._numbers.get(thesis.id) if thesis else None
        if newer := self._newer(thesis, lines[number] if number is not None else None):
            return replace(lost, cut="replaced", **newer)
        if model := self._of_model(lost.episode):
            return replace(lost, cut=model[0], reason=model[1])
        if self._traced.answer is not None and self._traced.answer.no_answer:
            unsure = "It was found, but nothing that was found is surely enough about the question to answer it."
            return replace(lost, cut="threshold", reason=unsure)
        if number is None:
            return replace(lost, reason="It was found, but no line of it answers the question.")
        if number < shown:
            return replace(lost, cut="later", reason="An answer to the same question now would show it.")
        place = f"Its line came {_ordinal(number + 1)} of {len(lines)}, and the answer shows {shown}."
        return replace(lost, cut="lines", reason=f'{place} The best is "{one_line(lines[0].shown, 100)}".')

    def _newer(self, thesis: Thesis | None, line: AnswerCandidate | None) -> dict[str, Any] | None:
        """The fact that took the place of what the sentence says, or the line that took that of its line."""
        told = facts_of_sentences(self._conn, [thesis]).get(thesis.id, ()) if thesis else ()
        for relation in (one.relation for one in told if one.relation.superseded_by is not None):
            for fact in facts.by_id(self._conn, [relation.superseded_by or 0]):
                since = fact.valid_from or from_wall(relation.valid_to)
                named = fact.since or (since.date().isoformat() if since else "")
                day = f" on {named}" if named else ""
                return {"reason": f"A newer fact took its place{day}: {fact.text}.", "by": fact, "since": since}
        if line is None or not (line.earlier or line.newer):
            return None
        other = next((one for one in self._extractive.candidates if one.thesis_id == line.newer), None)
        by = f': "{one_line(other.shown, 100)}"' if other else ""
        return {"reason": f"A newer line took its place{by}."}

    def _of_model(self, episode: Episode) -> tuple[Cut, str] | None:
        """What a model made of it, if one was asked."""
        composed = self._composed
        if composed is None:
            return None
        name = composed.model or "The model"
        if episode.id in composed.episodes:
            if self._traced.answer is not None and self._traced.answer.no_answer:
                return "model", f"{name} read it, and said that the answer is not there."
            return "model", f"{name} read it, and did not use it."
        if composed.left_out and episode.source.policy != "any":
            return "room", f"It must stay on this machine, so {name} did not get to see it."
        return "room", f"It was found, but there was no room for it in what {name} reads."


def _overlap(citation: Citation, episode: Episode, thesis: Thesis | None) -> bool:
    """Whether the quote and the sentence share words of the passage."""
    start = episode.text.find(citation.quote)
    if thesis is None or start < 0 or thesis.span_from is None or thesis.span_to is None:
        return True
    return start < thesis.span_to and thesis.span_from < start + len(citation.quote)


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
