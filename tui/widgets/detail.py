"""One page of the memory: of an object, a note, a fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.widgets.option_list import Option

from tui.actions import Where, bindings_of
from tui.details import Line
from tui.widgets.option_list import Options


class Detail(Options, inherit_bindings=False):
    """Lines of a page; the cursor skips headings. A click acts like Enter."""

    PLACE: ClassVar[Where] = "detail"
    BINDINGS = bindings_of(PLACE)

    def __init__(self) -> None:
        super().__init__(id="lines", markup=False, compact=True)
        self._page: tuple[Line, ...] = ()

    @property
    def line(self) -> Line | None:
        return None if self.highlighted is None else self._page[self.highlighted]

    @property
    def first_place(self) -> tuple[str, int | None] | None:
        """The file and line of the first line that has one."""
        return next((line.place for line in self._page if line.place is not None), None)

    def show(self, lines: Sequence[Line], highlighted: int | None = None) -> None:
        """Shows a page from its beginning, or where a person was on it."""
        self._page = tuple(lines)
        self.set_options(Option(line.content, disabled=line.is_heading) for line in lines)
        self.scroll_home(animate=False)
        if highlighted is not None and highlighted < len(lines):
            self.highlighted = highlighted
        elif lines:
            self.action_first()
            self.scroll_home(animate=False)
