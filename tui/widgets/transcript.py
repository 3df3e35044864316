"""The conversation on screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.notifications import SeverityLevel
from textual.scrollbar import ScrollBar
from textual.widget import Widget

from daemon.terminal import count, display_safe
from tui.session import Inquiry
from tui.widgets.answer import Answer
from tui.widgets.plain import Plain


class Transcript(VerticalScroll, can_focus=False):
    """Questions, answers and notes, the newest at the bottom.

    It follows new lines only while its end is in view; otherwise it does not scroll, and calls `show_below` with the
    number of lines below the view, 0 when the end is in view again. A person who scrolls to the top, or wants to see
    the messages after the last one, causes `load_earlier` or `load_later`.
    """

    def __init__(
        self, show_below: Callable[[int], None], load_earlier: Callable[[], object], load_later: Callable[[], object]
    ) -> None:
        super().__init__(id="transcript")
        self._show_below, self._load_earlier, self._load_later = show_below, load_earlier, load_later
        self._earlier = Plain(classes="earlier").hide()
        self._later = Plain(classes="later").hide()  # at the end, while it is not the session's
        self.follows = True  # the end is in view
        self._seen = 0  # the lowest line that was in view
        self._from_end: float | None = None  # while earlier messages are mounted: how far the view stays from the end
        self._behind = 0

    def compose(self) -> ComposeResult:
        yield self._earlier

    @property
    def answers(self) -> list[Answer]:
        return list(self.query_children(Answer))

    @property
    def selected(self) -> Answer | None:
        """Returns the answer whose evidence is shown."""
        return next((answer for answer in self.answers if answer.has_class("-selected")), None)

    def select(self, answer: Answer) -> None:
        """Selects an answer; the newest is selected without a mark."""
        answers = self.answers
        for candidate in answers:
            candidate.set_class(candidate is answer, "-selected")
            candidate.set_class(candidate is answer and candidate is not answers[-1], "-marked")

    def show_selected(self) -> None:
        answer = self.selected
        if answer is None or answer is self.answers[-1]:
            self.follow()
        else:
            self.scroll_to_widget(answer, animate=False)

    def follow(self) -> None:
        """Scrolls to the end, and follows it."""
        self.follows = True
        self.scroll_end(animate=False)

    def set_earlier(self, messages: int) -> None:
        """Shows how many earlier messages could be loaded."""
        self._earlier.display = messages > 0
        self._earlier.update(f"↑ {count(messages, 'earlier message')}")

    async def append(self, widgets: Sequence[Widget], later: int) -> None:
        """Mounts messages at the end, with `later` more that are not mounted; the view does not move."""
        self.follows = self.follows and not later
        if later and self._later.parent is None:
            await self.mount(self._later)
        await self.mount_all(widgets, before=self._later if self._later.parent is not None else None)
        self._later.display = later > 0
        self._later.update(f"↓ {count(later, 'later message')}; Ctrl+End goes to the last")

    def bring_into_view(self, first: Widget, last: Widget) -> None:
        """Scrolls to what was unfolded in an answer: from its first part to its last, or as far as there is room."""
        self.follows = False

        def scroll() -> None:
            region = first.region.union(last.region).translate(self.scroll_offset - self.content_region.offset)
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

        self.call_after_refresh(self.call_after_refresh, scroll)

    async def reveal(self, widget: Widget) -> None:
        """Scrolls to a message, and stays there."""
        self.follows = False
        for answer in self.answers:
            await answer.ready.wait()
        # What was on its way to the end when the messages came gets there first.
        self.call_after_refresh(self.call_after_refresh, self._go_to, widget)

    def _go_to(self, widget: Widget) -> None:
        self.follows = False
        self.anchor(False)
        self.scroll_to_widget(widget, top=True, animate=False, force=True, immediate=True)

    async def clear(self) -> None:
        self._from_end = None
        self.set_earlier(0)
        self._later = Plain(classes="later").hide()
        await self.query_children().exclude(".earlier").remove()
        self.follows = True  # not by `follow`, which scrolls when other messages may be there

    async def prepend(self, widgets: Sequence[Widget]) -> None:
        """Mounts earlier messages at the top; the view does not move."""
        if not self.follows:
            self._from_end = self.virtual_size.height - self.scroll_y
        await self.mount_all(widgets, after=self._earlier)
        for widget in widgets:
            if isinstance(widget, Answer):
                await widget.ready.wait()
        self.call_after_refresh(self._release)

    async def prune(self, keep: int) -> int:
        """Removes all but the newest `keep` messages, with the notes between them; returns their number. Only while the
        end is in view: nothing visible is removed."""
        messages = [widget for widget in self.children if isinstance(widget, (Question, Answer))]
        surplus = len(messages) - keep
        if surplus <= 0 or not self.follows:
            return 0
        first_kept = self.children.index(messages[surplus])
        await self.remove_children([widget for widget in self.children[:first_kept] if widget is not self._earlier])
        return surplus

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lays out at the end while following: scrolling afterwards would lay out and draw twice. Textual's `anchor`
        does the same, but draws a short transcript at the bottom."""
        arranged = super().arrange(size, optimal)
        if self.follows and self._from_end is None:
            end = max(0, arranged.total_region.bottom - size.height)
            self.set_reactive(Transcript.scroll_y, end)
            self.set_reactive(Transcript.scroll_target_y, end)
            self.vertical_scrollbar.set_reactive(ScrollBar.position, end)
        return arranged

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._from_end is None:
            self.follows = new_value >= self.max_scroll_y
        self._measure()
        if new_value <= 0 < old_value:
            self._want_earlier()

    def watch_virtual_size(self, old: Size, new: Size) -> None:
        if self._from_end is not None:
            self.scroll_to(y=new.height - self._from_end, animate=False, immediate=True)
        self._keep_up()

    def on_resize(self) -> None:
        self._keep_up()

    def on_click(self, event: events.Click) -> None:
        if event.widget is self._earlier:
            self._want_earlier()
        elif event.widget is self._later:
            self._load_later()

    def _want_earlier(self) -> None:
        if self._earlier.display and self._from_end is None:
            self._load_earlier()

    def _release(self) -> None:
        self._from_end = None
        self._seen = self.virtual_size.height - self._behind
        self._measure()

    def _keep_up(self) -> None:
        self.call_after_refresh(self._measure)

    def _measure(self) -> None:
        if self._from_end is not None:
            return
        bottom = round(self.scroll_y) + self.container_size.height
        self._seen = self.virtual_size.height if self.follows else max(self._seen, bottom)
        behind = max(0, self.virtual_size.height - self._seen)
        if behind != self._behind:
            self._behind = behind
            self.call_next(self._show_below, behind)


class Question(Plain):
    """A question as typed, with its attachments and limits below."""

    def __init__(self, question: str | Inquiry) -> None:
        inquiry = question if isinstance(question, Inquiry) else Inquiry(question)
        below = f"\n{display_safe(inquiry.below, line=True)}" if inquiry.below else ""
        super().__init__(Content.assemble(display_safe(inquiry.words), (below, "not bold $foreground-muted")))


LEAST_COLUMNS = 20  # for the text after an indent


class Note(Plain):
    """A few lines in the transcript: the result of a command. It is not stored in the session. Wrapped lines keep the
    indent."""

    def __init__(self, text: str, level: SeverityLevel = "information") -> None:
        super().__init__(text, classes=f"-{level}")
        self._said = Content(self.text)
        self._columns = 0

    @property
    def text(self) -> str:
        return str(self._said) if hasattr(self, "_said") else super().text

    def say(self, text: str, level: SeverityLevel = "information") -> None:
        self.set_classes(f"-{level}")
        self.update(text)
        self._said = Content(super().text)
        self._hang()

    def on_resize(self) -> None:
        if self.content_size.width != self._columns:
            self._columns = self.content_size.width
            self._hang()

    def _hang(self) -> None:
        hung = hang_lines(self._said, self._columns) if self._columns else self._said
        if str(hung) != super().text:
            self.update(hung)


def hang_lines(text: Content, columns: int) -> Content:
    """Returns the text with its indented lines wrapped to the same indent."""
    lines: list[Content] = []
    for line in text.split("\n"):
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        if indent and line.cell_length > columns:
            wrapped = line[indent:].wrap(max(LEAST_COLUMNS, columns - indent))
            lines += [Content(" " * indent) + wrapped_line.rstrip() for wrapped_line in wrapped]
        else:
            lines.append(line)
    return Content("\n").join(lines)
