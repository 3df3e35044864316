"""Commands on an answer: copy, ask again, edit the question, fork."""

from __future__ import annotations

from daemon.client.client import DaemonDownError, DaemonError
from daemon.terminal import title_of
from tui.chat.limits import LimitTopic
from tui.chat.sessions import SessionTopic
from tui.chat.topic import Topic, background
from tui.inquiry import Inquiry
from tui.page import Page
from tui.widgets.answer import Answer
from tui.wording import answer_markdown

EDITING = "Edit: Enter asks in a new session, Esc cancels"
ONCE_MORE = "Esc again: edit your last question"


class AnswerTopic(Topic):
    """/copy, /again, /edit, /fork"""

    def __init__(self, page: Page, sessions: SessionTopic, limits: LimitTopic) -> None:
        super().__init__(page)
        self._sessions, self._limits = sessions, limits
        # While a question is edited: its session, the number of messages before it, and its text.
        self._edited: tuple[int, int, str] | None = None
        self._escaped = False  # Esc was pressed, and did nothing

    async def ask(self, inquiry: Inquiry) -> None:
        """Asks; an edited question goes to a new session, and the old one stays unchanged."""
        if self._edited is None:
            await self.conversation.ask(inquiry)
        else:
            id, before, _ = self._edited
            self._edited = None
            self._entitle_prompt()
            self._ask_edited(inquiry, id, before)

    @background()
    async def _ask_edited(self, inquiry: Inquiry, id: int, before: int) -> None:
        try:
            await self._go_on_in_fork(id, before, title_of(inquiry.words))
        except (DaemonError, DaemonDownError) as error:
            self.conversation.post_message(self.conversation.Returned(inquiry))
            self.show_message(str(error), "error")
        else:
            self.conversation.session.limits = inquiry.limits
            await self.conversation.ask(inquiry)

    async def escape(self) -> bool:
        """Handles Esc in the prompt when nothing runs and nothing is open; False if it does nothing."""
        if self._edited is not None:
            if self.prompt.text == self._edited[2]:
                self.prompt.clear()
            self._edited = None
        elif not self.prompt.text and self.conversation.transcript.answers:
            if self._escaped:
                self.conversation.transcript.select(self.conversation.transcript.answers[-1])
                self.action_edit_question()
            self._escaped = not self._escaped
        else:
            return False
        self._entitle_prompt()
        return True

    def forget_escape(self) -> None:
        """Something was typed since Esc."""
        if self._escaped:
            self._escaped = False
            self._entitle_prompt()

    def _entitle_prompt(self) -> None:
        self.page.query_one("#ask").border_title = EDITING if self._edited else ONCE_MORE if self._escaped else ""

    def action_copy_answer(self) -> None:
        answer = self.conversation.transcript.selected
        if answer is None or not answer.text:
            self.show_message("There is no answer to copy yet.", "warning")
        else:
            self.page.app.copy_to_clipboard(answer_markdown(answer.text, answer.citations))
            self.show_message("Answer copied, with its sources.")

    async def action_ask_again(self, how: str = "") -> None:
        answer = self.conversation.transcript.selected
        if answer is None:
            await self.say("Nothing was asked yet.", "warning")
        else:
            await self.conversation.ask_again(answer, replay=how != "fresh")

    @background()
    async def action_edit_question(self) -> None:
        answer = self.conversation.transcript.selected
        if answer is None:
            await self.say("Nothing was asked yet.", "warning")
        elif not answer.ready.is_set():
            await self.conversation.take_back()  # which gives it back to be edited
        else:
            with self.tell_failures():
                if (turn := await self._find_turn(answer)) is not None:
                    id, question_place, _ = turn
                    self._edited, self._escaped = (id, question_place, answer.question), False
                    self.prompt.fill(answer.question)
                    self._edited = (id, question_place, self.prompt.text)
                    for limit in answer.limits:
                        self._limits.add(limit)
                    self._entitle_prompt()
                    self.prompt.focus()

    @background()
    async def action_fork(self) -> None:
        answer = self.conversation.transcript.selected
        if answer is None:
            await self.say("Nothing was asked yet.", "warning")
        elif not answer.ready.is_set():
            await self.say("It is being answered. Fork it when it is complete.", "warning")
        else:
            with self.tell_failures():
                if (turn := await self._find_turn(answer)) is not None:
                    id, _, answered = turn
                    title = self.conversation.session.title
                    await self._go_on_in_fork(id, answered + 1, f"{title} (fork)" if title else "")
                    await self.say("Forked. The original is under /sessions.")

    async def _go_on_in_fork(self, id: int, messages: int, title: str) -> None:
        """Shows a new session with the first messages of another one. Raises what the client raises."""
        if not messages:
            await self._sessions.action_new_session()
            return
        forked = await self.link.call(lambda client: client.fork_conversation(id, messages, title))
        await self._sessions.resume(forked.id)

    async def _find_turn(self, answer: Answer) -> tuple[int, int, int] | None:
        """An answer's session, and the places of its question and of itself among the stored messages; None, after a
        message, if none is stored. Raises what the client raises."""
        conversation = self.conversation.session.conversation
        session = await self.link.call(lambda client: client.conversation(conversation.id)) if conversation else None
        if session is None or not session.messages:
            await self.say("This session is not stored.", "warning")
            return None
        traces = [message.trace_id for message in session.messages]
        is_traced = answer.trace_id is not None and answer.trace_id in traces
        place = traces.index(answer.trace_id) if is_traced else self.conversation.place_of(answer)
        place = min(place, len(traces) - 1)
        question_place = max((n for n in range(place + 1) if session.messages[n].role == "user"), default=0)
        return session.conversation.id, question_place, place
