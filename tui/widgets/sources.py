"""Where the lines of an answer are from, under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from textual import events
from textual.content import Content
from textual.message import Message

from daemon import wire
from daemon.terminal import display_safe
from tui.widgets.plain import Plain
from tui.wording import cited_label, source_label

_LINES = 4  # of one source, with a number each; of a longer list the first and the last


class Sources(Plain):
    """`[1] museum/fog.md:14, 9 Mar 2026`: a line for each source, those that follow each other in one file in one line.
    A click chooses the citation."""

    @dataclass
    class Chosen(Message):
        """A person chose the citation `n`."""

        n: int

    def __init__(self, citations: Sequence[wire.Citation], folders: Iterable[str]) -> None:
        groups = [list(group) for _, group in groupby(citations, lambda one: (one.uri, one.at, one.earlier))]
        self._firsts = [group[0].n for group in groups]
        super().__init__(Content("\n").join(_line(group, folders) for group in groups))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._firsts):
            event.stop()
            self.post_message(self.Chosen(self._firsts[offset.y]))


def _line(group: Sequence[wire.Citation], folders: Iterable[str]) -> Content:
    first, last = group[0], group[-1]
    each = " ".join(f"[{one.n}]" for one in group)
    numbers = each if len(group) <= _LINES else f"[{first.n}] to [{last.n}]"
    label = source_label(first, folders)
    if first.line is not None and len(lines := list(dict.fromkeys(one.line for one in group))) > 1:
        place = cited_label(first, folders)
        more = f", {', '.join(map(str, lines[1:]))}" if len(lines) <= _LINES else f" to {lines[-1]}"
        label = f"{place}{more}{label.removeprefix(place)}"
    earlier = " (earlier)" if first.earlier else ""
    return Content.assemble((numbers, "bold"), f" {display_safe(label, line=True)}{earlier}")
