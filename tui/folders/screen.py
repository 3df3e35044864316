"""The page of folders, reading, models and health."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, OptionList

from tui.actions import Action, bindings_of
from tui.folders.folders import FolderList
from tui.folders.health import HealthList
from tui.folders.reading import ReadingList
from tui.folders.rows import TabList
from tui.link import Activity, StatusChanged
from tui.page import Page
from tui.shared import Shared
from tui.widgets.plain import Choices, Plain


class FoldersScreen(Page):
    """Four tabs: their rows on the left, and the details of the highlighted row on the right."""

    NAME = "folders"
    AUTO_FOCUS = "FolderList"
    BINDINGS = bindings_of("folders")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.add_class("-empty")
        self._tabs: tuple[TabList, ...] = tuple(
            make(shared, self._show_tab) for make in (FolderList, ReadingList, HealthList)
        )

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="work"):
            with Vertical(id="rows", classes="pane"):
                yield Choices({tab.id or "": tab.TITLE for tab in self._tabs}, self._open_tab)
                yield Plain(id="summary").hide()
                with ContentSwitcher(initial=self._tabs[0].id):
                    yield from self._tabs
                yield Plain("Looking…", id="nothing")
            with VerticalScroll(id="about", classes="pane"):
                yield Plain(id="detail")

    @property
    def tab(self) -> TabList:
        return next(tab for tab in self._tabs if tab.id == self.query_one(Choices).chosen)

    def can_do(self, action: Action) -> bool:
        return super().can_do(action) and self.tab.can_do(action)

    def on_screen_resume(self) -> None:
        if self.shared.wants_tab:
            self.query_one(Choices).choose(self.shared.wants_tab)
            self.shared.wants_tab = ""
        self._open_tab()

    def status_changed(self, message: StatusChanged) -> None:
        super().status_changed(message)
        for tab in self._tabs:
            tab.status_changed(message.status)

    def daemon_acted(self, message: Activity) -> None:
        super().daemon_acted(message)
        for tab in self._tabs:
            tab.daemon_acted(message)

    async def action_choose_tab(self, step: int) -> None:
        self.query_one(Choices).choose_next(step)

    def _open_tab(self) -> None:
        self.query_one(ContentSwitcher).current = self.tab.id
        self.tab.focus()
        self.tab.load()
        self._show()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, message: OptionList.OptionHighlighted) -> None:
        if message.option_list is self.tab:
            if isinstance(self.tab, FolderList):
                self.tab.load()
            self._show()

    def _show_tab(self, tab: TabList) -> None:
        if tab is self.tab:
            self._show()

    def _show(self) -> None:
        tab = self.tab
        empty = self.tab.key is None
        texts: dict[str, str | Content] = {
            "#summary": tab.summary,
            "#nothing": tab.EMPTY if empty else "",
            "#detail": "" if tab.key is None else tab.describe(tab.key),
        }
        for selector, text in texts.items():
            plain = self.query_one(selector, Plain)
            plain.update(text)
            plain.display = bool(str(text))
        self.set_class(empty, "-empty")
        self.query_one("#rows").border_title = tab.TITLE
        self.show_keys()
