"""/undo: what was done last in this chat is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import work

from daemon import wire
from daemon.client import Client
from daemon.terminal import describe_outcome
from tui.commands.part import Part
from tui.fact_reports import describe_change
from tui.screens.confirm import ConfirmScreen
from tui.shared import Shared

NEWEST = 20  # revisions that are looked through for one that stands


@dataclass(frozen=True, slots=True)
class Done:
    """Something that was done: the call that takes it back, what is said then, and what is shown otherwise then."""

    undo: Callable[[Client], object]
    said: str
    show: Callable[[], object]


class UndoCommands(Part):
    """/undo"""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._done: list[Done] = []  # the last one last

    def note_done(self, undo: Callable[[Client], object], said: str, show: Callable[[], object] = lambda: None) -> None:
        """Something was done that `undo` takes back; `said` is said then, and `show` called."""
        self._done.append(Done(undo, said, show))

    @work
    async def action_undo(self) -> None:
        with self.tell_failures():
            if self._done:
                last = self._done[-1]
                await self.link.call(last.undo)
                self._done.remove(last)
                last.show()
                await self.conversation.say(last.said)
                self.link.refresh_status()
            else:
                await self._undo_revision()

    async def _undo_revision(self) -> None:
        """Offers to take back the last change of a fact, whoever made it."""
        reply = await self.link.call(lambda client: client.revisions("all", limit=NEWEST))
        last = next((one for one in reply.revisions if one.state in ("open", "kept")), None)
        if last is None:
            await self.conversation.say("There is nothing to undo: nothing was done in this chat, and no fact changed.")
            return
        question = f"Undo the last change of a fact? {describe_change(last)}"
        if await self.app.push_screen_wait(
            ConfirmScreen(question, "Both facts are as before. /review does more.", "Yes, undo")
        ):
            settled: wire.Revision = await self.link.call(lambda client: client.settle(last.id, "undo"))
            await self.conversation.say(f"{describe_change(last)}: {describe_outcome(settled)}")
        else:
            await self.conversation.say("Nothing was undone.")
