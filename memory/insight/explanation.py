"""Explains an answer's evidence (`explain_answer`), and why an answer lacks some words: the nearest passages that
contain them and the stage that dropped each. For the latter the question is repeated on the current memory; what a
model was shown is in its trace."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memory.answering.candidates import AnswerCandidate, facts_of_sentences, stems
from memory.answering.options import ALLOWANCES
from memory.answering.selection import ExtractiveAnswer
from memory.errors import InvalidInputError
from memory.nouns import Answer, Citation, Episode, Fact, Visit
from memory.retrieval.state import RetrievalResult
from memory.retrieval.text_search import limit_to_time
from memory.retrieval.traversers import path_to
from memory.settings import AnswerSettings
from memory.stages import AnswerNote, ComposeNote, RankNote, RouteNote, TextNote, describe, last_note, notes
from memory.store import episodes, facts, text
from memory.store.connect import Connection
from memory.store.graph import Thesis
from memory.text.languages import content_words, guess_language
from memory.text.quotes import one_line
from memory.text.words import words as words_of
from memory.time.timestamps import from_ms, from_wall, to_ms, to_wall
from memory.trace import Cut, Hop, MissedPassage, StoredTrace, UsedPassage, Why, WhyNot

MAX_WORDS = 32  # words looked for
MAX_PROPOSED = 200  # passages with the words that are compared, in addition to those found


def explain_answer(conn: Connection, traced: StoredTrace, settings: AnswerSettings) -> Why:
    """Returns the evidence of a trace's answer."""
    visits, steps = traced.visits, traced.steps
    answer, allowed = traced.answer or Answer(""), ALLOWANCES[traced.plan.effort]
    quoted = facts.quoted_facts(conn, answer.citations)
    facts_of = {number: tuple(facts.get_many(conn, ids)) for number, ids in quoted.items()}
    paths = {cited.episode_id: path_to(visits, cited.episode_id) for cited in answer.citations}
    crossed = [visit.parent_edge for path in paths.values() for visit in path if visit.relation]
    fact_of = {fact.id: fact for fact in facts.get_many(conn, [edge for edge in crossed if edge is not None])}
    scores = _map_scores(visits)
    places = {id: place for place, id in enumerate(sorted(scores, key=lambda id: -scores[id]), 1)}
    ranked, answered, routed = last_note(RankNote, steps), last_note(AnswerNote, steps), [*notes(RouteNote, steps)]
    channels = (ranked.channels if ranked else None) or {}
    used = [
        UsedPassage(
            cited, places.get(cited.episode_id), scores.get(cited.episode_id),
            channels.get(str(cited.episode_id), {}), facts_of[cited.n], _list_hops(paths[cited.episode_id], fact_of),
        )
        for cited in answer.citations
    ]  # fmt: skip
    chain = () if traced.asked.model or answered is None else answered.chain or ()
    return Why(
        traced.asked, tuple(used), tuple(chain),
        tuple(dict.fromkeys(note.reason for note in routed if note.reason)),
        tuple(dict.fromkeys(describe(note) for note in routed if note.unknown)),
        len(scores), traced.plan.effort, answer.confidence, answer.note, allowed.calls, allowed.tokens,
        allowed.seconds * settings.answer_seconds,
    )  # fmt: skip


def _list_hops(path: Sequence[Visit], fact_of: Mapping[int, Fact]) -> tuple[Hop, ...]:
    return tuple(
        Hop(
            visit.label, "episode" if visit.kind == "episode" else "object", visit.relation, visit.inverse,
            fact_of.get(visit.parent_edge or 0),
        )
        for visit in path
    )  # fmt: skip


def _map_scores(visits: Sequence[Visit]) -> dict[int, float]:
    """Returns the scores of the shown episodes, relative to the best score of the retrieval."""
    ranked = {visit.node_id: visit.score for visit in visits if visit.stage == "rank"}
    top = max(ranked.values(), default=0.0) or 1.0
    return {id: score / top for id, score in ranked.items()} | {
        visit.node_id: visit.score for visit in visits if visit.stage == "collected"
    }


def explain_absence(
    conn: Connection, result: RetrievalResult, extractive: ExtractiveAnswer, traced: StoredTrace, words: str, most: int
) -> WhyNot:
    """Returns the `most` nearest passages that contain the words, with the reason why each was dropped. `result` and
    `extractive` are the current results of the question; `conn` must see the same snapshot. InvalidInputError for no
    words."""
    language = guess_language(words)
    terms = tuple(content_words(words, language) or dict.fromkeys(words_of(words)))[:MAX_WORDS]
    if not terms:
        raise InvalidInputError("Say which words the answer should have contained.")
    counts = text.document_frequencies(conn, terms)
    missing = tuple(term for term in terms if not counts[term])
    targets = frozenset(stems(" ".join(term for term in terms if counts[term]), language)) or frozenset(
        term for term in terms if counts[term]
    )
    if missing:
        retired = dict(episodes.find_retired(conn, terms, most))
        lost = [_explain_gone(row, retired[row.id], missing) for row in episodes.get_many(conn, list(retired))]
        if lost or not targets:
            return WhyNot(traced.asked, words, tuple(lost), missing)
    autopsy = _Autopsy(conn, result, extractive, traced, targets, language)
    return WhyNot(traced.asked, words, tuple(autopsy.find_lost(terms, most)), missing)


def _explain_gone(episode: Episode, at: int, missing: Sequence[str]) -> MissedPassage:
    lines = episode.text.splitlines() or [""]
    place = next((n for n, line in enumerate(lines) if any(word in line.lower() for word in missing)), 0)
    start = sum(len(line) + 1 for line in lines[:place])
    reason = f"Its source no longer says this since {from_wall(at).date().isoformat()}, so no answer uses it."
    return MissedPassage(episode.to_passage(), lines[place].strip(), episode.line_at(start), "gone", reason)


class _Autopsy:
    """Finds where one question dropped passages."""

    def __init__(
        self,
        conn: Connection,
        result: RetrievalResult,
        extractive: ExtractiveAnswer,
        traced: StoredTrace,
        targets: frozenset[str],
        language: str,
    ) -> None:
        self._conn, self._result, self._extractive = conn, result, extractive
        self._traced, self._targets, self._language = traced, targets, language
        self._hits = {hit.episode.id: hit for hit in result.recall.hits}
        self._numbers = {line.thesis_id: number for number, line in enumerate(extractive.candidates)}
        self._composed = last_note(ComposeNote, traced.steps)
        self._searched = last_note(TextNote, result.recall.trace.steps)

    def find_lost(self, terms: Sequence[str], most: int) -> list[MissedPassage]:
        """Returns the nearest passages: those with most of the words, best ranked first."""
        ids = text.search(self._conn, terms, MAX_PROPOSED)[0].tolist()
        ids += text.search(self._conn, terms, MAX_PROPOSED, within=list(self._hits))[0].tolist()
        near = [
            row
            for row in episodes.get_many(self._conn, list(dict.fromkeys(ids)))
            if row.id in self._result.graph.row_of
        ]
        counts = {row.id: self._match(f"{row.title} {row.speaker or ''} {row.text}") for row in near}
        most_held = max(counts.values(), default=0)
        near = [row for row in near if counts[row.id] == most_held]
        near.sort(key=lambda row: (not self._result.sees(row.id), -self._score(row.id), row.id))
        return [self._explain(row) for row in near[:most]]

    def _match(self, words: str) -> int:
        return len(self._targets & {*stems(words, self._language), *words_of(words)})

    def _score(self, id: int) -> float:
        return float(self._result.ranking[self._result.graph.row_of[id]])

    def _explain(self, episode: Episode) -> MissedPassage:
        thesis = self._find_sentence(episode)
        quote = " ".join(thesis.text.split()) if thesis else next(iter(episode.text.splitlines()), "")
        lost = MissedPassage(
            episode.to_passage(), quote, episode.line_at((thesis.span_from or 0) if thesis else 0), "lines", ""
        )
        if (citation := self._find_citation(episode, thesis)) is not None:
            return replace(lost, cut="used", reason=f"The answer rests on it: [{citation.n}].")
        if (unseen := self._find_unseen(episode)) is not None:
            return replace(lost, cut=unseen[0], reason=unseen[1])
        place, ranked = self._find_place(episode.id)
        top = float(self._result.ranking[self._result.allowed].max(initial=0.0)) or 1.0
        hit = self._hits.get(episode.id)
        channels = {name: round(score, 4) for name, score in hit.channels.items()} if hit else {}
        lost = replace(lost, place=place, of=ranked, score=self._score(episode.id) / top, channels=channels)
        return self._explain_not_shown(lost, episode, thesis) if hit else self._explain_not_found(lost)

    def _find_sentence(self, episode: Episode) -> Thesis | None:
        """Returns the episode's sentence with most of the words, on ties the one that answers best."""
        theses = [row for row in episodes.theses_of(self._conn, [episode.id]) if row.origin == "sentence"]
        last = len(self._numbers)
        return min(
            theses, key=lambda row: (-self._match(row.text), self._numbers.get(row.id, last), row.id), default=None
        )

    def _find_citation(self, episode: Episode, thesis: Thesis | None) -> Citation | None:
        answer = self._traced.answer
        cited = answer.citations if answer and not answer.no_answer else ()
        return next(
            (quote for quote in cited if quote.episode_id == episode.id and _overlaps(quote, episode, thesis)), None
        )

    def _find_unseen(self, episode: Episode) -> tuple[Cut, str] | None:
        """Returns (cut, reason) why the question may not see or does not search the episode, or None."""
        asked, plan, result = self._traced.asked, self._traced.plan, self._result
        row = result.graph.row_of[episode.id]
        if not result.allowed[row]:
            if plan.as_of is not None and result.graph.event_from[row] > to_wall(plan.as_of):
                day = plan.as_of.date().isoformat()
                return "scope", f"It was written after {day}, and the question is about the state on that day."
            return "scope", "It is outside the part of the memory that was searched."
        read = episodes.read_at(self._conn, episode.id)
        if read > to_ms(asked.at):
            when = from_ms(read).astimezone().strftime("%Y-%m-%d %H:%M")
            return "later", f"It was read on {when}, after the question was asked."
        period = result.question.when
        if period is None or (self._searched is not None and self._searched.any_time):
            return None
        looks_at, _ = limit_to_time(self._conn, result.graph, result.allowed, period, only=not result.question.topic)
        if plan.as_of is not None or looks_at[row]:
            return None
        return "time", f'It is outside the time of the question: "{period.words}".'

    def _find_place(self, id: int) -> tuple[int, int]:
        ranking, allowed = self._result.ranking, self._result.allowed
        row = self._result.graph.row_of[id]
        better = int(np.count_nonzero(allowed & (ranking > ranking[row])))
        equal = int(np.count_nonzero(allowed[:row] & (ranking[:row] == ranking[row])))
        return better + equal + 1, int(np.count_nonzero(allowed & (ranking > 0)))

    def _explain_not_found(self, lost: MissedPassage) -> MissedPassage:
        rank = f"ranked {lost.place:,} of {lost.of:,}, and the best {len(self._hits)} were read"
        if len(text.search(self._conn, self._result.question.terms, 1, within=[lost.passage.episode_id])[0]):
            return replace(lost, cut="ranked", reason=f"It was {rank}.")
        explanation = f"; by meaning and links it was {rank}." if lost.score else ", and nothing leads to it."
        return replace(lost, cut="not_proposed", reason=f"It shares no word with the question{explanation}")

    def _explain_not_shown(self, lost: MissedPassage, episode: Episode, thesis: Thesis | None) -> MissedPassage:
        """Why a found episode is not in the answer."""
        lines = self._extractive.candidates
        shown = AnswerNote.from_detail(self._extractive.step.detail).lines
        number = self._numbers.get(thesis.id) if thesis else None
        if newer := self._find_newer(thesis, lines[number] if number is not None else None):
            return replace(lost, cut="replaced", **newer)
        if model := self._find_model_cut(episode):
            return replace(lost, cut=model[0], reason=model[1])
        if self._traced.answer is not None and self._traced.answer.no_answer:
            unsure = "It was found, but no passage is surely enough about the question to answer it."
            return replace(lost, cut="threshold", reason=unsure)
        if number is None:
            return replace(lost, reason="It was found, but no line of it answers the question.")
        if number < shown:
            return replace(lost, cut="later", reason="An answer to the same question now would show it.")
        place = f"Its line came {_show_ordinal(number + 1)} of {len(lines)}, and the answer shows {shown}."
        return replace(lost, cut="lines", reason=f'{place} The best is "{one_line(lines[0].shown, 100)}".')

    def _find_newer(self, thesis: Thesis | None, line: AnswerCandidate | None) -> dict[str, Any] | None:
        """Returns the fact that replaced the sentence's fact, or the line that replaced its line."""
        claims = facts_of_sentences(self._conn, [thesis]).get(thesis.id, ()) if thesis else ()
        for relation in (claim.relation for claim in claims if claim.relation.superseded_by is not None):
            for fact in facts.get_many(self._conn, [relation.superseded_by or 0]):
                since = fact.valid_from or from_wall(relation.valid_to)
                named = fact.since or (since.date().isoformat() if since else "")
                day = f" on {named}" if named else ""
                return {"reason": f"A newer fact replaced it{day}: {fact.text}.", "by": fact, "since": since}
        if line is None or not (line.earlier or line.newer):
            return None
        other = next((claim for claim in self._extractive.candidates if claim.thesis_id == line.newer), None)
        by = f': "{one_line(other.shown, 100)}"' if other else ""
        return {"reason": f"A newer line replaced it{by}."}

    def _find_model_cut(self, episode: Episode) -> tuple[Cut, str] | None:
        """Returns (cut, reason) by a model, if one was asked, or None."""
        composed = self._composed
        if composed is None:
            return None
        name = composed.model or "The model"
        if episode.id in composed.episodes:
            if self._traced.answer is not None and self._traced.answer.no_answer:
                return "model", f"{name} read it and found no answer in it."
            return "model", f"{name} read it, but did not use it."
        if composed.left_out and episode.source.policy != "any":
            return "room", f"It must stay on this machine, so {name} did not receive it."
        return "room", f"It was found, but did not fit into the prompt of {name}."


def _overlaps(citation: Citation, episode: Episode, thesis: Thesis | None) -> bool:
    """Whether the quote and the sentence share words of the passage."""
    start = episode.text.find(citation.quote)
    if thesis is None or start < 0 or thesis.span_from is None or thesis.span_to is None:
        return True
    return start < thesis.span_to and thesis.span_from < start + len(citation.quote)


def _show_ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
