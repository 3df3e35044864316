"""The tab of the watched folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.content import Content

from daemon import wire
from daemon.terminal import count
from tui.actions import Action, Where, bindings_of
from tui.dialogs.dialog import AskScreen, ConfirmScreen
from tui.folders.rows import TabList, paragraphs, two_lines
from tui.shared import Shared
from tui.wording import day, short_path

STATES = {"watching": "watched", "scanning": "being scanned", "missing": "not there", "polling": "checked now and then"}
SHORT = {"local": "stays on this machine", "any": "may be sent out"}
POLICIES = {"local": "Its text stays on this machine.", "any": "Its text may go to remote models."}


class FolderList(TabList):
    """The watched folders and their state."""

    TITLE = "Folders"
    EMPTY = "No folder is watched.\n\nEnter adds one: it is read now and whenever it changes."
    PLACES: ClassVar[tuple[Where, ...]] = ("watched", "rows")
    BINDINGS = bindings_of("watched")

    def __init__(self, shared: Shared, changed: Callable[[TabList], None]) -> None:
        super().__init__(shared, changed, "watched")
        self._folders: tuple[wire.Folder, ...] = ()
        self._newest: dict[str, str] = {}

    @property
    def summary(self) -> str:
        return "Read now and whenever they change." if self._folders else ""

    @property
    def folder(self) -> wire.Folder | None:
        return next((folder for folder in self._folders if folder.path == self.key), None)

    def status_changed(self, status: wire.Status) -> None:
        self._folders = status.files.folders
        self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for folder in self._folders:
            wrong = "$text-warning" if folder.state == "missing" or folder.gone else ""
            gone = f"{count(folder.gone, 'file')} gone" if folder.gone else ""
            facts = (gone, STATES.get(folder.state, folder.state), count(folder.sources, "note"), SHORT[folder.policy])
            yield folder.path, two_lines(short_path(folder.path), " · ".join(filter(None, facts)), wrong)

    def can_do(self, action: Action) -> bool:
        needs_gone = action.handler.startswith("decide_gone")
        return super().can_do(action) and (not needs_gone or bool(self.folder and self.folder.gone))

    def describe(self, key: str) -> Content:
        folder = self.folder
        if folder is None:
            return Content("")
        tags = f"Tags: {', '.join(folder.tags)}" if folder.tags else "No tags are added"
        gone = f"{count(folder.gone, 'file')} deleted. Enter keeps or drops their content." if folder.gone else ""
        state = f"State: {STATES.get(folder.state, folder.state)}{': ' + folder.detail if folder.detail else ''}."
        newest = f"Read last: {self._newest[folder.path]}" if folder.path in self._newest else ""
        notes = f"{count(folder.sources, 'note')}. {newest}"
        return paragraphs(folder.path, state, gone, notes, POLICIES[folder.policy], tags)

    async def fetch(self) -> None:
        folder = self.folder
        if folder is None or not folder.sources:
            return
        reply = await self.call(lambda client: client.sources(f"{folder.path}/", 1))
        for newest in reply.sources if reply else ():
            when = f", of {day(newest.at)}" if newest.at else ""
            self._newest[folder.path] = f"{newest.uri.removeprefix(folder.path + '/')}{when}"
            self.show_changes()

    async def action_add(self) -> None:
        await self.run_action("app.ask_with('/add ~/')")

    @work
    async def action_change_policy(self) -> None:
        if (folder := self.folder) is None:
            return
        other = "any" if folder.policy == "local" else "local"
        if other == "any":
            question = f"May text of {short_path(folder.path)} be sent to remote models?"
            comfort = "Also earlier notes. Local models read it in either case."
            if not await self.app.push_screen_wait(ConfirmScreen(question, comfort, "Yes, it may")):
                return
        await self._change(folder, policy=other)

    @work
    async def action_change_tags(self) -> None:
        if (folder := self.folder) is not None:
            ask = AskScreen("Tags of its notes", "Words, as: work tax", " ".join(folder.tags))
            typed = await self.app.push_screen_wait(ask)
            if typed is not None:
                await self._change(folder, tags=typed.replace("#", " ").replace(",", " ").split())

    async def _change(self, folder: wire.Folder, **rules: Any) -> None:
        if await self.call(lambda client: client.watch(Path(folder.path), **rules)) is not None:
            self.say(f"Changed: {short_path(folder.path)}.")
            self.shared.link.refresh_status()

    @work
    async def action_remove(self, forget: bool = False) -> None:
        if (folder := self.folder) is None:
            return
        name = short_path(folder.path)
        question = f"Forget everything read from {name}?" if forget else f"Stop watching {name}?"
        comfort = (
            f"{count(folder.sources, 'note')} and their facts are erased. Your files are not changed."
            if forget
            else "Its notes stay, and your files are not changed."
        )
        yes = "Yes, forget" if forget else "Yes, stop"
        if not await self.app.push_screen_wait(ConfirmScreen(question, comfort, yes)):
            return
        if (forgotten := await self.call(lambda client: client.unwatch(Path(folder.path), forget))) is not None:
            ended = f" Forgotten: {count(forgotten.sources, 'note')}." if forget else " Its notes stay."
            self.say(f"No longer watched: {name}.{ended}")
            self.shared.link.refresh_status()

    @work
    async def action_decide_gone(self, keep: bool) -> None:
        if (folder := self.folder) is None or not folder.gone:
            return
        many = count(folder.gone, "file")
        comfort = "It is found again when the files return."
        question = f"Remove the content of {many} that were deleted?"
        if not keep and not await self.app.push_screen_wait(ConfirmScreen(question, comfort, "Yes, remove it")):
            return
        if await self.call(lambda client: client.decide_gone(Path(folder.path), keep=keep)) is not None:
            self.say(f"{many}: content {'kept' if keep else 'removed'}.")
            self.shared.link.refresh_status()
