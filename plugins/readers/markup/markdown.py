"""Markdown notes with frontmatter, also of Obsidian and Logseq. Tags and wikilinks in the text stay in place."""

from pathlib import Path

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of
from plugins.readers.common.origin import find_placeholder
from plugins.readers.markup import logseq
from plugins.readers.markup.notes import first_heading, open_callouts


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
