"""The main page: the conversation, the evidence next to it, the prompt below."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.notifications import SeverityLevel
from textual.widgets import OptionList

from daemon import wire
from tui.actions import Action, bindings_of, find_command, parse_command
from tui.chat.completions import CompletionTopic
from tui.chat.facts import FactTopic, StatementTopic
from tui.chat.home import HomeTopic
from tui.chat.limits import LimitTopic
from tui.chat.models import ModelTopic, prompt_sign
from tui.chat.reading import ReadingTopic
from tui.chat.sessions import SessionTopic
from tui.chat.sources import SourceTopic
from tui.chat.topic import ChatPage, Topic
from tui.completion import Suggestion
from tui.link import Activity, Disconnected, StatusChanged, StreamEvent
from tui.shared import Shared
from tui.widgets.answer import Answer
from tui.widgets.below import Chips, News, Waiting
from tui.widgets.conversation import Conversation
from tui.widgets.evidence import Evidence
from tui.widgets.frame import UNDO
from tui.widgets.home import Home, HomeList
from tui.widgets.plain import Plain
from tui.widgets.prompt import Prompt, Suggestions


class ChatScreen(ChatPage):
    """Dispatches the daemon's messages and the person's actions to the widgets and to its topics."""

    NAME = "chat"
    AUTO_FOCUS = "#prompt"
    BINDINGS = bindings_of("chat")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.add_class("-fresh", *[] if shared.preferences.evidence else ["-evidence-closed"], update=False)
        self.sessions = SessionTopic(self)
        self.limits = LimitTopic(self)
        self.reading = ReadingTopic(self)
        self.models = ModelTopic(self)
        self.statements = StatementTopic(self)
        self.sources = SourceTopic(self)
        self.completions = CompletionTopic(self)
        self.home = HomeTopic(self, self.sessions, self.reading, self.models)
        self.facts = FactTopic(self, self.limits, self.statements)
        for topic in tuple(vars(self).values()):
            if isinstance(topic, Topic):
                self._offer(topic)

    def _offer(self, topic: Topic) -> None:
        """Adds the actions of a topic to the page, where Textual looks for them."""
        for name in vars(type(topic)):
            if name.startswith("action_"):
                assert not hasattr(self, name), f"two topics have {name}"
                setattr(self, name, getattr(topic, name))

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield Conversation(self.shared, self.limits.give_back, self._show_evidence)
            yield Evidence()
        with Vertical(id="below"):
            yield News(self.shared.keymap)
            suggestions = Suggestions(self._take_suggestion, self.show_keys)
            yield suggestions
            yield Waiting()
            yield Chips()
            with Horizontal(id="ask", classes="pane"):
                yield Plain(prompt_sign(self.link.effort), id="sign")
                yield Prompt(suggestions, self._submit, self.limits.attach_pasted, self.limits.add)

    def on_resize(self) -> None:
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        """Focuses the prompt if the focused part has no space any more."""
        if self.focused is None:
            self.prompt.focus()

    # The daemon ---------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        self._show_news()

    def _show_news(self) -> None:
        self.query_one(News).show(self.shared.news.values(), self.shared.folders)

    def status_changed(self, message: StatusChanged) -> None:
        super().status_changed(message)
        self.conversation.wait_for_daemon(False)
        if message.connected:
            self.home.refill()
        else:
            self.home.show()

    def show_down(self, message: Disconnected) -> None:
        super().show_down(message)
        self.conversation.wait_for_daemon(True)
        for home in self.query(Home):
            home.show_down(message.reason)

    def daemon_acted(self, message: Activity) -> None:
        super().daemon_acted(message)
        if isinstance(message.event, wire.FactChanged):
            self._show_news()

    async def receive(self, message: StreamEvent) -> None:
        """Handles the daemon's events for a question, or while it reads added files."""
        if not isinstance(message.event, wire.SavedStatement):
            if not self.reading.receive(message):
                await self.conversation.receive(message)
        elif self.conversation.is_asking(message.ticket):
            await self.statements.receive(message.event)

    # The prompt, and the lines above it -----------------------------------------------------------

    async def _submit(self, text: str) -> None:
        command = parse_command(text)
        if command is None:
            if (inquiry := self.limits.take_inquiry(text)) is not None:
                await self.conversation.ask(inquiry)
            return
        name, argument = command
        action = find_command(name)
        if action is None:
            await self.conversation.say(f"There is no command /{name}. /help lists them.", "warning")
        elif action.needs_argument and not argument:
            await self.conversation.say(f"It needs an argument: {action.usage}", "warning")
        else:
            await self.run_action(action.call("app" if action.where == "app" else "screen", argument))

    @on(Prompt.Changed)
    def _typed(self) -> None:
        self.completions.suggest()

    def _take_suggestion(self, suggestion: Suggestion) -> None:
        self.prompt.take(suggestion)
        self.prompt.focus()

    def action_remove_last_limit(self) -> None:
        self.limits.remove_last()

    def action_remove_limit(self, index: int) -> None:
        self.limits.remove(index)
        self.prompt.focus()

    def on_paste(self, event: events.Paste) -> None:
        """Passes text pasted outside the prompt to the prompt."""
        if not self.prompt.has_focus:
            self.prompt.focus()
            self.prompt.post_message(events.Paste(event.text))

    def action_take_waiting(self, index: int, edit: bool) -> None:
        self.conversation.take_waiting(index, edit)
        if edit:
            self.prompt.focus()

    async def action_take_back(self) -> None:
        answer = self.conversation.transcript.selected
        if self.completions.suggestions.display:
            self.completions.suggestions.close()
        elif self.has_class("-evidence-open"):
            self.remove_class("-evidence-open")
        elif not await self.conversation.take_back() and answer is not None:
            answer.fold()
            self.show_keys()

    def action_focus_waiting(self) -> None:
        if self.conversation.session.waiting:
            self.query_one(Waiting).focus()
        else:
            self.show_message("There is no waiting question.")

    # Home ---------------------------------------------------------------------------------------

    def action_refill_home(self) -> None:
        self.home.refill()

    def action_enter_home(self) -> None:
        self.home.enter()

    @on(OptionList.OptionSelected, "HomeList")
    async def _chosen_in_home(self, message: OptionList.OptionSelected) -> None:
        assert isinstance(message.option_list, HomeList)
        await self.home.choose(message.option_list.rows[message.option_index])

    # The conversation ---------------------------------------------------------------------------

    @on(Conversation.Changed)
    def _session_changed(self) -> None:
        session = self.conversation.session
        self.conversation.show_title()
        self.show_keys()
        self.prompt.asked = session.asked
        self.limits.show_chips()
        waiting = self.query_one(Waiting)
        if waiting.has_focus and not session.waiting:
            self.prompt.focus()
        waiting.show(session.waiting)

    def action_select_answer(self, step: int) -> None:
        self.conversation.select(step)

    def can_do(self, action: Action) -> bool:
        if action.handler == UNDO:
            return True  # also without an action of this chat, see `Page.action_undo`
        return self.conversation.has_answer or not action.of_row

    def word_of(self, action: Action) -> str:
        if action.handler == "screen.take_back":
            answer = self.conversation.transcript.selected
            is_open = self.completions.suggestions.display or self.has_class("-evidence-open")
            is_open = is_open or (answer is not None and answer.is_unfolded)
            return "close" if is_open else action.footer if self.conversation.is_busy else ""
        if (action.where, action.handler) == ("evidence", "show(1)") and len(self.evidence.citations) < 2:
            return ""
        return super().word_of(action) if action.handler != UNDO or self.shared.done else ""

    async def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        await self.conversation.say(text, severity)

    def action_toggle_more(self) -> None:
        if (answer := self.conversation.transcript.selected) is not None:
            if (fold := answer.toggle_more()) is not None:
                self.conversation.transcript.bring_into_view(fold, answer.trace)
            else:
                self.show_message("This answer has no further lines.")

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

    # The evidence -------------------------------------------------------------------------------

    def _show_evidence(self, answer: Answer, n: int | None) -> None:
        self.remove_class("-fresh")
        self.show_keys()
        self.evidence.show(answer.shown_citations, self.folders, answer.without_evidence)
        if n is not None:
            self.evidence.highlight(n)
            if self.has_class("-narrow"):
                self.add_class("-evidence-open")

    def action_toggle_evidence(self) -> None:
        if not self.conversation.has_answer:
            self.show_message("There is no answer yet.")
            return
        if self.evidence.display:
            self.remove_class("-evidence-open")
            self.set_class(self.has_class("-wide"), "-evidence-closed")
            self.prompt.focus()
        else:
            self.action_focus_evidence()
        self.shared.preferences.evidence = not self.has_class("-evidence-closed")
        self.shared.preferences.save()

    def action_leave_prompt(self) -> None:
        if not self.home.enter(last=False):
            self.action_focus_evidence()

    def action_focus_evidence(self) -> None:
        self.remove_class("-evidence-closed", "-fresh")
        if self.has_class("-narrow"):
            self.add_class("-evidence-open")
        if self.evidence.citation is not None:
            self.evidence.focus()

    def action_focus_prompt(self) -> None:
        self.remove_class("-evidence-open")
        self.prompt.focus()
