"""How likely it is that what was found answers the question: a logistic model of a few named features.

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
from memory.answering.features import ExpectedType, QueryFeatures, expected_types
from memory.graph.arrays import Bools, Floats
from memory.retrieval.state import QuestionState, RetrievalResult
from memory.text.languages import ENGLISH, stem

MAX_CANDIDATES = 10  # lines, the best
LEAST_COVERAGE = 0.1  # of a question's weight; a passage that holds less shares no word with it worth the name
LEAST_PHRASE_WORDS = 3  # words of a phrase in which general words say something too
IN_PASSAGE_WEIGHT = 0.8  # what it counts that a name stands elsewhere in the line's passage

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

# What only says what kind of thing is asked for, beside the words that `expected_types` knows.
_GENERIC = frozenset(
    stem(word, ENGLISH)
    for word in "name names called number day date time year month kind type sort title many much long often".split()
)
_NUMBERS = re.compile(
    r"\b(salary|rates?|fees?|price|rent|costs?|number|phone|dose|amount|revenue|age|score|weight|height|percentage|budget"
    r"|how (many|much|old|far|big|tall|long|high|heavy|large))\b",
    re.IGNORECASE,
)
_DATES = re.compile(r"\b(birthday|deadline|due date|what day|which day)\b", re.IGNORECASE)
_NAMES = re.compile(
    r"\b(names? of|called|brand|author|(which|what) (city|town|street|country|person|company|school|doctor|firm|startup"
    r"|club|hotel|restaurant|book|film|movie|song|band))\b",
    re.IGNORECASE,
)
# "What is Ana's new phone number at work?": what is hers.
_OWNED = re.compile(r"^\W*\w+(?:['’]s| is| are| was| were)\b.*[\w.]['’]s? (.+)", re.IGNORECASE)
_ENDS = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|will|would|can|at|in|on|of|for|with|from|to|as|and|or|per|now|by"
    r"|when|that|before|after|since|during)\b|[?,.;:()]",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice)\b", re.IGNORECASE)
_SINCE = re.compile(r" \((?:planned, )?(?:as of |since |until )?\d{4}-\d\d-\d\d[^)]*\)")
_LABEL = re.compile(r"^\s*(?:\w+:\s*)?\(?\d{1,3}[.)]\s|^\s*[A-Z]{2,}:")  # the number of a list's item, who speaks
_FIGURE = re.compile(r"(?<![\w'’])\d[\d.,:/-]*(?!\d|st\b|nd\b|rd\b|th\b)")
_YEAR = re.compile(r"(19|20)\d\d$")


def confidence(found: RetrievalResult, lines: Sequence[AnswerCandidate], features: QueryFeatures) -> float:
    """In [0, 1]: how likely it is that the `lines`, best first, hold what the question asks. 0 without lines."""
    if not lines:
        return 0.0
    seen = confidence_features(found, lines, features)
    return 1 / (1 + math.exp(-BIAS - sum(weight * seen[name] for name, weight in WEIGHTS.items())))


def confidence_features(
    found: RetrievalResult, lines: Sequence[AnswerCandidate], features: QueryFeatures
) -> dict[str, float]:
    """What the confidence is made of, each in [0, 1] but for the cosine; of one line at least.

    passage: cosine of the question and the best passage, or line while passages have no vectors; if none shares a
    word with it, as far as it is above what is usual for a sentence, for in a script that the embedder hardly knows
    all texts look alike. coverage: the largest share of the question's weight that one passage holds. together: how
    much a line holds of what is asked, times the share of the names that its passage holds, at best. named: the
    share that all hold. kind: the line best by `together` holds the kind of thing that is asked for. attribute: how
    near a line comes to what of somebody's is asked for ("phone" of "Ana's phone"), times the share of the names; 1
    if the question is not of that form. fact: the first line is a fact, not a sentence.
    """
    top = lines[:MAX_CANDIDATES]
    names, asked, owned = _split_stems(found.question, features)
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
    cosine = max((hit.channels.get("vector", 0.0) for hit in found.recall.hits), default=0.0)
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
        "kind": float(_holds_kind(best.shown, found.question, features)),
        "attribute": float((_share(alone, features.shares * owned) * named).max()) if owned.any() else 1.0,
        "fact": float(top[0].shown != " ".join(top[0].quote.split())),
    }


def _split_stems(question: QuestionState, features: QueryFeatures) -> tuple[Bools, Bools, Bools]:
    """(n,) which of the question's stems name somebody or something, which say what is asked of them, and which say
    what of somebody's is asked for: "phone" in "Ana's phone number"."""
    known = question.language == ENGLISH and not question.text.isupper()  # where capitals say what is a name
    spoken = [one.surface for one in question.mentions if one.kind != "date"] if known else []
    name_words = {
        word for name in spoken if not question.text.startswith(name) for word in features.stem_words(name)
    }  # what begins a question is seldom a name: "List the prices"
    own = features.stem_words(_owned(question))
    names, generic, owned = (
        np.array([stem in words for stem in features.stems], np.bool_)
        for words in (
            name_words,
            _GENERIC,
            {word for word in own if word not in _GENERIC or len(own) > LEAST_PHRASE_WORDS},
        )
    )
    return names & ~generic, ~names & ~generic, owned


def _owned(question: QuestionState) -> str:
    """The words that say what of somebody's the question asks for; none if it does not ask so."""
    if question.language != ENGLISH:
        return ""
    said = _OWNED.search(question.text)
    return _ENDS.split(said[1], maxsplit=1)[0] if said else ""


def _share(near: Floats, weights: Floats) -> Floats:
    """(l, n) nearness -> (l,) mean by these weights; 1 where there is nothing to be near to."""
    total = float(weights.sum())
    return near @ weights / total if total else np.ones(len(near), np.float32)


def _holds_kind(shown: str, question: QuestionState, features: QueryFeatures) -> bool:
    """Whether a line holds the kind of thing that is asked for; so does any, if the question does not say."""
    kinds = set(expected_types(question.text, question.language))
    if question.language == ENGLISH:
        told: tuple[tuple[ExpectedType, re.Pattern[str]], ...]
        told = (("number", _NUMBERS), ("date", _DATES), ("name", _NAMES))
        kinds.update(kind for kind, words in told if words.search(question.text))
    text = _LABEL.sub("", _SINCE.sub("", shown))
    found = features.mentions(text)
    dates = {part for mention in found if mention.kind == "date" for part in re.findall(r"\d+", mention.surface)}
    written = [word.strip(".,:/-") for word in _FIGURE.findall(text)]
    figures = [
        word for word in written if word not in dates and not _YEAR.match(word) and not features.is_asked_with(word)
    ]
    holds = {
        "date": bool(dates) or any(mention.kind == "date" for mention in found) or bool(figures),
        "number": bool(figures) or (_COUNTED.search(text) is not None and "how many" in question.text.lower()),
        "name": any(
            mention.kind != "date" and not any(features.is_asked_with(word) for word in mention.surface.split())
            for mention in found
        ),
    }
    return not kinds or any(holds[kind] for kind in kinds)
