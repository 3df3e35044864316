"""Markdown notes with frontmatter, also of Obsidian and Logseq. Tags and wikilinks in the text stay in place."""

import re
from pathlib import Path

from memory.nouns import Document
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of
from plugins.readers.markup import logseq, obsidian

_BODY = re.compile(r" {0,3}(?:```|~~~)|(?!\s*(?:[#<!\[]|[*_-]+\s*$)).*\w")  # no tag, picture, link or rule
_HEADING = re.compile(r" {0,3}#[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}=+\s*$")


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    if logseq.is_page(path, text):
        return [logseq.convert(path, text)]
    text = obsidian.open_callouts(text)
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
