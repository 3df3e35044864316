"""Text that any file and any database can hold, and letters and digits that are written in several ways."""

from __future__ import annotations

import re
import unicodedata

_SURROGATE = re.compile(r"[\ud800-\udfff]")
INDIC = "\u0900"  # from here on marks make another word: vowel signs of India and Thailand, ゛ of Japan
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
# Accents to their readers, letters of their own to Unicode and SQLite.
LETTER_FOLDS = str.maketrans("ıłøđŁØĐ", "ilodLOD")


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
