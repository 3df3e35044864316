"""Bytes to text. Every text that leaves here is valid Unicode without NUL, and "\\n" is its only line end."""

import codecs
import re

from memory.text.words import replace_surrogates
from plugins.readers import Unreadable

SNIFFED = 8192  # bytes looked at to tell a binary file, as git does

_MARKS = (  # the longer mark first: UTF-32-LE begins like UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh91AY&SY", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd", b"\x7fELF", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe",
    b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"OggS\x00", b"fLaC\x00", b"SQLite format 3\x00",
    b"{\\rtf",
)  # fmt: skip
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x08\x1b"))
_LINE_END = re.compile("\r\n?")
# Python and editors disagree whether these end a line; as spaces they cannot shift a line number.
_NO_LINE_END = str.maketrans(dict.fromkeys("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", " ") | {"\x00": None})


def is_binary(data: bytes) -> bool:
    """Whether the bytes are a program, an archive, an image or anything else that is no text."""
    if _mark(data) is not None:
        return False
    head = data[:SNIFFED]
    if head.startswith(_MAGIC) or b"\x00" in head:
        return True
    return len(head) - len(head.translate(None, _CONTROL)) > len(head) // 10


def text_of(data: bytes) -> str:
    """The text in `data`: by its byte order mark, else UTF-8, else the likeliest single-byte encoding."""
    if is_binary(data):
        raise Unreadable("binary file")
    return decode_bytes(data)


def decode_bytes(data: bytes) -> str:
    """`text_of` for bytes that are known to be text."""
    return tidy(_decode(data))


def tidy(text: str) -> str:
    """`text` with "\\n" as its only line end, without NUL characters and lone surrogates."""
    return replace_surrogates(_LINE_END.sub("\n", text).translate(_NO_LINE_END))


def _mark(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _decode(data: bytes) -> str:
    encoding = _mark(data)
    if encoding is not None:
        return data.decode(encoding, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    # A UTF-8 file with broken bytes is still UTF-8; one where most of what is not ASCII is broken never was.
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if 2 * broken <= len(text) - len(text.encode("ascii", "ignore")):
        return text
    # charset-normalizer was tried on 15 short Western, Polish and Russian texts and was right on 5, this on 12.
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
