"""The prompt for questions and commands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from textual import events
from textual.binding import BindingsMap, NoBinding
from textual.message import Message
from textual.widgets import TextArea

from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.completion import Suggestion, Typing, find_typing
from tui.inquiry import is_long
from tui.keys import is_modified_enter
from tui.widgets.suggestions import Suggestions

PLACEHOLDER = "Ask your memory; / for commands, @ and # to ask within"


class Prompt(TextArea):
    """A few lines of text: Enter sends them, Enter with a modifier starts a new one. The arrow keys select a
    suggestion, or else go through earlier questions from the first and the last line. A long paste becomes an
    attachment."""

    PLACES: ClassVar[tuple[Where, ...]] = ("prompt",)
    BINDINGS = bindings_of("prompt")

    @dataclass
    class Submitted(Message):
        """A person sent this text; the prompt is empty again."""

        text: str

    @dataclass
    class Attached(Message):
        """A person pasted a long text."""

        text: str

    @dataclass
    class Accepted(Message):
        """A person accepted this suggestion; its typed part is removed or replaced."""

        suggestion: Suggestion

    def __init__(self, suggestions: Suggestions) -> None:
        super().__init__(id="prompt", compact=True, highlight_cursor_line=False, placeholder=PLACEHOLDER)
        self.cursor_blink = False  # blinking draws the line twice a second, for as long as the chat is open
        self.asked: list[str] = []  # earlier questions, oldest first
        self._suggestions = suggestions
        self._back = 0  # how far back in them
        self._draft = ""

    @property
    def typing(self) -> Typing | None:
        """Returns the completable word at the cursor."""
        return find_typing(self.text, *self.cursor_location)

    def action_copy(self) -> None:
        """Copies the selection; without one, clears the prompt as a shell does. The up key brings the text back."""
        if self.selected_text or not self.text or self.screen.get_selected_text():
            super().action_copy()  # without a selection here, the screen copies its own, or the chat ends
        else:
            self.asked.append(self.text)
            self.fill("")

    def fill(self, text: str) -> None:
        """Replaces the text, with the cursor at its end."""
        self.text = display_safe(text)
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Puts a question before the typed text."""
        self.fill(f"{text}\n{self.text}" if self.text.strip() else text)

    def take(self, suggestion: Suggestion) -> None:
        """Replaces the typed word by a suggestion; one without text removes it."""
        typing = self._suggestions.typing
        if typing is not None:
            end = self.cursor_location if typing.kind in ("limit", "tag") else self.document.end
            self.replace(display_safe(suggestion.text or ""), (typing.row, typing.start), end)
            self.post_message(self.Accepted(suggestion))

    def action_send(self) -> None:
        typing = self.typing
        suggestion = self._suggestions.highlighted_for(typing)
        if typing is not None and suggestion is not None:
            is_begun = typing.query == "~/" or (typing.kind == "service" and suggestion.text != typing.query)
            if is_begun or typing.kind in ("limit", "tag") or (self._suggestions.is_moved and typing.kind != "command"):
                self.take(suggestion)
                return
            if typing.kind == "command" and suggestion.text:
                if not suggestion.is_whole and suggestion.text.strip("/ ") != typing.query:
                    self.take(suggestion)
                    return
                self.fill(suggestion.text)
        text = self.text.strip()
        self._back = 0
        self.clear()
        self.post_message(self.Submitted(text))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_delete_left(self) -> None:
        if self.selection.start == self.selection.end == (0, 0):
            self.call_next(self.run_action, "screen.remove_last_limit")
        else:
            super().action_delete_left()

    def action_earlier(self) -> None:
        if self._suggestions.highlighted_for(self.typing) is not None:
            self._suggestions.move(-1)
        elif self.cursor_at_first_line and self._back < len(self.asked):
            if self._back == 0:
                self._draft = self.text
            self._back += 1
            self.fill(self.asked[-self._back])
        elif not self.text:
            self.call_next(self.run_action, "screen.enter_home")
        else:
            self.action_cursor_up()

    def action_later(self) -> None:
        if self._suggestions.highlighted_for(self.typing) is not None:
            self._suggestions.move(1)
        elif self.cursor_at_last_line and self._back:
            self._back -= 1
            self.fill(self.asked[-self._back] if self._back else self._draft)
        else:
            self.action_cursor_down()

    @cached_property
    def _keys(self) -> BindingsMap:
        """Returns the bindings of the prompt, with custom keys."""
        keys = self._bindings.copy()
        keys.apply_keymap(self.app._keymap)
        return keys

    # Textual calls these before TextArea's own handlers of the same name, unless they prevent it.

    async def _on_key(self, event: events.Key) -> None:
        """Runs a key's binding at once, in the order of typing. Textual looks for a binding after the key has bubbled
        up to the app, when later letters are already in the text."""
        try:
            bindings = self._keys.get_bindings_for_key("alt+enter" if is_modified_enter(event.key) else event.key)
        except NoBinding:
            return
        for binding in bindings:
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = display_safe(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        if is_long(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.Attached(event.text))
