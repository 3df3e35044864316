"""Lines in braille: eight dots in each cell of the screen, two across and four down."""

from __future__ import annotations

from collections.abc import Iterable

from daemon.drawing.layout import Layout, Line

DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # by column and row within a cell
BRAILLE = 0x2800
MIDDLE = 1  # the row of dots at the middle of a line of text


class Canvas:
    """A grid of cells; dots outside are dropped."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots: dict[tuple[int, int], int] = {}
        self._strong: set[tuple[int, int]] = set()

    @classmethod
    def from_layout(cls, layout: Layout, width: int, height: int) -> Canvas:
        """The lines of a layout; its labels are not drawn here."""
        canvas = cls(width, height)
        for line in layout.lines:
            canvas.draw(line)
        return canvas

    def draw(self, line: Line) -> None:
        """From label to label: level within its column, then in a curve to the other one."""
        begin, end = line.span
        top, bottom = line.left.y * 4 + MIDDLE, line.right.y * 4 + MIDDLE
        if line.left.column == line.right.column:
            self._draw_arc(line, begin, end, top, bottom)
            return
        self._draw_level(line.left.x + line.left.width, begin, top, line.on_path)
        self._draw_level(end, line.right.x, bottom, line.on_path)
        before, across = top, 2 * (end - begin)
        for step in range(across):
            t = (step + 1) / across
            y = round(top + (bottom - top) * t * t * (3 - 2 * t))
            self._draw_column(2 * begin + step, before, y, line.on_path)
            before = y

    @property
    def cells(self) -> Iterable[tuple[int, int]]:
        """Where something is drawn."""
        return self._dots.keys()

    def cell(self, x: int, y: int) -> str:
        """The braille character or blank at a cell."""
        return chr(BRAILLE + dots) if (dots := self._dots.get((x, y))) else " "

    def is_strong(self, x: int, y: int) -> bool:
        return (x, y) in self._strong

    def _draw_level(self, begin: int, end: int, y: int, strong: bool) -> None:
        for x in range(2 * begin + 1, 2 * end):
            self._draw_column(x, y, y, strong)

    def _draw_arc(self, line: Line, begin: int, end: int, top: int, bottom: int) -> None:
        """Between two labels of one column, out into the space next to it and back."""
        to_right = begin >= line.left.x + line.left.width
        reach = min(3, end - begin - 1) * 2
        turn = 2 * begin + reach if to_right else 2 * end - 1 - reach
        for box, y in ((line.left, top), (line.right, bottom)):
            edge = 2 * (box.x + box.width) + 1 if to_right else 2 * box.x - 2
            for x in range(min(edge, turn), max(edge, turn) + 1):
                self._draw_column(x, y, y, line.on_path)
        self._draw_column(turn, top, bottom, line.on_path)

    def _draw_column(self, x: int, first: int, second: int, strong: bool) -> None:
        """Dots from row to row; a winning line is two dots thick, so that it can be recognised without colour."""
        low, high = min(first, second), max(first, second) + strong
        for y in range(low, high + 1):
            cell = (x // 2, y // 4)
            if 0 <= cell[0] < self.width and 0 <= cell[1] < self.height:
                self._dots[cell] = self._dots.get(cell, 0) | DOTS[x % 2][y % 4]
                if strong:
                    self._strong.add(cell)
