"""The sources of an answer's lines, under it."""

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
    """`[1] museum/fog.md:14, 9 Mar 2026`: a line for each source; adjacent citations of one file share a line. A click
    selects the citation."""

    @dataclass
    class Selected(Message):
        """A person chose the citation `n`."""

        n: int

    def __init__(self, citations: Sequence[wire.Citation], folders: Iterable[str]) -> None:
        super().__init__()
        self._folders = tuple(folders)
        self._groups = [
            list(group) for _, group in groupby(citations, lambda cited: (cited.uri, cited.at, cited.earlier))
        ]
        self._show(LONGEST)

    def on_resize(self, event: events.Resize) -> None:
        self._show(event.size.width)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._groups):
            event.stop()
            self.post_message(self.Selected(self._groups[offset.y][0].n))

    def _show(self, width: int) -> None:
        lines = Content("\n").join(_line(group, self._folders, width) for group in self._groups)
        self.update(lines, layout=False)  # a line for each group, however wide it is


def _line(group: Sequence[wire.Citation], folders: Iterable[str], width: int) -> Content:
    """Returns one line of `width` columns: the beginning of a long path is cut, never the day."""
    first, last = group[0], group[-1]
    each = " ".join(f"[{cited.n}]" for cited in group)
    numbers = each if len(group) <= _MANY else f"[{first.n}] to [{last.n}]"
    place = display_safe(cited_label(first, folders), line=True)
    suffix = display_safe(source_label(first, folders), line=True).removeprefix(place)
    if first.line is not None and len(lines := list(dict.fromkeys(cited.line for cited in group))) > 1:
        suffix = (f", {', '.join(map(str, lines[1:]))}" if len(lines) <= _MANY else f" to {lines[-1]}") + suffix
    suffix += " (earlier)" * first.earlier
    label = cut_left(place, width - len(numbers) - 1 - len(suffix))
    return Content.assemble((numbers, "bold"), " ", link_text(label, cited_link(first)), suffix)
