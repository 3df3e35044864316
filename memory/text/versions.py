"""Versions of documents, as their names say: "Rates v2.md" is a version of "Rates.md"."""

import re

_VERSION = re.compile(r"[\s_.(\[-]+(?:v|ver|version|rev)[.\s]?(?P<number>\d+(?:\.\d+)*)[)\]]?$", re.IGNORECASE)

Version = tuple[int, ...]


def split_version(name: str) -> tuple[str, Version]:
    """The name of a document without the version that it ends with, and that version: "Rates v2" is version (2,) of
    "Rates". A name without one is of version (1,)."""
    match = _VERSION.search(name)
    if match is None or not match.start():
        return name, (1,)
    return name[: match.start()], tuple(map(int, match["number"].split(".")))


def document_of(uri: str) -> tuple[str, str, Version]:
    """The document that a uri is a version of: the uri without version and suffix, the suffix, and the version."""
    folder, slash, name = uri.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    base, version = split_version(stem if dot else name)
    return f"{folder}{slash}{base}", dot + suffix if dot else "", version
