"""Pictures as cameras and programs leave them, and a program that finds the same text in each."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

SAID = "Total rent due: 690 euros"
PROGRAM = f"""#!/bin/sh
if [ "$1" = --list-langs ]; then echo "List of available languages (2):"; echo deu; echo osd; else
echo "{SAID} ($4)"; echo; echo " | "; fi
"""


def make_photo(told: bool = True) -> bytes:
    picture, file = Image.new("RGB", (80, 60), "white"), BytesIO()
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "Canon", "Canon EOS 5D"
    exif.get_ifd(0x8769)[0x9003], exif.get_ifd(0x8769)[0x9011] = "2019:03:09 10:15:00", "+01:00"
    if told:
        exif[0x010E], exif[0x9C9B] = "The lamp of Gannet Head", "Lamp\0".encode("utf-16-le")
        exif[0x9C9E] = "sea;old lamps".encode("utf-16-le")
        place = exif.get_ifd(0x8825)
        place[1], place[2], place[3], place[4] = "N", (41.0, 8.0, 58.56), "W", (8.0, 36.0, 39.24)
    picture.save(file, "JPEG", exif=exif)
    return file.getvalue()


def make_drawing(told: dict[str, str] | None = None, side: int = 100) -> bytes:
    info, file = PngInfo(), BytesIO()
    for key, value in (told or {}).items():
        (info.add_itxt if key.startswith("XML") else info.add_text)(key, value)
    Image.new("RGB", (side, side)).save(file, "PNG", pnginfo=info)
    return file.getvalue()


def install_program(folder: Path) -> None:
    """Puts a tesseract into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "tesseract").write_text(PROGRAM)
    (folder / "tesseract").chmod(0o755)
