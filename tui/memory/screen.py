"""The page of the memory: one search over everything, and next to the list the page of the selected thing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, OptionList

from daemon import wire
from daemon.client.client import Client
from daemon.terminal import count, display_safe
from tui.actions import Action, bindings_of
from tui.link import Activity, StatusChanged
from tui.memory.details import (
    Line,
    list_entry_lines,
    list_fact_lines,
    list_note_lines,
    list_object_lines,
)
from tui.memory.edits import MemoryEdits
from tui.memory.lists import PAGE, BrowseList, Detail, SearchField
from tui.memory.rows import (
    KINDS,
    Row,
    Target,
    group_rows,
    holds_words,
    make_entry_row,
    make_fact_row,
    make_note_row,
    make_object_row,
)
from tui.shared import Shared
from tui.widgets.plain import Choices, Plain

TYPING_SECONDS: Final = 0.15  # after the last letter, before it is looked for
LOOKING_SECONDS: Final = 0.08  # on a row, before its page is asked for
SHOWN: Final = 6  # of each kind, where all are listed
NOUNS: Final = {"objects": "thing", "facts": "fact", "notes": "note"}
EMPTY: Final = {  # the message for an empty list without search words, by kind
    "all": "Your memory is empty. Type /add PATH in the chat to read something.",
    "me": "Nothing is known about you yet. Tell me in the chat: /me phone 0161 496 07",
}


class MemoryScreen(MemoryEdits):
    """The search and the list on the left, the chosen page on the right."""

    NAME = "memory"
    TYPING = "search"
    AUTO_FOCUS = "SearchField"
    BINDINGS = bindings_of("memory")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._query = ("", "all")  # the words and the kind that are listed
        self._trail: list[tuple[Target, int | None]] = []  # the pages one came from, and the line on each

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="memory"):
            with Vertical(id="found", classes="pane"):
                yield SearchField("Search for a person, a thing, a word")
                yield Choices(KINDS, lambda: self._search(None), "$foreground-muted")
                yield Plain("Looking…", id="nothing")
                yield BrowseList(self._fill, self._highlighted, self._chosen)
            with Vertical(id="detail", classes="pane -empty"):
                yield Detail()

    def on_mount(self) -> None:
        self.query_one("#found").border_title = "Memory"

    @property
    def items(self) -> BrowseList:
        return self.query_one(BrowseList)

    @property
    def detail(self) -> Detail:
        return self.query_one(Detail)

    @property
    def filter(self) -> Choices:
        return self.query_one(Choices)

    # The daemon ---------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        target, self.shared.look_at = self.shared.look_at, None
        if target is None:
            self.reload()
        else:
            self._find(target)

    def status_changed(self, message: StatusChanged) -> None:
        super().status_changed(message)
        if message.connected and self.is_current:
            self.reload()

    def daemon_acted(self, message: Activity) -> None:
        super().daemon_acted(message)
        if isinstance(message.event, wire.FactChanged) and self.is_current:
            self.reload()

    def reload(self) -> None:
        """Reloads the list, keeping the cursor, and the page."""
        self._search(self.items.row.target if self.items.row else None)
        if self.target is not None:
            self._look(self.target, self.detail.highlighted, 0)

    # Searching ----------------------------------------------------------------------------------

    @on(Input.Changed, "#search")
    def _typed(self) -> None:
        self._search(None, TYPING_SECONDS)

    def _find(self, target: Target) -> None:
        """Finds one thing or note by its name, and shows its page."""
        self._trail.clear()
        self.filter.choose("notes" if target.kind == "note" else "objects")
        with self.prevent(Input.Changed):
            self.query_one(SearchField).value = target.title
        self._search(target)

    @work(exclusive=True, group="search")
    async def _search(self, target: Target | None, pause: float = 0.0) -> None:
        await asyncio.sleep(pause)
        words, kind = self._query = self.query_one(SearchField).value.strip(), self.filter.chosen
        limits = {each: PAGE if each == kind else SHOWN for each in NOUNS}
        with self.tell_failures():
            lists = await self.link.call(
                lambda client: {each: self._fetch(client, each, words, limit, 0) for each, limit in limits.items()}
            )
            for each, (_, number) in lists.items():
                self.filter.set_number(each, number)
            if kind == "all":
                rows, total = group_rows((each, number, matches) for each, (matches, number) in lists.items()), None
            elif kind == "me":
                reply = await self.link.call(lambda client: client.profile())
                entries = [entry for entry in reply.profile.entries if self._tells(entry, words)]
                rows, total = list(map(make_entry_row, entries)), None
            else:
                rows, total = lists[kind]
            self._list(rows, total, target, describe_others(kind, {each: lists[each][1] for each in NOUNS}))

    def _fetch(self, client: Client, kind: str, words: str, limit: int, offset: int) -> tuple[list[Row], int]:
        """Fetches rows of one kind from the daemon; runs in a thread."""
        reply = client.search(kind, words, limit, offset)
        rows = [make_object_row(item) for item in reply.objects] + [make_fact_row(item) for item in reply.facts]
        return rows + [make_note_row(item, self.shared.now()) for item in reply.notes], reply.total

    @work
    async def _fill(self, offset: int) -> None:
        query = words, kind = self._query
        with self.tell_failures():
            rows, _ = await self.link.call(lambda client: self._fetch(client, kind, words, PAGE, offset))
            if query == self._query:  # nothing else was typed meanwhile
                self.items.fill(offset, rows)

    def _tells(self, entry: wire.ProfileEntry, words: str) -> bool:
        values = " ".join(fact.objects[-1] for fact in (*entry.facts, *entry.before))
        return holds_words(f"{entry.key} {values}", words)

    def _list(self, rows: list[Row], total: int | None, target: Target | None, nothing_found: str) -> None:
        self.items.show(rows, total, target)
        self.items.display = bool(rows)
        nothing = self.query_one("#nothing", Plain)
        nothing.display = not rows
        words, kind = self._query
        nothing.update(nothing_found if words else EMPTY.get(kind, EMPTY["all"]))
        if not rows and not self._trail:
            self._close_page()

    # Looking ------------------------------------------------------------------------------------

    def _highlighted(self, row: Row | None) -> None:
        target = row.target if row else None
        if target is not None and not self._trail and not target.is_same(self.target):
            self._look(target, None, LOOKING_SECONDS)
        self.show_keys()

    def _chosen(self, row: Row, clicked: bool) -> None:
        if row.filter:
            self.filter.choose(row.filter)
            self._search(None)
        elif row.target is not None:
            self._trail.clear()
            self._look(row.target, None, 0)
            if not clicked or self.has_class("-narrow"):
                self._show_leaf()

    @on(OptionList.OptionHighlighted, "#lines")
    def _line_highlighted(self) -> None:
        self.show_keys()

    @on(OptionList.OptionSelected, "#lines")
    def _follow(self) -> None:
        if self.detail.line is not None and self.detail.line.target is not None:
            self._go_to(self.detail.line.target)

    def _go_to(self, target: Target) -> None:
        if target.is_same(self.target):
            return
        if self.target is not None:
            self._trail.append((self.target, self.detail.highlighted))
        self._look(target, None, 0)

    @work(exclusive=True, group="look")
    async def _look(self, target: Target, line: int | None, pause: float) -> None:
        await asyncio.sleep(pause)
        with self.tell_failures():
            lines = await self._read(target)
            self.target = target
            self.query_one("#detail").remove_class("-empty")
            self.query_one("#detail").border_title = Content(display_safe(self._path(target), line=True) or " ")
            self.detail.show(lines, line)
            self.show_keys()

    async def _read(self, target: Target) -> list[Line]:
        self.page = None
        match target:
            case Target("object", name):
                self.page = reply = await self.link.call(lambda client: client.object(name))
                return list_object_lines(reply, self.folders)
            case Target("note", uri):
                note = await self.link.call(lambda client: client.note(uri))
                return list_note_lines(note, self.folders)
            case Target(fact=wire.Fact() as fact):
                return list_fact_lines(fact, await self.find_passage(fact.episode_id), self.folders)
            case Target(entry=wire.ProfileEntry() as entry):
                return list_entry_lines(entry, self.folders)
        return []

    def _path(self, target: Target) -> str:
        """Returns `Ozzie Penhale`, after the names of the previous pages."""
        names = [target.title for target, _ in self._trail[-2:]]
        return " › ".join([*(["…"] if len(self._trail) > 2 else []), *names, target.title])

    def leave(self) -> None:
        """Returns to the previous page, or to the list, because the shown thing is gone."""
        self._close_page()
        self.call_next(self.action_go_back)

    def _close_page(self) -> None:
        self.target = self.page = None
        self.query_one("#detail").add_class("-empty")
        self.detail.show(())
        self.query_one("#detail").border_title = ""

    # Going about --------------------------------------------------------------------------------

    def _show_leaf(self) -> None:
        self.add_class("-looking")
        self.detail.focus()

    def action_focus_items(self) -> None:
        self.remove_class("-looking")
        self.items.focus()

    def action_search(self) -> None:
        self.remove_class("-looking")
        self.query_one(SearchField).focus()

    async def action_clear(self) -> None:
        field = self.query_one(SearchField)
        if field.value:
            field.value = ""
        else:
            await self.run_action("app.open_page('chat')")

    def action_show_next_filter(self) -> None:
        self.filter.choose_next()

    async def action_go_back(self) -> None:
        if self._trail:
            target, line = self._trail.pop()
            self._look(target, line, 0)
        elif self.detail.has_focus or self.has_class("-looking"):
            self.action_focus_items()
        else:
            self.action_search()

    def action_open_source(self) -> None:
        if (place := self._place) is not None:
            self.open_source(*place)

    @property
    def _place(self) -> tuple[str, int | None] | None:
        """The file and line of the current line, else of the page."""
        line = self.detail.line if self.detail.has_focus else None
        return line.place if line and line.place else self.detail.first_place

    def can_do(self, action: Action) -> bool:
        match action.where, action.handler:
            case "items", "choose":
                return self.items.row is not None
            case "detail", "select":
                return self.detail.line is not None and self.detail.line.target is not None
            case "memory", "open_source":
                return self._place is not None
        return super().can_do(action)

    def word_of(self, action: Action) -> str:
        deletes_letter = action.key == "delete" and self.query_one(SearchField).has_focus
        return "" if deletes_letter else super().word_of(action)

    async def type(self, character: str) -> None:
        self.action_search()
        self.query_one(SearchField).insert_text_at_cursor(character)


def describe_others(kind: str, numbers: Mapping[str, int]) -> str:
    """Says that nothing of one kind matches, and what else does: `No things match; 5 notes do.`"""
    others = [count(number, NOUNS[each]) for each, number in numbers.items() if number]
    if not others:
        return "Nothing in your memory matches."
    subject = "Nothing about you matches" if kind == "me" else f"No {KINDS[kind].lower()} match"
    return f"{subject}; {' and '.join(others)} {'does' if sum(numbers.values()) == 1 else 'do'}."
