"""Whether the owner of the memory wrote a file, and whether the file is a template."""

import json
import re
from collections.abc import Iterator
from email.utils import parseaddr
from functools import lru_cache
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
    """The first part of a note's text that a program fills in, outside of code; "" for a note that a person wrote."""
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
