"""Edits of prose: which sentences of a note's newer version replaced a former one with other content.

Both versions are lists of sentences. Sentences of only one version are compared if they are next to the same sentence
or at the same end. They match if each is most similar to the other by the share of their words in the same order (indel
similarity), or if only a number after their first words differs. So moved, added or removed sentences are no edits, and
neither is a rewritten note.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from rapidfuzz.distance import OSA, Indel, LCSseq, Postfix, Prefix

from memory.text.languages import guess_language, stem, stop_words, word_set
from memory.text.words import words
from memory.time.dates import month_names

LEAST_ALIKE = 0.5  # least share of the words of two sentences that are the same
SPELLING = 0.8  # least share of the letters of two words that are the same, if one is the other misspelt
MOST_CHANGED = 50  # sentences of one version that the other does not have
FEW_EDITS = 3  # or as many as the unchanged sentences; beyond that the note was rewritten
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_CURRENCY = re.compile(r"[$€£¥%]")
_NO_STATEMENT = re.compile(r"(?:#|\[.?\])\s*$")  # before a heading, and a task
_NEGATING = word_set("claims", "negating")

Pair = tuple[int, int]
Words = tuple[str, ...]
Place = tuple[Words | None, Words | None]  # the previous and the next sentence that both versions have


def is_statement(sentence: str, before: str) -> bool:
    """Whether a sentence may state something: it is no question, task or heading, by the characters before it."""
    return not sentence.rstrip().endswith("?") and _NO_STATEMENT.search(before) is None


def align_sentences(former: Sequence[str], new: Sequence[str]) -> tuple[list[Pair], list[Pair]]:
    """The pairs (place in `former`, in `new`) of sentences with the same content, perhaps in other words, and those
    where one was edited into the other: it has another number, name, date or content word."""
    old, fresh = [_words(sentence) for sentence in former], [_words(sentence) for sentence in new]
    common = {*old} & {*fresh}
    there = {key: place for place, key in reversed([*enumerate(fresh)])}
    same = [(place, there[key]) for place, key in enumerate(old) if key in common]
    lost, gained = _places_of_changed(old, common), _places_of_changed(fresh, common)
    if max(len(lost), len(gained)) > MOST_CHANGED:
        return same, []
    alike = {
        (i, j): _similarity(old[i], fresh[j])
        for i, place in lost.items()
        for j, other in gained.items()
        if place[0] == other[0] or place[1] == other[1]
    }
    ranked = sorted(alike, key=lambda pair: (-alike[pair], pair))
    of_old = dict(reversed(ranked))
    of_new = {j: i for i, j in reversed(ranked)}
    matched = [(i, j) for i, j in sorted(of_old.items()) if of_new[j] == i and alike[i, j] > LEAST_ALIKE]
    edited = [(i, j) for i, j in matched if _says_otherwise(old[i], fresh[j])]
    is_rewritten = len(edited) > max(FEW_EDITS, len(common))
    return [*same, *({*matched} - {*edited})], [] if is_rewritten else edited


def _words(sentence: str) -> Words:
    plain = _THOUSANDS.sub("", sentence)
    return (*words(plain), *_CURRENCY.findall(plain))


def _places_of_changed(sentences: Sequence[Words], common: Collection[Words]) -> Mapping[int, Place]:
    """The neighbours of each sentence that is not `common` to both versions, by its index."""
    changed = [place for place, sentence in enumerate(sentences) if sentence not in common]
    stay = [place for place, sentence in enumerate(sentences) if sentence in common]
    places: dict[int, Place] = {}
    for place in changed:
        behind = bisect(stay, place)
        places[place] = (
            sentences[stay[behind - 1]] if behind else None,
            sentences[stay[behind]] if behind < len(stay) else None,
        )
    return places


def _similarity(old: Words, new: Words) -> float:
    """The share of the words of two sentences in the same order; 1 if only the value after their first words differs:
    "Phone 0151 2345", "Phone 0160 9999". Such a line may be hardly longer than its value."""
    same, behind = Prefix.similarity(old, new), Postfix.similarity(old, new)
    values = (tokens[same : len(tokens) - behind] for tokens in (old, new))
    if same and same + behind < min(len(old), len(new)) and all(map(_is_value, values)):
        return 1.0
    return Indel.normalized_similarity(old, new)


def _is_value(words: Words) -> bool:
    """Whether these words are numbers, perhaps a date, and nothing else."""
    return any(word[0].isdigit() for word in words) and all(
        any(map(str.isdigit, word)) or word in month_names() for word in words
    )


def _says_otherwise(old: Words, new: Words) -> bool:
    """Whether two sentences of one thing say something else of it, and not the same in other words, or more."""
    language = guess_language(" ".join((*old, *new)))
    little = stop_words(language) - _NEGATING
    before, after = ([stem(word, language) for word in sentence if word not in little] for sentence in (old, new))
    if not any(word.isalpha() for word in {*before} & {*after}):
        return False
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    for word in list(lost):
        misspelt = next((added for added in gained if _is_spelling(word, added)), None)
        if misspelt is not None:
            del lost[word], gained[misspelt]
    if not _NEGATING.isdisjoint({*lost, *gained}):
        return True
    return bool(lost and gained) and (_is_of_one(before, after) or _is_one_run(old, new))


def _is_spelling(word: str, other: str) -> bool:
    return word.isalpha() and other.isalpha() and OSA.normalized_similarity(word, other) > SPELLING


def _is_of_one(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether both begin with a word that the other also has: their topic. "Flights cost 210" and "The press costs 400"
    do not."""
    first, other = (next((word for word in tokens if word.isalpha()), "") for tokens in (before, after))
    return first in after and other in before


def _is_one_run(old: Words, new: Words) -> bool:
    """Whether two sentences differ in one run of words only: "Ana is our vet", "Bo is our vet"."""
    return LCSseq.similarity(old, new) == Prefix.similarity(old, new) + Postfix.similarity(old, new)
