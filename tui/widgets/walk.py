"""A question's search as a drawing that grows while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from daemon import wire
from daemon.drawing.layout import Edge, Graph, Node
from daemon.terminal import display_safe
from tui.widgets.graph import GraphView
from tui.widgets.plain import Plain

QUESTION = 0  # the node of the question itself: the memory numbers its own from 1
MAX_NODES = 24  # that are drawn
MAX_TITLE = 40  # characters of a passage's title
PASSAGE, OBJECT, NAMED = "▪", "○", "●"


class Walk:
    """The visits of a question that are drawn: from the start outwards, at most `MAX_NODES`, with everything that leads
    to a citation."""

    def __init__(self, visits: Iterable[wire.Visit] = (), cited: Sequence[wire.Citation] = ()) -> None:
        visit_of = {visit.node_id: visit for visit in visits}
        numbers: dict[int, list[int]] = {}
        for citation in cited:
            if not citation.folded:
                numbers.setdefault(citation.episode_id, []).append(citation.n)
        self._known, self._numbers = visit_of, numbers
        self._ways = [way for id in numbers if (way := self._way_to(id))]
        ids = dict.fromkeys(id for way in self._ways for id in way[1:])
        for visit in sorted(visit_of.values(), key=lambda visit: (visit.stage != "seed", -visit.score, visit.node_id)):
            ids |= dict.fromkeys(self._way_to(visit.node_id)[1:]) if len(ids) < MAX_NODES else {}
        places = {id: place for place, id in enumerate(visit_of)}
        chosen = sorted(list(ids)[:MAX_NODES], key=lambda id: (visit_of[id].depth, places[id]))
        self.visits: tuple[wire.Visit, ...] = tuple(visit_of[id] for id in chosen)

    def graph(self) -> Graph:
        """The visits as a graph, in which the ways to the citations are marked."""
        nodes = [Node(QUESTION, "question", 1.0, "?"), *map(self._node, self.visits)]
        edges = [Edge(*self._edge(visit)) for visit in self.visits]
        return Graph(tuple(nodes), tuple(edges), (QUESTION,), tuple(self._ways))

    def captions(self) -> list[str]:
        """How each cited passage was reached, a line each."""
        return [self._describe(self._known[id]) for id in self._numbers if id in self._known]

    def _describe(self, visit: wire.Visit) -> str:
        label, parent = _label(visit), self._known.get(visit.parent or QUESTION)
        if parent is None:
            how = "your question has its words" if visit.kind == "episode" else "your question names it"
        elif visit.relation:
            ends = (label, _label(parent)) if visit.inverse else (_label(parent), label)
            how = f"{ends[0]} → {visit.relation} → {ends[1]}"
        else:
            how = f"it names {_label(parent)}" if visit.kind == "episode" else f"{_label(parent)} names it"
        further = ", fetched in a later step" if visit.stage == "collected" else ""
        return f"{self._marks(visit)} {label}: {how}{further}"

    def _way_to(self, id: int) -> tuple[int, ...]:
        way: list[int] = []
        visit = self._known.get(id)
        while visit is not None and visit.node_id not in way:
            way.insert(0, visit.node_id)
            visit = self._known.get(visit.parent) if visit.parent is not None else None
        return (QUESTION, *way) if way else ()

    def _node(self, visit: wire.Visit) -> Node:
        title = visit.label or "(no title)"
        label = f"{self._marks(visit)} {title}".lstrip() if visit.kind == "episode" else title
        mark = PASSAGE if visit.kind == "episode" else NAMED if visit.stage == "seed" else OBJECT
        return Node(visit.node_id, label, min(1.0, max(0.0, visit.score)), mark)

    def _marks(self, visit: wire.Visit) -> str:
        return "".join(f"[{n}]" for n in self._numbers.get(visit.node_id, ()))

    def _edge(self, visit: wire.Visit) -> tuple[int, int, str]:
        if visit.parent is None or visit.parent not in self._known:
            return QUESTION, visit.node_id, "words" if visit.kind == "episode" else "names"
        ends = (visit.node_id, visit.parent) if visit.inverse and visit.relation else (visit.parent, visit.node_id)
        return *ends, visit.relation


def _label(visit: wire.Visit) -> str:
    """A vertex by its name; a passage by its title, in quotes."""
    if visit.kind != "episode":
        return visit.label
    title = visit.label or "a passage without a title"
    return f"“{title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + '…'}”"


FRAME_SECONDS = 0.2  # between two drawings while it grows: typing goes first
NOT_KEPT = "The search of this question is no longer stored."


class WalkView(Vertical):
    """The stages in words, the graph, and how each cited passage was reached. Folded until `unfold`."""

    def __init__(self, visits: Iterable[wire.Visit] = ()) -> None:
        super().__init__()
        self.display = False
        self._told = Plain(classes="stages")
        self._graph = GraphView()
        self._caption = Plain(classes="caption")
        self._visits = {visit.node_id: visit for visit in visits}
        self._cited: Sequence[wire.Citation] | None = None  # None while the question runs
        self._frame: Timer | None = None  # until the next drawing while it grows

    def compose(self) -> ComposeResult:
        yield from (self._told, self._graph, self._caption)

    def add(self, visit: wire.Visit) -> None:
        """Something was visited; drawn with the next frame."""
        self._visits[visit.node_id] = visit
        if self.display and self._frame is None:
            self._frame = self.set_timer(FRAME_SECONDS, self._draw)

    def tell(self, stages: Iterable[str]) -> None:
        """Shows the stages in words."""
        self._told.update(" · ".join(stages))

    def settle(self, cited: Sequence[wire.Citation]) -> None:
        """The question is over."""
        self._cited = cited
        self._draw()

    def unfold(self, unfolded: bool) -> None:
        self.display = unfolded
        self._draw()

    def _draw(self) -> None:
        self._frame = None
        if self.display:
            walk = Walk(self._visits.values(), self._cited or ())
            self._graph.show(walk.graph())
            lines = [] if self._cited is None else walk.captions() if walk.visits else [NOT_KEPT]
            self._caption.update("\n".join(display_safe(line, line=True) for line in lines))
