"""What a word is, in any script: how a text is read for full text, and a question for the words to look up.

Full text splits at spaces and ignores the accents of Latin letters only. So what is written without spaces (Chinese,
Japanese, Thai ...) and Korean, whose particles cling to their words, is read as short overlapping pieces; Greek and
Semitic vowel marks, which writers leave out at will, are dropped; and so is what Arabic and Hebrew put before a noun.
Text and question are read alike. Latin, Cyrillic and Indic texts are read as they are, but for the letters that SQLite
does not know to be accented ones.

Beside these, letters and digits that are written in several ways, and text that any file and any database can hold.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SURROGATE = re.compile(r"[\ud800-\udfff]")
INDIC = "\u0900"  # from here on marks make another word: vowel signs of India and Thailand, ゛ of Japan
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
# Accents to their readers, letters of their own to Unicode and SQLite.
LETTER_FOLDS = str.maketrans("ıłøđŁØĐ", "ilodLOD")

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA, _KATAKANA, _HANGUL = "\u3041-\u3096\u309d-\u309f", "\u30a1-\u30fa\u30fc-\u30ff", "\uac00-\ud7a3"
_THAI, _LAO, _BURMESE = "\u0e01-\u0e3a\u0e40-\u0e4e", "\u0e81-\u0edf", "\u1000-\u1049\u1050-\u109f"
_PIECED = (_HAN, _HIRAGANA, _KATAKANA, _HANGUL, _THAI, _LAO, _BURMESE, "\u1780-\u17d3")  # the last is Khmer
SYLLABLE_NGRAM_CHARS = 2  # where a character is a syllable or a word
SOUND_NGRAM_CHARS = 3  # where a character is a sound

# Python's \w has no vowel signs; without them Hindi and Thai words would fall apart.
_SIGNS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u109d"
    "\u17b4-\u17d3\u200c\u200d\u3099\u309a"
)
LONG_WORD = 32  # characters; a longer run without a space (an address, base64) counts as several words

# Scripts that write without spaces between words: Thai to Khmer, kana, Chinese. Two characters make a word.
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
# Article and prepositions, and with them any letters like them, so that a word is the same with and without.
_HEBREW = re.compile(r"\b[והבלכמש]+(?=[\u05d0-\u05ea]{3})")
TASK_STATES = "TODO|NEXT|WAITING|STARTED|DONE|CANCELL?ED"  # how a task of an outline begins, as a pattern
TASK_DAYS = "SCHEDULED|DEADLINE|CLOSED"  # and before the day on which it is to be done, or was
# Lines of an event as the reader of calendars writes them: first its time; the rule and the days by which it recurs.
EVENT_TIME = re.compile(r"When: \d{4}-\d\d-\d\d")
EVENT_RECURS = re.compile(r"(?:Also|Not) on: \d{4}-\d\d-\d\d.*|Repeats: FREQ=.*")
LINK = re.compile(r"!?\[\[(?:[^][|\n]*\|)?([^][\n]*)\]\]|!?\[([^][\n]*)\]\([^)\s]*\)|<?\bhttps?://\S+")
_LETTERS = re.compile(f"[{''.join(map(chr, LETTER_FOLDS))}]")


def replace_surrogates(text: str) -> str:
    """`text` with U+FFFD in place of lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def to_nfc(text: str) -> str:
    """`text` with "é" as one character, where some systems write two; the same object if it is so already."""
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def ascii_digits(text: str) -> str:
    """`text` with the digits of any script, and full-width letters and marks, in ASCII; no character moves."""
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text.translate(_WIDE))


def strip_accents(text: str) -> str:
    """`text` without the accents that people leave out when they type: of Latin, Greek, Cyrillic, Semitic letters."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text.translate(LETTER_FOLDS))
    return unicodedata.normalize("NFC", "".join(c for c in parts if c >= INDIC or not unicodedata.combining(c)))


class Term(str):
    """A word to look up, with the other `forms` it may stand in; a form that ends in * stands for all words that begin
    so. Each is looked up beside the word itself."""

    __slots__ = ("forms",)
    forms: tuple[str, ...]

    def __new__(cls, word: str, forms: tuple[str, ...] = ()) -> Term:
        term = super().__new__(cls, word)
        term.forms = forms
        return term


def index_form(text: str) -> str:
    """`text` as full text reads it; the same object if that is the text itself."""
    if text.isascii():
        return text
    text = to_nfc(text)
    if _LETTERS.search(text):
        text = text.translate(LETTER_FOLDS)
    if not _OTHER.search(text):
        return text
    return _RUN.sub(lambda run: f" {' '.join(_pieces(run[0], rest=True))} ", _plain(text))


def words(text: str) -> Iterator[str]:
    """The words of a question or a text in order, lower case, each as it can be looked up. A piece that is too short to
    be one, as a lone Chinese character, is a Term that stands for all that begin with it."""
    if text.isascii() or not _OTHER.search(text := to_nfc(text)):
        yield from WORD.findall(text.lower())
        return
    for word in WORD.findall(_plain(text).lower()):
        place = 0
        for run in _RUN.finditer(word):
            if run.start() > place:
                yield word[place : run.start()]
            full = _size(run[0])
            for piece in _pieces(run[0]):
                yield piece if len(piece) == full else Term(piece, (f"{piece}*",))
            place = run.end()
        if place < len(word):
            yield word[place:]


def _plain(text: str) -> str:
    """`text` without what is dropped, uncut."""
    return _HEBREW.sub("", _ARTICLE.sub("", _MARKED.sub(_unmarked, unicodedata.normalize("NFKC", text))))


def drop_optional_accents(text: str) -> str:
    """`text` without the marks that writers leave out at will: of Greek, Semitic letters and ё."""
    return text if text.isascii() else _LOOSE.sub(lambda run: _without_marks(run[0]), text)


def _size(run: str) -> int:
    return SOUND_NGRAM_CHARS if run[0] < "\u2000" else SYLLABLE_NGRAM_CHARS


def _pieces(run: str, rest: bool = False) -> Iterator[str]:
    """The overlapping pieces of a run; with `rest` also its last characters, so that each begins some piece."""
    size = _size(run)
    last = len(run) - size
    yield from (run[i : i + size] for i in range(max(1, last + 1)))
    if rest:
        yield from (run[i:] for i in range(max(1, last + 1), len(run)))


def _unmarked(match: re.Match[str]) -> str:
    return _without_marks(match[0]).translate(_SEMITIC_LETTERS)


def _without_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def count_words(text: str) -> int:
    """The length of a text in words of a language with spaces, about: also for text that has none."""
    words = len(text.split())
    if not text.isascii():
        words += len(_UNSPACED.findall(text)) // 2
    return max(words, len(text) // LONG_WORD)


def lines_around(text: str, start: int, end: int) -> str:
    """The lines of a text in which the characters from `start` to `end` stand."""
    stop = text.find("\n", max(start, end - 1))
    return text[text.rfind("\n", 0, start) + 1 : len(text) if stop < 0 else stop]


def show_links(text: str) -> str:
    """`text` in one line, with the names of links in place of the links."""
    return " ".join(LINK.sub(lambda link: link[1] or link[2] or link[0], text).split())
