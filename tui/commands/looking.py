"""Looking into an answer: what it rests on, what is masked in it, what a person says of it."""

from __future__ import annotations

from textual import work

from tui.commands.part import Part


class LookingCommands(Part):
    """/why, /whynot, /secrets, /good, /bad, /unsay"""

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
            await self.conversation.judge(verdict)
