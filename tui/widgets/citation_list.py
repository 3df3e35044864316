"""The sources under an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.editor import CannotOpenError, open_in_editor
from tui.widgets.passage import Passage
from tui.wording import citation_text, cited_label, cut_left, day


class CitationList(OptionList):
    """`[n] path:line`, title and date of every citation; the `passage` of the highlighted one is shown. A click
    highlights; opening needs the key."""

    PLACE: ClassVar[Where] = "evidence"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, passage: Passage) -> None:
        super().__init__(id="citations", markup=False, compact=True)
        self._passage = passage
        self._citations: tuple[wire.Citation, ...] = ()
        self._folders: tuple[str, ...] = ()

    @property
    def citation(self) -> wire.Citation | None:
        """The highlighted one."""
        return None if self.highlighted is None else self._citations[self.highlighted]

    def show(self, citations: tuple[wire.Citation, ...], folders: Iterable[str]) -> None:
        """Lists the citations; the highlight stays where it was if they only grew."""
        kept = self.highlighted if self._citations and citations[: len(self._citations)] == self._citations else None
        self._citations, self._folders = citations, tuple(folders)
        self._list(kept or 0)
        if not citations:
            self._passage.show(None)

    def highlight(self, n: int) -> None:
        """Highlights the citation that is shown as `[n]`, if there is one."""
        for index, cited in enumerate(self._citations):
            if cited.n == n:
                self.highlighted = index

    def on_resize(self) -> None:
        if self.highlighted is not None:
            self._list(self.highlighted)

    def action_select(self) -> None:
        """A click ends here, for it only highlights."""

    def action_copy_citation(self) -> None:
        if self.citation is not None:
            self.app.copy_to_clipboard(citation_text(self.citation))
            self.notify("Citation copied.", markup=False)

    def action_scroll_passage(self, direction: int) -> None:
        if direction < 0:
            self._passage.scroll_page_up(animate=False)
        else:
            self._passage.scroll_page_down(animate=False)

    def action_open_source(self) -> None:
        if self.citation is None:
            return
        try:
            open_in_editor(self.app, self.citation.uri, self.citation.line)
        except CannotOpenError as error:
            self._remark(str(error))

    def _remark(self, text: str) -> None:
        self._passage.show(self.citation, text)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._passage.show(self.citation)

    def _list(self, highlighted: int) -> None:
        width = max(20, self.scrollable_content_region.width)
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(Option(_entry(cited, self._folders, width)) for cited in self._citations)
        if self._citations:
            self.highlighted = highlighted


def _entry(cited: wire.Citation, folders: tuple[str, ...], width: int) -> Content:
    in_file = cited.line is not None
    label = display_safe(cited_label(cited, folders) if in_file else cited.title or cited.label, line=True)
    title = cited.title if in_file else ""
    facts = ("earlier value" if cited.earlier else "", day(cited.at), cited.speaker or "", title)
    below = display_safe(" · ".join(filter(None, facts)), line=True)
    mark = f"[{cited.n}]"
    head = Content.assemble((mark, "bold $accent"), " ", cut_left(label, width - len(mark) - 1))
    return Content.assemble(head, ("\n    " + below, "$foreground-muted")) if below else head
