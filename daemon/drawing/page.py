"""A drawing as a self-contained page: it loads no other file, and no text of a note is executed.

All texts about each node are in the page from the beginning; the script only shows and hides them.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from daemon.drawing.figure import draw_figure
from daemon.drawing.layout import Graph

HERE = Path(__file__).parent
KEYS = (
    ("← ↑ → ↓", "go to the next"), ("Home", "the middle"), ("/", "find"), ("+ −", "larger, smaller"),
    ("0", "reset the view"), ("t", "dark or light"),
)  # fmt: skip


class Saying(NamedTuple):
    """A statement about a node: `words`, the `quote` with it, its `place` with a link ("" for none). `to`: the id of
    the node at the other end."""

    words: str
    when: str
    quote: str
    place: str
    link: str
    to: str


def draw_page(graph: Graph, title: str, subtitle: str, statements: Mapping[str, Sequence[Saying]]) -> str:
    """The page. `statements`: the id of a node -> its statements."""
    script, style = ((HERE / name).read_text("utf-8") for name in ("page.js", "page.css"))
    names = {str(node.id): node.label for node in graph.nodes}
    articles = "\n".join(_write_article(id, name, statements.get(id, ()), names) for id, name in names.items())
    keys = " · ".join(f"<kbd>{escape(key)}</kbd> {escape(what)}" for key, what in KEYS)
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p>
<input type="search" placeholder="Find (/)" aria-label="Find">
<button type="button" title="Dark or light (t)">◐</button></header>
<figure>{draw_figure(graph, title)}</figure>
<aside aria-live="polite">
{articles}
</aside>
<footer>{keys}</footer>
<script>{script}</script>
</body>
</html>
"""


def _write_article(id: str, name: str, statements: Sequence[Saying], names: Mapping[str, str]) -> str:
    items = "\n".join(_write_item(statement, names) for statement in statements)
    body = f"<ul>{items}</ul>" if items else '<p class="muted">Nothing more is drawn of it.</p>'
    return f'<article data-of="{escape(id)}" hidden><h2>{escape(name)}</h2>{body}</article>'


def _write_item(item: Saying, names: Mapping[str, str]) -> str:
    other = f' <a href="#" data-to="{escape(item.to)}">{escape(names[item.to])}</a>' if item.to in names else ""
    when = f' <span class="muted">{escape(item.when)}</span>' if item.when else ""
    quote = f"<blockquote>{escape(item.quote)}</blockquote>" if item.quote else ""
    place = f'<a href="{escape(item.link)}">{escape(item.place)}</a>' if item.link else escape(item.place)
    source = f'<div class="muted">{place}</div>' if item.place else ""
    return f"<li>{escape(item.words)}{other}{when}{quote}{source}</li>"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
