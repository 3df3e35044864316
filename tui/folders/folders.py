"""The tab of the watched folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.content import Content

from daemon import wire
from daemon.terminal import count
from tui.actions import Where, bindings_of
from tui.dialogs.dialog import AskScreen, ConfirmScreen
from tui.dialogs.start import describe_count, is_much
from tui.folders.rows import TabList, paragraphs, two_lines
from tui.wording import day, short_path

STATES = {"watching": "watched", "scanning": "being scanned", "missing": "not there", "polling": "checked now and then"}
SHORT = {"local": "stays on this machine", "any": "may be sent out"}
POLICIES = {"local": "Its text stays on this machine.", "any": "Its text may go to remote models."}


class FolderList(TabList):
    """The watched folders and their state."""

    TITLE = "Folders"
    EMPTY = "No folder is watched.\n\na adds one: it is read now and whenever it changes."
    PLACE: ClassVar[Where] = "watched"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, shared: Any) -> None:
        super().__init__(shared, "watched")
        self._folders: tuple[wire.Folder, ...] = ()
        self._newest: dict[str, str] = {}

    @property
    def summary(self) -> str:
        return "Read now and whenever they change." if self._folders else ""

    @property
    def folder(self) -> wire.Folder | None:
        return next((folder for folder in self._folders if folder.path == self.key), None)

    def status_changed(self, status: wire.Status) -> None:
        self._folders = status.folders
        self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for folder in self._folders:
            wrong = "$text-warning" if folder.state == "missing" or folder.gone else ""
            gone = f"{count(folder.gone, 'file')} gone" if folder.gone else ""
            facts = (gone, STATES.get(folder.state, folder.state), count(folder.sources, "note"), SHORT[folder.policy])
            yield folder.path, two_lines(short_path(folder.path), " · ".join(filter(None, facts)), wrong)

    def describe(self, key: str) -> Content:
        folder = self.folder
        if folder is None:
            return Content("")
        tags = f"Tags: {', '.join(folder.tags)}" if folder.tags else "No tags are added"
        gone = f"{count(folder.gone, 'file')} deleted. s keeps their content, x removes it." if folder.gone else ""
        state = f"State: {STATES.get(folder.state, folder.state)}{': ' + folder.detail if folder.detail else ''}."
        newest = f"Read last: {self._newest[folder.path]}" if folder.path in self._newest else ""
        policy = f"{POLICIES[folder.policy]} p changes that."
        return paragraphs(folder.path, state, gone, f"{count(folder.sources, 'note')}. {newest}", policy, tags)

    async def fetch(self) -> None:
        folder = self.folder
        if folder is None or not folder.sources:
            return
        reply = await self.call(lambda client: client.sources(f"{folder.path}/", 1))
        for newest in reply.sources if reply else ():
            when = f", of {day(newest.at)}" if newest.at else ""
            self._newest[folder.path] = f"{newest.uri.removeprefix(folder.path + '/')}{when}"
            self.post_message(self.Changed(self))

    @work
    async def action_add(self) -> None:
        from tui.dialogs.start import PathScreen  # a tree of files, which few need

        chosen = await self.app.push_screen_wait(PathScreen(self.shared.link))
        if chosen is None:
            return
        path = Path(os.path.normpath(chosen))
        counted = await self.call(lambda client: client.count([path]))
        if counted is None or not await self._is_meant(path, counted):
            return
        if (added := await self.call(lambda client: client.watch(path))) is not None:
            self.say(f"Watching {short_path(added.path)}.")
            self.shared.link.refresh_status()

    async def _is_meant(self, path: Path, counted: wire.Counted) -> bool:
        if not is_much(counted):
            return True
        return await self.app.push_screen_wait(
            ConfirmScreen(f"Read {short_path(str(path))}?", describe_count(counted), "Yes, read it")
        )

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
