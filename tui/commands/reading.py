"""Commands on the content of the memory: files and folders, the owner, its state."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import work

from daemon import wire
from daemon.terminal import display_safe
from tui.commands.undo import UndoCommands
from tui.edit_history import Statement
from tui.messages import StreamEvent
from tui.reports import added_report, failure, profile_report, status_report
from tui.screens.keep import KeepScreen
from tui.shared import Shared
from tui.widgets.note import Level, Note
from tui.wording import short_path, typed_path


class ReadingCommands(UndoCommands):
    """/add, /watch, /me, /status"""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        # Each file or folder that is being read: its path, the note with its progress, and the skipped files.
        self._adding: dict[int, tuple[str, Note, list[wire.Skipped]]] = {}

    @work
    async def action_add_path(self, typed: str) -> None:
        await self.take_in(typed_path(typed))

    async def take_in(self, path: Path, at_home: bool = False) -> None:
        """Reads a file; for a folder asks first whether to watch it. The single entry for both. With `at_home` Home
        stays, and the line at the top shows the progress."""
        is_new = str(path) not in self.folders
        if not (is_new and await asyncio.to_thread(path.is_dir)):
            await self.read_once(path, at_home)
            return
        with self.tell_failures():
            counted = await self.link.call(lambda client: client.count([path]))
            match await self.app.push_screen_wait(KeepScreen(self.link, path, counted)):
                case "watch":
                    await self._watch(path, at_home)
                case "once":
                    await self.read_once(path, at_home)

    async def read_once(self, path: Path, at_home: bool = False) -> None:
        path_text = short_path(str(path))
        message = f"{path_text}: looking for files"
        note = Note(message) if at_home else await self.conversation.say(message)
        self._adding[self.link.add(path)] = path_text, note, []

    def _show_progress(self, message: StreamEvent) -> None:
        path, note, left_out = self._adding[message.ticket]
        match message.event:
            case wire.Progress(done, total, label):
                note.say(f"{path}: read {done:,} of {total:,} · {short_path(label, self.folders)}")
            case wire.Skipped() as skipped:
                left_out.append(skipped)
            case wire.Added() as added:
                self._end_adding(message.ticket, added_report(path, added, left_out))
            case wire.Failed() as failed:
                self._end_adding(message.ticket, f"{path}: {failure(failed)}", "error")

    def _end_adding(self, ticket: int, text: str, level: Level = "info") -> None:
        _, note, _ = self._adding.pop(ticket)
        if note.is_attached:
            note.say(text, level)
        else:  # its note was in a session that was left, or nowhere
            self.notify(display_safe(text), severity="error" if level == "error" else "information", markup=False)
        self.link.refresh_status()

    @work
    async def action_watch_path(self, typed: str) -> None:
        with self.tell_failures():
            await self._watch(typed_path(typed))

    async def _watch(self, path: Path, at_home: bool = False) -> None:
        folder = await self.link.call(lambda client: client.watch(path))
        text = f"Watching {short_path(folder.path)}. It is being read; the line at the top shows the progress."
        message = f"{short_path(folder.path)} is no longer watched. Its notes stay."
        self.shared.note_done(lambda client: client.unwatch(path), message)
        if at_home:
            self.notify(display_safe(text), markup=False)
        else:
            await self.conversation.say(text)
        self.link.refresh_status()

    @work
    async def action_show_me(self, argument: str = "") -> None:
        key, _, value = argument.partition(" ")
        with self.tell_failures():
            if value.strip():
                statement = Statement(key, value.strip())
                reply = await self.link.call(statement.say)
                former = statement.former
                message = f"{key} is {former} again." if former else f"Your {key} is removed."
                self.shared.note_done(statement.take_back, message)
            else:
                reply = await self.link.call(lambda client: client.profile())
            await self.conversation.say(profile_report(reply, key))

    @work
    async def action_show_status(self) -> None:
        with self.tell_failures():
            status = await self.link.call(lambda client: client.status())
            self.shared.status = status
            await self.conversation.say(status_report(status))
