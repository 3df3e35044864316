"""What an answer rests on, beside it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Vertical

from daemon import wire
from tui.editor import CannotOpenError, opening_command
from tui.widgets.citation_list import CitationList
from tui.widgets.passage import Passage
from tui.widgets.plain import Plain
from tui.wording import citation_text

EMPTY = "The lines an answer rests on are shown here."


class Evidence(Vertical):
    """The citations of one answer, and the passage of the highlighted one."""

    def __init__(self) -> None:
        super().__init__(id="evidence", classes="-empty")

    def compose(self) -> ComposeResult:
        yield Plain("Evidence", id="evidence-title")
        yield Plain(EMPTY, id="evidence-empty")
        yield CitationList()
        yield Passage()

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
        if not citations:
            self.query_one(Passage).show(None)

    def highlight(self, n: int) -> None:
        """Highlights the citation that is shown as `[n]`."""
        self.query_one(CitationList).highlight(n)

    @on(CitationList.ScrollWanted)
    def _scroll(self, message: CitationList.ScrollWanted) -> None:
        passage = self.query_one(Passage)
        if message.direction < 0:
            passage.scroll_page_up(animate=False)
        else:
            passage.scroll_page_down(animate=False)

    @on(CitationList.CopyWanted)
    def _copy(self, message: CitationList.CopyWanted) -> None:
        self.app.copy_to_clipboard(citation_text(message.cited))
        self.notify("Citation copied.", markup=False)

    @on(CitationList.OpenWanted)
    def _open(self, message: CitationList.OpenWanted) -> None:
        try:
            command = opening_command(message.cited)
            with self.app.suspend():
                subprocess.run(command, check=False)
        except CannotOpenError as error:
            self._remark(str(error))
        except SuspendNotSupported:
            self._remark("This terminal cannot make room for an editor; here is the passage.")
        except OSError as error:
            self._remark(f"The editor did not start: {error.strerror}. Set $EDITOR to one that is installed.")

    def _remark(self, text: str) -> None:
        self.query_one(Passage).show(self.citation, text)

    @on(CitationList.OptionHighlighted)
    def _passage(self, event: CitationList.OptionHighlighted) -> None:
        event.stop()
        self.query_one(Passage).show(self.citation)
