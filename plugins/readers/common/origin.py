"""Whether the owner of the memory wrote a file, whether it is a template, and whether its time is that of writing or
only of copying: a clone, an unpacked archive or a restored folder gives all files nearly the same time, while notes are
written minutes or days apart."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email.utils import parseaddr
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from memory.nouns import SOURCE_CODE, UNKNOWN, Document
from memory.text.markup import blank_fences

# Found only in the folder of a software project, whose authors are unknown.
_MANIFESTS = (
    "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "CMakeLists.txt",
    "composer.json", "Gemfile", "mix.exs", "pubspec.yaml",
)  # fmt: skip
_VAULTS = (".obsidian", "logseq", ".foam", ".dendron")  # folders of note programs
_TEMPLATE_SETTINGS = (
    ("templates.json", "folder"),
    ("plugins/templater-obsidian/data.json", "templates_folder"),
)
# What a program fills in: a command of Templater anywhere, or a placeholder as a whole heading or property.
_PLACEHOLDER = re.compile(
    r"<%[-_+*=~]*\s*tp\.[^\n]*?%>"
    r"|^(?:#{1,6}[ \t]+|[\w-]+:[ \t]*[\"']?)(\{\{[ \t]*\w+(?::[^{}\n]*)?[ \t]*\}\})[\"']?[ \t]*$",
    re.MULTILINE,
)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_MAX_DEPTH = 4  # folders above a file that can hold templates
_PROJECT_DEPTH = 2  # folders above a file that can be a project: the project and its subfolders, as docs/
_CAPITALS = re.compile(r"[A-Z_-]{6,}(?:\.(?:md|txt|rst|adoc|org))?")  # names of files that come with a program
_STATED = frozenset(("docx", "markdown", "odf", "org", "pdf", "pptx", "xlsx"))  # readers that find authors
_ADDRESS = re.compile(r"https?://\S")


def find_writer(document: Document, path: Path, reader: str) -> str | None:
    """Returns the writer of a document: None for the owner, UNKNOWN for another person, or the stated name, which may
    be the owner's. Files with a source address (`source:`, `url:`) are clippings; README and project files have other
    authors."""
    if document.speaker or document.turns:
        return document.speaker
    properties = {key.casefold(): value for key, value in document.properties.items()}
    if any(_ADDRESS.match(value) for key in ("source", "url") for value in _list_texts(properties.get(key))):
        return UNKNOWN
    if SOURCE_CODE in document.properties or _is_project_file(path):
        return UNKNOWN
    if reader not in _STATED:
        return None
    named = (parseaddr(value)[0] or value for key in ("author", "from") for value in _list_texts(properties.get(key)))
    return next(filter(None, named), None)


def is_template(path: Path) -> bool:
    """Whether a file is in a folder named for templates, or in one that the settings of its vault name."""
    folders = list(path.absolute().parents)[:_MAX_DEPTH]
    if any(re.sub(r"^[\W\d_]+", "", folder.name).casefold() == "templates" for folder in folders):
        return True
    return any(
        path.absolute().is_relative_to(folder / name) for folder in folders for name in _find_template_folders(folder)
    )


def find_placeholder(text: str) -> str:
    """Returns the first part of a note's text that a program fills in, outside of code; "" for a note that a person
    wrote."""
    if "{{" not in text and "<%" not in text:
        return ""
    match = _PLACEHOLDER.search(_INLINE_CODE.sub("", blank_fences(text)))
    return (match[1] or match[0]) if match else ""


@lru_cache(maxsize=256)
def _find_template_folders(folder: Path) -> tuple[str, ...]:
    """Returns the template folders in the settings of a vault."""
    return tuple(_read_template_folders(folder / ".obsidian")) if (folder / ".obsidian").is_dir() else ()


def _read_template_folders(settings: Path) -> Iterator[str]:
    for file, key in _TEMPLATE_SETTINGS:
        try:
            named = json.loads((settings / file).read_text("utf-8"))[key]
        except (OSError, ValueError, LookupError, TypeError):
            continue
        if isinstance(named, str) and named.strip("/. "):
            yield named.strip("/ ")


def _is_project_file(path: Path) -> bool:
    if path.stem.casefold() == "readme" or _CAPITALS.fullmatch(path.name):
        return True
    home = Path.home()
    for folder in list(path.absolute().parents)[:_PROJECT_DEPTH]:
        if folder in (home, *home.parents) or any((folder / vault).is_dir() for vault in _VAULTS):
            return False
        if _is_project(folder):
            return True
    return False


@lru_cache(maxsize=256)
def _is_project(folder: Path) -> bool:
    return any((folder / manifest).is_file() for manifest in _MANIFESTS)


def _list_texts(value: Any) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str) and item.strip()]


BURST_NS = 10 * 10**9  # between two files that one program writes
MOST_FILES = 2000  # files looked at
MOST_FOLDERS = 1000  # folders looked into
MOST_LEVELS = 8  # folders around a file that is alone
MANY = 20  # files of one burst; no person saves that many


class CopiedFolders:
    """Compares the times of files in a folder, once per folder."""

    def __init__(self) -> None:
        self._times: dict[Path, list[int]] = {}

    def holds_copy(self, path: Path, mtime_ns: int, root: Path) -> bool:
        """Whether a file last written at `mtime_ns` was copied together with most of its folder. A file alone in its
        folder is compared with the folders around it, up to `root`."""
        times: list[int] = []
        for folder in list(path.parents)[:MOST_LEVELS]:
            times = self._find_times(folder)
            if len(times) > 1 or folder == root or not folder.is_relative_to(root):
                break
        burst = count_burst(times, mtime_ns)
        return burst > 1 and (2 * burst >= len(times) or burst >= MANY)

    def _find_times(self, folder: Path) -> list[int]:
        if folder not in self._times:
            self._times[folder] = sorted(islice(_walk(folder), MOST_FILES))
        return self._times[folder]


def count_burst(times: Sequence[int], mtime_ns: int) -> int:
    """Returns the number of `times` (sorted) in the burst around one of them."""
    place = min(bisect_left(times, mtime_ns), len(times) - 1)
    if place < 0:
        return 0
    first = last = place
    while first > 0 and times[first] - times[first - 1] <= BURST_NS:
        first -= 1
    while last + 1 < len(times) and times[last + 1] - times[last] <= BURST_NS:
        last += 1
    return last - first + 1


def _walk(folder: Path) -> Iterator[int]:
    """Yields the times of the files in a folder, then of those below it, without hidden ones."""
    waiting = [str(folder)]
    for _ in range(MOST_FOLDERS):
        if not waiting:
            return
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.stat().st_mtime_ns
