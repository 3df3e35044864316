"""Where questions and commands are typed."""

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
    """A few lines of text: Enter sends them, Enter with another key begins a new one.

    The arrow keys choose in what is suggested; without that they walk through earlier questions from the first and the
    last line. A long text that is pasted is attached, and does not stand here.
    """

    PLACE: ClassVar[Where] = "prompt"
    BINDINGS = bindings_of(PLACE)

    @dataclass
    class Submitted(Message):
        """A person sent this text; the prompt is empty again."""

        text: str

    @dataclass
    class Attached(Message):
        """A person pasted a long text."""

        text: str

    @dataclass
    class Taken(Message):
        """A person took this suggestion; what it came from is gone from the text, or replaced."""

        suggestion: Suggestion

    class BackedOut(Message):
        """A person pressed Backspace at the very beginning."""

    class Above(Message):
        """A person goes up from the empty prompt."""

    def __init__(self, suggestions: Suggestions) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            highlight_cursor_line=False,
            placeholder=PLACEHOLDER,
        )
        self.cursor_blink = False  # blinking draws the line twice a second, for as long as the chat is open
        self.asked: list[str] = []  # earlier questions, oldest first
        self._suggestions = suggestions
        self._back = 0  # how far back in them
        self._draft = ""

    @property
    def typing(self) -> Typing | None:
        """What is being typed that may be completed."""
        return find_typing(self.text, *self.cursor_location)

    def fill(self, text: str) -> None:
        """Puts text in place of what is there, the cursor at its end."""
        self.text = display_safe(text)
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Puts a question back before what has been typed meanwhile; nothing is lost."""
        self.fill(f"{text}\n{self.text}" if self.text.strip() else text)

    def take(self, suggestion: Suggestion) -> None:
        """Puts a suggestion in place of what is being typed; one without text takes it away."""
        typing = self._suggestions.typing
        if typing is not None:
            end = self.cursor_location if typing.kind in ("limit", "tag") else self.document.end
            self.replace(display_safe(suggestion.text or ""), (typing.row, typing.start), end)
            self.post_message(self.Taken(suggestion))

    def action_send(self) -> None:
        typing = self.typing
        suggestion = self._suggestions.highlighted_for(typing)
        if typing is not None and suggestion is not None:
            if typing.kind in ("limit", "tag") or (self._suggestions.is_moved and typing.kind != "command"):
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
            self.post_message(self.BackedOut())
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
            self.post_message(self.Above())
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
        """What the keys do here, those of the person's own among them."""
        keys = self._bindings.copy()
        keys.apply_keymap(self.app._keymap)
        return keys

    # Textual calls these before TextArea's own handlers of the same name, unless they prevent it.

    async def _on_key(self, event: events.Key) -> None:
        """Does what a key of the prompt is bound to here, in the order in which the keys were typed. Textual looks for
        a binding when the key has gone up to the app, and by then the letters typed after it stand in the text."""
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
