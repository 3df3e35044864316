"""Where questions and commands are typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import NoBinding
from textual.message import Message
from textual.widgets import TextArea

from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.keys import is_modified_enter

PLACEHOLDER = "Ask your memory, or / for commands"


class Prompt(TextArea):
    """A few lines of text: Enter sends them, Shift+Enter or Ctrl+J begins a new one.

    The arrow keys walk through earlier questions from the first and the last line.
    """

    PLACE: ClassVar[Where] = "prompt"
    BINDINGS = bindings_of(PLACE)

    @dataclass
    class Submitted(Message):
        """A person sent this text; the prompt is empty again."""

        text: str

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            highlight_cursor_line=False,
            placeholder=PLACEHOLDER,
        )
        self.cursor_blink = False  # a blinking one costs 0.8 % of a processor, day and night
        self.asked: list[str] = []  # earlier questions, oldest first
        self._back = 0  # how far back in them
        self._draft = ""

    def fill(self, text: str) -> None:
        """Puts text in place of what is there, the cursor at its end."""
        self.text = display_safe(text)
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Puts a question back before what has been typed meanwhile; nothing is lost."""
        self.fill(f"{text}\n{self.text}" if self.text.strip() else text)

    def action_send(self) -> None:
        text = self.text.strip()
        if text:
            self._back = 0
            self.clear()
            self.post_message(self.Submitted(text))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_earlier(self) -> None:
        if self.cursor_at_first_line and self._back < len(self.asked):
            if self._back == 0:
                self._draft = self.text
            self._back += 1
            self.fill(self.asked[-self._back])
        else:
            self.action_cursor_up()

    def action_later(self) -> None:
        if self.cursor_at_last_line and self._back:
            self._back -= 1
            self.fill(self.asked[-self._back] if self._back else self._draft)
        else:
            self.action_cursor_down()

    # Textual calls these before TextArea's own handlers of the same name, unless they prevent it.

    async def _on_key(self, event: events.Key) -> None:
        """Does what a key of the prompt is bound to here, in the order in which the keys were typed. Textual looks for
        a binding when the key has gone up to the app, and by then the letters typed after it stand in the text."""
        try:
            bindings = self._bindings.get_bindings_for_key("alt+enter" if is_modified_enter(event.key) else event.key)
        except NoBinding:
            return
        for binding in bindings:
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = display_safe(event.text.replace("\r\n", "\n").replace("\r", "\n"))
