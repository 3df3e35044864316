"""Markdown notes with frontmatter, also of Obsidian and Logseq. Tags and wikilinks in the text stay in place.

Callouts of Obsidian are the writer's words in the form of a quotation. A page of Logseq is an outline with properties
of pages and blocks, task states and block references."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of
from plugins.readers.common.origin import find_placeholder

_BODY = re.compile(r" {0,3}(?:```|~~~)|(?!\s*(?:[#<!\[]|[*_-]+\s*$)).*\w")  # no tag, picture, link or rule
_HEADING = re.compile(r" {0,3}#[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}=+\s*$")
_CALLOUT = re.compile(r" {0,3}(?P<quote>>[> ]*)\[!(?P<kind>[\w -]{1,40})(?:\|[^\]\n]*)?\][+-]?[ \t]*(?P<title>.*)")
_QUOTED = re.compile(r" {0,3}>[ \t]?")
_NESTED = re.compile(r"(?:[ \t]*>)*[ \t]?")


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    if placeholder := find_placeholder(text):
        raise Unreadable(f"a template: it has the placeholder {placeholder}")
    if _is_logseq(path, text):
        return [_convert_logseq(path, text)]
    text = open_callouts(text)
    block, before = frontmatter.split(text)
    properties = frontmatter.parse(block) if block is not None else None
    if properties is None:
        return [Document(uri="", text=text, title=first_heading(text))]
    body = "\n".join(text.split("\n")[before:])
    stated = properties.get("title")
    title = stated if isinstance(stated, str) and stated.strip() else first_heading(body)
    return [
        Document(
            uri="",
            text=text,  # with the frontmatter, which can be found and cited, too
            title=title,
            at=date_of(properties),
            properties=properties,
            tags=frontmatter.tags(properties),
            aliases=frontmatter.aliases(properties),
        )
    ]


def first_heading(text: str) -> str | None:
    """Returns the heading of level 1 at the start of a text, or None; only links, pictures and marks may come before
    it."""
    lines = iter(text.split("\n"))
    for line in lines:
        if (heading := _HEADING.match(line)) is not None:
            return heading[1].rstrip().removesuffix(" #").rstrip()
        if _BODY.match(line):
            return line.strip() if _UNDERLINE.match(next(lines, "")) else None
    return None


def open_callouts(text: str) -> str:
    """Returns the text with each callout as a bold title and plain lines. Line numbers stay the same."""
    if "[!" not in text:
        return text
    lines, is_inside = [], False
    for line in text.split("\n"):
        callout = _CALLOUT.match(line)
        is_inside = callout is not None or (is_inside and _QUOTED.match(line) is not None)
        if callout is not None:
            title = callout["title"].strip() or callout["kind"].strip().capitalize()
            lines.append(f"**{title}**" if "**" not in title else title)
        else:
            lines.append(_NESTED.sub("", line, count=1) if is_inside else line)
    return "\n".join(lines)


# Pages of Logseq ------------------------------------------------------------------------------

_BLOCK = re.compile(r"(?P<indent>[ \t]*)-(?:[ \t]+(?P<text>.*))?$")
_PROPERTY = re.compile(r"(?P<key>[a-zA-Z][\w-]{0,40}):: ?(?P<value>.*)$")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_OWN_MARK = re.compile(  # marks that only Logseq writes
    rf"^[ \t]*(?:(?:- )?(?:collapsed:: (?:true|false)|id:: {_UUID}|(?:logseq|query)[.\w-]*::)|:LOGBOOK:$)"
    rf"|\(\({_UUID}\)\)|{{{{(?:embed|query) ",
    re.MULTILINE,
)
_OWN_STATE = re.compile(r"^[ \t]*- (?:DOING|LATER|NOW) ", re.MULTILINE)
_JOURNAL = re.compile(r"\d{4}_\d\d_\d\d")
_STATES = {
    "TODO": "[ ]", "LATER": "[ ]", "WAITING": "[ ]", "WAIT": "[ ]", "DOING": "[/]", "NOW": "[/]", "IN-PROGRESS": "[/]",
    "DONE": "[x]", "CANCELED": "[-]", "CANCELLED": "[-]",
}  # fmt: skip
_STATE = re.compile(rf"(?P<state>{'|'.join(_STATES)})[ \t]+(?:\[#[ABC]\][ \t]*)?(?=\S)")
_REFERENCE = re.compile(rf"{{{{embed \(\((?P<embed>{_UUID})\)\)}}}}|\(\((?P<ref>{_UUID})\)\)")
_MACRO = re.compile(r"\{\{(?:query|renderer|video|cloze)\b[^{}\n]{0,400}\}\}")
_EMBED = re.compile(r"\{\{embed (\[\[[^\[\]\n]{1,200}\]\])\}\}")
_FENCE = re.compile(r"[ \t]*(?:- )?(```|~~~)")
_HIDDEN = frozenset(
    "id collapsed created-at updated-at file file-path heading background-color hl-page hl-stamp".split()
)
_BLOCK_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_OWN_ID = re.compile(rf"[ \t]+id:: ({_UUID})[ \t]*$")
_NOT_HERE = "(a block of another page)"


def _is_logseq(path: Path, text: str) -> bool:
    """Whether Logseq wrote a note: by marks that only it writes, or, if all of it is an outline, by its folder or by
    states of tasks."""
    if _OWN_MARK.search(text) is not None:
        return True
    is_journal = path.parent.name == "journals" and _JOURNAL.fullmatch(path.stem) is not None
    return (is_journal or _OWN_STATE.search(text) is not None) and _is_outline(text)


def _is_outline(text: str) -> bool:
    """Whether every line begins or continues a block, or is a property of the page."""
    has_blocks, fence = False, None
    for line in text.split("\n"):
        if (mark := _FENCE.match(line)) is not None and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        if not line.strip() or fence:
            continue
        if _BLOCK.match(line) is not None:
            has_blocks = True
        elif line[0] not in " \t" and (has_blocks or _PROPERTY.match(line) is None):
            return False
    return has_blocks


def _convert_logseq(path: Path, text: str) -> Document:
    """Returns a page of Logseq as Markdown without the lines that only Logseq reads, each line with its number."""
    lines = text.split("\n")
    block_texts = _find_blocks(lines)
    kept: list[str] = []
    numbers: list[int] = []
    properties: dict[str, str] = {}
    fence, is_log, has_begun = None, False, False
    for number, line in enumerate(lines, 1):
        if (mark := _FENCE.match(line)) is not None and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        elif fence is None:
            bare = line.strip()
            if is_log or bare == ":LOGBOOK:":
                is_log = bare != ":END:"
                continue
            block = _BLOCK.match(line)
            property = _PROPERTY.match((block["text"] or "") if block and not has_begun else bare)
            if property is not None and property["key"].lower() in _HIDDEN:
                continue
            if property is not None and not has_begun:
                properties[property["key"].lower()] = property["value"].strip()
                line = property[0]
            else:
                has_begun = has_begun or bool(bare)
                line = _rewrite_block(line, block, block_texts)
                if bare and line.strip() in ("", "-"):
                    continue
        kept.append(line)
        numbers.append(number)
    title = properties.get("title") or _make_title(path)
    stated = {key: value.replace("[[", "").replace("]]", "") for key, value in properties.items()}
    return Document(
        uri="",
        text="\n".join(kept),
        title=title,
        at=date_of(stated),
        properties=properties,
        tags=frontmatter.tags(stated),
        aliases=tuple(dict.fromkeys((*frontmatter.aliases(stated), *_find_last_name(title)))),
        lines=tuple(numbers),
    )


def _rewrite_block(line: str, block: re.Match[str] | None, block_texts: Mapping[str, str]) -> str:
    """Returns a line with its state as a box and resolved references, without queries; a heading without its bullet."""
    if block is not None and not block["indent"] and _BLOCK_HEADING.match(block["text"] or ""):
        line = block["text"] or ""
    elif block is not None and (state := _STATE.match(block["text"] or "")) is not None:
        words = (block["text"] or "")[state.end() :]
        line = f"{block['indent']}- {_STATES[state['state']]} {words}"
    if "((" in line:
        line = _REFERENCE.sub(lambda match: block_texts.get(match["embed"] or match["ref"], _NOT_HERE), line)
    return _MACRO.sub("", _EMBED.sub(r"\1", line)).rstrip() if "{{" in line else line


def _find_blocks(lines: Sequence[str]) -> dict[str, str]:
    """Returns the first line of each block with an id."""
    texts: dict[str, str] = {}
    words = ""
    for line in lines:
        if (block := _BLOCK.match(line)) is not None:
            words = block["text"] or ""
        elif (id_match := _OWN_ID.match(line)) is not None:
            texts[id_match[1]] = _REFERENCE.sub(_NOT_HERE, _STATE.sub("", words)).strip()
    return texts


def _make_title(path: Path) -> str:
    """Returns the name of a page from its file name, which encodes folders and days."""
    if _JOURNAL.fullmatch(path.stem):
        return path.stem.replace("_", "-")
    return unquote(path.stem).replace("___", "/")


def _find_last_name(title: str) -> Sequence[str]:
    """Returns the last part of a page name with folders."""
    return [title.rpartition("/")[2]] if "/" in title else []
