"""How likely it is that what was found answers the question: a logistic model of a few named features; and whether
that is enough, by this and other cheap signals.

A memory always finds something near. What tells an answer from a near miss is whether one passage holds both whom the
question names and what it asks of them, and whether the thing that was asked for (a number, a date, a name) stands
where these do. Each feature says one of these, so that a refusal can be explained.

WEIGHTS lie between those that tell whether the first line is right and those that tell whether anything answers, on the
questions of six invented lives for a value that holds. With BIAS 13 % of their right first lines are not called an
answer. `python -m benchmarks.refusals` prints how they hold, and how weights do that are fitted on all other lives.
"""

import math
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import numpy as np

from memory.answering.asked_kinds import EXPECTED_TYPES, SHAPES, expected_types, find_owned
from memory.answering.candidates import AnswerCandidate
from memory.answering.features import AnswerState, QueryFeatures
from memory.graph.arrays import Bools, Floats, Graph
from memory.nouns import Episode
from memory.retrieval.pagerank import transition_steps
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.stages import TextNote, notes
from memory.text.languages import alternatives, is_unspaced, stem_set, tables
from memory.text.mentions import Mention, is_date, norm
from memory.text.words import strip_accents

MAX_CANDIDATES = 10  # lines, the best
LEAST_COVERAGE = 0.1  # of a question's weight; a passage that holds less shares no word with it worth the name
LEAST_NEARNESS = 0.2  # `together` of what has no word of what is asked for, and still answers it in other words
MAX_LEAD = 3.0  # of a score that says something
IN_PASSAGE_WEIGHT = 0.8  # what it counts that a name stands elsewhere in the line's passage
SAME_SPELLING, SAME_MEANING = 0.85, 0.5  # from which on a word stands for a name (difflib's ratio; MaxSim)
ABSENT = 0.5  # of what a question names, that may be missing where it is tried to answer from memory alone

WEIGHTS: Mapping[str, float] = {"together": 1.5, "kind": 1.5, "cosine": 2.0, "lead": 0.4}
BIAS = -2.81

_GENERIC = stem_set("asks", "generic")
_COUNTED = re.compile(rf"\b(?:{alternatives('asks', 'counted')})\b", re.IGNORECASE)
_HOW_MANY = re.compile(alternatives("asks", "how_many"), re.IGNORECASE)
_SINCE = re.compile(r" \((?:planned, )?(?:(?:as of|since|until) \d{4}\b|\d{4}-\d\d-\d\d|\d{4}[\d-]* to \d{4})[^)]*\)")
_LABEL = re.compile(r"^\s*(?:\w+:\s*)?\(?\d{1,3}[.)]\s|^\s*[A-Z]{2,}:")  # the number of a list's item, who speaks
_FIGURE = re.compile(r"(?<![\w'’])\d[\d.,:/-]*(?!\d|st\b|nd\b|rd\b|th\b)")
_YEAR = re.compile(r"(19|20)\d\d$")
EXACT: Mapping[str, re.Pattern[str]] = {  # kinds of which no other figure will do
    "year": re.compile(r"(?<![\d.,-])(?:19|20)\d\d(?![\d.,]\d)"),
    "clock": re.compile(
        rf"(?<![\d.,])\d{{1,2}}[:.]\d\d(?!\.?\d)|\b(?:{alternatives('asks', 'clock')})\b", re.IGNORECASE
    ),
}


def confidence(state: AnswerState, lines: Sequence[AnswerCandidate]) -> float:
    """In [0, 1]: how likely it is that the first of the `lines`, best first, holds what the question asks. 0 without
    lines."""
    if not lines:
        return 0.0
    seen, read = confidence_features(state, lines), frozenset[str]().union(*(line.covered for line in lines))
    _, asked = _split_stems(state.features)
    if seen["together"] < LEAST_NEARNESS and not any(
        is_asked and stem in read for stem, is_asked in zip(state.features.stems, asked.tolist(), strict=True)
    ):
        return 0.0  # nothing that was read has a word of what is asked for
    return 1 / (1 + math.exp(-BIAS - sum(weight * seen[name] for name, weight in WEIGHTS.items())))


def confidence_features(state: AnswerState, lines: Sequence[AnswerCandidate]) -> dict[str, float]:
    """What the confidence is made of; of one line at least.

    together, in [0, 1]: how much a line holds of what is asked, times the share of the names that its passage holds, at
    best. kind: 1 if the line that is best by this holds the kind of thing that is asked for, 0 if not, a half if the
    question does not say. cosine: of the question and the sentence of the first line. lead: by how much the score of
    the first line is above that of the next one that says something else, at most MAX_LEAD.
    """
    top, features = lines[:MAX_CANDIDATES], state.features
    names, asked = _split_stems(features)
    features.embed_words(line.claim for line in top)
    alone = np.stack([features.max_similarity(line.claim) for line in top])
    titles = np.stack([features.max_similarity(name_passage(line.episode)) for line in top])
    titled = np.maximum(alone, titles)
    passage = np.array([[stem in line.covered for stem in features.stems] for line in top], np.float32)
    named = _share(np.maximum(titled, IN_PASSAGE_WEIGHT * passage), features.shares * names)
    both = named * _share(titled, features.shares * asked)
    if is_unspaced(state.question.language) and max(line.coverage for line in lines) < LEAST_COVERAGE:
        both[:] = 0.0  # what came near are pieces of words
    best = top[int(np.argmax(both * (1 + alone @ features.shares)))]
    others = (line for line in lines[1:] if not line.overlaps(lines[0]) and line.words != lines[0].words)
    other = next(others, None)
    return {
        "together": float(both.max()),
        "kind": _holds_kind(best.claim, features),
        "cosine": lines[0].cosine,
        "lead": MAX_LEAD if other is None else min(max(0.0, lines[0].score - other.score), MAX_LEAD),
    }


def name_passage(passage: Episode) -> str:
    """The words by which a passage is named: its title, its speaker, the folders and the name of its file."""
    return f"{passage.title} {passage.speaker or ''} {passage.source.place}"


def _split_stems(features: QueryFeatures) -> tuple[Bools, Bools]:
    """(n,) which of the question's stems name somebody or something, and which say what is asked of them."""
    question, own = features.question, features.stem_words(find_owned(features.question))
    in_capitals = tables("asks", "names_have_capitals", language=question.language) and not question.text.isupper()
    # Where all nouns have capitals, those are names of which something is asked for: "Oma Helgas Telefonnummer".
    spoken = [one.surface for one in question.mentions if one.kind != "date"] if in_capitals or own else []
    # What begins a question is seldom a name: "List the prices".
    names_said = [name for name in spoken if not question.text.startswith(name)]
    in_names = {word for name in names_said for word in features.stem_words(name)} - _GENERIC
    in_names -= frozenset() if in_capitals else frozenset(own)
    names, asked = (
        np.array([key in words for key in features.stems], np.bool_)
        for words in (in_names, {*features.stems} - in_names - _GENERIC)
    )
    return names, asked


def _share(near: Floats, weights: Floats) -> Floats:
    """(l, n) nearness -> (l,) mean by these weights; 1 where there is nothing to be near to."""
    total = float(weights.sum())
    shares: Floats = (near * weights).sum(axis=1) / total if total else np.ones(len(near), np.float32)
    return shares


def _holds_kind(shown: str, features: QueryFeatures) -> float:
    """1 if a line holds the kind of thing that is asked for, 0 if not, a half if the question does not say."""
    question, text = features.question, _LABEL.sub("", _SINCE.sub("", shown))
    if features.asked_shapes:
        return float(any(SHAPES[attribute].search(text) for attribute in features.asked_shapes))
    asked = _kinds_by_noun(question)
    if exact := asked & EXACT.keys():
        return float(any(EXACT[kind].search(text) for kind in exact))
    kinds = asked | expected_types(question.text, question.language)
    if not kinds:
        return 0.5
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
    return float(any(holds[kind] for kind in kinds))


def _kinds_by_noun(question: QuestionState) -> set[str]:
    """The kinds of thing that a noun or verb of the question asks for, beside its question word."""
    text, kinds = strip_accents(question.text.lower()), set[str]()
    for kind in (*EXACT, *EXPECTED_TYPES):
        nouns = alternatives("asks", "noun", kind, language=question.language)
        if nouns and re.search(rf"\b(?:{nouns})\b", text):
            kinds.add(kind)
    return kinds


def absent_names(state: AnswerState, lines: Sequence[AnswerCandidate]) -> tuple[str, ...]:
    """The names and numbered things of the question of which nothing that was read tells: "Box 999" where there are
    other boxes, "Zenobia". Another form or a slip of the pen counts as the name, and so does what it is an alias of."""
    question, features = state.question, state.features
    asked, text = frozenset(features.stems), question.text
    read = frozenset[str]().union(*(line.covered for line in lines))
    known = {strip_accents(norm(label)) for label in state.found.named_objects.values()}
    absent: list[str] = []
    in_capitals = tables("asks", "names_have_capitals", language=question.language) and not text.isupper()
    for one in question.mentions if in_capitals else ():
        parts = [part for part in features.stem_words(one.surface) if part in asked and part not in _GENERIC]
        is_word = one.kind == "date" or one.surface.isupper() or text.startswith(one.surface)  # "VAT"; "List ..."
        if is_word or not parts or any(strip_accents(one.norm) in name for name in known):
            continue
        strange = [part for part in parts if part not in read and not _is_near(part, lines, features)]
        if len(strange) == len(parts) or (parts[-1] in strange and _is_namesake(one, lines, features)):
            absent.append(one.surface)
    exact = state.exact_names
    unread = (one for one in exact.numbered if not any(exact.is_named(line, one) for line in lines))
    absent += [one.text for one in unread if one.is_sure]
    return tuple(dict.fromkeys(absent))


def _is_namesake(name: Mention, lines: Sequence[AnswerCandidate], features: QueryFeatures) -> bool:
    """Whether the lines name somebody else of that first name: Ana Silva, where Ana Duarte is asked for."""
    first, *others = name.norm.split()
    return bool(others) and any(
        found.norm.split()[0] == first and " " in found.norm
        for line in lines[:MAX_CANDIDATES]
        for found in features.mentions(line.shown)
    )


def _is_near(part: str, lines: Sequence[AnswerCandidate], features: QueryFeatures) -> bool:
    """Whether a word of one of the lines is another form of a stem, or means about the same."""
    if any(character.isdigit() for character in part):
        return False  # another number names another thing
    place = features.stems.index(part)
    spelt = {word for line in lines for word in (*line.words, *features.stem_words(name_passage(line.episode)))}
    return bool(get_close_matches(part, spelt, 1, SAME_SPELLING)) or any(
        features.max_similarity(line.shown)[place] >= SAME_MEANING for line in lines[:MAX_CANDIDATES]
    )


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
    mentioned = _mentioned(graph, evidence)
    columns = {column: found.named_objects.get(int(graph.object_ids[column]), "") for column in found.seeds.objects}
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
    there = set().union(*_mentioned(graph, evidence))
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
    sure = [m for m in names if found.question.names.get(m.norm) == 1]
    unknown = (m.surface for m in sure if not any(m.norm in one or one in m.norm for one in known))
    return tuple(dict.fromkeys(unknown))


def _mentioned(graph: Graph, passages: Sequence[Episode]) -> list[set[int]]:
    """The columns of the objects that each passage in the graph mentions or is titled by."""
    rows = [graph.row_of[one.id] for one in passages if one.id in graph.row_of]
    kinds = graph.counts, graph.titled
    return [
        {column for of in kinds for column in of.indices[slice(*of.indptr[row : row + 2])].tolist()} for row in rows
    ]


def _joined(found: RetrievalResult, columns: Sequence[int], mentioned: Sequence[set[int]]) -> bool:
    """Whether passages that share an object which is not common lead from each of these objects to all others."""
    every = sorted(set().union(*mentioned))
    steps = transition_steps(found.graph, found.allowed, found.settings)
    rare: Mapping[int, bool] = dict(zip(every, (steps.rarity(np.array(every, np.int64)) > 0).tolist(), strict=True))
    together: list[set[int]] = []
    for objects in mentioned:
        group = {column for column in objects if rare[column]} | {column for column in columns if column in objects}
        group = group.union(*(other for other in together if other & group))
        together = [*(other for other in together if not other & group), group]
    return any(set(columns) <= group for group in together)
