"""The drawing of a thing's surroundings, now and at the times of its changes."""

from __future__ import annotations

from textual import work
from textual.content import Content

from daemon import wire
from daemon.client.client import DaemonError
from tui.keys import key_names
from tui.memory.details import MAX_DRAWN, Change, draw_neighbourhood, draw_neighbours, list_change_times
from tui.memory.edits import MemoryEdits
from tui.shared import Shared
from tui.widgets.graph import GraphView
from tui.widgets.plain import Plain

EARLIER, LATER = "step_time(-1)", "step_time(1)"
UNCHANGED = "None of its facts has a date, so there is no history to step through."


class MemoryTimes(MemoryEdits):
    """The drawing starts with the current state; a key steps to the previous change."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._changes: tuple[Change, ...] = ()
        self._at = 0  # index of the drawn change; now, if it is out of range

    def show_drawing(self) -> None:
        """Draws the current surroundings of the page's thing; nothing for other pages."""
        page = self.page
        self._changes = list_change_times(page, self.shared.now()) if page else ()
        self._at = len(self._changes)
        drawing = self.query_one(GraphView)
        drawing.display = page is not None and bool(page.neighbours)
        if page is not None:
            drawing.show(draw_neighbours(page))
        self._tell_time()

    def action_step_time(self, step: int) -> None:
        if not self._changes:
            self.notify(UNCHANGED if self.page else "Go to the page of a thing first.", markup=False)
            return
        step_index = min(max(self._at + step, 0), len(self._changes))
        if step_index != self._at:
            self._at = step_index
            self._draw_then()

    @work(exclusive=True, group="time")
    async def _draw_then(self) -> None:
        page, change_index = self.page, self._at
        if page is None:
            return
        if change_index == len(self._changes):
            self.show_drawing()
            return
        self._tell_time()
        moment = self._changes[change_index].at
        with self.tell_failures():
            try:
                then = await self.link.call(lambda client: client.neighbourhood(page.name, 1, MAX_DRAWN, moment))
            except DaemonError as error:
                if error.failed.code != "not_found":
                    raise
                then = wire.Neighbourhood(page.name, (page.name,), (), ())  # nothing was known of it yet
            if page is self.page and change_index == self._at:
                drawing = self.query_one(GraphView)
                drawing.display = True
                drawing.show(draw_neighbourhood(then))

    def _tell_time(self) -> None:
        line = self.query_one("#then", Plain)
        line.display = bool(self._changes)
        if not self._changes:
            return
        earlier, later = (key_names(self.shared.keymap.keys_of(action)) for action in (EARLIER, LATER))
        before = f"{earlier} {self._changes[self._at - 1].day}" if self._at else ""
        if self._at == len(self._changes):
            line.update(Content.assemble("now", (f" · {before}", "$foreground-muted")))
            return
        after = self._changes[self._at + 1].day if self._at + 1 < len(self._changes) else "now"
        more = " · ".join(filter(None, (before, f"{later} {after}")))
        then = f"as of {self._changes[self._at].day}"
        line.update(Content.assemble((then, "bold $accent"), (f" · {more}", "$foreground-muted")))
