"""The main screen: the conversation, the evidence next to it, the prompt below."""

from __future__ import annotations

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tui.actions import bindings_of, find_command, parse_command
from tui.commands.answers import AnswerCommands
from tui.commands.completions import CompletionCommands
from tui.commands.evidence import EvidenceCommands
from tui.commands.facts import FactCommands
from tui.commands.home import HomeCommands
from tui.commands.notifications import NotificationCommands
from tui.commands.search import SearchCommands, prompt_sign
from tui.commands.upkeep import UpkeepCommands
from tui.messages import Disconnected, SessionStarted, StatusChanged, StreamEvent
from tui.shared import Shared
from tui.widgets.chips import Chips
from tui.widgets.conversation import Conversation
from tui.widgets.evidence import Evidence
from tui.widgets.home import Home
from tui.widgets.news import News
from tui.widgets.plain import Plain
from tui.widgets.prompt import Prompt
from tui.widgets.suggestions import Suggestions
from tui.widgets.waiting import Waiting


class ChatScreen(
    HomeCommands,
    AnswerCommands,
    SearchCommands,
    CompletionCommands,
    FactCommands,
    EvidenceCommands,
    NotificationCommands,
    UpkeepCommands,
):
    """Dispatches the daemon's messages and the person's actions to the widgets."""

    NAME = "chat"
    AUTO_FOCUS = "#prompt"
    BINDINGS = bindings_of("chat")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.add_class("-fresh")
        self.set_class(not shared.preferences.evidence, "-evidence-closed")

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield Conversation(self.shared)
            yield Evidence()
        with Vertical(id="below"):
            yield News(self.shared.keymap)
            suggestions = Suggestions()
            yield suggestions
            yield Waiting()
            yield Chips()
            with Horizontal(id="ask", classes="pane"):
                yield Plain(prompt_sign(self.link.effort), id="sign")
                yield Prompt(suggestions)

    def on_resize(self) -> None:
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        """The keys go to the prompt where the part that had them has no room any more."""
        if self.focused is None:
            self.prompt.focus()

    # The daemon ---------------------------------------------------------------------------------

    def status_changed(self, message: StatusChanged) -> None:
        super().status_changed(message)
        if message.connected:
            self.refill_home()
        else:
            self.show_home()

    def show_down(self, message: Disconnected) -> None:
        super().show_down(message)
        for home in self.query(Home):
            home.show_down(message.reason)

    async def receive(self, message: StreamEvent | SessionStarted) -> None:
        """Events of the daemon for a question, or while it reads added files."""
        if isinstance(message, StreamEvent) and message.ticket in self._adding:
            self._show_progress(message)
        else:
            await self.conversation.receive(message)

    # Prompt -------------------------------------------------------------------------------------

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        command = parse_command(message.text)
        if command is None:
            if (inquiry := self.take_inquiry(message.text)) is not None:
                await self.ask(inquiry)
            return
        name, argument = command
        action = find_command(name)
        if action is None:
            await self.conversation.say(f"There is no command /{name}. /help lists them.", "warning")
        elif action.needs_argument and not argument:
            await self.conversation.say(f"It needs an argument: {action.usage}", "warning")
        else:
            self.shared.preferences.note_use(action.name)
            call = f"{action.handler}({argument!r})" if argument and action.argument else action.handler
            await self.run_action(f"app.{call}" if action.where == "app" else call)

    @on(Prompt.Changed)
    def _typed_on(self) -> None:
        self._forget_escape()

    async def action_take_back(self) -> None:
        if self.suggestions.display:
            self.suggestions.close()
        elif self.has_class("-evidence-open"):
            self.remove_class("-evidence-open")
        elif not await self.conversation.take_back():
            await self.escape()

    @on(Conversation.Changed)
    def _session_changed(self) -> None:
        session = self.conversation.session
        self.conversation.show_title()
        self.prompt.asked = session.asked
        self.show_chips()
        waiting = self.query_one(Waiting)
        if waiting.has_focus and not session.waiting:
            self.prompt.focus()
        waiting.show(session.waiting)

    @on(Waiting.Removed)
    def _taken_from_waiting(self, message: Waiting.Removed) -> None:
        self.conversation.take_waiting(message.index, message.edit)
        if message.edit:
            self.prompt.focus()

    @work
    async def action_search_asked(self) -> None:
        from tui.screens.asked import AskedScreen  # not before it is wanted

        question = await self.app.push_screen_wait(AskedScreen(self.link, self.shared.now()))
        if question is not None:
            self.prompt.fill(question)
            self.prompt.focus()

    def action_focus_waiting(self) -> None:
        if self.conversation.session.waiting:
            self.query_one(Waiting).focus()
        else:
            self.notify("There is no waiting question.", markup=False)

    # Panes --------------------------------------------------------------------------------------

    @on(Conversation.EvidenceChanged)
    def _show_evidence(self, message: Conversation.EvidenceChanged) -> None:
        answer = message.answer
        self.remove_class("-fresh")
        self.evidence.show(answer.shown_citations, self.folders, answer.without_evidence)
        self.mark_disputes()
        if message.n is not None:
            self.evidence.highlight(message.n)
            if self.has_class("-narrow"):
                self.add_class("-evidence-open")

    def action_toggle_evidence(self) -> None:
        if self.evidence.display:
            self.remove_class("-evidence-open")
            self.set_class(self.has_class("-wide"), "-evidence-closed")
            self.prompt.focus()
        else:
            self.action_focus_evidence()
        self.shared.preferences.evidence = not self.has_class("-evidence-closed")
        self.shared.preferences.save()

    def action_leave_prompt(self) -> None:
        if not self.enter_home(last=False):
            self.action_focus_evidence()

    def action_focus_evidence(self) -> None:
        self.remove_class("-evidence-closed", "-fresh")
        if self.has_class("-narrow"):
            self.add_class("-evidence-open")
        if self.evidence.citation is not None:
            self.evidence.citation_list.focus()

    def action_show_pictures(self) -> None:
        if self.evidence.citation is None:
            self.notify("Ask something first; its sources may have pictures.", markup=False)
        else:
            self.action_focus_evidence()  # messages about them are shown there
            self.evidence.citation_list.action_show_pictures()

    def action_focus_prompt(self) -> None:
        self.remove_class("-evidence-open")
        self.prompt.focus()

    def action_select_answer(self, step: int) -> None:
        self.conversation.select(step)

    def action_toggle_trace(self) -> None:
        if (answer := self.conversation.transcript.selected) is not None:
            answer.trace.toggle()
            if answer.trace.unfolded and answer.ready.is_set():
                answer.trace.walk.focus()

    def action_fold_trace(self) -> None:
        if (answer := self.conversation.transcript.selected) is not None:
            answer.trace.unfolded = False
        self.prompt.focus()

    def action_toggle_more(self) -> None:
        if (answer := self.conversation.transcript.selected) is not None:
            answer.toggle_more()

    def action_scroll_transcript(self, direction: int) -> None:
        transcript = self.conversation.transcript
        if direction < 0:
            transcript.scroll_page_up(animate=False)
        else:
            transcript.scroll_page_down(animate=False)

    async def action_jump_to_end(self) -> None:
        await self.conversation.go_to_end()

    async def action_choose_theme(self, name: str = "") -> None:
        if not name:
            self.app.search_themes()
        elif name in self.app.available_themes:
            self.app.theme = name
        else:
            names = ", ".join(sorted(self.app.available_themes))
            await self.conversation.say(f"There is no theme {name}. Themes: {names}.", "warning")
