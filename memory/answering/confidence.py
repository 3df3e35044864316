"""Confidence: the probability that the retrieved lines answer the question, and that the first line does.

A search always returns something near. An answer differs from a near miss in whether its line has what the question
asks about, and contains the kind of thing asked for (a number, a date, a name). Both probabilities are logistic models
of the same few measures of the first line, so that a refusal can be explained. They are fitted on the questions of six
invented lives for a value that holds: ANSWERED to whether they can be answered, CLEAR to whether the first line is
right. `python -m benchmarks.refusals` measures ANSWERED against weights fitted on all other lives."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress, islice

import numpy as np

from memory.answering.candidates import AnswerCandidate, covered_by
from memory.answering.features import GENERIC, SCORE_DIGITS, AnswerState, QueryFeatures
from memory.graph.arrays import Bools, Floats
from memory.nouns import Episode
from memory.retrieval.question_type import EXPECTED_TYPES, SHAPES, ExpectedType, expected_types, find_owned
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.text.languages import alternatives, is_unspaced, stem, tables
from memory.text.mentions import Mention, is_date, norm
from memory.text.sentences import sentences
from memory.text.words import strip_accents
from memory.time.expressions import contains_time, find_clock_words

MAX_CANDIDATES = 10  # the best lines

ANSWERED: Mapping[str, float] = {"kind": 1.55, "asked": 2.95, "agreement": 0.6}
BIAS = -2.15
CLEAR: Mapping[str, float] = {"kind": 1.15, "asked": 1.0, "agreement": 1.35, "lead": 0.3, "newer": -0.7, "alone": 0.5}
AGREEMENT = 1.0  # score of a line with whose values all others agree
MAX_COMPARED = 20  # of the best lines

_COUNTED = re.compile(rf"\b(?:{alternatives('asks', 'counted')})\b", re.IGNORECASE)
_HOW_MANY = re.compile(alternatives("asks", "how_many"), re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:\w+:\s*)?\(?\d{1,3}[.)]\s|^\s*[A-Z]{2,}:")  # the number of an item, a speaker
_WRITTEN = re.compile(r" \(written [^()]*\)$")
_FIGURE = re.compile(r"[b-z]{6}›|(?<![\w'’])\d[\d.,:/-]*(?!\d|st\b|nd\b|rd\b|th\b)")  # or the end of a masked number


def confidence(state: AnswerState, lines: Sequence[AnswerCandidate]) -> float:
    """Returns the probability that the `lines`, best first, contain the answer. 0 without lines."""
    if not lines:
        return 0.0
    measures, read, features = measure(state, lines[0], lines), covered_by(lines), state.features
    names, asked = _split_stems(features)
    known = np.array([key in read for key in features.stems], np.bool_)
    near = {line: _share(_near(line, features), features.shares * asked) for line in lines[:MAX_CANDIDATES]}
    if max(near.values()) < 0.2 and (not known[asked].any() or (names.any() and not known[names].any())):
        return 0.0  # no line has a word that the question asks for, or none a name of it
    if is_unspaced(state.question.language) and max(line.features.coverage for line in lines) < 0.1:
        return 0.0  # only pieces of words match
    if known[names].any():  # the first line of a chain may have nothing of what is asked
        begins = features.new_values(lines[0].shown)
        joined = [near[line] for line in near if not begins.isdisjoint(features.new_values(line.shown))]
        measures["asked"] = max(measures["asked"], measures["named"] * max(joined, default=0.0))
    return 1 / (1 + math.exp(-BIAS - sum(weight * measures[name] for name, weight in ANSWERED.items())))


def is_clear_answer(state: AnswerState, shown: Sequence[AnswerCandidate], ranked: Sequence[AnswerCandidate]) -> bool:
    """Whether the first of the lines `shown` may be shown alone, as the answer: a fact of the owner, a line with a
    former value, or one that is right by its measures among the `ranked` lines and has as many of the known
    things that the question names as any of them."""
    if shown[0].own or any(line.earlier for line in shown[1:2]):
        return True
    things = state.features.stem_words(" ".join(state.result.named_objects.values()))
    names = state.features.find_stems(things)
    named = _find_names(shown[0], names, state.features)
    if any(named < _find_names(line, names, state.features) for line in ranked[:MAX_CANDIDATES]):
        return False
    measures = measure(state, shown[0], ranked)
    odds = sum(weight * measures[name] for name, weight in CLEAR.items())
    return odds >= 2.25 and measures["asked"] >= 0.3


def measure(state: AnswerState, first: AnswerCandidate, ranked: Sequence[AnswerCandidate]) -> dict[str, float]:
    """Returns the measures of the first line among the `ranked` lines. kind: 1 if it contains the kind of thing
    asked for, 0 if not, 0.5 if the question does not say. named, in [0, 1]: the share of the question's names that
    the line has with its headings and titles. asked, in [0, 1]: the same of what it asks, times `named`. agreement:
    the share of the next lines that agree with it. lead: its score above the best line with other values and as
    many names, at most 4. newer: 1 if a newer line has other values and all words of the question that this
    line has. alone: 1 if it has a value and all words of the question, and no line with other values has them."""
    features, near = state.features, _near(first, state.features)
    first = replace(first, shown=_WRITTEN.sub("", first.shown))
    values = features.new_values(first.shown)
    others = (line for line in ranked if line.words != first.words and not line.overlaps(first))
    rivals = [line for line in others if values.isdisjoint(line.values)]
    is_name, is_asked = _split_stems(features)
    names = frozenset(compress(features.stems, is_name))
    passage = np.array([key in first.features.covered for key in features.stems], np.float32)
    share_named = _share(np.maximum(near, passage), features.shares * is_name)
    words, named = features.find_covered(first.claim), _find_names(first, names, features)
    score = max((line.score for line in rivals if named <= _find_names(line, names, features)), default=-math.inf)
    is_whole = [features.coverage(line.claim) >= 0.99 for line in (first, *rivals)]
    newer = (line for line in rivals[:MAX_COMPARED] if line.newness > first.newness)
    return {
        "kind": check_kind(first, features),
        "named": share_named,
        "asked": share_named * _share(near, features.shares * is_asked),
        "agreement": measure_agreement(first, ranked, features),
        "lead": min(first.score - score, 4.0),
        "newer": float(any(words <= features.find_covered(f"{line.claim} {line.context}") for line in newer)),
        "alone": float(bool(values) and is_whole[0] and not any(is_whole[1:])),
    }


def _near(line: AnswerCandidate, features: QueryFeatures) -> Floats:
    """Returns (n,) how near each stem of the question is to a line with its headings and titles."""
    texts = (line.claim, line.shown, line.context, name_passage(line.episode))
    nearness: Floats = np.maximum.reduce([*map(features.max_similarity, texts)])
    return nearness


def _share(near: Floats, weights: Floats) -> float:
    """Returns the weighted mean of (n,) nearness; 1 if all weights are 0."""
    return float(near @ weights / weights.sum()) if weights.any() else 1.0


def _find_names(line: AnswerCandidate, names: frozenset[str], features: QueryFeatures) -> frozenset[str]:
    """Returns which of these stems a line has with its headings and titles."""
    return names & features.find_covered(f"{line.claim} {line.context} {name_passage(line.source.episode)}")


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
    note = line.source.episode.source.id
    others = (other for other in lines if other.source.episode.source.id != note and other.words != line.words)
    apart = list(islice(others, 5))
    values = features.new_values(line.shown)
    return sum(not values.isdisjoint(features.new_values(other.shown)) for other in apart) / max(1, len(apart))


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
    in_names -= GENERIC
    in_names -= frozenset() if in_capitals else frozenset(own)
    names, asked = (
        np.array([key in words for key in features.stems], np.bool_)
        for words in (in_names, {*features.stems} - in_names - GENERIC)
    )
    return names, asked


def contains_kind(line: AnswerCandidate, features: QueryFeatures) -> bool:
    """Returns whether a line contains a number or time, if the question asks for one; if it asks who, whether a
    sentence with a word of the question names somebody, or a field that the question names has a value ("head:
    vacant"). A place or thing needs no name. A day of writing that only the file has is no time."""
    question = features.question
    who = alternatives("followup", "who", language=question.language)
    if who and re.search(rf"(?<!\w)(?:{who})(?!\w)", question.text, re.IGNORECASE):
        texts = [line.shown[start:end] for start, end in sentences(line.shown)]
        asked = [text for text in texts if features.coverage(text)] or texts
        field = re.search(r"([^:.;,]+): \S", line.shown)
        is_field = field is not None and features.coverage(field[1]) > 0
        return is_field or any("name" in _list_kinds(text, features) for text in asked)
    kinds = expected_types(question.text, question.language)
    shown = _WRITTEN.sub("", line.shown) if line.episode.is_stamped else line.shown
    if not kinds or "name" in kinds or not kinds.isdisjoint(_list_kinds(shown, features)):
        return True
    return "date" in kinds and contains_time(shown)


def check_kind(line: AnswerCandidate, features: QueryFeatures) -> float:
    """Returns 1 if a line contains the kind of thing that the question asks for, 0 if not, 0.5 if the question names
    none, a day and the note of the line has one, or a place, which needs no name."""
    question, text = features.question, _LABEL.sub("", line.claim)
    if features.asked_shapes:
        return float(any(SHAPES[attribute].search(text) for attribute in features.asked_shapes))
    kinds = _find_kinds(question) | expected_types(question.text, question.language)
    if not kinds.isdisjoint(_list_kinds(text, features)):
        return 1.0
    if "date" in kinds and contains_time(text):
        return 1.0
    is_dated = "date" in kinds and line.episode.at is not None and not line.episode.is_stamped
    return 0.5 if is_dated or contains_kind(line, features) else 0.0


def _list_kinds(text: str, features: QueryFeatures) -> set[ExpectedType]:
    """Returns the kinds of thing that a text contains and that are not in the question."""
    mentions, is_asked_with = features.mentions(text), features.is_asked_with
    dates = {part for mention in mentions if mention.kind == "date" for part in re.findall(r"\d+", mention.surface)}
    figures = (figure[0].strip(".,:/-") for figure in _FIGURE.finditer(text))
    has_figure = any(word not in dates and not is_asked_with(word) for word in figures)
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
    parts = [part for part in features.stem_words(name.surface) if part in features.stems and part not in GENERIC]
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
