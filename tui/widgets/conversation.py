"""One session on screen: its transcript, the running question and the waiting ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.timer import Timer
from textual.widget import Widget

from daemon import wire
from daemon.terminal import count, describe_verdict, display_safe
from tui.keys import short_key
from tui.link import StreamEvent
from tui.session import WINDOW, Inquiry, Session, list_limits
from tui.shared import Shared
from tui.widgets.answer import Answer
from tui.widgets.home import Home
from tui.widgets.plain import Plain
from tui.widgets.transcript import Note, Question, Transcript
from tui.wording import secrets_report, whynot_report

NEW_SESSION = "New session"
DRAW_SECONDS = 0.1  # between two drawings of an answer that comes
SELDOM_SECONDS = 1.0  # the same while its end is not in view, or a person types: that goes first


class Conversation(Vertical):
    """Asks one question at a time; others wait. `session` is its state."""

    @dataclass
    class Changed(Message):
        """The session, its title or the waiting questions changed."""

    def __init__(
        self, shared: Shared, give_back: Callable[[Inquiry], None], show_evidence: Callable[[Answer, int | None], None]
    ) -> None:
        """`give_back` gets an unanswered question, for the prompt; `show_evidence` the selected answer when it is
        another one or has more citations, and the number of the citation to highlight, if any."""
        super().__init__(id="conversation", classes="pane")
        self._give_back, self._show_evidence = give_back, show_evidence
        self.border_title = NEW_SESSION
        self.session = Session()
        self._shared = shared
        self._link = shared.link
        self._asking: tuple[int, Answer] | None = None  # the ticket of the question that runs, and its answer
        self._events: list[wire.Event] = []  # what came for it and is not drawn yet
        self._drawing: Timer | None = None  # when that is drawn
        self._inquiry = Inquiry("")  # the question that runs, or ran last
        self._starting: int | None = None  # the question that starts this session

    def compose(self) -> ComposeResult:
        yield Transcript(self._show_lines_below, self._load_earlier, self._load_later)
        yield Plain(id="behind").hide()

    async def on_mount(self) -> None:
        await self._show_home()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def is_asking(self, ticket: int) -> bool:
        """Whether this question runs."""
        return self._asking is not None and ticket == self._asking[0]

    @property
    def is_busy(self) -> bool:
        """Whether a question runs."""
        return self._asking is not None

    @property
    def has_answer(self) -> bool:
        return bool(self.query(Answer))

    async def _show_home(self) -> None:
        self.add_class("-home")
        await self.transcript.mount(Home())

    async def _leave_home(self) -> None:
        self.remove_class("-home")
        await self.query(Home).remove()

    # Questions ----------------------------------------------------------------------------------

    async def ask(self, inquiry: Inquiry) -> None:
        """Asks, or queues the question while another one runs."""
        self.session.asked.append(inquiry.words)
        if self._asking is not None:
            self.session.waiting.append(inquiry)
        else:
            await self._send(inquiry)
        self.post_message(self.Changed())

    def wait_for_daemon(self, is_down: bool) -> None:
        """Shows in the running question whether the daemon must be started first."""
        if self._asking is not None:
            self._asking[1].trace.wait_for_daemon(is_down)

    async def take_back(self) -> bool:
        """Returns the last question to the prompt: a waiting one, else the running one; False without one."""
        if self.session.waiting:
            self._give_back(self.session.waiting.pop())
        elif self._asking is not None:
            await self._draw()
            if self._asking is not None:
                ticket, answer = self._asking
                if await answer.stop():  # else its last word is being drawn, which ends it
                    self._link.cancel(ticket)
                    self._give_back(self._inquiry)
                    await self._finish("partial")
        else:
            return False
        self.post_message(self.Changed())
        return True

    def take_waiting(self, index: int, edit: bool) -> None:
        """Removes a waiting question; with `edit` it returns to the prompt."""
        if index < len(self.session.waiting):
            inquiry = self.session.waiting[index]
            del self.session.waiting[index]
            if edit:
                self._give_back(inquiry)
            self.post_message(self.Changed())

    async def receive(self, message: StreamEvent) -> None:
        """Handles the daemon's events; those of a stopped or abandoned question are ignored."""
        if isinstance(message.event, wire.Conversation):
            if message.ticket == self._starting:
                self.rename(message.event)
        elif self.is_asking(message.ticket):
            self._events.append(message.event)
            if isinstance(message.event, (wire.Answered, wire.Failed)):
                self.call_next(self._draw)
            elif self._drawing is None:
                is_seldom = self._shared.is_typing or not self.transcript.follows
                self._drawing = self.set_timer(SELDOM_SECONDS if is_seldom else DRAW_SECONDS, self._draw)

    async def _draw(self) -> None:
        """Draws all received events at once: each drawing blocks the terminal for a person who types."""
        if self._drawing is not None:
            self._drawing.stop()
            self._drawing = None
        events, self._events = self._events, []
        if self._asking is None or not events:
            return
        answer, last = self._asking[1], events[-1]
        with self.app.batch_update():
            await answer.add(events)
            if self._asking is None or self._asking[1] is not answer:
                return  # it was stopped, or left, meanwhile
            if isinstance(last, wire.Failed):
                self._give_back(self._inquiry)
                await self._finish("partial")
            elif isinstance(last, wire.Answered):
                await self._finish()
            elif any(isinstance(event, (wire.Citation, wire.Preview)) for event in events):
                self._tell_evidence(answer)

    async def _send(self, inquiry: Inquiry) -> None:
        conversation = self.session.conversation
        await self._leave_home()
        if self.session.later:
            await self.go_to_end()
        self._inquiry, self._events = inquiry, []
        answer = Answer(inquiry.text, folders=self._shared.folders, limits=inquiry.limits, keymap=self._shared.keymap)
        await self.transcript.mount(Question(inquiry), answer)
        self.transcript.select(answer)
        self.transcript.follow()
        ticket = self._link.ask(inquiry, conversation.id if conversation else None)
        self._asking = ticket, answer
        self.wait_for_daemon(self._shared.status is None)
        if conversation is None:
            self._starting = ticket
        self._tell_evidence(answer)

    async def _finish(self, state: Literal["complete", "partial"] = "complete") -> None:
        assert self._asking is not None
        (_, answer), self._asking = self._asking, None
        answered = wire.Answered(
            answer.text, answer.citations, answer.no_answer, trace_id=answer.trace_id, model=answer.model
        )
        self.session.settle(self._inquiry, answered, self._shared.now(), state)
        self._tell_evidence(answer)
        self.session.note_taken(answer.model, *answer.trace.taken)
        self.show_title()
        self.session.shown_from += await self.transcript.prune(WINDOW)
        if self.session.waiting:
            await self._send(self.session.waiting.popleft())
            self.post_message(self.Changed())

    def _tell_evidence(self, answer: Answer) -> None:
        if answer.has_class("-selected"):
            self._show(answer)

    # Sessions -----------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Starts an empty session. A running question continues in the daemon, which stores its answer."""
        await self._leave(Session())
        await self._show_home()

    async def resume(self, reply: wire.MessagesReply, message_id: int | None = None) -> None:
        """Shows a stored session, its last messages in view, or the one of `message_id`, marked."""
        await self._leave(Session.from_messages(reply, message_id))
        place = next((place for place, message in enumerate(reply.messages) if message.id == message_id), None)
        await self._show_messages(place)

    async def _show_messages(self, place: int | None = None) -> None:
        """Mounts the session's messages, the one at a place in view."""
        widgets = self._widgets(self.session.shown)
        await self.transcript.append(widgets, self.session.later)
        self.transcript.set_earlier(self.session.shown_from)
        index = 0 if place is None else place - self.session.shown_from
        mounted = widgets[::-1] if place is None else widgets[index:]
        answer = next((widget for widget in mounted if isinstance(widget, Answer)), None)
        if answer is not None:
            self.transcript.select(answer)
            self._tell_evidence(answer)
        if place is not None:
            widgets[index].add_class("-found")
            question = next((widget for widget in widgets[index::-1] if isinstance(widget, Question)), widgets[index])
            await self.transcript.reveal(question)

    async def go_to_end(self) -> None:
        if self.session.later:
            self.session.show_end()
            await self.transcript.clear()
            await self._show_messages()
        self.transcript.follow()

    def rename(self, conversation: wire.Conversation) -> None:
        """Updates the session's conversation from the daemon."""
        self.session.conversation = conversation
        self.post_message(self.Changed())

    async def _leave(self, session: Session) -> None:
        waiting = self.session.waiting
        self._asking = self._starting = None
        self.session = session
        for inquiry in waiting:
            self._give_back(inquiry)
        self.remove_class("-home")
        await self.transcript.clear()
        self.post_message(self.Changed())

    def show_title(self) -> None:
        """Shows the session's title and its usage of models on the frame."""
        title = display_safe(self.session.title, line=True)
        self.border_title = Content(f"Session: {title}") if title else NEW_SESSION
        calls = count(self.session.calls, "call") if self.session.calls else ""
        tokens = count(self.session.tokens, "token") if self.session.tokens else ""
        model = display_safe(self.session.model, line=True) if calls else ""
        self.border_subtitle = Content(" · ".join(filter(None, (model, calls, tokens))))

    # What is in view ----------------------------------------------------------------------------

    async def say(self, text: str, level: SeverityLevel = "information") -> Note:
        """Appends a note, which is not stored in the session."""
        await self._leave_home()
        note = Note(text, level)
        await self.transcript.mount(note)
        self.transcript.follow()
        return note

    async def explain_missing(self, words: str) -> None:
        """Shows why the selected answer lacks some words. Raises what the client raises."""
        if (id := await self._find_trace()) is not None:
            reply = await self._link.call(lambda client: client.whynot(id, words))
            await self.say(whynot_report(reply, self._shared.folders))

    async def show_secrets(self) -> None:
        """Shows the masked secrets of the selected answer without storing them. Raises the client's errors."""
        answer = self.transcript.selected
        placeholders = () if answer is None else answer.placeholders
        if not placeholders:
            await self.say("Nothing was asked yet." if answer is None else "Nothing is masked in this answer.")
            return
        await self.say(secrets_report(placeholders, await self._link.call(lambda client: client.secrets(placeholders))))

    async def judge(self, verdict: str) -> wire.VerdictReply | None:
        """Sends a verdict on the selected answer: good | bad | none. None, after a message, without such an answer.
        Raises the client's errors."""
        answer, id = self.transcript.selected, await self._find_trace()
        if answer is not None and id is not None:
            judged = await self._link.call(lambda client: client.judge(id, verdict))
            self.mark(id, judged.asked.verdict)
            how = " /unsay takes it back." if judged.asked.verdict not in (None, judged.before) else ""
            await self.say(describe_verdict(judged) + how)
            return judged
        return None

    def mark(self, trace_id: int, verdict: Literal["good", "bad"] | None) -> None:
        """Shows a person's verdict on an answer."""
        for answer in self.transcript.answers:
            if answer.trace_id == trace_id:
                answer.trace.judge(verdict)
        self.session.judge(trace_id, verdict)

    async def _find_trace(self) -> int | None:
        """Returns the trace of the selected answer; without one shows why."""
        answer = self.transcript.selected
        if answer is None or answer.trace_id is None:
            why = "Nothing was asked yet." if answer is None else "The search of this answer is not stored."
            await self.say(why, "warning")
            return None
        return answer.trace_id

    def select(self, step: int) -> None:
        """Selects the answer `step` further down."""
        answers = self.transcript.answers
        if answers:
            selected = self.transcript.selected
            index = answers.index(selected) if selected in answers else len(answers) - 1
            self._select(answers[min(max(0, index + step), len(answers) - 1)])
            self.transcript.show_selected()

    def _show(self, answer: Answer, n: int | None = None) -> None:
        self.screen.call_next(self._show_evidence, answer, n)

    def _select(self, answer: Answer, n: int | None = None) -> None:
        self.transcript.select(answer)
        self._show(answer, n)

    @on(Answer.Selected)
    def _selected(self, message: Answer.Selected) -> None:
        self._select(message.answer, message.n)

    @work(exclusive=True)
    async def _load_earlier(self) -> None:
        if earlier := self.session.show_earlier():
            self.transcript.set_earlier(self.session.shown_from)
            await self.transcript.prepend(self._widgets(earlier))

    @work(exclusive=True)
    async def _load_later(self) -> None:
        later = self.session.show_later()
        await self.transcript.append(self._widgets(later), self.session.later)

    def _show_lines_below(self, lines: int) -> None:
        if self._events and self.transcript.follows:
            self.call_next(self._draw)
        hint = self.query_one("#behind", Plain)
        hint.display = lines > 0
        key = short_key(self._shared.keymap.keys_of("jump_to_end"))
        hint.update(Content.assemble(f"↓ {count(lines, 'more line')}  ", (key, "bold")))

    def on_click(self, event: events.Click) -> None:
        if event.widget is self.query_one("#behind"):
            self.transcript.follow()

    def _widgets(self, messages: Sequence[wire.ChatMessage]) -> list[Widget]:
        widgets: list[Widget] = []
        question = ""
        for message, behind in zip_longest(messages, messages[1:]):
            if message.role == "user":
                question = message.text
                limits = list_limits(behind) if behind is not None else ()
                widgets.append(Question(Inquiry(question, limits=limits)))
            else:
                widgets.append(
                    Answer(question, message, self._shared.folders, list_limits(message), self._shared.keymap)
                )
        return widgets
