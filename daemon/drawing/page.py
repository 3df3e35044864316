"""A drawing as a page that is whole by itself: no other file is asked for, and nothing of a note is run.

What is said of each node stands in the page from the beginning; the script only chooses what is seen.
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
    ("0", "as it was"), ("t", "dark or light"),
)  # fmt: skip


class Saying(NamedTuple):
    """Something that is said of a node: `words`, the `quote` that says so, the `place` it stands in, with a link to it
    ("" for none). `to`: the id of the node at its other end."""

    words: str
    when: str
    quote: str
    place: str
    link: str
    to: str


def draw_page(graph: Graph, title: str, subtitle: str, said: Mapping[str, Sequence[Saying]]) -> str:
    """The page. `said`: the id of a node -> what is said of it."""
    script, style = ((HERE / name).read_text("utf-8") for name in ("page.js", "page.css"))
    names = {str(node.id): node.label for node in graph.nodes}
    articles = "\n".join(_article(id, name, said.get(id, ()), names) for id, name in names.items())
    keys = " · ".join(f"<kbd>{escape(key)}</kbd> {escape(what)}" for key, what in KEYS)
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'"
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


def _article(id: str, name: str, said: Sequence[Saying], names: Mapping[str, str]) -> str:
    items = "\n".join(_item(one, names) for one in said)
    body = f"<ul>{items}</ul>" if items else '<p class="muted">Nothing more is drawn of it.</p>'
    return f'<article data-of="{escape(id)}" hidden><h2>{escape(name)}</h2>{body}</article>'


def _item(of: Saying, names: Mapping[str, str]) -> str:
    other = f' <a href="#" data-to="{escape(of.to)}">{escape(names[of.to])}</a>' if of.to in names else ""
    when = f' <span class="muted">{escape(of.when)}</span>' if of.when else ""
    quote = f"<blockquote>{escape(of.quote)}</blockquote>" if of.quote else ""
    place = f'<a href="{escape(of.link)}">{escape(of.place)}</a>' if of.link else escape(of.place)
    where = f'<div class="muted">{place}</div>' if of.place else ""
    return f"<li>{escape(of.words)}{other}{when}{quote}{where}</li>"


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
