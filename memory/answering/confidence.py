"""How likely it is that what was found answers the question: a logistic model of a few named features; and whether
that is enough, by this and other cheap signals.

A memory always finds something near. What tells an answer from a near miss is whether one passage holds both whom the
question names and what it asks of them, and whether the thing that was asked for (a number, a date, a name) stands
where these do. Each feature says one of these, so that a refusal can be explained.

WEIGHTS were fitted on questions of six sets (Wikipedia, chats, two invented lives), each once with its evidence and
once with the evidence out of sight, and on those of the lives and chats that nothing answers; both outcomes counted
alike, and so did kinds of sets, but lives three times. docs/decisions.md tells how it holds for sets left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from memory.answering.candidates import AnswerCandidate
from memory.answering.features import EXPECTED_TYPES, AnswerState, QueryFeatures, expected_types
from memory.graph.arrays import Bools, Floats, Graph, Ints
from memory.nouns import Episode
from memory.retrieval.pagerank import transition_steps
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.stages import TextNote, notes
from memory.text.languages import alternatives, stem_set, tables
from memory.text.mentions import is_date, norm

MAX_CANDIDATES = 10  # lines, the best
LEAST_COVERAGE = 0.1  # of a question's weight; a passage that holds less shares no word with it worth the name
LEAST_PHRASE_WORDS = 3  # words of a phrase in which general words say something too
IN_PASSAGE_WEIGHT = 0.8  # what it counts that a name stands elsewhere in the line's passage
ABSENT = 0.5  # of what a question names, that may be missing where it is tried to answer from memory alone

WEIGHTS: Mapping[str, float] = {
    "passage": 1.96,
    "coverage": 1.0,
    "together": 0.27,
    "named": 2.7,
    "kind": 0.39,
    "attribute": 0.61,
    "fact": 0.36,
}
BIAS = -5.2  # as fitted, less 0.1: at the default threshold one question in ten at most is refused for nothing

_GENERIC = stem_set("asks", "generic")
_COUNTED = re.compile(rf"\b(?:{alternatives('asks', 'counted')})\b", re.IGNORECASE)
_HOW_MANY = re.compile(alternatives("asks", "how_many"), re.IGNORECASE)
_SINCE = re.compile(r" \((?:planned, )?(?:as of |since |until )?\d{4}-\d\d-\d\d[^)]*\)")
_LABEL = re.compile(r"^\s*(?:\w+:\s*)?\(?\d{1,3}[.)]\s|^\s*[A-Z]{2,}:")  # the number of a list's item, who speaks
_FIGURE = re.compile(r"(?<![\w'’])\d[\d.,:/-]*(?!\d|st\b|nd\b|rd\b|th\b)")
_YEAR = re.compile(r"(19|20)\d\d$")


def confidence(state: AnswerState, lines: Sequence[AnswerCandidate]) -> float:
    """In [0, 1]: how likely it is that the `lines`, best first, hold what the question asks. 0 without lines."""
    if not lines:
        return 0.0
    seen = confidence_features(state, lines)
    return 1 / (1 + math.exp(-BIAS - sum(weight * seen[name] for name, weight in WEIGHTS.items())))


def confidence_features(state: AnswerState, lines: Sequence[AnswerCandidate]) -> dict[str, float]:
    """What the confidence is made of, each in [0, 1] but for the cosine; of one line at least.

    passage: cosine of the question and the best passage, or line while passages have no vectors; if none shares a
    word with it, as far as it is above what is usual for a sentence, for in a script that the embedder hardly knows
    all texts look alike. coverage: the largest share of the question's weight that one passage holds. together: how
    much a line holds of what is asked, times the share of the names that its passage holds, at best. named: the
    share that all hold. kind: the line best by `together` holds the kind of thing that is asked for. attribute: how
    near a line comes to what of somebody's is asked for ("phone" of "Ana's phone"), times the share of the names; 1
    if the question is not of that form. fact: the first line is a fact, not a sentence.
    """
    top, features = lines[:MAX_CANDIDATES], state.features
    names, asked, owned = _split_stems(features)
    features.embed_words(line.shown for line in top)
    alone = np.stack([features.max_similarity(line.shown) for line in top])
    titles = np.stack([features.max_similarity(f"{line.episode.title} {line.episode.speaker or ''}") for line in top])
    titled = np.maximum(alone, titles)
    passage = np.array([[stem in line.covered for stem in features.stems] for line in top], np.float32)
    spoken_of = np.maximum(titled, IN_PASSAGE_WEIGHT * passage)
    named = _share(spoken_of, features.shares * names)
    both = named * _share(titled, features.shares * asked)
    best = top[int(np.argmax(both * (1 + alone @ features.shares)))]
    coverage = max(line.coverage for line in lines)
    cosine = max((hit.channels.get("vector", 0.0) for hit in state.found.recall.hits), default=0.0)
    if not cosine:  # passages have no vectors yet
        cosine = max(line.cosine for line in lines)
    if coverage < LEAST_COVERAGE:
        usual = max(0.0, median(line.cosine for line in lines))
        cosine = (cosine - usual) / (1 - usual) if usual < 1 else 0.0
    return {
        "passage": cosine,
        "coverage": coverage,
        "together": float(both.max()),
        "named": float(_share(spoken_of.max(axis=0, keepdims=True), features.shares * names)[0]),
        "kind": float(_holds_kind(best.shown, features)),
        "attribute": float((_share(alone, features.shares * owned) * named).max()) if owned.any() else 1.0,
        "fact": float(top[0].shown != " ".join(top[0].quote.split())),
    }


def _split_stems(features: QueryFeatures) -> tuple[Bools, Bools, Bools]:
    """(n,) which of the question's stems name somebody or something, which say what is asked of them, and which say
    what of somebody's is asked for: "phone" in "Ana's phone number"."""
    question, own = features.question, features.stem_words(_owned(features.question))
    in_capitals = tables("asks", "names_have_capitals", language=question.language) and not question.text.isupper()
    spoken = [one.surface for one in question.mentions if one.kind != "date"] if in_capitals else []
    # What begins a question is seldom a name: "List the prices".
    in_names = {
        word for name in spoken if not question.text.startswith(name) for word in features.stem_words(name)
    } - _GENERIC
    in_owned = {word for word in own if word not in _GENERIC or len(own) > LEAST_PHRASE_WORDS}
    names, asked, owned = (
        np.array([key in words for key in features.stems], np.bool_)
        for words in (in_names, {*features.stems} - in_names - _GENERIC, in_owned)
    )
    return names, asked, owned


def _owned(question: QuestionState) -> str:
    """The words that say what of somebody's the question asks for; none if it does not ask so."""
    form, ends = (alternatives("asks", key, language=question.language) for key in ("owned", "owned_ends"))
    said = re.search(form, question.text, re.IGNORECASE) if form else None
    return re.split(ends, said[1], maxsplit=1, flags=re.IGNORECASE)[0] if said else ""


def _share(near: Floats, weights: Floats) -> Floats:
    """(l, n) nearness -> (l,) mean by these weights; 1 where there is nothing to be near to."""
    total = float(weights.sum())
    return near @ weights / total if total else np.ones(len(near), np.float32)


def _holds_kind(shown: str, features: QueryFeatures) -> bool:
    """Whether a line holds the kind of thing that is asked for; so does any, if the question does not say."""
    question = features.question
    kinds = set(expected_types(question.text, question.language))
    for kind in EXPECTED_TYPES:
        nouns = alternatives("asks", "noun", kind, language=question.language)
        if nouns and re.search(rf"\b(?:{nouns})\b", question.text, re.IGNORECASE):
            kinds.add(kind)
    text = _LABEL.sub("", _SINCE.sub("", shown))
    found = features.mentions(text)
    dates = {part for mention in found if mention.kind == "date" for part in re.findall(r"\d+", mention.surface)}
    written = [word.strip(".,:/-") for word in _FIGURE.findall(text)]
    figures = [
        word for word in written if word not in dates and not _YEAR.match(word) and not features.is_asked_with(word)
    ]
    holds = {
        "date": bool(dates) or any(mention.kind == "date" for mention in found) or bool(figures),
        "number": bool(figures) or (_COUNTED.search(text) is not None and _HOW_MANY.search(question.text) is not None),
        "name": any(
            mention.kind != "date" and not any(features.is_asked_with(word) for word in mention.surface.split())
            for mention in found
        ),
    }
    return not kinds or any(holds[kind] for kind in kinds)


def assess(
    found: RetrievalResult, evidence: Sequence[Episode], confidence: float, threshold: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What speaks against the evidence holding the answer, as sentences, and the names in the question that nothing is
    known by. The cheap signals, without any model: the question's names are known and stand in the evidence, which
    joins them; something is of the time that is asked of; and the best line is likely to answer (`confidence` against
    `threshold`, both in [0, 1])."""
    gaps: list[str] = []
    if not evidence:
        return ("Nothing was found.",), ()
    unknown = _unknown(found)
    gaps += [f"Nothing is known by the name {name!r}." for name in unknown]
    graph = found.graph
    rows = np.array([graph.row_of[one.id] for one in evidence if one.id in graph.row_of], np.int64)
    mentioned = _mentioned(graph, rows)
    columns = {
        int(column): found.named_objects.get(int(graph.object_ids[column]), "") for column in found.seeds.objects
    }
    absent = [name for column, name in columns.items() if name and not any(column in of for of in mentioned)]
    gaps += [f"No passage found speaks of {name!r}." for name in absent]
    sure = [column for column, weight in found.seeds.objects.items() if weight == 1 and not graph.is_date[column]]
    if len(sure) > 1 and not absent and not _joined(found, sure, mentioned):
        gaps.append("No passage found joins what is asked about.")
    if any(note.any_time for note in notes(TextNote, found.recall.trace.steps)):
        gaps.append("Nothing found is of the time that is asked of.")
    if confidence < threshold:
        gaps.append("No line found is likely to answer.")
    return tuple(gaps), unknown


def fits(found: RetrievalResult, evidence: Sequence[Episode], asked: str = "") -> bool:
    """Whether what helped with such a question before may hold the answer to this one: most of what the question names,
    the rare counting more (ln N/df), stands in it, or in that question if it is known (`asked`). Another question in
    all but the same words names something else."""
    if not evidence:
        return False
    graph = found.graph
    rows = np.array([graph.row_of[one.id] for one in evidence if one.id in graph.row_of], np.int64)
    there = set().union(*_mentioned(graph, rows))
    read = norm(" ".join([asked, *(f"{one.title} {one.text}" for one in evidence)]))
    columns = np.array([column for column, weight in found.seeds.objects.items() if weight == 1], np.int64)
    named = {
        column: rare
        for column, rare in zip(columns.tolist(), graph.rarity(columns).tolist(), strict=True)
        if not graph.is_date[column]
    }
    unknown = _unknown(found)
    unheard = math.log(max(2, found.graph.n_alive))
    absent = sum(rare for column, rare in named.items() if column not in there and not _stands(found, column, read))
    absent += unheard * sum(norm(name) not in read for name in unknown)
    return bool(absent <= ABSENT * (sum(named.values()) + unheard * len(unknown)))


def _stands(found: RetrievalResult, column: int, text: str) -> bool:
    label = norm(found.named_objects.get(int(found.graph.object_ids[column]), ""))
    return bool(label) and label in text


def _unknown(found: RetrievalResult) -> tuple[str, ...]:
    """Names as they stand in the question of which no part names a known object."""
    known = {norm(label) for label in found.named_objects.values()}
    names = [m for m in found.question.mentions if not is_date(m.norm)]
    lower = found.question.names
    return tuple(
        dict.fromkeys(
            m.surface
            for m in names
            if lower.get(m.norm) == 1 and not any(m.norm in one or one in m.norm for one in known)
        )
    )


def _mentioned(graph: Graph, rows: Ints) -> list[set[int]]:
    """The columns of the objects that each of these episodes mentions or is titled by."""
    counts, titled = graph.counts, graph.titled
    return [
        {
            *counts.indices[slice(*counts.indptr[row : row + 2])].tolist(),
            *titled.indices[slice(*titled.indptr[row : row + 2])].tolist(),
        }
        for row in rows.tolist()
    ]


def _joined(found: RetrievalResult, columns: Sequence[int], mentioned: Sequence[set[int]]) -> bool:
    """Whether passages that share an object which is not common lead from each of these objects to all others."""
    every = sorted(set().union(*mentioned))
    steps = transition_steps(found.graph, found.allowed, found.settings)
    rare: Mapping[int, bool] = dict(zip(every, (steps.rarity(np.array(every, np.int64)) > 0).tolist(), strict=True))
    together: list[set[int]] = []
    for objects in mentioned:
        group = {column for column in objects if rare[column]} | {column for column in columns if column in objects}
        rest = []
        for other in together:
            if other & group:
                group |= other
            else:
                rest.append(other)
        together = [*rest, group]
    return any(set(columns) <= group for group in together)
