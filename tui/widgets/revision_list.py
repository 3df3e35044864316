"""The facts that changed, one under the other."""

from __future__ import annotations

from collections.abc import Sequence, Set
from datetime import datetime
from typing import ClassVar

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import display_safe, statement
from tui.actions import Where, bindings_of
from tui.changes import describe_before, name_kind
from tui.widgets.option_list import Options
from tui.wording import when

_STATES = {"kept": "new stands", "settled": "both true", "undone": "taken back"}


class RevisionList(Options, inherit_bindings=False):
    """What each says now, when it was noticed and where it stands. A click highlights."""

    PLACE: ClassVar[Where] = "changes"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, now: datetime) -> None:
        super().__init__(id="revisions", markup=False, compact=True)
        self.marked: set[int] = set()
        self._now = now
        self._revisions: tuple[wire.Revision, ...] = ()

    @property
    def revision(self) -> wire.Revision | None:
        """The highlighted one."""
        return None if self.highlighted is None else self._revisions[self.highlighted]

    @property
    def revisions(self) -> tuple[wire.Revision, ...]:
        return self._revisions

    @property
    def chosen(self) -> tuple[wire.Revision, ...]:
        """What a key decides: those that are marked, else the highlighted one."""
        marked = tuple(one for one in self._revisions if one.id in self.marked)
        return marked or ((self.revision,) if self.revision else ())

    def show(self, revisions: Sequence[wire.Revision], now: datetime) -> None:
        """Lists them; the highlight stays on the one it was on, else at its place."""
        before, place = self.revision, self.highlighted or 0
        self._revisions, self._now = tuple(revisions), now
        self.marked &= {one.id for one in revisions}
        places = [place for place, one in enumerate(revisions) if before is not None and one.id == before.id]
        self._list(min([*places, place][0], len(revisions) - 1))

    def highlight(self, id: int) -> None:
        """Highlights the revision of that id, if it is listed."""
        for place, one in enumerate(self._revisions):
            if one.id == id:
                self.highlighted = place

    def mark(self, ids: Set[int]) -> None:
        """Marks these and no others."""
        self.marked = set(ids)
        self._list(self.highlighted or 0)

    def on_resize(self) -> None:
        if self.highlighted is not None:
            self._list(self.highlighted)

    def action_select(self) -> None:
        """A click ends here, for it only highlights."""

    def _list(self, highlighted: int) -> None:
        width = max(20, self.scrollable_content_region.width)
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(Option(self._entry(one, width)) for one in self._revisions)
        self.highlighted = highlighted if self._revisions else None

    def _entry(self, one: wire.Revision, width: int) -> Content:
        said = display_safe(statement(one.old if one.relation == "negates" else one.new), line=True)
        mark = "✓ " if one.id in self.marked else "  "
        state = _STATES.get(one.state, "")
        if one.state == "kept" and one.new.retired and one.relation != "duplicates":
            state = "old stands"
        facts = filter(None, (when(one.at, self._now), state, display_safe(_describe_before(one), line=True)))
        below = " · ".join(facts)[: width - 2]
        head = Content.assemble((mark, "bold $accent"), said[: width - 2])
        return Content.assemble(head, (f"\n  {below}", "$foreground-muted"))


def _describe_before(one: wire.Revision) -> str:
    """What stood there before: the words that are others now, or what it is beside a replacement."""
    if one.relation != "supersedes":
        return name_kind(one).lower()
    return f"was {describe_before(one)}"
