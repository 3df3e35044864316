"""A question's search as a drawing that grows while it runs and can be replayed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from daemon import wire
from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.walk import Walk
from tui.widgets.graph import GraphView
from tui.widgets.plain import Plain

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
