"""The list of changed facts, and one fact with the lines around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.widgets.passage import mark_quote
from tui.widgets.plain import Options, Plain
from tui.wording import describe_before, when

_STATES = {"kept": "new kept", "settled": "both true", "undone": "undone"}


class RevisionList(Options):
    """Each row has the current text, the time and the source. A click highlights."""

    PLACES: ClassVar[tuple[Where, ...]] = ("changes",)
    BINDINGS = bindings_of("changes")

    def __init__(self, now: datetime) -> None:
        super().__init__(id="revisions", markup=False, compact=True)
        self._now = now
        self.revisions: tuple[wire.Revision, ...] = ()

    @property
    def revision(self) -> wire.Revision | None:
        return None if self.highlighted is None else self.revisions[self.highlighted]

    def show(self, revisions: Sequence[wire.Revision], now: datetime) -> None:
        """Lists revisions; the highlight stays on the same one, or at its position."""
        before, place = self.revision, self.highlighted or 0
        self.revisions, self._now = tuple(revisions), now
        places = [place for place, revision in enumerate(revisions) if before is not None and revision.id == before.id]
        self._list(min([*places, place][0], len(revisions) - 1))

    def highlight(self, id: int) -> None:
        """Highlights the revision of that id, if listed."""
        for place, revision in enumerate(self.revisions):
            if revision.id == id:
                self.highlighted = place

    def on_resize(self) -> None:
        if self.highlighted is not None:
            self._list(self.highlighted)

    def _list(self, highlighted: int) -> None:
        width = max(20, self.scrollable_content_region.width)
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(Option(self._entry(revision, width)) for revision in self.revisions)
        self.highlighted = highlighted if self.revisions else None

    def _entry(self, revision: wire.Revision, width: int) -> Content:
        text = display_safe((revision.old if revision.relation == "negates" else revision.new).statement, line=True)
        state = _STATES.get(revision.state, "")
        if revision.state == "kept" and revision.new.retired and revision.relation != "duplicates":
            state = "old kept"
        facts = filter(None, (when(revision.at, self._now), state, display_safe(_describe_before(revision), line=True)))
        below = " · ".join(facts)[: width - 2]
        return Content.assemble(f"  {text[: width - 2]}", (f"\n  {below}", "$foreground-muted"))


def _describe_before(revision: wire.Revision) -> str:
    """Returns the former value: the changed words, or the kind of change if it is no replacement."""
    if revision.relation != "supersedes":
        return revision.title.lower()
    return f"was {describe_before(revision)}"


PARTS = ("heading", "statement", "place", "before", "quoted", "after")
AROUND = 4  # lines shown before the quoted ones, and after them


class FactView(VerticalScroll, can_focus=False):
    """A fact's heading, text, source and date; below it the lines around its words, which are highlighted."""

    def __init__(self, side: str) -> None:
        super().__init__(id=side, classes="side")

    def compose(self) -> ComposeResult:
        for part in PARTS:
            yield Plain(classes=part)

    def show(self, heading: str, statement: Content, place: str, quote: str, passage: str | None) -> None:
        """Shows a fact; `passage` is None while unknown or if deleted."""
        # Made safe before it is searched: removed characters would shift the marks.
        marked = mark_quote(display_safe(passage or quote), display_safe(quote))
        if not marked.lines and passage:
            marked = mark_quote(display_safe(quote), display_safe(quote))
        quoted = Content(marked.lines).stylize("bold", marked.start, marked.end)
        before = "\n".join(marked.before.splitlines()[-AROUND:])
        after = "\n".join(marked.after.splitlines()[:AROUND])
        texts: tuple[str | Content, ...] = (heading, statement, place, before, quoted, after)
        for part, text in zip(PARTS, texts, strict=True):
            plain = self.query_one(f".{part}", Plain)
            plain.update(text)
            plain.display = bool(text)
        self.scroll_home(animate=False)
