"""The zips that office documents and books are: what is looked at before anything of one is unpacked."""

from __future__ import annotations

import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from memory.time.dates import with_local_zone
from plugins.readers import MIB, Unreadable
from plugins.readers.archive import DAMAGED
from plugins.readers.libraries import import_library

MAX_MEMBERS = 20_000
MAX_UNPACKED = 512 * MIB  # of all that is in one, pictures too
MAX_TREE = 32 * MIB  # of text that is held as a tree, which takes about ten times that
ENCRYPTED = "encrypted; save it without its password, and it is read"

_XML = (".xml", ".rels", ".xhtml", ".html", ".htm")
# Of the templates from which python-docx and python-pptx, and so assistants that hand out files, make documents.
_TEMPLATE_DATES = (datetime(2013, 12, 23, 23, 15), datetime(2013, 1, 27, 9, 14, 16), datetime(2013, 1, 27, 9, 15, 58))
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def open_package(data: bytes, what: str, most: int = MAX_TREE) -> zipfile.ZipFile:
    """The zip of a document, of which no member unpacks to more than it declares. Raises Unreadable: not a zip, with a
    password, more than MAX_UNPACKED, or XML of more than `most` bytes."""
    if data.startswith(_OLE):
        raise Unreadable(f"{ENCRYPTED}; or it is of an Office before 2007: save it anew as {what}")
    try:
        package = zipfile.ZipFile(BytesIO(data))
    except (*DAMAGED, ValueError) as error:
        raise Unreadable(f"a damaged {what} file: {error}") from error
    members = package.infolist()
    if any(one.flag_bits & 1 for one in members):
        raise Unreadable(ENCRYPTED)
    if len(members) > MAX_MEMBERS:
        raise Unreadable(f"a {what} file of {len(members):,} parts; {MAX_MEMBERS:,} are read")
    unpacked = sum(one.file_size for one in members)
    if unpacked > MAX_UNPACKED:
        raise Unreadable(
            f"unpacked it has {unpacked // MIB:,} MiB; {MAX_UNPACKED // MIB:,} MiB of a {what} file are read"
        )
    text = sum(one.file_size for one in members if PurePosixPath(one.filename).suffix.lower() in _XML)
    if text > most:
        raise Unreadable(f"its text unpacks to {text // MIB:,} MiB; {most // MIB:,} MiB of a {what} file are read")
    return package


def find_date(at: datetime | None) -> datetime | None:
    """The time that a document states as that of its last change; None if it is that of an empty template."""
    return None if at is None or at.replace(tzinfo=None) in _TEMPLATE_DATES else with_local_zone(at)


def name_of(element: Any) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute_of(element: Any, name: str) -> str:
    """The attribute of that name in whichever namespace; "" if there is none, or no element."""
    attributes = element.attrib.items() if element is not None else ()
    return next((value for key, value in attributes if key.rpartition("}")[2] == name), "")


def parse_xml(data: bytes) -> Any:
    """The root of XML that declares no entities. ValueError for any other."""
    trees = import_library("defusedxml.ElementTree", "defusedxml")
    try:
        return trees.fromstring(data)
    except SyntaxError as error:
        raise ValueError(str(error)) from error
