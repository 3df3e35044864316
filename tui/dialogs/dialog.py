"""The base of the windows over a page, and two simple ones."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Button, Input, TextArea

from daemon.setup import QUESTIONS, read_answer
from daemon.terminal import display_safe
from tui.widgets.plain import Plain


class Hasty(Screen[ScreenResultType]):
    """A screen that survives early input: keys typed before its widgets are mounted only close it, and clicks on a
    removed widget are ignored; Textual would end the app."""

    TAKES_LETTERS: ClassVar[bool] = False  # that are typed outside of its fields

    def is_typed_outside(self, event: events.Key) -> bool:
        """Whether a key is a character outside of a field, for which nothing here is a key."""
        is_text = event.is_printable and bool(event.character) and not isinstance(self.focused, (Input, TextArea))
        return self.TAKES_LETTERS and is_text and event.key not in self.active_bindings

    async def type(self, character: str) -> None:
        """Takes such a character."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (self.is_mounted or action == "dismiss") and super().check_action(action, parameters)

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        widget, offset = super().get_widget_and_offset_at(x, y)
        return (widget, offset) if widget is None or widget.is_attached else (None, None)


class Window(ModalScreen[ScreenResultType], Hasty[ScreenResultType]):
    """A window over a page, which closes once: a second key or click before it is closed would also close the page
    below."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if not self.is_mounted:
            self.call_later(self._close, result)
        elif self.is_active:
            return super().dismiss(result)
        return AwaitComplete()

    def _close(self, result: ScreenResultType | None) -> None:
        self.dismiss(result)


class Dialog(Window[ScreenResultType]):
    """A window over the chat. Ctrl+C leaves the chat from here too, because the app's own keys do not work here."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False)]

    def __init__(self) -> None:
        super().__init__()
        use_styles(self)


def use_styles(screen: Screen[ScreenResultType]) -> None:
    """Reuses the parsed styles for a new screen. Textual would parse all of them again, 30 ms."""
    screen._css_update_count = screen.app._css_update_count


HINT = "Enter saves · Esc cancels"
MAX_LENGTH = 200  # characters
MAX_NAME = 120  # of a session


class AskScreen(Dialog[str | None]):
    """Asks for one line, which begins as `value` and may be empty; None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(
        self, question: str, more: str = "", value: str = "", hint: str = HINT, max_length: int = MAX_LENGTH,
        hidden: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._hidden = hidden  # a password
        self._question, self._more, self._value, self._hint = question, more, value, hint
        self._max_length = max_length

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(self._question, classes="dialog-title")
            if self._more:
                yield Plain(self._more, classes="dialog-more")
            yield Input(
                display_safe(self._value, line=True), max_length=self._max_length, compact=True, password=self._hidden
            )
            yield Plain(self._hint, classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(display_safe(event.value, line=True).strip())


class ConfirmScreen(Dialog[bool | None]):
    """Asks with two buttons; the first has the focus: no, unless yes is usual. None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "app.focus_next", "Other button", show=False),
        Binding("escape", "dismiss(None)", "Cancel"),
    ]
    AUTO_FOCUS = "Button"

    def __init__(
        self, question: str, more: str = "", yes: str = "Yes, delete", no: str = "No", is_usual: bool = False
    ) -> None:
        super().__init__()
        self._texts = question, more
        self._buttons = [("no", no), ("yes", yes)][:: -1 if is_usual else 1]

    def compose(self) -> ComposeResult:
        question, more = self._texts
        with Vertical(classes="dialog -small"):
            yield Plain(question, classes="dialog-title")
            if more:
                yield Plain(more, classes="dialog-more")
            with Horizontal(classes="buttons"):
                for id, label in self._buttons:
                    button = Button(id=id, compact=True)
                    button.label = Content(display_safe(label, line=True))
                    yield button
            yield Plain("← → choose · Enter · Esc cancels", classes="dialog-hint")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class IntroductionScreen(Dialog[dict[str, str] | None]):
    """Asks all questions; returns the statements, key to value, or None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]
    AUTO_FOCUS = "Input"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("About you", classes="dialog-title")
            for question in QUESTIONS:
                yield Plain(question.text)
                yield Input(placeholder=f"such as {question.hint}", compact=True, id=question.key)
            yield Plain("Enter goes on · empty fields are skipped · Esc cancels", classes="dialog-hint")

    @on(Input.Submitted)
    def _go_on(self, message: Input.Submitted) -> None:
        message.stop()
        if message.input.id != QUESTIONS[-1].key:
            self.focus_next()
            return
        statements: dict[str, str] = {}
        for field in self.query(Input):
            statements |= read_answer(str(field.id), field.value)
        self.dismiss(statements)
