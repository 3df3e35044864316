"""Markdown notes with frontmatter, also of Obsidian and Logseq. Tags and wikilinks in the text stay in place.

Callouts of Obsidian are the writer's words in the form of a quotation."""

import re
from pathlib import Path

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of
from plugins.readers.common.origin import find_placeholder
from plugins.readers.markup import logseq

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
    if logseq.is_page(path, text):
        return [logseq.convert(path, text)]
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
    """The heading of level 1 at the start of a text, or None; only links, pictures and marks may come before it."""
    lines = iter(text.split("\n"))
    for line in lines:
        if (heading := _HEADING.match(line)) is not None:
            return heading[1].rstrip().removesuffix(" #").rstrip()
        if _BODY.match(line):
            return line.strip() if _UNDERLINE.match(next(lines, "")) else None
    return None


def open_callouts(text: str) -> str:
    """The text with each callout as a bold title and plain lines. Line numbers stay the same."""
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
