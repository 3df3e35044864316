"""Versions of documents by their names: "Rates v2.md" is a version of "Rates.md"."""

import re

from memory.text.words import strip_accents, words

_VERSION = re.compile(r"[\s_.(\[-]+(?:v|ver|version|rev)[.\s]?(?P<number>\d+(?:\.\d+)*)[)\]]?$", re.IGNORECASE)

Version = tuple[int, ...]


def split_version(name: str) -> tuple[str, Version]:
    """Returns (name without its version, version): "Rates v2" is version (2,) of "Rates". A name without one is version
    (1,)."""
    match = _VERSION.search(name)
    if match is None or not match.start():
        return name, (1,)
    return name[: match.start()], tuple(map(int, match["number"].split(".")))


def document_of(uri: str) -> tuple[str, str, Version]:
    """Returns (uri without version and suffix, suffix, version)."""
    folder, slash, name = uri.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    base, version = split_version(stem if dot else name)
    return f"{folder}{slash}{base}", dot + suffix if dot else "", version


def added_words(uri: str, title: str) -> frozenset[str]:
    """Returns the words by which the name of a file extends its title, without those with digits: "ola" in "Ola
    Berg.md" of "Berg". Empty for another name."""
    name, of_title = (frozenset(words(strip_accents(text))) for text in (document_of(uri)[0].rpartition("/")[2], title))
    return frozenset(word for word in name - of_title if word.isalpha()) if of_title <= name else frozenset()
