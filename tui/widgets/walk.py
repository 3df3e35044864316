"""A question's search as a drawing that grows while it runs and can be replayed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from daemon import wire
from daemon.drawing.layout import Edge, Graph, Node
from daemon.terminal import count, display_safe
from tui.actions import Where, bindings_of
from tui.widgets.graph import GraphView
from tui.widgets.plain import Plain

QUESTION = 0  # the node of the question itself: the memory numbers its own from 1
MAX_NODES = 24  # that are drawn
MAX_TITLE = 40  # characters of a passage's title
PASSAGE, OBJECT, NAMED = "▪", "○", "●"


def tell_stages(steps: Sequence[wire.Step], visits: Collection[wire.Visit]) -> list[str]:
    """The completed stages, a few words each: `found 3 things you named`, `searched 1,204 passages`."""
    phrases: dict[str, str] = {}
    for step in steps:
        if note := wire.SeedNote.from_step(step):
            phrases["seed"] = f"found {count(len(note.objects), 'thing')} you named" if note.objects else ""
        elif scope := wire.ScopeNote.from_step(step):
            phrases["scope"] = f"searched {count(scope.episodes, 'passage')}" if scope.episodes else ""
        elif ranked := wire.RankNote.from_step(step):
            phrases["rank"] = f"kept {ranked.episodes:,}" if ranked.episodes else ""
    if links := sum(visit.parent is not None for visit in visits):
        phrases["links"] = f"followed {count(links, 'link')}"
    if more := sum(visit.stage == "collected" for visit in visits):
        phrases["more"] = f"fetched {more:,} more"
    return [phrases[stage] for stage in ("seed", "scope", "links", "rank", "more") if phrases.get(stage)]


class Walk:
    """The visits of a question in the order in which they are drawn and replayed: from the start outwards, at most
    `MAX_NODES`, with everything that leads to a citation."""

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

    def __len__(self) -> int:
        return len(self.visits)

    def graph(self, n_shown: int, finished: bool) -> Graph:
        """The graph of the first `shown` visits; winning paths are marked when `finished`."""
        visits = self.visits[:n_shown]
        nodes = [Node(QUESTION, "question", 1.0, "?"), *map(self._node, visits)]
        edges = [Edge(*self._edge(visit)) for visit in visits]
        return Graph(tuple(nodes), tuple(edges), (QUESTION,), tuple(self._ways) if finished else ())

    def caption(self, n_shown: int) -> str:
        """The last of the first `shown` visits, and how it was reached."""
        if not n_shown:
            return "Your question."
        visit = self.visits[n_shown - 1]
        label, parent = self.label(visit), self._known.get(visit.parent or QUESTION)
        if parent is None:
            how = "your question has its words" if visit.kind == "episode" else "your question names it"
        elif visit.relation:
            ends = (label, self.label(parent)) if visit.inverse else (self.label(parent), label)
            return f"{ends[0]} → {visit.relation} → {ends[1]}"
        elif visit.kind == "episode":
            how = f"it names {self.label(parent)}"
        else:
            how = f"{self.label(parent)} names it"
        further = ", fetched in a later step" if visit.stage == "collected" else ""
        rests = f"; cited by the answer {self._marks(visit)}" if visit.node_id in self._numbers else ""
        return f"{label}: {how}{further}{rests}"

    def label(self, visit: wire.Visit) -> str:
        """A vertex by its name; a passage by its title, in quotes."""
        if visit.kind != "episode":
            return visit.label
        title = visit.label or "a passage without a title"
        return f"“{title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + '…'}”"

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


FRAME_SECONDS = 0.2  # between two drawings while it grows: typing goes first
GROWTH = 5  # frames in which all that has come is drawn
PLAY_SECONDS = 0.4  # for each step of a replay
NOT_KEPT = "The search of this question is no longer stored."


class WalkView(Vertical, can_focus=True):
    """The stages in words, the graph, and the shown step. Folded until `unfold`."""

    PLACE: ClassVar[Where] = "walk"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, visits: Iterable[wire.Visit] = ()) -> None:
        super().__init__()
        self.display = False
        self._told = Plain(classes="stages")
        self._graph = GraphView()
        self._caption = Plain(classes="caption")
        self._visits = {visit.node_id: visit for visit in visits}
        self._cited: Sequence[wire.Citation] = ()
        self._walk = Walk()
        self._shown = 0
        self._finished = False
        self._frames: Timer | None = None  # while it grows or plays
        self._playing = False

    def compose(self) -> ComposeResult:
        self._graph.can_focus = False
        yield from (self._told, self._graph, self._caption)

    def add(self, visit: wire.Visit) -> None:
        """Something was visited; drawn with the next frame."""
        self._visits[visit.node_id] = visit
        if self.display:
            self._run_timer(FRAME_SECONDS)

    def tell(self, stages: Iterable[str]) -> None:
        """Shows the stages in words; the current one is highlighted."""
        self._told.update(" · ".join(stages))

    def settle(self, cited: Sequence[wire.Citation]) -> None:
        """The question is over."""
        self._stop()
        self._cited, self._finished = cited, True
        self._walk = Walk(self._visits.values(), cited)
        self._shown = len(self._walk)
        self._draw()

    def unfold(self, unfolded: bool) -> None:
        self.display = unfolded
        self._stop()
        if unfolded and self._finished:
            self._draw()
        elif unfolded:
            self._run_timer(FRAME_SECONDS)

    def action_go_on(self, direction: int) -> None:
        self._stop()
        self._show(self._shown + direction)

    def action_go_to_end(self, direction: int) -> None:
        self._stop()
        self._show(len(self._walk) if direction > 0 else 0)

    def action_play(self) -> None:
        if self._playing:
            self._stop()
        elif self.app.animation_level == "none":
            self.notify("Animation is off: the arrows go step by step, /motion changes it.", markup=False)
        else:
            if self._shown >= len(self._walk):
                self._show(0)
            self._playing = True
            self._run_timer(PLAY_SECONDS)

    def _show(self, n_shown: int) -> None:
        self._shown = max(0, min(n_shown, len(self._walk)))
        self._draw()

    def _run_timer(self, seconds: float) -> None:
        if self._frames is None:
            self._frames = self.set_interval(seconds, self._step)

    def _stop(self) -> None:
        self._playing = False
        if self._frames is not None:
            self._frames.stop()
            self._frames = None

    def _step(self) -> None:
        if self._playing:
            self._show(self._shown + 1)
        else:
            self._walk = Walk(self._visits.values())
            pace = len(self._walk) if self.app.animation_level == "none" else -(-len(self._walk) // GROWTH)
            self._show(self._shown + pace)
        if self._shown >= len(self._walk):
            self._stop()

    def _draw(self) -> None:
        if not self.display:
            return
        walk, n_shown = self._walk, self._shown
        selected = walk.visits[n_shown - 1].node_id if n_shown and n_shown < len(walk) else None
        self._graph.show(walk.graph(n_shown, self._finished and n_shown >= len(walk)), selected, keep=False)
        caption = f"{n_shown} of {len(walk)} · {walk.caption(n_shown)}" if len(walk) else NOT_KEPT
        self._caption.update(display_safe(caption, line=True) if self._finished else "")
