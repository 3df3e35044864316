"""The evidence of an answer, next to it: the passage of one citation, and below it all of the sources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical

from daemon import wire
from tui.actions import Where, bindings_of
from tui.page import Page
from tui.widgets.passage import Heading, Passage, Sources
from tui.widgets.plain import Plain
from tui.wording import citation_text

EMPTY = "The evidence of an answer is shown here."


class Evidence(Vertical, can_focus=True):
    """The citations of one answer, one at a time."""

    PLACES: ClassVar[tuple[Where, ...]] = ("evidence",)
    BINDINGS = bindings_of("evidence")

    def __init__(self) -> None:
        super().__init__(id="evidence", classes="pane -empty")
        self.border_title = "Evidence"
        self._heading, self._passage = Heading(), Passage()
        self.citations: tuple[wire.Citation, ...] = ()
        self._folders: tuple[str, ...] = ()
        self._at = 0

    def compose(self) -> ComposeResult:
        yield Plain(EMPTY, id="evidence-empty")  # the others are mounted at the first citation

    @property
    def citation(self) -> wire.Citation | None:
        """Returns the citation whose passage is shown."""
        return self.citations[self._at] if self.citations else None

    def clear(self) -> None:
        """Empties the pane, before the first answer."""
        self.show((), (), EMPTY)

    def show(self, citations: tuple[wire.Citation, ...], folders: Iterable[str], empty: str) -> None:
        """Shows an answer's citations; without any, the sentence `empty`. The passage stays if they only grew."""
        self.query_one("#evidence-empty", Plain).update(empty)
        folders = tuple(folders)
        if (citations, folders) == (self.citations, self._folders):
            return
        grew = self.citations and citations[: len(self.citations)] == self.citations
        self.citations, self._folders, self._at = citations, folders, self._at if grew else 0
        self.set_class(not citations, "-empty")
        if citations and self._passage.parent is None:
            self.mount(self._heading, self._passage)
        self.query(Sources).remove()
        if len(citations) > 1:
            self.mount(Sources(citations, folders, self.highlight))
        self._draw()

    def highlight(self, n: int) -> None:
        """Shows the passage of the citation `[n]`, if there is one."""
        places = [place for place, cited in enumerate(self.citations) if cited.n == n]
        if places:
            self._at = places[0]
            self._draw()

    def action_show(self, step: int) -> None:
        if self.citations:
            self._at = min(max(0, self._at + step), len(self.citations) - 1)
            self._draw()

    def action_copy_citation(self) -> None:
        if self.citation is not None:
            self.app.copy_to_clipboard(citation_text(self.citation))
            self.notify("Citation copied.", markup=False)

    def action_scroll_passage(self, direction: int) -> None:
        scroll = self._passage.scroll_page_up if direction < 0 else self._passage.scroll_page_down
        scroll(animate=False)

    def action_scroll_line(self, direction: int) -> None:
        self._passage.scroll_relative(y=direction, animate=False)

    def action_open_source(self) -> None:
        if self.citation is not None and isinstance(self.screen, Page):
            self.screen.open_source(self.citation.uri, self.citation.line)

    def _draw(self) -> None:
        place = f"{self._at + 1} of {len(self.citations)}" if len(self.citations) > 1 else ""
        self._heading.show(self.citation, place, self._folders)
        self._passage.show(self.citation)
