"""Language data and what needs it: language identification, stop words and stems.

All that the code knows of single languages stands in `data/`, one file for each: its stop words, the names of its
months, its question words. A new language is a new file. They are read when the first of them is asked for, all at once
(5 ms). A guess of the language is cheap and may be wrong: it decides which stop words are left out of a search, and
which endings.
"""

import re
import sys
import threading
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from memory.text.words import WORD, strip_accents, to_nfc, words

ENGLISH = "en"
DATA = Path(__file__).with_name("data")
MAX_STEMMED_CHARS = 64  # of a word; longer ones have no stem
MIN_DAY_CHARS = 5  # of the name of a month or a weekday that tells its language: "mar" is one in many, and a word
MIN_SENTENCE_STOP_WORDS = 2  # of one language, beside a name in another script: "Where is 東京タワー?"
MIN_NAME_CHARS, _GENITIVES = 5, ("as", "is", "os")  # of a German name in the genitive
_PARTICLE = re.compile("[\u3041-\u3096은는이가을를에의로도와과만]")  # Japanese, then Korean ones, standing alone
_HEBREW_ENDING = re.compile("(?<=[\u05d0-\u05ea]{2})(?:ימ|ות)$|(?<=[\u05d0-\u05ea]{3})[התינכו]$")


@cache
def languages() -> dict[str, dict[str, Any]]:
    """The tables of each language by its code (ISO 639-1); of two that could be meant the first is the likelier."""
    read = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in DATA.glob("*.toml")}
    return dict(sorted(read.items(), key=lambda item: (item[1]["rank"], item[0])))


def tables(*path: str, language: str | None = None) -> list[Any]:
    """What stands under the keys `path` in each language that has it, or in that one language."""
    found: list[Any] = list(languages().values()) if language is None else [languages().get(language, {})]
    for key in path:
        found = [table[key] for table in found if key in table]
    return found


@cache
def word_set(*path: str, language: str | None = None) -> frozenset[str]:
    """The words listed under `path`."""
    return frozenset(word for listed in tables(*path, language=language) for word in listed.split())


@cache
def stem_set(*path: str) -> frozenset[str]:
    """The stems of the words listed under `path`, each as in its language."""
    return frozenset(stem(word, code) for code in languages() for word in word_set(*path, language=code))


@cache
def word_numbers(*path: str, first: int = 0, language: str | None = None) -> dict[str, int]:
    """The number of each word in the lists under `path`, such as those of months, counted from `first`."""
    return {
        word: number
        for listed in tables(*path, language=language)
        for number, written in enumerate(listed, first)
        for word in written.split()
    }


@cache
def alternatives(*path: str, language: str | None = None) -> str:
    """The regular expressions under `path` as one, without a group around it."""
    return "|".join(pattern.replace("\n", "") for pattern in tables(*path, language=language))


def guess_language(text: str, least: int = 1) -> str:
    """The language of a text (ISO 639-1): by its script, else the one most of whose stop words and letters it has. In
    Latin letters what has fewer than `least` of them is English: "Bo" is a name, and a stop word of Polish."""
    language, hits = _find_likeliest(text)
    return language if hits >= least else ENGLISH


@lru_cache(maxsize=64)  # of one passage it is asked by all who read it
def _find_likeliest(text: str) -> tuple[str, int]:
    """The likeliest language, and how many of its stop words and letters there are, or that it is sure."""
    latin, scripts, letters, by_word = _identification()
    lowered = to_nfc(text.lower())
    hits = dict.fromkeys(latin, 0)
    for word in set(WORD.findall(lowered)):
        for language in by_word.get(word, ()):
            hits[language] += 1
    if not text.isascii():
        for letter, language in letters:
            hits[language] += letter in lowered
    best = max(hits, key=lambda language: hits[language])  # English of equals
    if not text.isascii() and hits[best] < MIN_SENTENCE_STOP_WORDS:
        for language, script in scripts:
            if script.search(text):
                return language, sys.maxsize
    return (best, hits[best]) if hits[best] > hits[ENGLISH] else (ENGLISH, hits[ENGLISH])


@cache
def _identification() -> tuple[
    list[str], list[tuple[str, re.Pattern[str]]], list[tuple[str, str]], dict[str, list[str]]
]:
    """The languages in Latin letters; the scripts of the others; the letters that only one language writes; and the
    languages whose stop word, month, weekday or word for a day near today a word is."""
    latin = [language for language, data in languages().items() if "script" not in data]
    scripts = [(one, re.compile(data["script"])) for one, data in languages().items() if "script" in data]
    letters = [(letter, one) for one, data in languages().items() for letter in data.get("letters", "")]
    by_word: dict[str, list[str]] = {}
    for language in latin:
        days = (
            *word_numbers("time", "months", language=language),
            *word_numbers("time", "weekdays", language=language),
        )
        near = (
            word
            for listed in tables("time", "days", language=language)
            for said in listed.values()
            for word in said.split("|")
        )
        named = {word for word in (*days, *near) if len(word) >= MIN_DAY_CHARS}
        for word in word_set("stop_words", language=language) | named:
            by_word.setdefault(word, []).append(language)
    return latin, scripts, letters, by_word


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, lower case, also as they are read and as they are typed without accents."""
    if is_unspaced(language):
        return frozenset()
    listed = word_set("stop_words", language=language)
    return listed.union(map(strip_accents, listed), words(" ".join(listed)))


def content_words(text: str, language: str) -> list[str]:
    """The words of a question without the stop words, each once, in order and lower case."""
    if is_unspaced(language):
        text = _unspaced_stop_words(language).sub(" ", text)
    little = stop_words(language)
    return list(dict.fromkeys(word for word in words(text) if word not in little and not _PARTICLE.fullmatch(word)))


def is_unspaced(language: str) -> bool:
    """Whether words of a language cling together, so that texts are read in pieces of them."""
    return "unspaced" in languages().get(language, {})


@cache
def _unspaced_stop_words(language: str) -> re.Pattern[str]:
    """Where words cling together stop words are strings to cut out, the longest first."""
    listed = word_set("stop_words", language=language)
    return re.compile("|".join(sorted(map(re.escape, listed), key=len, reverse=True)))


@lru_cache(maxsize=65536)
def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of a lower-case word, without accents; the word itself where a language has none."""
    if len(word) > MAX_STEMMED_CHARS:
        return word
    if language == "he":
        return _HEBREW_ENDING.sub("", word)
    stemmer = _stemmers.find(language)
    if stemmer is None:
        return strip_accents(word)
    if language == "de" and len(word) >= MIN_NAME_CHARS and word.endswith(_GENITIVES):  # Annas, Ottos: no word's ending
        word = word[:-1]
    stemmed: str = stemmer.stemWord(word)
    if language == "tr":  # ı typed as i spoils the vowel harmony by which endings are known
        stemmed = min(stemmed, stemmer.stemWord(word.replace("i", "ı")), key=len)
    return strip_accents(stemmed or word)


class _Stemmers(threading.local):
    """The stemmers of one thread: each works on the word that it was given last, whoever gave it."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def find(self, language: str) -> Any:
        """That of a language; None if it has none."""
        if language not in self._known:
            import snowballstemmer  # most of the time that importing this module would take

            found = map(snowballstemmer.stemmer, tables("stemmer", language=language))
            self._known[language] = next(found, None)
        return self._known[language]


_stemmers = _Stemmers()
