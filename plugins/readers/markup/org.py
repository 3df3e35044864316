"""Org-mode outlines, rewritten as Markdown line by line; every line keeps its number."""

import re
from pathlib import Path

from memory.nouns import Document
from memory.text.words import TASK_STATES
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of

_KEYWORD = re.compile(r"\s*#\+(\w+):\s*(.*)")
_BLOCK = re.compile(r"\s*#\+(begin|end)_(\w+)\s*(\S*).*$", re.IGNORECASE)
_HEADLINE = re.compile(r"(\*+)\s+(.*)")
_TAGS = re.compile(r"\s:([\w@#%:]+):$")
_DRAWER = re.compile(r"\s*:([\w-]+):\s*$")
_PROPERTY = re.compile(r"\s*:([\w+-]+):\s+(.*)")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\[([^\[\]]+)\]\]")
_RULE = re.compile(r"\s*\|[-+|]+\|?\s*$")
_CODE = ("src", "example")
_LOGGED = re.compile(r'\s*(?:CLOCK: ?\[|- State "[^"]+" +from )')  # drawers that Org itself writes
_COMMENT = re.compile(r"\s*#(?:\s|$)")
_PLANNED = re.compile(r"(?<=[>\]])[ \t]+(?=(?:SCHEDULED|DEADLINE|CLOSED): ?[<\[])")
_STATE_KEYS = ("todo", "seq_todo", "typ_todo")
_STATE = re.compile(r"[^\s(|]+|\|")
_OF_FILE = ("title", "date")  # properties of the document
_FOR_ORG = re.compile(  # keywords and properties that only Org reads
    r"(?:attr|latex|html|beamer|odt|export|archive|header|log|custom_id|cookie)(?:[_-].*|$)"
    r"|(?:results|name|tblfm|options|startup|tags|columns|include|setupfile|macro|call|plot|bind|link|priorities"
    r"|constants|property|visibility|logging|ordered|noblocking|last_repeat|repeat_to_state|style|unnumbered)$"
)


def read(path: Path, data: bytes) -> list[Document]:
    outline = _Outline()
    for number, line in enumerate(text_of(data).split("\n"), 1):
        for kept in outline.take(line):
            outline.kept.append(kept)
            outline.numbers.append(number)
    properties = outline.properties
    return [
        Document(
            uri="",
            text="\n".join(outline.kept),
            title=properties.get("title"),
            at=date_of(properties),
            properties={key: value for key, value in properties.items() if key not in _OF_FILE},
            tags=tuple(dict.fromkeys((*outline.tags, *frontmatter.tags(properties)))),
            lines=tuple(outline.numbers),
        )
    ]


class _Outline:
    """Rewrites the lines of an outline, one after the other."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.numbers: list[int] = []
        self.properties: dict[str, str] = {}
        self.tags: list[str] = []
        self._states: dict[str, str] = {}  # task states of the file; True for DONE, False for TODO
        self._block = ""  # the open block whose lines are not Org markup
        self._in_properties = False
        self._has_heading = False
        self._indent: int | None = None  # indent of the text below a headline: no meaning in Org, code in Markdown

    def take(self, line: str) -> list[str]:
        """Returns the Markdown lines for a line: none, one, or one per planned day."""
        if (block := _BLOCK.match(line)) is not None:
            name, begins = block[2].lower(), block[1].lower() == "begin"
            if name in (*_CODE, "comment") and self._block in ("", name):
                self._block = name if begins else ""
                return [] if name == "comment" else [f"```{block[3]}" if begins else "```"]
            return [line] if self._block in _CODE else []
        if self._block:
            return [] if self._block == "comment" else [line]
        if self._in_properties:
            self._in_properties = line.strip().upper() != ":END:"
            return self._rewrite_field(line)
        if (drawer := _DRAWER.match(line)) is not None:
            self._in_properties = drawer[1].upper() == "PROPERTIES"
            return []
        if _LOGGED.match(line) is not None or _COMMENT.match(line) is not None:
            return []
        if (keyword := _KEYWORD.match(line.rstrip())) is not None:
            return self._rewrite_keyword(keyword[1].lower(), keyword[2])
        if (headline := _HEADLINE.match(line.rstrip())) is not None:
            self._has_heading, self._indent = True, None
            return [self._rewrite_headline(headline)]
        own = len(line) - len(line.lstrip(" "))
        self._indent = own if self._indent is None and line.strip() else self._indent
        return [_rewrite(part) for part in _PLANNED.split(line[min(own, self._indent or 0) :])]

    def _rewrite_field(self, line: str) -> list[str]:
        """Returns a property of the file, or a field below a headline."""
        pair = _PROPERTY.match(line.rstrip())
        if pair is None:
            return []
        key = pair[1].lower().rstrip("+")
        if not self._has_heading:
            self.properties.setdefault(key, pair[2])
        elif key != "id" and not _FOR_ORG.match(key):
            return [_rewrite(f"{key.replace('_', ' ').capitalize()}: {pair[2]}")]
        return []

    def _rewrite_keyword(self, key: str, value: str) -> list[str]:
        if key == "filetags":
            self.tags += [tag for tag in re.split(r"[:\s]+", value) if tag]
        elif key in _STATE_KEYS:
            states = _STATE.findall(re.sub(r"\([^()]*\)", "", value))
            done = states.index("|") if "|" in states else len(states) - 1
            self._states |= {state: "DONE" if place >= done else "TODO" for place, state in enumerate(states)}
        elif key == "caption":
            return [_rewrite(value)]
        elif not _FOR_ORG.match(key):
            self.properties[key] = " ".join(filter(None, (self.properties.get(key), value)))
        return []

    def _rewrite_headline(self, headline: re.Match[str]) -> str:
        """Returns a headline; a task state of this file becomes TODO or DONE with a tag."""
        words = _TAGS.sub(lambda match: "".join(f" #{tag}" for tag in match[1].split(":") if tag), headline[2])
        state, _, task = words.partition(" ")
        if state in self._states and not re.fullmatch(TASK_STATES, state):
            words = f"{self._states[state]} {task} #{state}"
        return _rewrite(f"{'#' * min(6, len(headline[1]))} {words}")


def _rewrite(line: str) -> str:
    return line.replace("+", "|") if _RULE.match(line) else _LINK.sub(r"[\2](\1)", line)
