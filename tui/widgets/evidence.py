"""The evidence of an answer, next to it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from daemon import wire
from tui.widgets.citation_list import NO_FRONTMATTER, CitationList
from tui.widgets.passage import Passage, Passages
from tui.widgets.plain import Plain

EMPTY = "The evidence of an answer is shown here."


class Evidence(Vertical):
    """The citations of one answer, and the passage of the highlighted one, or all passages if there is space."""

    def __init__(self) -> None:
        super().__init__(id="evidence", classes="pane -empty")
        self.border_title = "Evidence"
        self._passages = Passages()
        self.citation_list = CitationList(self._passages)
        self._shown: tuple[tuple[wire.Citation, ...], tuple[str, ...], str] | None = None

    def compose(self) -> ComposeResult:
        yield Plain(EMPTY, id="evidence-empty")  # the others are mounted at the first citation

    @property
    def citation(self) -> wire.Citation | None:
        return self.citation_list.citation

    def clear(self) -> None:
        """Before the first answer."""
        self.show((), (), EMPTY)

    def show(self, citations: tuple[wire.Citation, ...], folders: Iterable[str], empty: str) -> None:
        """Shows an answer's citations; without any, the sentence `empty`."""
        folders = tuple(folders)
        if (citations, folders, empty) == self._shown:
            return
        self._shown = citations, folders, empty
        self.query_one("#evidence-empty", Plain).update(empty)
        self.set_class(not citations, "-empty")
        if citations and self.citation_list.parent is None:
            self.mount(self.citation_list, self._passages)
        self.citation_list.show(citations, folders)

    def highlight(self, n: int) -> None:
        self.citation_list.highlight(n)

    def explain(self, cited: wire.Citation, why: str) -> None:
        """Shows above a citation's passage why it was found, if it is still visible."""
        if (passage := self._find(cited)) is not None:
            passage.explain(why)
            self._passages.reveal()

    def remark(self, cited: wire.Citation, text: str) -> None:
        """Shows a remark above a citation's passage, if it is still visible."""
        if (passage := self._find(cited)) is not None:
            passage.remark(text)
            self._passages.reveal()

    def surround(self, cited: wire.Citation, around: wire.Surroundings, *, frontmatter: bool) -> None:
        """Shows the text around a citation's passage, or only the `frontmatter`."""
        if (passage := self._find(cited)) is not None:
            passage.surround(around)
            if not frontmatter:
                passage.show_neighbours(True)
            elif passage.has_frontmatter:
                passage.toggle_frontmatter()
            else:
                passage.remark(NO_FRONTMATTER)
            self._passages.reveal()

    @on(Passage.Selected)
    def _passage_chosen(self, message: Passage.Selected) -> None:
        message.stop()
        self.highlight(message.n)

    def _find(self, cited: wire.Citation) -> Passage | None:
        return self._passages.find(cited)
