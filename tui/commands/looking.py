"""Looking into an answer: what it rests on, what is masked in it, what a person says of it."""

from __future__ import annotations

from textual import on, work

from daemon import wire
from daemon.client import Client, DaemonDownError, DaemonError
from tui.commands.undoing import UndoCommands
from tui.reports import cited_why_report
from tui.screens.ask import AskScreen
from tui.widgets.citation_list import CitationList
from tui.widgets.trace_line import TraceLine

MISSED = "Words that you miss in the answer · Enter asks · Esc leaves it"
NOT_KEPT = "Nothing is kept of how this answer was found."


class LookingCommands(UndoCommands):
    """/why, /whynot, /secrets, /good, /bad, /unsay; what a question of an earlier run did, and what a citation is part
    of"""

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

    @on(CitationList.Wanted)
    @work(exclusive=True, group="evidence")
    async def _look_into_citation(self, message: CitationList.Wanted) -> None:
        cited = message.cited
        try:
            if message.what == "why":
                self.evidence.explain(cited, await self._find_why(cited))
            elif message.what == "whynot":
                await self._ask_whynot()
            else:
                around = await self.link.call(lambda client: client.surroundings(cited.episode_id))
                self.evidence.surround(cited, around, frontmatter=message.what == "frontmatter")
        except (DaemonError, DaemonDownError) as error:
            self.evidence.remark(cited, str(error))

    async def _find_why(self, cited: wire.Citation) -> str:
        """How the question came to a citation. Raises what the client raises."""
        answer = self.conversation.transcript.selected
        if answer is None or (trace := answer.trace_id) is None:
            return NOT_KEPT
        return cited_why_report(await self.link.call(lambda client: client.why(trace)), cited.n)

    async def _ask_whynot(self) -> None:
        """Asks for words and says in the conversation why they are not in the answer. Raises what the client raises."""
        words = await self.app.push_screen_wait(AskScreen("Why not?", hint=MISSED))
        if words:
            self.remove_class("-evidence-open")  # on a small terminal it covers what is said now
            await self.conversation.explain(self.folders, words)
            self.conversation.transcript.follow()

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
