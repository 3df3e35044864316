"""The prompt for questions and commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import ClassVar

from textual import events
from textual.binding import BindingsMap, NoBinding
from textual.content import Content
from textual.widgets import TextArea

from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.completion import Suggestion, Typing, find_typing, suggest_usage
from tui.keys import is_modified_enter
from tui.session import Limit, is_long
from tui.widgets.plain import Plain

PLACEHOLDER = "Ask a question; / for commands, @note or #tag to ask within"


class Prompt(TextArea):
    """A few lines of text: Enter sends them, Enter with a modifier starts a new one. The arrow keys select a
    suggestion, or else go through earlier questions from the first and the last line. A long paste becomes an
    attachment."""

    PLACES: ClassVar[tuple[Where, ...]] = ("prompt",)
    BINDINGS = bindings_of("prompt")

    def __init__(
        self, suggestions: Suggestions, submit: Callable[[str], Awaitable[None]], attach: Callable[[str], None],
        limit: Callable[[Limit], None],
    ) -> None:  # fmt: skip
        """`submit` gets a sent text, `attach` a long pasted one, `limit` a limit that was accepted."""
        super().__init__(id="prompt", compact=True, highlight_cursor_line=False, placeholder=PLACEHOLDER)
        self.cursor_blink = False  # blinking draws the line twice a second, for as long as the chat is open
        self.asked: list[str] = []  # earlier questions, oldest first
        self._suggestions, self._submit, self._attach_text, self._limit = suggestions, submit, attach, limit
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
            if suggestion.limit is not None:
                self._limit(suggestion.limit)

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
        self.screen.call_next(self._submit, text)

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
            self._attach_text(event.text)


SHOWN = 8


class Suggestions(Plain):
    """The completions above the prompt; one is highlighted."""

    def __init__(self, choose: Callable[[Suggestion], None], toggled: Callable[[], None]) -> None:
        """`choose` gets one that was clicked; `toggled` is called when the list is shown or hidden."""
        super().__init__(id="suggestions")
        self._choose, self._toggled = choose, toggled
        self.hide()
        self.typing: Typing | None = None
        self._suggestions: tuple[Suggestion, ...] = ()
        self._highlighted = 0
        self._first = 0
        self._is_declined = False  # a person dismissed them for the current text
        self.is_moved = False  # a person has highlighted one

    def show(self, typing: Typing | None, suggestions: Sequence[Suggestion]) -> None:
        """Shows suggestions, the first highlighted; hidden without any."""
        self._is_declined = self._is_declined and typing == self.typing
        self.typing, self._suggestions = typing, () if self._is_declined else tuple(suggestions)
        self._highlighted = self._first = 0
        self.is_moved = False
        self._draw()

    def close(self) -> None:
        """Hides them until something else is typed."""
        self._is_declined = True
        self.show(self.typing, ())

    def highlighted_for(self, typing: Typing | None) -> Suggestion | None:
        """Returns the highlighted suggestion, if it belongs to the current text and can be accepted."""
        if typing is None or typing != self.typing or not self._suggestions:
            return None
        highlighted = self._suggestions[self._highlighted]
        return highlighted if highlighted.can_be_taken else None

    def move(self, step: int) -> None:
        """Highlights the next one, or the previous one."""
        self.is_moved = True
        self._highlighted = (self._highlighted + step) % len(self._suggestions)
        self._first = min(max(self._first, self._highlighted - SHOWN + 1), self._highlighted)
        self._draw()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and self._first + offset.y < len(self._suggestions):
            self._choose(self._suggestions[self._first + offset.y])

    def _draw(self) -> None:
        visible = self._suggestions[self._first : self._first + SHOWN]
        width = max((len(suggestion.label) for suggestion in visible), default=0)
        lines = []
        for index, suggestion in enumerate(visible, self._first):
            is_highlighted = index == self._highlighted
            label = f"{'▸' if is_highlighted else ' '} {display_safe(suggestion.label, line=True):<{width}}"
            detail = f"   {display_safe(suggestion.detail, line=True)}" if suggestion.detail else ""
            lines.append(
                Content.assemble(
                    (label, "bold $accent" if is_highlighted else "$accent"), (detail, "$foreground-muted")
                )
            )
        if self.typing is not None and any(suggestion.can_be_taken for suggestion in visible):
            usage = suggest_usage(self.typing)
            lines += [Content.styled(f"  {row.detail} Tab completes.", "$foreground-muted") for row in usage]
        if self.display != bool(lines):
            self.display = bool(lines)
            self._toggled()
        self.update(Content("\n").join(lines))
