"""RTF: its text without formats; a citation names the paragraph."""

from __future__ import annotations

import re
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.laid_out import LaidOut

_TITLE = re.compile(r"\{\\title ([^{}\\]{1,300})\}")
_WRITTEN = re.compile(r"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_ASIDE = re.compile(r"\{(?:\\\*)?\\(?:footnote|annotation|shptxt|header[lrf]?|footer[lrf]?)(?![a-z])")
_SHAPE = re.compile(r"\\shp(?![a-z])|\\\*\\shpinst(?![a-z])")
_UNSEEN = re.compile(  # a group of deleted or hidden text
    r"\{(?:\\\*?[a-z]{1,30}-?\d{0,9} ?){0,30}?\\(?:deleted|v)(?![a-z0-9])(?:\\[{}]|[^{}])*\}"
)
_HEAD = 64 * 1024  # characters in which the format is declared


def read(path: Path, data: bytes) -> list[Document]:
    if not data.startswith(b"{\\rtf"):
        raise Unreadable("not RTF")
    striprtf = import_library("striprtf.striprtf", "striprtf")
    written = data.decode("cp1252", "replace")
    text = LaidOut()
    seen = _SHAPE.sub("", _ASIDE.sub(r"{\\par ", _UNSEEN.sub("", written)))  # the library skips notes and edges
    for number, line in enumerate(striprtf.rtf_to_text(seen, errors="replace").split("\n"), 1):
        text.add(line, number)
    title = _TITLE.search(written, 0, _HEAD)
    days = ["-".join((year, month.zfill(2), day.zfill(2))) for year, month, day in _WRITTEN.findall(written[:_HEAD])]
    return [text.close(title[1] if title else None, parse_date(max(days)) if days else None)]
