"""Where the lines of an answer are from, under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from textual import events
from textual.content import Content
from textual.message import Message

from daemon import wire
from daemon.terminal import cited_link, display_safe
from tui.widgets.plain import Plain, link_text
from tui.wording import cited_label, cut_left, source_label

LONGEST = 200  # columns, before the width is known
_MANY = 4  # citations of one source with a number each; of more the first and the last


class Sources(Plain):
    """`[1] museum/fog.md:14, 9 Mar 2026`: a line for each source, those that follow each other in one file in one line.
    A click chooses the citation."""

    @dataclass
    class Chosen(Message):
        """A person chose the citation `n`."""

        n: int

    def __init__(self, citations: Sequence[wire.Citation], folders: Iterable[str]) -> None:
        super().__init__()
        self._folders = tuple(folders)
        self._groups = [list(group) for _, group in groupby(citations, lambda one: (one.uri, one.at, one.earlier))]
        self._show(LONGEST)

    def on_resize(self, event: events.Resize) -> None:
        self._show(event.size.width)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._groups):
            event.stop()
            self.post_message(self.Chosen(self._groups[offset.y][0].n))

    def _show(self, width: int) -> None:
        lines = Content("\n").join(_line(group, self._folders, width) for group in self._groups)
        self.update(lines, layout=False)  # a line for each group, however wide it is


def _line(group: Sequence[wire.Citation], folders: Iterable[str], width: int) -> Content:
    """In so many columns: of a long path the beginning is left out, never the day."""
    first, last = group[0], group[-1]
    each = " ".join(f"[{one.n}]" for one in group)
    numbers = each if len(group) <= _MANY else f"[{first.n}] to [{last.n}]"
    place = display_safe(cited_label(first, folders), line=True)
    rest = display_safe(source_label(first, folders), line=True).removeprefix(place)
    if first.line is not None and len(lines := list(dict.fromkeys(one.line for one in group))) > 1:
        rest = (f", {', '.join(map(str, lines[1:]))}" if len(lines) <= _MANY else f" to {lines[-1]}") + rest
    rest += " (earlier)" * first.earlier
    shown = cut_left(place, width - len(numbers) - 1 - len(rest))
    return Content.assemble((numbers, "bold"), " ", link_text(shown, cited_link(first)), rest)
