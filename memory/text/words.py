"""Words in any script: the index form of a text, the terms of a question, names of documents.

SQLite's full text splits at spaces and ignores the accents of Latin letters only. So unspaced scripts (Chinese,
Japanese, Thai ...) and Korean, whose particles are suffixes, are indexed as short overlapping pieces; optional marks of
Greek, Semitic letters and ё, and the prefixes of Arabic and Hebrew nouns are dropped. Text and question get the same
form. Latin, Cyrillic and Indic texts change only in accented letters that SQLite does not know."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SURROGATE = re.compile(r"[\ud800-\udfff]")
INDIC = "\u0900"  # marks from here on distinguish words: vowel signs of India and Thailand, ゛ of Japan
_OPTIONAL_MARK = re.compile(f"[{''.join(filter(unicodedata.combining, map(chr, range(0x300, ord(INDIC)))))}]")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
# Accents for readers, separate letters for Unicode and SQLite.
LETTER_FOLDS = str.maketrans("ıłøđŁØĐ", "ilodLOD")

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA, _KATAKANA, _HANGUL = "\u3041-\u3096\u309d-\u309f", "\u30a1-\u30fa\u30fc-\u30ff", "\uac00-\ud7a3"
_THAI, _LAO, _BURMESE = "\u0e01-\u0e3a\u0e40-\u0e4e", "\u0e81-\u0edf", "\u1000-\u1049\u1050-\u109f"
_PIECED = (_HAN, _HIRAGANA, _KATAKANA, _HANGUL, _THAI, _LAO, _BURMESE, "\u1780-\u17d3")  # the last is Khmer
SYLLABLE_NGRAM_CHARS = 2  # a character is a syllable or a word
SOUND_NGRAM_CHARS = 3  # a character is a sound

# Python's \w excludes vowel signs; Hindi and Thai words would be split.
_SIGNS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u109d"
    "\u17b4-\u17d3\u200c\u200d\u3099\u309a"
)
LONG_WORD = 32  # characters; a longer run without a space (an address, base64) counts as several words

# Scripts without spaces: Thai to Khmer, kana, Chinese. Two characters make a word.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

WORD = re.compile(rf"[\w{_SIGNS}]+")
LETTER = rf"(?:[^\W\d_]|[{_SIGNS}])"

UNSPACED = re.compile(f"[{''.join(_PIECED)}]+")
_RUN = re.compile("|".join(f"[{script}]+" for script in _PIECED))
_SEMITIC = "\u0590-\u05ff\u0610-\u061a\u0620-\u065f\u066e-\u06d3"
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_OTHER = re.compile(rf"[{_GREEK}{_SEMITIC}{''.join(_PIECED)}\u1100-\u11ff\u0401\u0451\uff01-\uffdc]")
_MARKED = re.compile(rf"[{_GREEK}{_SEMITIC}\u0401\u0451\u0300-\u036f]+")
_LOOSE = re.compile(rf"[{_GREEK}{_SEMITIC}\u0401\u0451]+")
_SEMITIC_LETTERS = str.maketrans("أإآٱىةםןץףך", "اااايهמנצפכ", "ـ")
_ARTICLE = re.compile(r"\b(?:[وف]?[بك]?ال|[وف]?لل)(?=[\u0620-\u064a]{3})")
# Article and prepositions, and with them letters that look alike, so that a word is the same with and without.
_HEBREW = re.compile(r"\b[והבלכמש]+(?=[\u05d0-\u05ea]{3})")
TASK_STATES = "TODO|NEXT|WAITING|STARTED|DONE|CANCELL?ED"  # start of a task in an outline, as a pattern
TASK_DAYS = "SCHEDULED|DEADLINE|CLOSED"  # before the due day of a task, or its day of completion
# Lines of an event as the calendar reader writes them: its time, then its rule and days of recurrence.
EVENT_TIME = re.compile(r"When: \d{4}-\d\d-\d\d")
EVENT_RECURS = re.compile(r"(?:Also|Not) on: \d{4}-\d\d-\d\d.*|Repeats: FREQ=.*")
LINK = re.compile(r"!?\[\[(?:[^][|\n]*\|)?([^][\n]*)\]\]|!?\[([^][\n]*)\]\([^)\s]*\)|<?\bhttps?://\S+")
_LETTERS = re.compile(f"[{''.join(map(chr, LETTER_FOLDS))}]")


def replace_surrogates(text: str) -> str:
    """Returns `text` with U+FFFD in place of lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def to_nfc(text: str) -> str:
    """Returns `text` with "é" as one character instead of two; the same object if nothing changes."""
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def ascii_digits(text: str) -> str:
    """Returns `text` with digits of any script and full-width characters in ASCII; no character moves."""
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text.translate(_WIDE))


def strip_accents(text: str) -> str:
    """Returns `text` without optional accents of Latin, Greek, Cyrillic and Semitic letters."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text.translate(LETTER_FOLDS))
    return unicodedata.normalize("NFC", _OPTIONAL_MARK.sub("", parts))


class Term(str):
    """A word to look up, and its other `forms`, each looked up as well; a form that ends in * is a prefix."""

    __slots__ = ("forms",)
    forms: tuple[str, ...]

    def __new__(cls, word: str, forms: tuple[str, ...] = ()) -> Term:
        term = super().__new__(cls, word)
        term.forms = forms
        return term


def index_form(text: str) -> str:
    """Returns `text` in the form of the full-text index; the same object if nothing changes."""
    if text.isascii():
        return text
    text = to_nfc(text)
    if _LETTERS.search(text):
        text = text.translate(LETTER_FOLDS)
    if not _OTHER.search(text):
        return text
    return _RUN.sub(lambda run: f" {' '.join(_cut_pieces(run[0], rest=True))} ", _drop_marks(text))


def words(text: str) -> list[str]:
    """Returns the terms of a question or text in order, lower case. A piece shorter than a word, such as a single
    Chinese character, is a Term for all words that begin with it."""
    if text.isascii() or not _OTHER.search(text := to_nfc(text)):
        return WORD.findall(text.lower())
    return list(_split_unspaced(text))


def _split_unspaced(text: str) -> Iterator[str]:
    for word in WORD.findall(_drop_marks(text).lower()):
        place = 0
        for run in _RUN.finditer(word):
            if run.start() > place:
                yield word[place : run.start()]
            full = _choose_piece_size(run[0])
            for piece in _cut_pieces(run[0]):
                yield piece if len(piece) == full else Term(piece, (f"{piece}*",))
            place = run.end()
        if place < len(word):
            yield word[place:]


def _drop_marks(text: str) -> str:
    """Returns `text` without dropped marks, not yet split."""
    text = unicodedata.normalize("NFKC", text)
    text = _MARKED.sub(lambda run: _strip_marks(run[0]).translate(_SEMITIC_LETTERS), text)
    return _HEBREW.sub("", _ARTICLE.sub("", text))


def drop_optional_accents(text: str) -> str:
    """Returns `text` without optional marks: of Greek, Semitic letters and ё."""
    return text if text.isascii() else _LOOSE.sub(lambda run: _strip_marks(run[0]), text)


def _choose_piece_size(run: str) -> int:
    return SOUND_NGRAM_CHARS if run[0] < "\u2000" else SYLLABLE_NGRAM_CHARS


def _cut_pieces(run: str, rest: bool = False) -> Iterator[str]:
    """Returns the overlapping pieces of a run; `rest`: also its last characters, so that each begins a piece."""
    size = _choose_piece_size(run)
    last = len(run) - size
    yield from (run[i : i + size] for i in range(max(1, last + 1)))
    if rest:
        yield from (run[i:] for i in range(max(1, last + 1), len(run)))


def _strip_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def count_words(text: str) -> int:
    """Returns the approximate length of a text in words, also for unspaced scripts."""
    words = len(text.split())
    if not text.isascii():
        words += len(_UNSPACED.findall(text)) // 2
    return max(words, len(text) // LONG_WORD)


def lines_around(text: str, start: int, end: int) -> str:
    """Returns the lines of a text that contain the characters [start, end)."""
    stop = text.find("\n", max(start, end - 1))
    return text[text.rfind("\n", 0, start) + 1 : len(text) if stop < 0 else stop]


def show_links(text: str) -> str:
    """Returns `text` in one line, with links replaced by their names."""
    return " ".join(LINK.sub(lambda link: link[1] or link[2] or link[0], text).split())


# Versions of documents by their names: "Rates v2.md" is a version of "Rates.md". -----------------------------------

_VERSION = re.compile(r"[\s_.(\[-]+(?:v|ver|version|rev)[.\s]?(?P<number>\d+(?:\.\d+)*)[)\]]?$", re.IGNORECASE)

Version = tuple[int, ...]


def split_version(name: str) -> tuple[str, Version]:
    """Returns (name without its version, version): "Rates v2" is version (2,) of "Rates". Without one: (1,)."""
    match = _VERSION.search(name)
    if match is None or not match.start():
        return name, (1,)
    return name[: match.start()], tuple(map(int, match["number"].split(".")))


def document_of(uri: str) -> tuple[str, str, Version]:
    """Returns (uri without version and suffix, suffix, version)."""
    folder, slash, name = uri.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    base, version = split_version(stem if dot else name)
    return f"{folder}{slash}{base}", dot + suffix if dot else "", version


def added_words(uri: str, title: str) -> frozenset[str]:
    """Returns the words in the name of a file that its title does not have, without digits and single letters: "ola" in
    "Ola Berg.md" of "Berg"."""
    name, of_title = (frozenset(words(strip_accents(text))) for text in (document_of(uri)[0].rpartition("/")[2], title))
    return frozenset(word for word in name - of_title if word.isalpha() and len(word) > 1)
