"""The drawing of a small graph: where everything stands, and how one goes about in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from daemon.drawing.canvas import Canvas
from daemon.drawing.layout import Edge, Graph, Layout, Node, lay_out, needed_rows
from tests.tui.test_hostile import FORBIDDEN, HOSTILE
from tui.app import STYLES
from tui.widgets.graph import GraphView

LABELS = st.text("ab 漢字🦭e\u0301—", max_size=30)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(0, 30))
    ids = st.integers(0, max(0, size - 1))
    nodes = tuple(Node(n, draw(LABELS), draw(st.floats(0, 1))) for n in range(size))
    edges = tuple(Edge(*ends, draw(LABELS)) for ends in draw(st.lists(st.tuples(ids, ids), max_size=40)))
    roots = tuple(draw(st.lists(ids, max_size=3)))
    return Graph(nodes, edges, roots, tuple(map(tuple, draw(st.lists(st.lists(ids, max_size=4), max_size=2)))))


@given(graphs(), st.integers(1, 130), st.integers(1, 30), st.booleans())
def test_labels_stand_inside_and_never_on_each_other(graph: Graph, width: int, height: int, centred: bool) -> None:
    layout = lay_out(graph, width, height, centred)
    for box in layout.boxes:
        assert 0 <= box.x <= width - box.width and 0 <= box.y < height
    for one, other in combinations(layout.boxes, 2):
        assert one.y != other.y or one.x + one.width <= other.x or other.x + other.width <= one.x
    drawn = [box.node.id for box in layout.boxes if box.node is not None]
    assert len(drawn) == len(set(drawn))
    assert len(drawn) == len(graph.nodes) or height < needed_rows(graph, width, centred)
    assert layout == lay_out(graph, width, height, centred)
    assert all(0 <= x < width and 0 <= y < height for x, y in Canvas.from_layout(layout, width, height).cells)


def sea(*paths: tuple[Hashable, ...]) -> Graph:
    names = {"signal": "fog signal", "beatrice": "Beatrice", "mayor": "the mayor", "belt": "the belt", "ozzie": "Ozzie"}
    edges = (
        Edge("signal", "beatrice", "is called"), Edge("beatrice", "mayor", "sounded for"),
        Edge("signal", "belt", "needs"), Edge("ozzie", "belt", "has"),
    )  # fmt: skip
    return Graph(tuple(Node(id, name) for id, name in names.items()), edges, ("signal",), paths)


def text_of(layout: Layout) -> dict[Hashable, str]:
    return {box.node.id: box.text for box in layout.boxes if box.node is not None}


def test_a_label_says_what_led_to_it_and_in_which_direction() -> None:
    assert text_of(lay_out(sea(), 100, 10)) == {
        "signal": "○ fog signal",
        "beatrice": "is called → ○ Beatrice",
        "mayor": "sounded for → ○ the mayor",
        "belt": "needs → ○ the belt",
        "ozzie": "← has ○ Ozzie",
    }
    centred = text_of(lay_out(sea(), 120, 10, centred=True))
    assert centred["beatrice"] == "is called → ○ Beatrice"
    assert centred["belt"] == "○ the belt ← needs" and centred["ozzie"] == "○ Ozzie has →"


def test_columns_are_distances_from_the_roots() -> None:
    layout = lay_out(sea(), 100, 10)
    columns = {box.node.id: box.column for box in layout.boxes if box.node is not None}
    assert columns == {"signal": 0, "beatrice": 1, "belt": 1, "mayor": 2, "ozzie": 2}


def test_what_won_is_drawn_last_and_never_left_out() -> None:
    nodes = tuple(Node(n, f"node {n}", weight=1 - n / 100) for n in range(40))
    graph = Graph(nodes, tuple(Edge(0, n) for n in range(1, 40)), (0,), ((0, 39),))
    layout = lay_out(graph, 80, 10)
    drawn = {box.node.id for box in layout.boxes if box.node is not None}
    assert drawn == {*range(9), 39}
    assert [box.label for box in layout.boxes if box.node is None] == ["+30 more"]
    assert [line.on_path for line in layout.lines] == [False] * 8 + [True]


def test_a_line_that_won_is_thicker() -> None:
    plain, won = (Canvas.from_layout(lay_out(sea(*paths), 80, 8), 80, 8) for paths in ((), [("signal", "beatrice")]))
    ink = [sum(bin(ord(canvas.cell(x, y)) - 0x2800).count("1") for x, y in canvas.cells) for canvas in (plain, won)]
    assert ink[1] > ink[0]
    assert any(won.is_strong(x, y) for x, y in won.cells) and not any(plain.is_strong(x, y) for x, y in plain.cells)


class Sheet(App[None]):
    CSS_PATH = STYLES

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.view = GraphView(graph)

    def compose(self) -> ComposeResult:
        yield self.view

    def text(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.screen._compositor.render_strips())


@asynccontextmanager
async def drawing(graph: Graph) -> AsyncIterator[tuple[Sheet, Pilot[None]]]:
    sheet = Sheet(graph)
    async with sheet.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        yield sheet, pilot


async def test_a_graph_that_grows_is_drawn_again() -> None:
    async with drawing(sea()) as (sheet, pilot):
        more = sea()
        nodes, edges = (*more.nodes, Node("dog", "a dog")), (*more.edges, Edge("ozzie", "dog", "owns"))
        sheet.view.show(Graph(nodes, edges, more.roots))
        await pilot.pause()
        assert "owns → ○ a dog" in sheet.text()
        sheet.view.show(Graph())
        await pilot.pause()
        assert "dog" not in sheet.text()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_names_are_shown_as_text(text: str) -> None:
    graph = Graph((Node(1, text), Node(2, f"{text} too")), (Edge(1, 2, text),))
    async with drawing(graph) as (sheet, _):
        assert sheet.return_code is None and not FORBIDDEN.search(sheet.text().replace("\n", ""))
