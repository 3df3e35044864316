"""The lists of the page: rows of any number, and the lines of one thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input
from textual.widgets.option_list import Option

from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.memory.details import Line
from tui.memory.rows import Row, Target
from tui.widgets.plain import Options

PAGE = 100  # rows that are asked for at once
PAUSE_SECONDS = 0.05  # before they are: a person may be scrolling past


class BrowseList(ScrollView, can_focus=True):
    """Rows of one line each. The missing rows from an offset on are requested with `fetch` when they become visible, so
    that a hundred thousand rows cost no more than a screenful. `highlighted` is called when the cursor moves to another
    row, None in an empty list; `chosen` when a person selects a row by Enter, or with True by a click."""

    PLACES: ClassVar[tuple[Where, ...]] = ("items",)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("list") + bindings_of("items")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row", "row--detail", "row--heading", "row--past", "row--cursor"}

    def __init__(
        self, fetch: Callable[[int], object], highlighted: Callable[[Row | None], None],
        chosen: Callable[[Row, bool], None],
    ) -> None:  # fmt: skip
        super().__init__(id="items")
        self._fetch, self._highlighted, self._chosen = fetch, highlighted, chosen
        self._rows: dict[int, Row] = {}
        self.total = 0
        self._asked: set[int] = set()
        self._timer: Timer | None = None
        self.cursor = 0

    @property
    def row(self) -> Row | None:
        """Returns the row under the cursor, if loaded."""
        return self._rows.get(self.cursor)

    def show(self, rows: Sequence[Row], total: int | None = None, wanted: Target | None = None) -> None:
        """Lists rows, the first of `total`; the cursor goes to the target `wanted` if it is among them."""
        self._rows = dict(enumerate(rows))
        self.total = len(rows) if total is None else total
        self._asked = {0}
        self.virtual_size = Size(0, self.total)
        places = (place for place, row in self._rows.items() if row.target is not None and row.target.is_same(wanted))
        self.cursor = next(places, self._step_from(-1, 1))
        self.scroll_to(y=0, animate=False)
        self._highlight()

    def fill(self, offset: int, rows: Sequence[Row]) -> None:
        """Adds loaded rows, from `offset` on."""
        self._rows |= dict(enumerate(rows, offset))
        if offset <= self.cursor < offset + len(rows):
            self.call_next(self._highlighted, self.row)
        self.refresh()

    # Drawing ------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        row = self._rows.get(index)
        if index >= self.total or width <= 0:
            return Strip.blank(width, self.rich_style)
        if row is None:
            self._ask_soon()
            row = Row("…", look="past")
        names = ["row"] if row.look == "plain" else [f"row--{row.look}"]
        cursor = ["row--cursor"] if index == self.cursor and row.look != "heading" else []
        style = self.get_component_rich_style(*names, *cursor)
        muted = self.get_component_rich_style("row--detail", *cursor)
        detail = display_safe(row.detail, line=True)
        text = _fit(
            " ".join(display_safe(row.text, line=True).split()), width - (cell_len(detail) + 2 if detail else 0)
        )
        if cell_len(detail) + 12 > width:
            return Strip([Segment(_fit(row.text, width), style)], width)
        segments = [Segment(text, style), Segment(f"  {detail}" if detail else "", muted)]
        return Strip(segments, width)

    def _ask_soon(self) -> None:
        if self._timer is None:
            self._timer = self.set_timer(PAUSE_SECONDS, self._ask)

    def _ask(self) -> None:
        self._timer = None
        first, last = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        for page in range(first // PAGE, last // PAGE + 1):
            offset = page * PAGE
            missing = any(place not in self._rows for place in range(offset, min(offset + PAGE, self.total)))
            if missing and page not in self._asked:
                self._asked.add(page)
                self._fetch(offset)

    # Moving -------------------------------------------------------------------------------------

    def _step_from(self, index: int, step: int) -> int:
        """Returns the next selectable row in a direction; the same row if there is none."""
        place = index + step
        while 0 <= place < self.total:
            row = self._rows.get(place)
            if row is None or row.look != "heading":
                return place
            place += 1 if step > 0 else -1
        return max(0, min(index, self.total - 1))

    def move(self, index: int) -> None:
        if index != self.cursor and 0 <= index < self.total:
            self.cursor = index
            self._highlight()

    def _highlight(self) -> None:
        top = self.cursor - 1 if self.cursor == 1 else self.cursor  # with the heading above it
        self.scroll_to_region(Region(0, max(0, top), 1, 1 + self.cursor - top), animate=False, force=True)
        self.refresh()
        self.call_next(self._highlighted, self.row)

    def action_cursor_down(self) -> None:
        self.move(self._step_from(self.cursor, 1))

    def action_cursor_up(self) -> None:
        self.move(self._step_from(self.cursor, -1))

    def _move_page(self, direction: int) -> None:
        target = max(0, min(self.cursor + direction * max(1, self.size.height - 1), self.total - 1))
        self.move(self._step_from(target - direction, direction))

    def action_page_down(self) -> None:
        self._move_page(1)

    def action_page_up(self) -> None:
        self._move_page(-1)

    def action_first(self) -> None:
        self.move(self._step_from(-1, 1))

    def action_last(self) -> None:
        self.move(self._step_from(self.total, -1))

    def action_choose(self) -> None:
        if self.row is not None:
            self._chosen(self.row, False)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = offset.y + self.scroll_offset.y
        row = self._rows.get(index)
        if row is not None and row.look != "heading":
            self.move(index)
            self.call_next(self._chosen, row, True)


def _fit(text: str, width: int) -> str:
    """Fits the text into exactly `width` cells."""
    text = display_safe(text, line=True)
    if width <= 0:
        return ""
    return set_cell_size(text, width) if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"


class Detail(Options):
    """Lines of a page; the cursor skips headings. A click acts like Enter."""

    PLACES: ClassVar[tuple[Where, ...]] = ("detail",)
    BINDINGS = bindings_of("detail")

    def __init__(self) -> None:
        super().__init__(id="lines", markup=False, compact=True)
        self._page: tuple[Line, ...] = ()

    @property
    def line(self) -> Line | None:
        return None if self.highlighted is None else self._page[self.highlighted]

    @property
    def first_place(self) -> tuple[str, int | None] | None:
        """Returns the file and line of the first line that has one."""
        return next((line.place for line in self._page if line.place is not None), None)

    def show(self, lines: Sequence[Line], highlighted: int | None = None) -> None:
        """Shows a page from its beginning, or at the person's last position."""
        self._page = tuple(lines)
        self.set_options(Option(line.content, disabled=line.is_heading) for line in lines)
        self.scroll_home(animate=False)
        if highlighted is not None and highlighted < len(lines):
            self.highlighted = highlighted
        elif lines:
            self.action_first()
            self.scroll_home(animate=False)


class SearchField(Input):
    """One line that searches while typing."""

    PLACES: ClassVar[tuple[Where, ...]] = ("finding",)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("finding")

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False, id="search")
        self.cursor_blink = False
