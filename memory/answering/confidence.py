"""Confidence: the probability that the retrieved lines answer the question, by a logistic model of a few named
features; and whether it suffices, by it and other cheap signals.

A search always returns something near. An answer differs from a near miss in whether one passage contains both the
names of the question and what it asks about them, and whether the kind of thing asked for (a number, a date, a name) is
in the same line. Each feature measures one of these, so that a refusal can be explained.

WEIGHTS lie between those fitted to whether the first line is right and those fitted to whether any line answers, on the
questions of six invented lives for a value that is current. With BIAS 13 % of their right first lines are refused.
`python -m benchmarks.refusals` measures them against weights fitted on all other lives."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from memory.answering.candidates import AnswerCandidate, covered_by
from memory.answering.features import SCORE_DIGITS, AnswerState, QueryFeatures
from memory.graph.arrays import Bools, Floats
from memory.nouns import Episode
from memory.retrieval.question_type import EXPECTED_TYPES, SHAPES, ExpectedType, expected_types, find_owned
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.text.languages import alternatives, is_unspaced, stem, stem_set, tables
from memory.text.mentions import Mention, is_date, norm
from memory.text.sentences import sentences
from memory.text.words import strip_accents
from memory.time.expressions import contains_time, find_clock_words

MAX_CANDIDATES = 10  # the best lines
LEAST_COVERAGE = 0.1  # share of a question's weight; below it only pieces of words match
LEAST_NEARNESS = 0.2  # `together` of lines that answer without any word that the question asks for
MAX_LEAD = 3.0
IN_PASSAGE_WEIGHT = 0.8  # of a name elsewhere in the line's passage

WEIGHTS: Mapping[str, float] = {"together": 1.5, "kind": 1.5, "cosine": 2.0, "lead": 0.4}
BIAS = -2.81
# Whether the first line clearly answers: fitted to whether it answers, on the questions of six lives. Of 100 clear
# answers of a life that they were not fitted on 70 are right (docs/decisions.md).
CLEAR: Mapping[str, float] = {"lead": 0.5, "asked": 1.4, "agreement": 1.1, "value": 0.7}
LEAST_CLEAR, LEAST_ASKED, SURE_LEAD, COMPLETE = 2.6, 0.5, 6.0, 0.99
AGREEMENT = 1.0  # score of a line with whose values all others agree
MAX_COMPARED, MAX_AGREEING = 20, 5  # of the best lines; of the best of other notes, with each of these

_GENERIC = stem_set("asks", "generic")
_COUNTED = re.compile(rf"\b(?:{alternatives('asks', 'counted')})\b", re.IGNORECASE)
_HOW_MANY = re.compile(alternatives("asks", "how_many"), re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:\w+:\s*)?\(?\d{1,3}[.)]\s|^\s*[A-Z]{2,}:")  # the number of an item, a speaker
_FIGURE = re.compile(r"(?<![\w'’])\d[\d.,:/-]*(?!\d|st\b|nd\b|rd\b|th\b)")


def confidence(state: AnswerState, lines: Sequence[AnswerCandidate]) -> float:
    """Returns the probability that the first of the `lines`, best first, contains the answer. 0 without lines."""
    if not lines:
        return 0.0
    features, read = confidence_features(state, lines), covered_by(lines)
    names, asked = _split_stems(state.features)
    known = np.array([key in read for key in state.features.stems], np.bool_)
    if features["together"] < LEAST_NEARNESS and (not known[asked].any() or (names.any() and not known[names].any())):
        return 0.0  # no line has a word that the question asks for, or none a name of it
    return 1 / (1 + math.exp(-BIAS - sum(weight * features[name] for name, weight in WEIGHTS.items())))


def is_clear_answer(state: AnswerState, shown: Sequence[AnswerCandidate], ranked: Sequence[AnswerCandidate]) -> bool:
    """Whether the first of the lines `shown` may be shown alone, as the answer: one with a former value, or by its lead
    over `ranked` lines with other values, the share of the question that it has with its headings, the share of
    the next lines that agree with it, and whether it has a value at all; or since it alone has a value and every word
    of the question."""
    first, features = shown[0], state.features
    if first.own or any(line.earlier for line in shown[1:2]):
        return True
    values = features.new_values(first.shown)
    rivals = [line for line in ranked if line.words != first.words and values.isdisjoint(line.values)]
    texts = (first.claim, first.context, name_passage(first.episode))
    near, asked = np.maximum.reduce([features.max_similarity(text) for text in texts]), _split_stems(features)[1]
    kinds = [_stem_kinds(state.question, kind) for kind in _list_kinds(first.claim, features)]
    near = np.maximum(near, [any(key in of_kind for of_kind in kinds) for key in features.stems])
    lead = first.score - max((line.score for line in rivals), default=-math.inf)
    measured = {
        "lead": min(lead, MAX_LEAD),
        "asked": float(_share(near[None], features.shares * asked)[0]),
        "agreement": measure_agreement(first, ranked, features),
        "value": float(bool(values)),
    }
    odds = sum(weight * measured[name] for name, weight in CLEAR.items())
    if lead >= SURE_LEAD or (odds >= LEAST_CLEAR and measured["asked"] >= LEAST_ASKED):
        return True
    return bool(values) and _has_all(first, features) and not any(_has_all(line, features) for line in rivals)


def _has_all(line: AnswerCandidate, features: QueryFeatures) -> bool:
    """Returns whether a line has every word of the question itself: with its headings more lines were wrongly sure."""
    return features.coverage(line.claim) >= COMPLETE


def prefer_agreed(lines: Sequence[AnswerCandidate], features: QueryFeatures) -> list[AnswerCandidate]:
    """Raises the best lines by their agreement. An outdated line gains nothing."""
    best = lines[:MAX_COMPARED]
    agreed = [
        line
        if line.own or line.earlier or line.newer
        else replace(line, score=round(line.score + AGREEMENT * measure_agreement(line, best, features), SCORE_DIGITS))
        for line in best
    ]
    return [*sorted(agreed, key=lambda line: -line.score), *lines[MAX_COMPARED:]]


def measure_agreement(line: AnswerCandidate, lines: Sequence[AnswerCandidate], features: QueryFeatures) -> float:
    """Returns, in [0, 1], the share of the best lines of other notes that have a value of this line. Repeated values
    are more likely the answer (Brill et al. 2001: redundancy)."""
    others = (other for other in lines if other.episode.source.id != line.episode.source.id)
    apart = list(islice((other for other in others if other.words != line.words), MAX_AGREEING))
    values = features.new_values(line.shown)
    return sum(not values.isdisjoint(features.new_values(other.shown)) for other in apart) / max(1, len(apart))


def confidence_features(state: AnswerState, lines: Sequence[AnswerCandidate]) -> dict[str, float]:
    """Returns the features of at least one line. together, in [0, 1]: the share of the question that a line covers,
    times the share of the names that its passage covers, at best. kind: 1 if the line that is best by this contains the
    kind of thing asked for, 0 if not, 0.5 if the question does not say. cosine: of the question and the sentence of the
    first line. lead: the difference between the scores of the first line and the next one with other words, at most
    MAX_LEAD."""
    top, features = lines[:MAX_CANDIDATES], state.features
    names, asked = _split_stems(features)
    features.embed_words(line.claim for line in top)
    alone = np.stack([features.max_similarity(line.claim) for line in top])
    titles = np.stack([features.max_similarity(name_passage(line.episode)) for line in top])
    titled = np.maximum(alone, titles)
    passage = np.array([[key in line.features.covered for key in features.stems] for line in top], np.float32)
    named = _share(np.maximum(titled, IN_PASSAGE_WEIGHT * passage), features.shares * names)
    both = named * _share(titled, features.shares * asked)
    if is_unspaced(state.question.language) and max(line.features.coverage for line in lines) < LEAST_COVERAGE:
        both[:] = 0.0  # only pieces of words match
    best = top[int(np.argmax(both * (1 + alone @ features.shares)))]
    others = (line for line in lines[1:] if not line.overlaps(lines[0]) and line.words != lines[0].words)
    other = next(others, None)
    return {
        "together": float(both.max()),
        "kind": _check_kind(best.claim, features),
        "cosine": lines[0].features.cosine,
        "lead": MAX_LEAD if other is None else min(max(0.0, lines[0].score - other.score), MAX_LEAD),
    }


def name_passage(passage: Episode) -> str:
    """Returns the words that name a passage: its title, its speaker, the folders and the name of its file."""
    return f"{passage.title} {passage.speaker or ''} {passage.source.place}"


def _split_stems(features: QueryFeatures) -> tuple[Bools, Bools]:
    """Returns (n,) which of the question's stems are names, and which are what it asks about them."""
    question = features.question
    own = features.stem_words(find_owned(question.text, question.language))
    in_capitals = tables("asks", "names_have_capitals", language=question.language) and not question.text.isupper()
    # Where all nouns have capitals, only the owner of a thing is a name: "Oma Helgas Telefonnummer".
    spans = [mention.surface for mention in question.mentions if mention.kind != "date"] if in_capitals or own else []
    # The first words of a question are seldom a name: "List the prices".
    in_names = {word for span in spans if not question.text.startswith(span) for word in features.stem_words(span)}
    in_names -= _GENERIC
    in_names -= frozenset() if in_capitals else frozenset(own)
    names, asked = (
        np.array([key in words for key in features.stems], np.bool_)
        for words in (in_names, {*features.stems} - in_names - _GENERIC)
    )
    return names, asked


def _share(near: Floats, weights: Floats) -> Floats:
    """(l, n) nearness -> (l,) weighted mean; 1 if all weights are 0."""
    total = float(weights.sum())
    shares: Floats = (near * weights).sum(axis=1) / total if total else np.ones(len(near), np.float32)
    return shares


def contains_kind(line: AnswerCandidate, features: QueryFeatures) -> bool:
    """Returns whether a line contains a number or time, if the question asks for one; if it asks who, whether a
    sentence with a word of the question names somebody. A place or thing needs no name."""
    question = features.question
    who = alternatives("followup", "who", language=question.language)
    if who and re.search(rf"(?<!\w)(?:{who})(?!\w)", question.text, re.IGNORECASE):
        texts = [line.shown[start:end] for start, end in sentences(line.shown)]
        asked = [text for text in texts if features.coverage(text)] or texts
        return any("name" in _list_kinds(text, features) for text in asked)
    kinds = expected_types(question.text, question.language)
    if not kinds or "name" in kinds or not kinds.isdisjoint(_list_kinds(line.shown, features)):
        return True
    return "date" in kinds and contains_time(line.shown)


def _check_kind(shown: str, features: QueryFeatures) -> float:
    """Returns 1 if a line contains the kind of thing that the question asks for, 0 if not, 0.5 if the question names
    none."""
    question, text = features.question, _LABEL.sub("", shown)
    if features.asked_shapes:
        return float(any(SHAPES[attribute].search(text) for attribute in features.asked_shapes))
    kinds = _find_kinds(question) | expected_types(question.text, question.language)
    return float(not kinds.isdisjoint(_list_kinds(text, features))) if kinds else 0.5


def _list_kinds(text: str, features: QueryFeatures) -> set[ExpectedType]:
    """Returns the kinds of thing that a text contains and that are not in the question."""
    mentions, is_asked_with = features.mentions(text), features.is_asked_with
    dates = {part for mention in mentions if mention.kind == "date" for part in re.findall(r"\d+", mention.surface)}
    numbers = (word.strip(".,:/-") for word in _FIGURE.findall(text))
    has_figure = any(word not in dates and not is_asked_with(word) for word in numbers)
    counts = _COUNTED.search(text) is not None and _HOW_MANY.search(features.question.text) is not None
    contains: dict[ExpectedType, bool] = {
        "date": has_figure or any(mention.kind == "date" for mention in mentions) or bool(find_clock_words(text)),
        "number": has_figure or counts,
        "name": any(
            mention.kind != "date" and not any(map(is_asked_with, mention.surface.split())) for mention in mentions
        ),
    }
    return {kind for kind, is_contained in contains.items() if is_contained}


def _find_kinds(question: QuestionState) -> set[str]:
    """Returns the kinds of thing that the question asks for by a noun or verb."""
    return {kind for kind in EXPECTED_TYPES if _stem_kinds(question, kind)}


def _stem_kinds(question: QuestionState, kind: str) -> frozenset[str]:
    """Returns the stems of the question's nouns and verbs that ask for a kind of thing: "number", "cost", "date"."""
    nouns = alternatives("asks", "noun", kind, language=question.language)
    asked = re.findall(rf"\b(?:{nouns})\b", strip_accents(question.text.lower())) if nouns else ()
    return frozenset(stem(word, question.language) for words in asked for word in words.split())


def absent_names(state: AnswerState, lines: Sequence[AnswerCandidate]) -> tuple[str, ...]:
    """Returns the names and numbered things of the question that no line mentions: "Box 999" if there are other boxes,
    "Zenobia". Other forms and aliases of a name count as mentions."""
    question, exact = state.question, state.exact_names
    in_capitals = tables("asks", "names_have_capitals", language=question.language) and not question.text.isupper()
    read = covered_by(lines)
    names = question.mentions if in_capitals else ()
    absent = [name.surface for name in names if _is_absent(name, state, lines, read)]
    unread = (name for name in exact.numbered if not any(exact.is_named(line, name) for line in lines))
    return tuple(dict.fromkeys([*absent, *(name.text for name in unread if name.is_sure)]))


def _is_absent(name: Mention, state: AnswerState, lines: Sequence[AnswerCandidate], read: frozenset[str]) -> bool:
    """Whether lines that cover the stems `read` do not mention a name, or only a namesake."""
    features, text = state.features, state.question.text
    if name.kind == "date" or name.surface.isupper() or text.startswith(name.surface):  # "VAT"; "List ..."
        return False
    parts = [part for part in features.stem_words(name.surface) if part in features.stems and part not in _GENERIC]
    known = (strip_accents(norm(label)) for label in state.result.named_objects.values())
    if not parts or any(strip_accents(name.norm) in label for label in known):
        return False
    unread = [part for part in parts if part not in read]
    return len(unread) == len(parts) or (parts[-1] in unread and _has_namesake(name, lines, features))


def _has_namesake(name: Mention, lines: Sequence[AnswerCandidate], features: QueryFeatures) -> bool:
    """Whether the lines name another person of that first name: Ana Silva, if the question names Ana Duarte."""
    first, *others = name.norm.split()
    return bool(others) and any(
        other.norm.split()[0] == first and " " in other.norm
        for line in lines[:MAX_CANDIDATES]
        for other in features.mentions(line.shown)
    )


def find_unknown_names(result: RetrievalResult) -> tuple[str, ...]:
    """Returns the names of the question that no known object's name contains or is part of."""
    known = {norm(label) for label in result.named_objects.values()}
    names = [name for name in result.question.mentions if not is_date(name.norm)]
    sure = [name for name in names if result.question.names.get(name.norm) == 1]
    unknown = (name for name in sure if not any(name.norm in label or label in name.norm for label in known))
    return tuple(dict.fromkeys(name.surface for name in unknown))
