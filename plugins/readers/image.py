"""Pictures: what is told of them (day, camera, coordinates, title, description), and the text that tesseract finds in
them where it is installed. Photos of a camera are not searched for text: there are many, and each takes seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.laid_out import LaidOut
from plugins.readers.libraries import import_library

TESSERACT = "tesseract"
OCR_SECONDS = 40
MAX_PIXELS = 60_000_000
MAX_SIDE = 3000  # pixels that are looked at for text; larger pictures are made smaller
LEAST_SIDE = 60  # an icon has no text
MAX_LANGUAGES = 3
NO_WORDS = (
    "a picture without a day, a place or words told of it; text in pictures is read where tesseract is installed"
    " (apt install tesseract-ocr, brew install tesseract)"
)
NO_TEXT = "a picture without a day, a place or words told of it, in which tesseract found no text"

_TAKEN, _OFFSET, _CHANGED, _COMMENT = 0x9003, 0x9011, 0x0132, 0x9286
_EXIF, _GPS = 0x8769, 0x8825
_MAKE, _MODEL, _ARTIST, _DESCRIPTION = 0x010F, 0x0110, 0x013B, 0x010E
_WINDOWS = {"title": 0x9C9B, "description": 0x9C9C, "keywords": 0x9C9E}  # in UTF-16
_IPTC = {
    "title": (2, 5),
    "description": (2, 120),
    "keywords": (2, 25),
    "by": (2, 80),
    "where": (2, 90),
    "land": (2, 101),
}
_PNG = {"title": "Title", "description": "Description", "by": "Author", "comment": "Comment"}


def read(path: Path, data: bytes) -> list[Document]:
    library = import_library("PIL.Image", "Pillow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            picture = library.open(BytesIO(data))
            told = _tell(picture)
        except (OSError, ValueError, SyntaxError, library.DecompressionBombError) as error:
            raise Unreadable(f"a damaged picture: {error}") from error
        is_photo = "camera" in told
        found = "" if is_photo else _find_text(picture)
    if not found and not told:
        raise Unreadable(NO_TEXT if shutil.which(TESSERACT) and not is_photo else NO_WORDS)
    out = LaidOut()
    for line in _write_sentences(told):
        out.add(line, 1)
    for line in found.split("\n"):
        out.add(f"> {line}" if line else "", 1, apart=False)
    at = told.get("at")
    document = out.close(told.get("title") or path.stem, at if isinstance(at, datetime) else None)
    return [replace(document, tags=tuple(one.replace(" ", "-") for one in _split_list(told.get("keywords"))))]


def _write_sentences(told: dict[str, Any]) -> Iterator[str]:
    """What is told of a picture, as sentences: fields would be facts about something called IMG_2041."""
    title, description = told.get("title"), told.get("description")
    if title:
        yield f"**{title}**"
    if description and description != title:
        yield description
    parts = []
    if "at" in told:
        parts.append(f"on {told['at']:%Y-%m-%d} at {told['at']:%H:%M}")
    place = ", ".join(filter(None, (told.get("where"), told.get("land"))))
    coordinates = told.get("coordinates", "")
    if place or coordinates:
        within = f"in {place}" if place else ""
        parts.append(" ".join(filter(None, (within, f"at {coordinates}" if coordinates else ""))))
    if "camera" in told:
        parts.append(f"with {told['camera']}")
    by = f"by {told['by']}" if "by" in told else ""
    if parts or by:
        said = " ".join(filter(None, ("taken" if parts else "", *parts, by)))
        yield f"{said[0].upper()}{said[1:]}."
    if told.get("comment"):
        yield told["comment"]
    if keywords := _split_list(told.get("keywords")):
        yield " ".join(f"#{one.replace(' ', '-')}" for one in keywords)


def _tell(picture: Any) -> dict[str, Any]:
    """What its file tells of a picture."""
    exif = picture.getexif()
    inner, place = exif.get_ifd(_EXIF), exif.get_ifd(_GPS)
    told: dict[str, Any] = {
        "description": _decode_text(exif.get(_DESCRIPTION)),
        "by": _decode_text(exif.get(_ARTIST)),
        "camera": _name_camera(_decode_text(exif.get(_MAKE)), _decode_text(exif.get(_MODEL))),
        "comment": _decode_text(inner.get(_COMMENT)),
        "coordinates": _show_coordinates(place),
        "at": _parse_moment(_decode_text(inner.get(_TAKEN)), _decode_text(inner.get(_OFFSET))),
    }
    for name, tag in _WINDOWS.items():
        told[name] = told.get(name) or _decode_text(exif.get(tag), "utf-16-le")
    for name, key in _PNG.items():
        told[name] = told.get(name) or _decode_text(picture.info.get(key))
    for name, value in _read_iptc(picture).items():
        told[name] = told.get(name) or value
    for name, value in _read_xmp(picture).items():
        told[name] = told.get(name) or value
    return {name: value for name, value in told.items() if value}


def _read_iptc(picture: Any) -> dict[str, Any]:
    plugin = import_library("PIL.IptcImagePlugin", "Pillow")
    try:
        held = plugin.getiptcinfo(picture) or {}
    except Exception:  # of what some programs leave there it raises many kinds
        return {}
    found = {name: held.get(key) for name, key in _IPTC.items()}
    return {
        name: [_decode_text(one) for one in value] if isinstance(value, list) else _decode_text(value)
        for name, value in found.items()
    }


def _read_xmp(picture: Any) -> dict[str, Any]:
    """Title, description and keywords that are told in XML, which is read without entities."""
    try:
        held = picture.getxmp() if hasattr(picture, "getxmp") else {}
    except Exception:  # whatever is wrong with the XML
        return {}
    found = held.get("xmpmeta", {}).get("RDF", {}).get("Description", {}) if isinstance(held, dict) else {}
    merged: dict[str, Any] = {}
    for one in found if isinstance(found, list) else [found]:
        merged |= one if isinstance(one, dict) else {}
    names = {"title": "title", "description": "description", "keywords": "subject"}
    values = {name: [*_find_strings(merged.get(key))] for name, key in names.items()}
    return {name: value if name == "keywords" else " ".join(value[:1]) for name, value in values.items()}


def _find_strings(value: Any) -> Iterator[str]:
    """The words in what XML became: {"Alt": {"li": {"lang": "x-default", "text": "..."}}}."""
    if isinstance(value, str):
        yield " ".join(value.split())
    elif isinstance(value, list):
        for one in value:
            yield from _find_strings(one)
    elif isinstance(value, dict):
        for key in ("Alt", "Bag", "Seq", "li", "text"):
            yield from _find_strings(value.get(key))


def _decode_text(value: Any, encoding: str = "utf-8") -> str:
    if isinstance(value, tuple):
        value = bytes(one for one in value if isinstance(one, int) and 0 <= one < 256)
    if isinstance(value, bytes):
        value = value.removeprefix(b"ASCII\x00\x00\x00").removeprefix(b"UNICODE\x00").decode(encoding, "replace")
    return " ".join(str(value).replace("\x00", "").split())[:2000] if value is not None else ""


def _split_list(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else str(value or "").replace(";", ",").split(",")
    return [one.strip() for one in parts if one.strip()]


def _name_camera(make: str, model: str) -> str:
    return model if model.lower().startswith(make.lower()) else f"{make} {model}".strip()


def _parse_moment(taken: str, offset: str) -> datetime | None:
    """The time of `2026:03:09 10:15:00`, of this machine's zone if no `offset` is told."""
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
    """The text in a picture; "" if there is none, or no program that finds it."""
    program = shutil.which(TESSERACT)
    width, height = picture.size
    if program is None or min(width, height) < LEAST_SIDE or width * height > MAX_PIXELS:
        return ""
    try:
        shown = picture.convert("L")
        shown.thumbnail((MAX_SIDE, MAX_SIDE))
    except (OSError, ValueError, SyntaxError):  # it breaks off: what is told of it is known all the same
        return ""
    packed = BytesIO()
    shown.save(packed, "PNG", compress_level=1)
    found = _run(program, ["stdin", "stdout", "-l", _list_languages(program)], packed.getvalue())
    lines = [" ".join(line.split()) for line in found.split("\n")]
    words = [line if sum(map(str.isalnum, line)) > 1 else "" for line in lines]
    return "\n".join(line for place, line in enumerate(words) if line or (place and words[place - 1])).strip()


@cache
def _list_languages(program: str) -> str:
    """Those that are installed, as tesseract takes them."""
    listed = _run(program, ["--list-langs"], b"").split("\n")[1:]
    known = [one.strip() for one in listed if one.strip() and one.strip() not in ("osd", "equ", "snum")]
    return "+".join(known[:MAX_LANGUAGES]) or "eng"


def _run(program: str, arguments: list[str], given: bytes) -> str:
    try:
        alone = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        done = subprocess.run(
            [program, *arguments], input=given, capture_output=True, timeout=OCR_SECONDS, check=False, env=alone
        )
    except (subprocess.TimeoutExpired, OSError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    suffixes = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp")
    told = "Pictures: what is told of them, and text in them where tesseract is installed"
    register(Reader("image", suffixes, told, read, 50 * MIB, programs=(TESSERACT,)))
