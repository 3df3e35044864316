"""Org-mode outlines, rewritten as Markdown line by line, so that every line keeps its number."""

import re
from collections.abc import Callable
from pathlib import Path

from memory.nouns import Document
from memory.text.words import TASK_STATES
from plugins.hookspecs import hookimpl
from plugins.readers import Reader, frontmatter
from plugins.readers.decode import text_of
from plugins.readers.markdown import date_of

_KEYWORD = re.compile(r"\s*#\+(\w+):\s*(.*)")
_BLOCK = re.compile(r"\s*#\+(begin|end)_(\w+)\s*(\S*).*$", re.IGNORECASE)
_HEADLINE = re.compile(r"(\*+)\s+(.*)")
_TAGS = re.compile(r"\s:([\w@#%:]+):$")
_DRAWER = re.compile(r"\s*:([\w-]+):\s*$")
_PROPERTY = re.compile(r"\s*:([\w+-]+):\s+(.*)")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\[([^\[\]]+)\]\]")
_RULE = re.compile(r"\s*\|[-+|]+\|?\s*$")
_CODE = ("src", "example")
_STATES = ("todo", "seq_todo", "typ_todo")  # keywords that list the states of tasks
_KNOWN = re.compile(TASK_STATES)
_STATE = re.compile(r"([^\s()|]+)(?:\([^()]*\))?")
_LOGGED = re.compile(r'\s*(?:CLOCK: ?\[|- State "[^"]+" +from )')  # by Org itself, as time passes
_OF_FILE = ("title", "date")  # which are the document's own
_NO_PROPERTY = ("results", "caption", "name", "header", "attr_html", "tblfm", "options", "startup")


def read(path: Path, data: bytes) -> list[Document]:
    kept: list[str] = []
    numbers: list[int] = []
    properties: dict[str, str] = {}
    tags: list[str] = []
    states: dict[str, str] = {}
    drawer = code = False
    indent: int | None = None  # of the text under a headline, which says nothing in Org, and code in Markdown
    for number, line in enumerate(text_of(data).split("\n"), 1):
        if (block := _BLOCK.match(line)) is not None:
            if block[2].lower() not in _CODE:
                continue
            code = block[1].lower() == "begin"
            line = f"```{block[3]}" if code else "```"
        elif code:
            pass
        elif drawer:
            if (pair := _PROPERTY.match(line.rstrip())) is not None:
                properties.setdefault(pair[1].lower(), pair[2])
            drawer = line.strip().upper() != ":END:"
            continue
        elif (name := _DRAWER.match(line)) is not None:
            drawer = name[1].upper() == "PROPERTIES"
            continue
        elif _LOGGED.match(line) is not None:
            continue
        elif (keyword := _KEYWORD.match(line.rstrip())) is not None:
            key = keyword[1].lower()
            if key == "filetags":
                tags += [tag for tag in re.split(r"[:\s]+", keyword[2]) if tag]
            elif key in _STATES:
                states |= _read_states(keyword[2])
            elif key not in _NO_PROPERTY:
                properties[key] = " ".join(filter(None, (properties.get(key), keyword[2])))
            continue
        elif (headline := _HEADLINE.match(line.rstrip())) is not None:
            word, _, words = headline[2].partition(" ")
            if word in states:  # of the file itself
                line = f"{headline[1]} {states[word]} {words}"
            line, indent = _markdown(line), None
        else:
            own = len(line) - len(line.lstrip(" "))
            indent = own if indent is None and line.strip() else indent
            line = _markdown(line[min(own, indent or 0) :])
        kept.append(line)
        numbers.append(number)
    return [
        Document(
            uri="",
            text="\n".join(kept),
            title=properties.get("title"),
            at=date_of(properties),
            properties={key: value for key, value in properties.items() if key not in _OF_FILE},
            tags=tuple(dict.fromkeys((*tags, *frontmatter.tags(properties)))),
            lines=tuple(numbers),
        )
    ]


def _read_states(words: str) -> dict[str, str]:
    """The states that a file lists ("WAIT(w) HOLD | SENT"), each with TODO or DONE, whatever it means; without a bar
    the last one is done."""
    opened, bar, done = words.partition("|")
    names, ended = _STATE.findall(opened), _STATE.findall(done)
    if not bar:
        names, ended = names[:-1], names[-1:]
    return {
        name: state
        for state, listed in (("TODO", names), ("DONE", ended))
        for name in listed
        if not _KNOWN.fullmatch(name)
    }


def _markdown(line: str) -> str:
    if (headline := _HEADLINE.match(line.rstrip())) is not None:
        words = _TAGS.sub(lambda match: "".join(f" #{tag}" for tag in match[1].split(":") if tag), headline[2])
        line = f"{'#' * min(6, len(headline[1]))} {words}"
    elif _RULE.match(line):
        return line.replace("+", "|")
    return _LINK.sub(r"[\2](\1)", line)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("org", (".org",), "Org-mode outlines", read, dates_parts=True, version=4))
