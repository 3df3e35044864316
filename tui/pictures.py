"""Pictures in notes: found by the links of a note, and drawn in half blocks, two colours a cell.

Half blocks are text: they need no escape sequences, which differ between terminals and which the last filter removes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from daemon import wire
from tui.wording import is_file

SUFFIXES = frozenset(".png .jpg .jpeg .gif .webp .bmp .tif .tiff .svg .heic .avif".split())
MAX_PIXELS = 60_000_000  # more are not decoded: they would take the memory of the chat
MAX_LOOKED_AT = 20_000  # files of a folder that are looked through for a name
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")  # whatever a file is called: others start programs (EPS)
HALF = "▀"
_SHOWN = re.compile(
    r"!\[\[(?P<wiki>[^\[\]|#\n]{1,300})[^\[\]\n]{0,100}\]\]"
    r"|!\[[^\]\n]{0,300}\]\(\s{0,3}<?(?P<link>[^()<>\n\"]{1,500}?)>?(?:\s+\"[^\"\n]{0,300}\")?\s{0,3}\)"
    r"|<img\s[^>]{0,300}?\bsrc=[\"'](?P<html>[^\"'\n]{1,500})[\"']",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"[a-z][a-z\d+.-]+:", re.IGNORECASE)

Colour = tuple[int, int, int]


class PictureError(Exception):
    """A picture cannot be shown; the message is for the person."""


def list_pictures(text: str, uri: str) -> tuple[str, ...]:
    """The pictures linked in a passage, as written there; for a source that is a picture, its path. Without remote
    ones: nothing is fetched."""
    own = [wire.file_of(uri)] if Path(wire.file_of(uri)).suffix.lower() in SUFFIXES else []
    targets = (match["wiki"] or unquote(match["link"] or match["html"]) for match in _SHOWN.finditer(text))
    names = (name.strip() for name in targets if not _ELSEWHERE.match(name))
    return tuple(dict.fromkeys([*own, *(name for name in names if Path(name).suffix.lower() in SUFFIXES)]))


def find_picture(name: str, uri: str, folders: Iterable[str]) -> Path:
    """The file of a linked picture: next to the note, in a watched folder above it, or anywhere in that by its name, as
    in Obsidian. Only files of these folders are found. Raises PictureError."""
    note = Path(wire.file_of(uri))
    if not note.is_absolute():
        raise PictureError("This comes from a chat or a remembered note, which has no files.")
    roots = [Path(folder) for folder in folders if note.is_relative_to(folder)]
    allowed = [place.resolve() for place in (note.parent, *roots)]
    for place in _list_places(name, note, roots):
        if is_file(place) and any(place.resolve().is_relative_to(root) for root in allowed):
            return place
    raise PictureError("There is no such file next to the note or in its folder.")


def _list_places(name: str, note: Path, roots: Iterable[Path]) -> Iterator[Path]:
    yield note.parent / name
    for root in roots:
        yield root / name.lstrip("/")
    filename = Path(name).name
    for root in roots:
        n_files = 0
        for folder, inner, files in os.walk(root):
            inner[:] = [folder_name for folder_name in inner if not folder_name.startswith(".")]
            if filename in files:
                yield Path(folder, filename)
            if (n_files := n_files + len(files)) > MAX_LOOKED_AT:
                break


def draw_picture(path: Path, columns: int, rows: int, background: Colour) -> list[Strip]:
    """A picture of at most `columns` by `rows` cells, with a background for transparency. May take a second. Raises
    PictureError."""
    try:
        pil, ops = import_module("PIL.Image"), import_module("PIL.ImageOps")
    except ImportError as error:
        raise PictureError("Drawing pictures needs Pillow, of the extra `readers`") from error
    try:
        with warnings.catch_warnings(action="ignore"), pil.open(path, formats=FORMATS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise PictureError(f"It is too large to be drawn: {opened.width:,} by {opened.height:,}.")
            opened.draft("RGB", (columns * 2, rows * 4))  # a photo need not be decoded in full
            picture = ops.exif_transpose(opened).convert("RGBA")
            picture.thumbnail((columns, rows * 2))
            canvas = pil.new("RGBA", (picture.width, picture.height + picture.height % 2), (*background, 255))
            canvas.alpha_composite(picture)
            return list(_draw(canvas.convert("RGB")))
    except PictureError:
        raise
    except Exception as error:  # of damaged files Pillow raises many kinds
        raise PictureError("It cannot be drawn: it is damaged, or in an unknown format.") from error


def _draw(picture: Any) -> Iterator[Strip]:
    for y in range(0, picture.height, 2):
        pairs = ((picture.getpixel((x, y)), picture.getpixel((x, y + 1))) for x in range(picture.width))
        yield Strip((Segment(HALF, _style(*pair)) for pair in pairs), picture.width).simplify()


def _style(upper: Colour, lower: Colour) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))


def open_in_viewer(path: Path) -> None:
    """Opens a file as the desktop does, and does not wait for it. Raises PictureError."""
    try:
        if sys.platform == "win32":
            os.startfile(path)
        else:
            command = "open" if sys.platform == "darwin" else "xdg-open"
            subprocess.Popen(
                [command, str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    except OSError as error:
        raise PictureError(f"No program opens pictures: {error.strerror}.") from error
