"""Language data, and what needs it: language identification, stop words, stems.

All knowledge of single languages is in `data/`, one file each: stop words, month names, question words. A new language
is a new file. All files are loaded on first use (5 ms). A guess of the language is cheap and may be wrong; it selects
the stop words and endings of a search."""

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
MAX_STEMMED_CHARS = 64  # longer words have no stem
MIN_DAY_CHARS = 5  # shorter names of months and weekdays are ambiguous: "mar"
MIN_SENTENCE_STOP_WORDS = 2  # of one language, next to a name in another script: "Where is 東京タワー?"
MIN_NAME_CHARS, _GENITIVES = 5, ("as", "is", "os")  # German names in the genitive
_PARTICLE = re.compile("[\u3041-\u3096은는이가을를에의로도와과만]")  # Japanese, then Korean ones, on their own
_HEBREW_ENDING = re.compile("(?<=[\u05d0-\u05ea]{2})(?:ימ|ות)$|(?<=[\u05d0-\u05ea]{3})[התינכו]$")


@cache
def languages() -> dict[str, dict[str, Any]]:
    """Returns the tables of each language by its code (ISO 639-1), likelier ones first."""
    by_code = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in DATA.glob("*.toml")}
    return dict(sorted(by_code.items(), key=lambda item: (item[1]["rank"], item[0])))


def tables(*path: str, language: str | None = None) -> list[Any]:
    """Returns the values under the keys `path` in each language that has them, or in one `language`."""
    values: list[Any] = list(languages().values()) if language is None else [languages().get(language, {})]
    for key in path:
        values = [table[key] for table in values if key in table]
    return values


@cache
def word_set(*path: str, language: str | None = None) -> frozenset[str]:
    """Returns the words listed under `path`."""
    return frozenset(word for listed in tables(*path, language=language) for word in listed.split())


@cache
def stem_set(*path: str) -> frozenset[str]:
    """Returns the stems of the words listed under `path`, each by the rules of its language."""
    return frozenset(stem(word, code) for code in languages() for word in word_set(*path, language=code))


@cache
def word_numbers(*path: str, first: int = 0, language: str | None = None) -> dict[str, int]:
    """Returns the index of each word in the lists under `path`, such as months, counted from `first`."""
    return {
        word: number
        for listed in tables(*path, language=language)
        for number, written in enumerate(listed, first)
        for word in written.split()
    }


@cache
def alternatives(*path: str, language: str | None = None) -> str:
    """Returns the regular expressions under `path` joined by "|", without a group."""
    return "|".join(pattern.replace("\n", "") for pattern in tables(*path, language=language))


def guess_language(text: str, least: int = 1) -> str:
    """Returns the language of a text (ISO 639-1): by its script, else by the most stop words and letters. A Latin text
    with fewer than `least` of them is English: "Bo" is a name, and a stop word of Polish."""
    language, hits = _find_likeliest(text)
    return language if hits >= least else ENGLISH


@lru_cache(maxsize=64)  # several readers ask for the same passage
def _find_likeliest(text: str) -> tuple[str, int]:
    """Returns (likeliest language, number of its stop words and letters, or maxsize if it is certain)."""
    latin, scripts, letters, by_word = _read_identification()
    lowered = to_nfc(text.lower())
    hits = dict.fromkeys(latin, 0)
    for word in set(WORD.findall(lowered)):
        for language in by_word.get(word, ()):
            hits[language] += 1
    if not text.isascii():
        for letter, language in letters:
            hits[language] += letter in lowered
    best = max(hits, key=hits.__getitem__)  # English of equals
    if not text.isascii() and hits[best] < MIN_SENTENCE_STOP_WORDS:
        for language, script in scripts:
            if script.search(text):
                return language, sys.maxsize
    return (best, hits[best]) if hits[best] > hits[ENGLISH] else (ENGLISH, hits[ENGLISH])


@cache
def _read_identification() -> tuple[
    list[str], list[tuple[str, re.Pattern[str]]], list[tuple[str, str]], dict[str, list[str]]
]:
    """Returns (languages in Latin letters; scripts of the others; letters of a single language; {stop word, month,
    weekday or word for a nearby day: its languages})."""
    latin = [language for language, data in languages().items() if "script" not in data]
    scripts = [(code, re.compile(data["script"])) for code, data in languages().items() if "script" in data]
    letters = [(letter, code) for code, data in languages().items() for letter in data.get("letters", "")]
    by_word: dict[str, list[str]] = {}
    for language in latin:
        days = (
            *word_numbers("time", "months", language=language),
            *word_numbers("time", "weekdays", language=language),
        )
        near = (
            word
            for listed in tables("time", "days", language=language)
            for pattern in listed.values()
            for word in pattern.split("|")
        )
        named = {word for word in (*days, *near) if len(word) >= MIN_DAY_CHARS}
        for word in word_set("stop_words", language=language) | named:
            by_word.setdefault(word, []).append(language)
    return latin, scripts, letters, by_word


@cache
def stop_words(language: str) -> frozenset[str]:
    """Returns the stop words of a language in lower case, also as index words and without accents."""
    if is_unspaced(language):
        return frozenset()
    listed = word_set("stop_words", language=language)
    return listed.union(map(strip_accents, listed), words(" ".join(listed)))


def content_words(text: str, language: str) -> list[str]:
    """Returns the distinct words of a question without stop words, in order and lower case."""
    if is_unspaced(language):
        text = _compile_unspaced_stops(language).sub(" ", text)
    little = stop_words(language)
    return list(dict.fromkeys(word for word in words(text) if word not in little and not _PARTICLE.fullmatch(word)))


def is_unspaced(language: str) -> bool:
    """Whether a language writes without spaces between words, so that texts are read in pieces."""
    return "unspaced" in languages().get(language, {})


@cache
def _compile_unspaced_stops(language: str) -> re.Pattern[str]:
    """Returns pattern of the stop words of an unspaced language, longest first."""
    listed = word_set("stop_words", language=language)
    return re.compile("|".join(sorted(map(re.escape, listed), key=len, reverse=True)))


@lru_cache(maxsize=65536)
def stem(word: str, language: str = ENGLISH) -> str:
    """Returns the stem of a lower-case word, without accents; the word itself in a language without a stemmer."""
    if len(word) > MAX_STEMMED_CHARS:
        return word
    if language == "he":
        return _HEBREW_ENDING.sub("", word)
    stemmer = _find_stemmer(language)
    if stemmer is None:
        return strip_accents(word)
    if language == "de" and len(word) >= MIN_NAME_CHARS and word.endswith(_GENITIVES):  # a German name; no word ends so
        word = word[:-1]
    stemmed: str = stemmer.stemWord(word)
    if language == "tr":  # ı typed as i breaks the vowel harmony by which endings are recognized
        stemmed = min(stemmed, stemmer.stemWord(word.replace("i", "ı")), key=len)
    return strip_accents(stemmed or word)


_stemmers = threading.local()  # a stemmer keeps state and is not thread-safe


def _find_stemmer(language: str) -> Any:
    """Returns the stemmer of a language, or None."""
    known = _stemmers.__dict__
    if language not in known:
        import snowballstemmer  # most of the import time of this module

        known[language] = next(map(snowballstemmer.stemmer, tables("stemmer", language=language)), None)
    return known[language]
