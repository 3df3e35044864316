"""Commands on an answer and its evidence: copy, explain, reveal secrets, judge."""

from __future__ import annotations

from daemon import wire
from daemon.client.client import Client
from daemon.terminal import describe_evidence
from tui.chat.topic import Topic, background
from tui.dialogs.dialog import AskScreen
from tui.wording import answer_markdown, cited_label

EXPECTED = "Which words did you expect? Without any it is only marked as wrong."
MARKS = "Enter marks the answer as wrong · Esc cancels"


class SourceTopic(Topic):
    """/copy, /why, /secrets, /good, /bad, /unsay."""

    @background("why")
    async def action_toggle_why(self) -> None:
        """Unfolds how the selected answer was found, and scrolls there; or folds it."""
        answer = self.page.conversation.transcript.selected
        if answer is None:
            self.page.show_message("There is no answer yet.")
            return
        line, id = answer.trace, answer.trace_id
        if self.page.has_class("-evidence-open"):  # it covers the conversation
            self.page.remove_class("-evidence-open")
            self.page.prompt.focus()
        elif line.unfolded:
            line.unfolded = False
            self.page.show_keys()
            return
        if id is not None:
            with self.page.tell_failures():
                if not line.has_details:
                    line.recall(await self.link.call(lambda client: client.trace(id)))
                why = await self.link.call(lambda client: client.why(id))
                lines = describe_evidence(why, lambda cited: cited_label(cited, self.page.folders))
                line.walk.explain("\n".join(lines))
        if line.has_details:
            line.unfolded = True
            self.page.show_keys()
            self.page.conversation.transcript.bring_into_view(line, line.walk)
        elif id is None and answer.ready.is_set():
            self.page.show_message("The search of this answer is not stored.", "warning")

    def action_copy_answer(self) -> None:
        answer = self.page.conversation.transcript.selected
        if answer is None or not answer.text:
            self.page.show_message("There is no answer to copy yet.", "warning")
        else:
            self.page.app.copy_to_clipboard(answer_markdown(answer.text, answer.citations))
            self.page.show_message("Answer copied, with its sources.")

    @background()
    async def action_show_secrets(self) -> None:
        with self.page.tell_failures():
            await self.page.conversation.show_secrets()

    @background()
    async def action_dispute(self) -> None:
        words = await self.page.app.push_screen_wait(AskScreen("Not right?", EXPECTED, hint=MARKS))
        if words is not None:
            with self.page.tell_failures():
                await self._judge("bad")
                if words:
                    await self.page.conversation.explain_missing(words)

    @background()
    async def action_judge(self, verdict: str) -> None:
        with self.page.tell_failures():
            await self._judge(verdict)

    async def _judge(self, verdict: str) -> None:
        """Sends a person's verdict, which /undo removes. Raises the client's errors."""
        judged = await self.page.conversation.judge(verdict)
        if judged is not None and judged.asked.verdict != judged.before:
            id, before = judged.asked.id, judged.before

            def take_back(client: Client) -> wire.VerdictReply:
                return client.judge(id, before or "none")

            now = f"marked {before} again" if before else "no longer judged"
            self.shared.note_done(take_back, f"The answer is {now}.", lambda: self.page.conversation.mark(id, before))
