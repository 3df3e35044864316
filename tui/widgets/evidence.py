"""What an answer rests on, beside it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Vertical

from daemon import wire
from tui.widgets.citation_list import CitationList
from tui.widgets.passage import Passage
from tui.widgets.plain import Plain

EMPTY = "The lines an answer rests on are shown here."


class Evidence(Vertical):
    """The citations of one answer, and the passage of the highlighted one."""

    def __init__(self) -> None:
        super().__init__(id="evidence", classes="pane -empty")
        self.border_title = "Evidence"

    def compose(self) -> ComposeResult:
        yield Plain(EMPTY, id="evidence-empty")
        passage = Passage()
        yield CitationList(passage)
        yield passage

    @property
    def citation(self) -> wire.Citation | None:
        """The highlighted citation."""
        return self.query_one(CitationList).citation

    def clear(self) -> None:
        """Before the first answer."""
        self.show((), (), EMPTY)

    def show(self, citations: tuple[wire.Citation, ...], folders: Iterable[str], empty: str) -> None:
        """Shows an answer's citations; without any, the sentence `empty`."""
        self.query_one("#evidence-empty", Plain).update(empty)
        self.set_class(not citations, "-empty")
        self.query_one(CitationList).show(citations, folders)

    def highlight(self, n: int) -> None:
        """Highlights the citation that is shown as `[n]`."""
        self.query_one(CitationList).highlight(n)
