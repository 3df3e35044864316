"""/undo: reverts the last action in this chat."""

from __future__ import annotations

from textual import work

from daemon import wire
from daemon.client import DaemonError
from daemon.terminal import describe_outcome
from tui.commands.part import Part
from tui.fact_reports import describe_change
from tui.screens.confirm import ConfirmScreen

NEWEST = 20  # revisions searched for an active one


class UndoCommands(Part):
    """/undo"""

    @work
    async def action_undo(self) -> None:
        with self.tell_failures():
            if not self.shared.done:
                await self._undo_revision()
                return
            last = self.shared.done[-1]
            try:
                await self.link.call(last.undo)
            except DaemonError as error:
                if error.failed.code != "not_found":
                    raise
                self.shared.drop_done(last)  # it is gone: what was done before it can be undone next
                last.show()
                await self.conversation.say(f"{error} Nothing was undone.", "warning")
                return
            self.shared.drop_done(last)
            last.show()
            await self.conversation.say(last.said)
            self.link.refresh_status()

    async def _undo_revision(self) -> None:
        """Offers to revert the last change of a fact, whoever made it."""
        reply = await self.link.call(lambda client: client.revisions("all", limit=NEWEST))
        last = next((revision for revision in reply.revisions if revision.state in ("open", "kept")), None)
        if last is None:
            await self.conversation.say("There is nothing to undo.")
            return
        question = f"Undo the last change of a fact? {describe_change(last)}"
        if await self.app.push_screen_wait(
            ConfirmScreen(question, "Both facts are as before. More in /review.", "Yes, undo")
        ):
            settled: wire.Revision = await self.link.call(lambda client: client.settle(last.id, "undo"))
            await self.conversation.say(f"{describe_change(last)}: {describe_outcome(settled)}")
        else:
            await self.conversation.say("Nothing was undone.")
