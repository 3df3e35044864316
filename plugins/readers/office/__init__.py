"""The zips of office documents and books, checked before anything is unpacked."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from memory.time.dates import with_local_zone
from plugins.readers import MIB, Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.archive import DAMAGED

MAX_MEMBERS = 20_000
MAX_UNPACKED = 512 * MIB  # all members together, pictures included
MAX_TREE = 32 * MIB  # XML that is loaded as a tree, which takes about ten times that
ENCRYPTED = "encrypted; save it without its password"

_STRICT = b"http://purl.oclc.org/ooxml/"
_STRICT_NAME = re.compile(re.escape(_STRICT) + rb"(\w+)/")
_USUAL_NAME = rb"http://schemas.openxmlformats.org/\1/2006/"
_XML = (".xml", ".rels", ".xhtml", ".html", ".htm")
# Creation dates of the templates of python-docx and python-pptx, which other programs use, too.
_TEMPLATE_DATES = (datetime(2013, 12, 23, 23, 15), datetime(2013, 1, 27, 9, 14, 16), datetime(2013, 1, 27, 9, 15, 58))
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@contextmanager
def open_package(data: bytes, what: str, most: int = MAX_TREE) -> Iterator[zipfile.ZipFile]:
    """Yields the zip of a document; no member unpacks to more than it declares. Raises Unreadable: not a zip, with a
    password, more than MAX_UNPACKED, XML of more than `most` bytes, or damaged, as is found while it is read."""
    if data.startswith(_OLE):
        raise Unreadable(f"{ENCRYPTED}; or from an Office before 2007: save it as {what}")
    try:
        with zipfile.ZipFile(BytesIO(data)) as package:
            _check_size(package, what, most)
            yield package
    except RecursionError:  # which is a RuntimeError
        raise
    except (*DAMAGED, LookupError, ValueError) as error:
        raise Unreadable(f"a damaged {what} file: {error}") from error


def _check_size(package: zipfile.ZipFile, what: str, most: int) -> None:
    members = package.infolist()
    if any(member.flag_bits & 1 for member in members):
        raise Unreadable(ENCRYPTED)
    if len(members) > MAX_MEMBERS:
        raise Unreadable(f"a {what} file of {len(members):,} parts; the limit is {MAX_MEMBERS:,}")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED:
        raise Unreadable(
            f"unpacked it has {unpacked // MIB:,} MiB; {MAX_UNPACKED // MIB:,} MiB of a {what} file are read"
        )
    text = sum(member.file_size for member in members if PurePosixPath(member.filename).suffix.lower() in _XML)
    if text > most:
        raise Unreadable(f"its text unpacks to {text // MIB:,} MiB; the limit is {most // MIB:,} MiB for a {what} file")


def loosen(data: bytes) -> bytes:
    """Returns an Office document in the usual namespaces: libraries do not know those of "Strict Open XML"."""
    with zipfile.ZipFile(BytesIO(data)) as package:
        if "_rels/.rels" not in package.namelist() or _STRICT not in package.read("_rels/.rels"):
            return data
        target = BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as loose:
            for name in package.namelist():
                content = package.read(name)
                loose.writestr(name, _STRICT_NAME.sub(_USUAL_NAME, content) if name.endswith(_XML) else content)
    return target.getvalue()


def read_relations(package: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Returns (kind, path or address) of each relation of a part of an Office document, by its id."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    relations = parse_xml(package.read(path)) if path in package.namelist() else ()
    targets = {}
    for relation in relations:
        target = relation.get("Target", "")
        if relation.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        targets[relation.get("Id", "")] = relation.get("Type", "").rpartition("/")[2], target
    return targets


def find_date(at: datetime | None) -> datetime | None:
    """Returns the stated time of the last change; None if it is that of an empty template."""
    return None if at is None or at.replace(tzinfo=None) in _TEMPLATE_DATES else with_local_zone(at)


def name_of(element: Any) -> str:
    """Returns the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute_of(element: Any, name: str) -> str:
    """Returns an attribute by its name in any namespace; "" if it or the element is missing."""
    attributes = element.attrib.items() if element is not None else ()
    return next((value for key, value in attributes if key.rpartition("}")[2] == name), "")


def parse_xml(data: bytes) -> Any:
    """Returns the root of XML without entity declarations. Raises ValueError for other XML."""
    trees = import_library("defusedxml.ElementTree", "defusedxml")
    try:
        return trees.fromstring(data)
    except SyntaxError as error:
        raise ValueError(str(error)) from error
