"""Drawings of small graphs as text and page."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from daemon.drawing.figure import COLUMNS, draw_figure
from daemon.drawing.layout import Edge, Graph, Node
from daemon.drawing.page import Saying, draw_page
from daemon.drawing.text import draw_lines

SVG = "{http://www.w3.org/2000/svg}"
HARBOUR = Graph(
    (Node(1, "Harbour office", mark="●"), Node(2, "Old Ice House"), Node(3, "Nuria"), Node(4, "tide table", 0.4)),
    (Edge(1, 2, "lies in"), Edge(3, 1, "runs"), Edge(1, 4)),
    (1,),
)
HOSTILE = "[red]x[/red] \x1b[2J \u202eevil\u202c <img src=x onerror=alert(1)>"
EVIL = '</script><script>alert(1)</script>"onload="x'


def test_a_drawing_is_lines_of_text() -> None:
    lines = ["".join(piece.text for piece in line) for line in draw_lines(HARBOUR, 70)]
    assert all(cell_len(line) <= 70 for line in lines)
    drawn = "\n".join(lines)
    assert "● Harbour office" in drawn and "lies in → ○ Old Ice House" in drawn
    assert "○ Nuria → runs" in drawn or "runs → " in drawn or "← runs" in drawn or "○ Nuria runs →" in drawn
    roles = {piece.text: piece.role for line in draw_lines(HARBOUR, 70) for piece in line}
    assert roles["● Harbour office"] == "root" and roles["○ tide table"] == "faint"


def test_the_figure_of_a_page_is_svg_that_a_reader_can_follow() -> None:
    root = ElementTree.fromstring(draw_figure(HARBOUR, "Harbour"))
    assert root.tag == f"{SVG}svg" and root.get("role") == "img" and root.get("aria-label") == "Harbour"
    nodes = {one.get("data-id"): one for one in root.iter(f"{SVG}g")}
    assert {*nodes} == {"1", "2", "3", "4"}
    assert nodes["1"].get("class") == "root" and nodes["4"].get("class") == "node faint"
    assert [text.text for text in nodes["2"].iter(f"{SVG}text")] == ["lies in →", "Old Ice House"]
    assert {line.get("data-ends") for line in root.iter(f"{SVG}path")} == {"1 2", "3 1", "1 4"}


@given(st.lists(st.text(), min_size=1, max_size=8), st.text())
def test_whatever_things_are_called_a_figure_is_svg(names: list[str], title: str) -> None:
    nodes = tuple(Node(n, name) for n, name in enumerate(names))
    root = ElementTree.fromstring(
        draw_figure(Graph(nodes, tuple(Edge(0, n, name) for n, name in enumerate(names) if n), (0,)), title)
    )
    assert len([*root.iter(f"{SVG}g")]) == len(names)
    assert float(str(root.get("width"))) <= COLUMNS * 9 + 50


class Links(HTMLParser):
    """What a page asks for, and what is run in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.asked += [
            str(value) for name, value in attrs if name in ("src", "href", "data", "action") and value != "#"
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def test_a_page_is_whole_by_itself_and_runs_nothing_of_a_note() -> None:
    graph = Graph((Node(1, EVIL), Node(2, HOSTILE)), (Edge(1, 2, EVIL),), (1,))
    said = {"1": [Saying(EVIL, EVIL, EVIL, EVIL, "file:///n/a.md", "2"), Saying(EVIL, "", "", "", "", "99")]}
    page = draw_page(graph, EVIL, EVIL, said)
    found = Links(page)
    assert found.asked == ["file:///n/a.md"] and found.handlers == []
    assert found.tags.count("script") == found.tags.count("style") == 1
    assert {"link", "img", "iframe", "object"}.isdisjoint(found.tags)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and policy[1].startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
