"""A question's search as a drawing that grows while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer

from daemon import wire
from daemon.terminal import flatten
from tui.widgets.plain import Plain

QUESTION = 0  # the node of the question itself: the memory numbers its own from 1
MAX_NODES = 24  # that are drawn
PASSAGE, OBJECT, NAMED = "▪", "○", "●"


class Walk:
    """The drawn visits of a question: from the start outwards, at most `MAX_NODES`, with everything that leads to a
    citation."""

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

    def rows(self) -> Iterator[tuple[str, bool]]:
        """Yields the visits as a tree, row by row, and whether the way to a citation goes through it."""
        children: dict[int, list[int]] = {}
        for visit in self.visits:
            parent = self._known.get(visit.parent or QUESTION)
            children.setdefault(parent.node_id if parent else QUESTION, []).append(visit.node_id)
        won = {id for way in self._ways for id in way}
        for lines, id in _list_rows(QUESTION, children):
            yield f"{lines}{'? question' if id == QUESTION else self._name(self._known[id])}", id in won

    def _way_to(self, id: int) -> tuple[int, ...]:
        way: list[int] = []
        visit = self._known.get(id)
        while visit is not None and visit.node_id not in way:
            way.insert(0, visit.node_id)
            visit = self._known.get(visit.parent) if visit.parent is not None else None
        return (QUESTION, *way) if way else ()

    def _name(self, visit: wire.Visit) -> str:
        """`sounded for → ○ the mayor`"""
        is_passage = visit.kind == "episode"
        relation = visit.relation
        if visit.parent not in self._known:
            relation = "words" if is_passage else "names"  # of the question
        way = f"← {relation} " if visit.inverse and visit.relation else f"{relation} → " if relation else ""
        mark = PASSAGE if is_passage else NAMED if visit.stage == "seed" else OBJECT
        return flatten(f"{way}{mark} {self._marks(visit)} {visit.label or '(no title)'}")

    def _marks(self, visit: wire.Visit) -> str:
        return "".join(f"[{n}]" for n in self._numbers.get(visit.node_id, ()))


def _list_rows(root: int, children: Mapping[int, Sequence[int]], lines: str = "") -> Iterator[tuple[str, int]]:
    """Yields each vertex from the top down, after the lines that lead to it; those of the root are `lines`."""
    yield lines, root
    before = lines.replace("├─ ", "│  ").replace("└─ ", "   ")
    branches = children.get(root, ())
    for number, child in enumerate(branches, 1):
        yield from _list_rows(child, children, f"{before}{'└─ ' if number == len(branches) else '├─ '}")


FRAME_SECONDS = 0.2  # between two drawings while it grows: typing goes first
NOT_KEPT = "The search of this question is no longer stored."


class WalkView(Vertical):
    """The stages in words, and the tree. Folded until `unfold`."""

    def __init__(self, visits: Iterable[wire.Visit] = ()) -> None:
        super().__init__()
        self.display = False
        self._told = Plain(classes="stages")
        self._tree = Plain(classes="tree")
        self._report = Plain(classes="report").hide()
        self._visits = {visit.node_id: visit for visit in visits}
        self._cited: Sequence[wire.Citation] | None = None  # None while the question runs
        self._frame: Timer | None = None  # until the next drawing while it grows

    def compose(self) -> ComposeResult:
        yield from (self._report, self._told, self._tree)

    def add(self, visit: wire.Visit) -> None:
        """Adds a visit, drawn with the next frame."""
        self._visits[visit.node_id] = visit
        if self.display and self._frame is None:
            self._frame = self.set_timer(FRAME_SECONDS, self._draw)

    def tell(self, stages: Iterable[str]) -> None:
        """Shows the stages in words."""
        self._told.update(" · ".join(stages))

    def explain(self, report: str) -> None:
        """Shows what speaks for each line of the answer."""
        self._report.update(report)
        self._report.display = True

    def settle(self, cited: Sequence[wire.Citation]) -> None:
        """Ends the question; highlights what was `cited`."""
        self._cited = cited
        self._draw()

    def unfold(self, unfolded: bool) -> None:
        self.display = unfolded
        self._draw()

    def _draw(self) -> None:
        self._frame = None
        if self.display:
            walk = Walk(self._visits.values(), self._cited or ())
            rows = (Content.styled(row, "bold $accent" if won else "") for row, won in walk.rows())
            is_lost = self._cited is not None and not walk.visits
            self._tree.update(NOT_KEPT if is_lost else Content("\n").join(rows))
