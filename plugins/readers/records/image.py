"""Pictures: their metadata (day, camera, coordinates, title, description) and the text that tesseract recognizes, if it
is installed. Photos of a camera are not searched for text: they are many, and each takes seconds."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.laid_out import LaidOut

TESSERACT = "tesseract"
OCR_SECONDS = 40
MAX_PIXELS = 60_000_000
MAX_SIDE = 3000  # pixels searched for text; larger pictures are scaled down
LEAST_SIDE = 60  # an icon has no text
MAX_LANGUAGES = 3
NO_WORDS = (
    "a picture without a date, place or description; its text is read if tesseract is installed"
    " (apt install tesseract-ocr, brew install tesseract)"
)
NO_TEXT = "a picture without a date, place or description, in which tesseract found no text"

_TAKEN, _OFFSET, _CHANGED, _COMMENT = 0x9003, 0x9011, 0x0132, 0x9286
_EXIF, _GPS = 0x8769, 0x8825
_MAKE, _MODEL, _ARTIST, _DESCRIPTION = 0x010F, 0x0110, 0x013B, 0x010E
_WINDOWS = {"title": 0x9C9B, "description": 0x9C9C, "keywords": 0x9C9E}  # in UTF-16
_PNG = {"title": "Title", "description": "Description", "by": "Author", "comment": "Comment"}
_XMP = {"title": "title", "description": "description", "keywords": "subject", "city": "City", "country": "Country"}


def read(path: Path, data: bytes) -> list[Document]:
    library = import_library("PIL.Image", "Pillow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            picture = library.open(BytesIO(data))
            metadata = _read_metadata(picture)
        except (OSError, ValueError, SyntaxError, library.DecompressionBombError) as error:
            raise Unreadable(f"a damaged picture: {error}") from error
        is_photo = "camera" in metadata
        text = "" if is_photo else _find_text(picture)
    if not text and not metadata:
        raise Unreadable(NO_TEXT if shutil.which(TESSERACT) and not is_photo else NO_WORDS)
    out = LaidOut()
    for line in _write_sentences(metadata):
        out.add(line, 1)
    for line in text.split("\n"):
        out.add(f"> {line}" if line else "", 1, apart=False)
    at = metadata.get("at")
    document = out.close(metadata.get("title") or path.stem, at if isinstance(at, datetime) else None)
    return [replace(document, tags=tuple(word.replace(" ", "-") for word in _split_list(metadata.get("keywords"))))]


def _write_sentences(metadata: dict[str, Any]) -> Iterator[str]:
    """Yields the metadata as sentences: fields would become facts about something named IMG_2041."""
    title, description = metadata.get("title"), metadata.get("description")
    if title:
        yield f"**{title}**"
    if description and description != title:
        yield description
    place = ", ".join(filter(None, (metadata.get("city"), metadata.get("country"))))
    phrases = (
        f"on {metadata['at']:%Y-%m-%d at %H:%M}" if "at" in metadata else "",
        f"in {place}" if place else "",
        f"at {metadata['coordinates']}" if "coordinates" in metadata else "",
        f"with {metadata['camera']}" if "camera" in metadata else "",
    )
    taken = " ".join(filter(None, phrases))
    by = f"by {metadata['by']}" if "by" in metadata else ""
    if sentence := " ".join(filter(None, ("taken" if taken else "", taken, by))):
        yield f"{sentence[0].upper()}{sentence[1:]}."
    if "comment" in metadata:
        yield metadata["comment"]
    if keywords := _split_list(metadata.get("keywords")):
        yield " ".join(f"#{keyword.replace(' ', '-')}" for keyword in keywords)


def _read_metadata(picture: Any) -> dict[str, Any]:
    """Returns the metadata of a picture; of a field in several places the first counts."""
    exif = picture.getexif()
    inner, place = exif.get_ifd(_EXIF), exif.get_ifd(_GPS)
    sources: tuple[dict[str, Any], ...] = (
        {
            "description": _decode_text(exif.get(_DESCRIPTION)),
            "by": _decode_text(exif.get(_ARTIST)),
            "camera": _name_camera(_decode_text(exif.get(_MAKE)), _decode_text(exif.get(_MODEL))),
            "comment": _decode_text(inner.get(_COMMENT)),
            "coordinates": _show_coordinates(place),
            "at": _parse_moment(_decode_text(inner.get(_TAKEN)), _decode_text(inner.get(_OFFSET))),
        },
        {name: _decode_text(exif.get(tag), "utf-16-le") for name, tag in _WINDOWS.items()},
        {name: _decode_text(picture.info.get(key)) for name, key in _PNG.items()},
        _read_xmp(picture),
    )
    return {name: value for source in reversed(sources) for name, value in source.items() if value}


def _read_xmp(picture: Any) -> dict[str, Any]:
    """Returns the fields of XMP, parsed without entities."""
    try:
        parsed = picture.getxmp()
    except Exception:  # of a kind of picture without XMP, or any error in the XML
        return {}
    descriptions = parsed.get("xmpmeta", {}).get("RDF", {}).get("Description", {})
    merged: dict[str, Any] = {}
    for description in descriptions if isinstance(descriptions, list) else [descriptions]:
        merged |= description if isinstance(description, dict) else {}
    values = {name: [*_find_strings(merged.get(key))] for name, key in _XMP.items()}
    return {name: value if name == "keywords" else " ".join(value[:1]) for name, value in values.items()}


def _find_strings(value: Any) -> Iterator[str]:
    """Yields the strings in parsed XMP: {"Alt": {"li": {"lang": "x-default", "text": "..."}}}."""
    if isinstance(value, str):
        yield " ".join(value.split())
    elif isinstance(value, list):
        for item in value:
            yield from _find_strings(item)
    elif isinstance(value, dict):
        for key in ("Alt", "Bag", "Seq", "li", "text"):
            yield from _find_strings(value.get(key))


def _decode_text(value: Any, encoding: str = "utf-8") -> str:
    if isinstance(value, tuple):
        value = bytes(byte for byte in value if isinstance(byte, int) and 0 <= byte < 256)
    if isinstance(value, bytes):
        value = value.removeprefix(b"ASCII\x00\x00\x00").removeprefix(b"UNICODE\x00").decode(encoding, "replace")
    return " ".join(str(value).replace("\x00", "").split())[:2000] if value is not None else ""


def _split_list(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else str(value or "").replace(";", ",").split(",")
    return [part.strip() for part in parts if part.strip()]


def _name_camera(make: str, model: str) -> str:
    return model if model.lower().startswith(make.lower()) else f"{make} {model}".strip()


def _parse_moment(taken: str, offset: str) -> datetime | None:
    """Returns the time of `2026:03:09 10:15:00`, local without an `offset`."""
    day, _, clock = taken.partition(" ")
    return parse_date(f"{day.replace(':', '-')}T{clock}{offset}")


def _show_coordinates(place: Any) -> str:
    try:
        north, east = (_count_degrees(place[tag + 1], place[tag]) for tag in (1, 3))
    except (KeyError, TypeError, ValueError, ZeroDivisionError, IndexError):
        return ""
    return f"{north:.5f}, {east:.5f}" if abs(north) <= 90 and abs(east) <= 180 and (north or east) else ""


def _count_degrees(parts: Any, side: Any) -> float:
    degrees, minutes, seconds = (float(part) for part in parts)
    value = degrees + minutes / 60 + seconds / 3600
    return -value if _decode_text(side).upper() in ("S", "W") else value


def _find_text(picture: Any) -> str:
    """Returns the text that tesseract finds in a picture, or ""."""
    program = shutil.which(TESSERACT)
    width, height = picture.size
    if program is None or min(width, height) < LEAST_SIDE or width * height > MAX_PIXELS:
        return ""
    try:
        scaled = picture.convert("L")
        scaled.thumbnail((MAX_SIDE, MAX_SIDE))
    except (OSError, ValueError, SyntaxError):  # a truncated picture still has its metadata
        return ""
    packed = BytesIO()
    scaled.save(packed, "PNG", compress_level=1)
    text = _run(program, ["stdin", "stdout", "-l", _list_languages(program)], packed.getvalue())
    lines = [" ".join(line.split()) for line in text.split("\n")]
    words = [line if sum(map(str.isalnum, line)) > 1 else "" for line in lines]
    return "\n".join(line for place, line in enumerate(words) if line or (place and words[place - 1])).strip()


@cache
def _list_languages(program: str) -> str:
    """Returns the installed languages in the form of tesseract's option."""
    listed = _run(program, ["--list-langs"], b"").split("\n")[1:]
    names = [line.strip() for line in listed if line.strip() and line.strip() not in ("osd", "equ", "snum")]
    return "+".join(names[:MAX_LANGUAGES]) or "eng"


def _run(program: str, arguments: list[str], stdin: bytes) -> str:
    try:
        alone = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        done = subprocess.run(
            [program, *arguments], input=stdin, capture_output=True, timeout=OCR_SECONDS, check=False, env=alone
        )
    except (subprocess.TimeoutExpired, OSError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
