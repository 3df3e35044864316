"""The sources under an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import cited_link, display_safe
from tui.actions import Where, bindings_of
from tui.editor import CannotOpenError, open_in_editor
from tui.widgets.passage import Passages
from tui.widgets.plain import Options, link_text
from tui.wording import citation_text, cited_day, cited_label, cut_left

NO_FRONTMATTER = "It has no frontmatter."


class CitationList(Options):
    """`[n] path:line`, title and date of every citation; `passages` shows that of the highlighted one. A click
    highlights; opening needs the key."""

    PLACE: ClassVar[Where] = "evidence"
    BINDINGS = bindings_of(PLACE)

    @dataclass
    class Requested(Message):
        """A request for details of a citation: its neighbours, why it was found, or why something else was not. With
        `frontmatter` for the properties of its source."""

        what: Literal["surroundings", "frontmatter", "why", "whynot"]
        cited: wire.Citation

    def __init__(self, passages: Passages) -> None:
        super().__init__(id="citations", markup=False, compact=True)
        self._passages = passages
        self._citations: tuple[wire.Citation, ...] = ()
        self._folders: tuple[str, ...] = ()

    @property
    def citation(self) -> wire.Citation | None:
        return None if self.highlighted is None else self._citations[self.highlighted]

    def show(self, citations: tuple[wire.Citation, ...], folders: Iterable[str]) -> None:
        """Lists the citations; the highlight stays where it was if they only grew."""
        index = self.highlighted if self._citations and citations[: len(self._citations)] == self._citations else None
        self._citations, self._folders = citations, tuple(folders)
        self._passages.show(citations, self._folders)
        self._list(index or 0)

    def highlight(self, n: int) -> None:
        """Highlights the citation `[n]`, if there is one."""
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
            self._passages.scroll_page_up(animate=False)
        else:
            self._passages.scroll_page_down(animate=False)

    def action_toggle_neighbours(self) -> None:
        passage = self._passages.selected
        if passage.around is None:
            self._want("surroundings")
        else:
            passage.show_neighbours(not passage.shows_neighbours)

    def action_toggle_frontmatter(self) -> None:
        passage = self._passages.selected
        if passage.has_frontmatter:
            passage.toggle_frontmatter()
            self._passages.reveal()
        elif passage.around is None:
            self._want("frontmatter")
        else:
            self._remark(NO_FRONTMATTER)

    def action_toggle_why(self) -> None:
        if self._passages.selected.shows_why:
            self._passages.selected.explain("")
            self._passages.reveal()
        else:
            self._want("why")

    def action_ask_whynot(self) -> None:
        self._want("whynot")

    def _want(self, what: Literal["surroundings", "frontmatter", "why", "whynot"]) -> None:
        if self.citation is not None:
            self.post_message(self.Requested(what, self.citation))

    def action_open_source(self) -> None:
        if self.citation is None:
            return
        try:
            open_in_editor(self.app, self.citation.uri, self.citation.line)
        except CannotOpenError as error:
            self._remark(str(error))

    def _remark(self, text: str) -> None:
        self._passages.selected.remark(text)
        self._passages.reveal()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self.highlighted is not None:
            self._passages.select(self.highlighted)

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
    facts = ("earlier value" if cited.earlier else "", cited_day(cited), cited.speaker or "", title)
    below = display_safe(" · ".join(filter(None, facts)), line=True)
    mark = f"[{cited.n}]"
    path = link_text(cut_left(label, width - len(mark) - 1), cited_link(cited))
    head = Content.assemble((mark, "bold $accent"), " ", path)
    return Content.assemble(head, ("\n    " + below, "$foreground-muted")) if below else head
