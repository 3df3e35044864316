"""Looking into an answer: what it rests on, what is masked in it, what a person says of it."""

from __future__ import annotations

from textual import on, work

from daemon import wire
from daemon.client import Client
from tui.commands.undoing import UndoCommands
from tui.widgets.trace_line import TraceLine


class LookingCommands(UndoCommands):
    """/why, /whynot, /secrets, /good, /bad, /unsay; and what a question of an earlier run did"""

    @on(TraceLine.Wanted)
    @work
    async def _recall_trace(self, message: TraceLine.Wanted) -> None:
        id = message.line.trace_id
        if id is None:
            return
        with self.tell_failures():
            trace = await self.link.call(lambda client: client.trace(id))
            message.line.recall(trace)
            message.line.walk.focus()

    @work
    async def action_show_why(self) -> None:
        with self.tell_failures():
            await self.conversation.explain(self.folders)

    @work
    async def action_show_whynot(self, words: str) -> None:
        with self.tell_failures():
            await self.conversation.explain(self.folders, words)

    @work
    async def action_show_secrets(self) -> None:
        with self.tell_failures():
            await self.conversation.show_secrets()

    @work
    async def action_judge(self, verdict: str) -> None:
        with self.tell_failures():
            said = await self.conversation.judge(verdict)
            if said is not None and said.asked.verdict != said.before:
                id, before = said.asked.id, said.before

                def take_back(client: Client) -> wire.Judged:
                    return client.judge(id, before or "none")

                now = f"called {before} again" if before else "not judged any more"
                self.shared.note_done(take_back, f"The answer is {now}.", lambda: self.conversation.mark(id, before))
