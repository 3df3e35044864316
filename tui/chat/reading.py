"""Commands on the content of the memory: files and folders, the owner, its state."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.notifications import SeverityLevel

from daemon import wire
from daemon.setup import decline, install, list_offers
from daemon.terminal import count, size
from tui.chat.topic import ChatPage, Topic, background
from tui.dialogs.dialog import ConfirmScreen
from tui.link import StreamEvent
from tui.shared import Statement
from tui.widgets.home import Home
from tui.widgets.transcript import Note
from tui.wording import added_report, failure, profile_report, short_path, typed_path


class ReadingTopic(Topic):
    """/add, /watch, /me, /backup, /doctor, /tidy, /pause, /unpause"""

    def __init__(self, page: ChatPage) -> None:
        super().__init__(page)
        # Each file or folder that is being read: its path, the note with its progress, and the skipped files.
        self._adding: dict[int, tuple[str, Note, list[wire.Skipped]]] = {}

    @background()
    async def action_add_path(self, typed: str) -> None:
        await self.take_in(typed_path(typed))

    async def take_in(self, path: Path) -> None:
        """Reads a file; for a folder asks first whether to watch it. The single entry for both."""
        is_new = str(path) not in self.page.folders
        if not (is_new and await asyncio.to_thread(path.is_dir)):
            await self.read_once(path)
            return
        with self.page.tell_failures():
            counted = await self.link.call(lambda client: client.count([path]))
            question = ConfirmScreen(
                f"Keep watching {short_path(str(path))}?",
                f"{_describe_count(counted)} A watched folder is read now and whenever it changes.",
                yes="Yes, watch it", no="No, read it once", is_usual=True,
            )  # fmt: skip
            is_watched = await self.page.app.push_screen_wait(question)
            if is_watched is not None and counted.lacking:
                await self.offer("readers", counted.lacking)
            if is_watched:
                await self._watch(path)
            elif is_watched is not None:
                await self.read_once(path)

    async def offer(self, extra: str, lacking: int = 0) -> None:
        """Offers to install an extra for `lacking` files, installs it, and remembers a refusal."""
        offer = (await self.link.call(lambda client: list_offers(client.paths, lacking))).get(extra)
        if offer is None:
            return
        question = ConfirmScreen(offer, yes="Yes, run this command")
        if not await self.page.app.push_screen_wait(question):
            await self.link.call(lambda client: decline(client.paths, extra))
            return
        self.page.show_message("Installing; this takes a minute or less…")
        if problem := await asyncio.to_thread(install, extra, False):
            await self.page.tell(problem, "warning")
            return
        await self.link.call(lambda client: client.stop())
        await self.link.call(lambda client: client.hello())  # starts a daemon that finds what is installed
        self.page.show_message("Installed.")

    async def read_once(self, path: Path) -> None:
        """Reads it; Home stays, and the line at the top shows the progress."""
        path_text = short_path(str(path))
        message = f"{path_text}: looking for files"
        note = Note(message) if self._is_at_home else await self.page.conversation.say(message)
        self._adding[self.link.add(path)] = path_text, note, []

    def receive(self, message: StreamEvent) -> bool:
        """Shows the progress of reading; returns False if the message is not about that."""
        if message.ticket not in self._adding:
            return False
        path, note, left_out = self._adding[message.ticket]
        match message.event:
            case wire.Progress(done, total, label):
                note.say(f"{path}: read {done:,} of {total:,} · {short_path(label, self.page.folders)}")
            case wire.Skipped() as skipped:
                left_out.append(skipped)
            case wire.Added() as added:
                self._end_adding(message.ticket, added_report(path, added, left_out))
            case wire.Failed() as failed:
                self._end_adding(message.ticket, failure(failed), "error")
        return True

    def _end_adding(self, ticket: int, text: str, level: SeverityLevel = "information") -> None:
        _, note, _ = self._adding.pop(ticket)
        if note.is_attached:
            note.say(text, level)
        else:  # its note was in a session that was left, or nowhere
            self.page.show_message(text, level)
        self.link.refresh_status()

    @background()
    async def action_watch_path(self, typed: str) -> None:
        with self.page.tell_failures():
            await self._watch(typed_path(typed))

    @property
    def _is_at_home(self) -> bool:
        return bool(self.page.query(Home))

    async def _watch(self, path: Path) -> None:
        folder = await self.link.call(lambda client: client.watch(path))
        text = f"Watching {short_path(folder.path)}. It is being read; the line at the top shows the progress."
        message = f"{short_path(folder.path)} is no longer watched. Its notes stay."
        self.shared.note_done(lambda client: client.unwatch(path), message)
        if self._is_at_home:  # which stays: it shows what can be asked now
            self.page.show_message(text)
        else:
            await self.page.tell(text)
        self.link.refresh_status()

    @background()
    async def action_show_me(self, argument: str = "") -> None:
        key, _, value = argument.partition(" ")
        with self.page.tell_failures():
            if value.strip():
                statement = Statement(key, value.strip())
                reply = await self.link.call(statement.say)
                former = statement.former
                message = f"{key} is {former} again." if former else f"Your {key} is removed."
                self.shared.note_done(statement.take_back, message)
            else:
                reply = await self.link.call(lambda client: client.profile())
            await self.page.tell(profile_report(reply, key))

    @background()
    async def action_back_up(self) -> None:
        note = await self.page.conversation.say("Copying the memory…")
        with self.page.tell_failures():
            backup = await self.link.call(lambda client: client.backup())
            path = short_path(backup.path)
            note.say(f"Copied to {path}, {size(backup.bytes)}. To restore it: pal restore {path}")

    async def action_examine(self) -> None:
        self.shared.wants_tab = "health"
        await self.page.run_action("app.open_page('folders')")

    @background()
    async def action_tidy(self) -> None:
        note = await self.page.conversation.say("Tidying the memory, as every night…")
        with self.page.tell_failures():
            report = await self.link.call(lambda client: client.tidy())
            note.say(f"{report.joined:,} duplicate facts were merged." if report.joined else "Nothing to tidy.")

    @background()
    async def action_let_models_read(self, enabled: bool) -> None:
        with self.page.tell_failures():
            state = await self.link.call(lambda client: client.enable_enrichment(enabled))
            text = state.detail or f"{'Models read' if enabled else 'No model reads'} in the background."
            await self.page.tell(f"{text} {'/pause stops it.' if enabled else '/unpause goes on.'}")


def _describe_count(counted: wire.Counted) -> str:
    """`86 files would be read, 1.2 MB.`"""
    more = "" if counted.complete else "More than "
    if not counted.files:
        return "It has no readable files yet."
    return f"{more}{count(counted.files, 'file')} would be read, {size(counted.bytes)}."
