"""The screen one lives in: the conversation, the evidence beside it, the prompt below."""

from __future__ import annotations

import os
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from daemon import wire
from daemon.terminal import display_safe
from tui.actions import bindings_of, find_command, parse_command
from tui.completion import complete
from tui.link import EFFORTS
from tui.messages import Disconnected, SessionStarted, StatusChanged, StreamEvent
from tui.reports import added_report, failure, profile_report, status_report
from tui.screens.page import Page
from tui.screens.sessions import NEW, SessionsScreen
from tui.shared import Shared
from tui.widgets.citation_list import CitationList
from tui.widgets.command_hints import CommandHints
from tui.widgets.conversation import Conversation
from tui.widgets.evidence import Evidence
from tui.widgets.note import Level, Note
from tui.widgets.plain import Plain
from tui.widgets.prompt import Prompt
from tui.widgets.welcome import Welcome
from tui.wording import answer_text, short_path

SIGN = "›"  # before the prompt


class ChatScreen(Page):
    """What the daemon says and what a person does come together here; the widgets show it."""

    NAME = "chat"
    AUTO_FOCUS = "#prompt"
    BINDINGS = bindings_of("chat")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.add_class("-fresh")
        self.set_class(not shared.preferences.evidence, "-evidence-closed")
        self._last: wire.Conversation | None = None  # the session before this one
        # Each file or folder that is being read: its path, the note that says how far, and what was skipped.
        self._adding: dict[int, tuple[str, Note, list[wire.Skipped]]] = {}

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield Conversation(self.link, self.shared.now)
            yield Evidence()
        with Vertical(id="below"):
            yield CommandHints()
            yield Plain(id="waiting").hide()
            with Horizontal(id="ask", classes="pane"):
                yield Plain(_sign(self.link.effort), id="sign")
                yield Prompt()

    @property
    def conversation(self) -> Conversation:
        return self.query_one(Conversation)

    @property
    def evidence(self) -> Evidence:
        return self.query_one(Evidence)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    # The daemon ---------------------------------------------------------------------------------

    def status_changed(self, message: StatusChanged) -> None:
        super().status_changed(message)
        self._welcome()
        if message.connected:
            self._offer_last()

    def disconnected(self, message: Disconnected) -> None:
        super().disconnected(message)
        for welcome in self.query(Welcome):
            welcome.show_down(message.reason)

    async def receive(self, message: StreamEvent | SessionStarted) -> None:
        """What the daemon says to a question, or while it reads what a person added."""
        if isinstance(message, StreamEvent) and message.ticket in self._adding:
            self._added(message)
        else:
            await self.conversation.receive(message)

    def _welcome(self) -> None:
        if self.shared.status is not None:
            for welcome in self.query(Welcome):
                welcome.show(self.shared.status, self._last, self.shared.now())

    # Prompt -------------------------------------------------------------------------------------

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        command = parse_command(message.text)
        if command is None:
            await self.conversation.ask(message.text)
            return
        name, argument = command
        action = find_command(name)
        if action is None:
            await self.conversation.say(f"There is no command /{name}. /help lists them.", "warning")
        elif action.needs_argument and not argument:
            await self.conversation.say(f"It needs one more word: {action.usage}", "warning")
        else:
            self.shared.preferences.note_use(action.name)
            call = f"{action.handler}({argument!r})" if argument and action.argument else action.handler
            await self.run_action(f"app.{call}" if action.where == "app" else call)

    @on(Prompt.Changed)
    def _typed(self) -> None:
        self.query_one(CommandHints).show_for(self.prompt.text)

    def action_complete(self) -> None:
        if self.prompt.text.startswith("/"):
            if completed := complete(self.prompt.text):
                self.prompt.fill(completed)
        else:
            self.action_focus_evidence()

    async def action_take_back(self) -> None:
        if not await self.conversation.take_back():
            self.remove_class("-evidence-open")

    @on(Conversation.GivenBack)
    def _given_back(self, message: Conversation.GivenBack) -> None:
        self.prompt.give_back(message.question)

    @on(Conversation.Changed)
    def _session_changed(self) -> None:
        session = self.conversation.session
        self.conversation.show_title()
        self.prompt.asked = session.asked
        waiting = self.query_one("#waiting", Plain)
        waiting.display = bool(session.waiting)
        waiting.update("\n".join(f"waiting: {question.partition(chr(10))[0]}" for question in session.waiting))

    # Panes --------------------------------------------------------------------------------------

    @on(Conversation.EvidenceChanged)
    def _show_evidence(self, message: Conversation.EvidenceChanged) -> None:
        answer = message.answer
        self.remove_class("-fresh")
        self.evidence.show(answer.shown_citations, self.folders, answer.without_evidence)
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

    def action_focus_evidence(self) -> None:
        self.remove_class("-evidence-closed", "-fresh")
        if self.has_class("-narrow"):
            self.add_class("-evidence-open")
        if self.evidence.citation is not None:
            self.query_one(CitationList).focus()

    def action_focus_prompt(self) -> None:
        self.remove_class("-evidence-open")
        self.prompt.focus()

    def action_select_answer(self, step: int) -> None:
        self.conversation.select(step)

    def action_toggle_trace(self) -> None:
        if (answer := self.conversation.transcript.selected) is not None:
            answer.trace.toggle()

    def action_toggle_more(self) -> None:
        if (answer := self.conversation.transcript.selected) is not None:
            answer.toggle_more()

    def action_scroll_transcript(self, direction: int) -> None:
        transcript = self.conversation.transcript
        if direction < 0:
            transcript.scroll_page_up(animate=False)
        else:
            transcript.scroll_page_down(animate=False)

    def action_jump_to_end(self) -> None:
        self.conversation.transcript.follow()

    def action_copy_answer(self) -> None:
        answer = self.conversation.transcript.selected
        if answer is None or not answer.text:
            self.notify("There is no answer to copy yet.", severity="warning", markup=False)
        else:
            self.app.copy_to_clipboard(answer_text(answer.text, answer.citations))
            self.notify("Answer copied, with its sources.", markup=False)

    async def action_choose_theme(self, name: str = "") -> None:
        if not name:
            self.app.search_themes()
        elif name in self.app.available_themes:
            self.app.theme = name
        else:
            known = ", ".join(sorted(self.app.available_themes))
            await self.conversation.say(f"There is no theme {name}. There are: {known}.", "warning")

    # Sessions -----------------------------------------------------------------------------------

    @work
    async def _offer_last(self) -> None:
        with self.telling():
            self._last = next(iter(await self.link.sessions()), None)
            self._welcome()

    @work
    async def action_show_sessions(self) -> None:
        with self.telling():
            sessions = await self.link.sessions()
            chosen = await self.app.push_screen_wait(SessionsScreen(self.link, sessions, self.shared.now()))
            if chosen == NEW:
                await self.action_new_session()
            elif chosen is not None:
                await self._resume(chosen)
            elif (current := self.conversation.session.conversation) is not None:
                kept = await self.link.call(lambda client: client.conversations())  # renamed or deleted, perhaps
                found = next((session for session in kept if session.id == current.id), None)
                if found is None:
                    await self.action_new_session()
                else:
                    self.conversation.rename(found)

    @work
    async def action_resume_last(self) -> None:
        with self.telling():
            if self._last is not None:
                await self._resume(self._last.id)

    async def _resume(self, id: int) -> None:
        kept = await self.link.call(lambda client: client.conversation(id))
        self.evidence.clear()
        await self.conversation.resume(kept)
        self._last = None
        self.prompt.focus()

    async def action_new_session(self) -> None:
        await self.conversation.begin()
        self.evidence.clear()
        self.add_class("-fresh")
        self._offer_last()

    # Looking into an answer ---------------------------------------------------------------------

    @work
    async def action_show_why(self) -> None:
        with self.telling():
            await self.conversation.explain(self.folders)

    @work
    async def action_show_whynot(self, words: str) -> None:
        with self.telling():
            await self.conversation.explain(self.folders, words)

    @work
    async def action_show_secrets(self) -> None:
        with self.telling():
            await self.conversation.show_secrets()

    @work
    async def action_judge(self, verdict: str) -> None:
        with self.telling():
            await self.conversation.judge(verdict)

    async def action_choose_effort(self, name: str = "") -> None:
        if name in EFFORTS:
            self.link.effort = self.shared.preferences.effort = name
            self.shared.preferences.save()
            self.query_one("#sign", Plain).update(_sign(name))
        elif name:
            await self.conversation.say(f"There is no effort {name}. There are: {', '.join(EFFORTS)}.", "warning")
        else:
            await self.conversation.say(f"Effort: {self.link.effort}. /effort {'|'.join(EFFORTS)} changes it.")

    async def action_choose_strategy(self, name: str = "") -> None:
        if name:
            self.link.strategy = "" if name == "default" else name
        chosen = self.link.strategy or "that of the settings"
        await self.conversation.say(f"Strategy: {chosen}. /strategy NAME changes it, /strategy default takes it back.")

    # The memory ---------------------------------------------------------------------------------

    async def action_add_path(self, typed: str) -> None:
        path = _path(typed)
        shown = short_path(str(path))
        note = await self.conversation.say(f"{shown}: looking for what can be read")
        self._adding[self.link.add(path)] = shown, note, []

    def _added(self, message: StreamEvent) -> None:
        path, note, left_out = self._adding[message.ticket]
        match message.event:
            case wire.Progress(done, total, label):
                note.say(f"{path}: read {done:,} of {total:,} · {short_path(label, self.folders)}")
            case wire.Skipped() as skipped:
                left_out.append(skipped)
            case wire.Added() as added:
                self._end_adding(message.ticket, added_report(path, added, left_out))
            case wire.Failed() as failed:
                self._end_adding(message.ticket, f"{path}: {failure(failed)}", "error")

    def _end_adding(self, ticket: int, text: str, level: Level = "info") -> None:
        _, note, _ = self._adding.pop(ticket)
        if note.is_attached:
            note.say(text, level)
        else:  # it stood in a session that was left
            self.notify(display_safe(text), severity="error" if level == "error" else "information", markup=False)
        self.link.refresh_status()

    @work
    async def action_watch_path(self, typed: str) -> None:
        path = _path(typed)
        with self.telling():
            folder = await self.link.call(lambda client: client.watch(path))
            text = f"Watching {short_path(folder.path)}. It is read now; the line at the top shows how far."
            await self.conversation.say(text)
            self.link.refresh_status()

    @work
    async def action_show_me(self, said: str = "") -> None:
        key, _, value = said.partition(" ")
        with self.telling():
            if value.strip():
                reply = await self.link.call(lambda client: client.set_profile(key, value.strip()))
            else:
                reply = await self.link.call(lambda client: client.profile())
            await self.conversation.say(profile_report(reply, key))

    @work
    async def action_show_status(self) -> None:
        with self.telling():
            status = await self.link.call(lambda client: client.status())
            self.shared.status = status
            await self.conversation.say(status_report(status))


def _sign(effort: str) -> str:
    """What stands before the prompt: how far a question goes, unless it is as far as usual."""
    return SIGN if effort == EFFORTS[1] else f"{effort} {SIGN}"


def _path(typed: str) -> Path:
    """A path as a person types or drops it: quoted perhaps, from `~` or from here."""
    home = os.path.expanduser(typed.strip("'\""))  # noqa: PTH111  it leaves a `~name` that nobody has as it is
    return Path(os.path.normpath(Path(home).absolute()))
