"""Subtitles as sentences and paragraphs; a citation names the time at which a sentence begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import NamedTuple

from memory.nouns import UNKNOWN, Document
from plugins.readers import Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import LaidOut

PAUSE = 4.0  # seconds of silence that end a paragraph
MAX_SENTENCE_CHARS = 240  # of captions without punctuation
MAX_PARAGRAPH_CHARS = 900

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_SPAN = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_SPOKEN_BY = re.compile(r"<v(?:\.[\w.-]{1,40})?\s+([^<>\n]{1,80})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>|<\d[\d:.]{3,12}>|\{\\[^{}\n]{0,80}\}")
_NAME = re.compile(r"(?P<name>[A-ZÀ-Þ][A-ZÀ-Þ .'’-]{1,30}|\[[^\[\]\n]{2,30}\]):\s+(?=\S)")
_SOUND = re.compile(r"[\s♪♫#*-]*(?:[\[(][^\[\]()\n]{1,80}[\])][\s♪♫#*-]*)*$")
_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_TITLE = re.compile(r"WEBVTT[ \t]+(?:-[ \t]*)?(\S.*)")


class _Cue(NamedTuple):
    """Words shown from second `start` to `end`, and their speaker, "" for the one before."""

    start: float
    end: float
    words: str
    speaker: str = ""


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    cues = [*_drop_repeats(_parse(text))]
    if not cues:
        raise Unreadable("subtitles without a word")
    title = _TITLE.match(text)
    speakers = {cue.speaker for cue in cues if cue.speaker}
    out = LaidOut()
    for paragraph in _join_paragraphs(cues):
        for sentence in paragraph:
            out.add(sentence.words, max(1, int(sentence.start)), apart=False)
        out.add("", max(1, int(paragraph[-1].start)))
    document = out.close(title[1].strip() if title else path.stem)
    return [replace(document, speaker=cues[0].speaker if len(speakers) == 1 and cues[0].speaker else UNKNOWN)]


def _parse(text: str) -> Iterator[_Cue]:
    """Yields the cues of SubRip and WebVTT: a line with two times, then lines up to a blank one."""
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        span = _SPAN.match(lines[place])
        place += 1
        if span is None:
            continue
        parts = []
        while place < len(lines) and lines[place].strip() and not _SPAN.match(lines[place]):
            parts.append(lines[place])
            place += 1
        if place < len(lines) and _SPAN.match(lines[place]) and parts and parts[-1].strip().isdigit():
            parts.pop()  # the number of the next cue
        yield from _make_cues(_count_seconds(span.groups()[:4]), _count_seconds(span.groups()[4:]), parts)


def _count_seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, rest = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(rest.ljust(3, "0")) / 1000


def _make_cues(start: float, end: float, lines: Sequence[str]) -> Iterator[_Cue]:
    """Yields the cues for the lines of one cue, without sounds; two speakers, each after a dash, make two."""
    speaker = ""
    is_dialogue = sum(line.lstrip().startswith(("-", "–")) for line in lines) > 1
    words: list[str] = []
    for line in lines:
        if (voice := _SPOKEN_BY.search(line)) is not None:
            speaker = voice[1].strip()
        bare = " ".join(unescape(_TAG.sub("", line)).split())
        if _SOUND.match(bare):
            continue
        if (name := _NAME.match(bare)) is not None:
            speaker = name["name"].strip("[]").title()
            bare = bare[name.end() :]
        if is_dialogue and words and bare.startswith(("-", "–")):
            yield _Cue(start, end, " ".join(words), speaker)
            words = []
        words.append(bare.lstrip("-– ") if is_dialogue else bare)
    if words:
        yield _Cue(start, end, " ".join(words), speaker)


def _drop_repeats(cues: Iterator[_Cue]) -> Iterator[_Cue]:
    """Yields the cues without the words repeated from the one before, as in rolling captions."""
    before = ""
    for cue in cues:
        words = cue.words
        if before and words.startswith(before):
            words = words[len(before) :].strip()
        elif before.endswith(words):
            words = ""
        if words:
            yield cue._replace(words=words)
        before = cue.words


def _join_paragraphs(cues: Sequence[_Cue]) -> Iterator[list[_Cue]]:
    """Yields the sentences of each paragraph, each with its start time."""
    paragraph: list[_Cue] = []
    sentence: _Cue | None = None
    speaker, last, size = "", cues[0].start, 0
    for cue in cues:
        is_other = bool(cue.speaker) and cue.speaker != speaker
        if paragraph and not sentence and size > MAX_PARAGRAPH_CHARS:
            is_other = True
        if is_other or cue.start - last > PAUSE:
            if sentence:
                paragraph.append(sentence)
            if paragraph:
                yield paragraph
            paragraph, sentence, size = [], None, 0
        words = f"{cue.speaker}: {cue.words}" if is_other and cue.speaker else cue.words
        speaker, last = cue.speaker or speaker, cue.end
        sentence = sentence._replace(words=f"{sentence.words} {words}") if sentence else cue._replace(words=words)
        size += len(words)
        if _END.search(cue.words) or len(sentence.words) > MAX_SENTENCE_CHARS:
            paragraph.append(sentence)
            sentence = None
    if sentence:
        paragraph.append(sentence)
    if paragraph:
        yield paragraph
