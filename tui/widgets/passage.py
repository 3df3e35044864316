"""The passages that citations were taken from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message

from daemon import wire
from daemon.terminal import cited_link, count, display_safe
from tui.widgets.plain import Plain, link_text
from tui.wording import cut_left, source_label

_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^[^\s#:-][^:\n]*:(?=\s|$)", re.MULTILINE)


class Marked(NamedTuple):
    """A passage as the lines before a quote, its lines, and the lines after.

    `lines[start:end]` are the quote's own words.
    """

    before: str
    lines: str = ""
    after: str = ""
    start: int = 0
    end: int = 0


def mark_quote(passage: str, quote: str) -> Marked:
    """Finds a quote even if its lines are wrapped differently; without a match, everything is `before`."""
    words = quote.split()
    match = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    if match is None:
        return Marked(passage)
    begin = passage.rfind("\n", 0, match.start()) + 1
    end = passage.find("\n", match.end())
    end = len(passage) if end < 0 else end
    return Marked(
        passage[:begin].removesuffix("\n"),
        passage[begin:end],
        passage[end:].removeprefix("\n"),
        match.start() - begin,
        match.end() - begin,
    )


def split_frontmatter(text: str) -> tuple[str, str]:
    """The frontmatter at the top of a text with its rulers, and the rest; "" and the text without frontmatter. Text
    between two rulers without any key does not count."""
    match = _FRONTMATTER.match(text)
    if match is None or not count_keys(match[0]):
        return "", text
    return match[0], text[match.end() :].lstrip("\n")


def count_keys(block: str) -> int:
    """The number of top-level keys of frontmatter."""
    return len(_KEY.findall(block))


PARTS = ("heading", "remark", "why", "properties", "previous", "before", "quoted", "after", "next")
LEAST_COLUMNS = 20  # of a heading
STACKED_FROM = 160  # columns of the terminal from which all passages are shown
BEGINS, ENDS = "↑ It begins here.", "↓ It ends here."


class Passage(Vertical):
    """One passage, its quoted lines marked with a bar, its frontmatter folded to a line.

    On request a remark and the reason why it was found come above it, and the surrounding text of its note, dimmed,
    before and after it. `headed`: with its citation as a heading.
    """

    @dataclass
    class Selected(Message):
        """A person chose the passage of this citation."""

        n: int

    def __init__(self, headed: bool = False) -> None:
        super().__init__()
        self.cited: wire.Citation | None = None
        self._headed = headed
        self._folders: tuple[str, ...] = ()
        self._remark = self._why = ""
        self._around: wire.Surroundings | None = None
        self._shows_neighbours = self._unfolded = False
        self._parts = {part: Plain(classes=part).hide() for part in PARTS}

    def compose(self) -> ComposeResult:
        yield from self._parts.values()

    @property
    def quoted(self) -> Plain:
        return self._parts["quoted"]

    @property
    def has_something_above(self) -> bool:
        """Whether there is text above the passage."""
        return bool(self._remark or self._why or self._unfolded)

    @property
    def around(self) -> wire.Surroundings | None:
        """The surrounding text of its note, if fetched."""
        return self._around

    @property
    def has_frontmatter(self) -> bool:
        """Whether frontmatter or other properties of the note are known."""
        return self._parts["properties"].display

    @property
    def shows_why(self) -> bool:
        """Whether it says why it was found."""
        return bool(self._why)

    @property
    def shows_neighbours(self) -> bool:
        return self._shows_neighbours

    def show(self, cited: wire.Citation | None, folders: Iterable[str] = ()) -> None:
        """Shows a citation's passage, or nothing; clears earlier remarks."""
        if cited != self.cited:
            self._remark = self._why = ""
            self._around = None
            self._shows_neighbours = self._unfolded = False
        self.cited, self._folders = cited, tuple(folders)
        self._draw()

    def remark(self, text: str) -> None:
        self._remark = text
        self._draw()

    def explain(self, why: str) -> None:
        """Shows why it was found; "" removes that."""
        self._remark, self._why = "", why
        self._draw()

    def surround(self, around: wire.Surroundings) -> None:
        """Stores the surrounding text of its note, for display on request."""
        self._around = around
        self._draw()

    def show_neighbours(self, visible: bool) -> None:
        self._shows_neighbours = visible
        self._draw()

    def toggle_frontmatter(self) -> None:
        self._unfolded = not self._unfolded
        self._draw()

    def on_click(self) -> None:
        if self.cited is not None:
            self.post_message(self.Selected(self.cited.n))

    def on_resize(self) -> None:
        self._put("heading", self._make_heading())

    def _draw(self) -> None:
        cited = self.cited
        passage, quote = (cited.passage or cited.quote, cited.quote) if cited else ("", "")
        # Made safe before it is searched: removed characters would shift the marks.
        marked = mark_quote(display_safe(passage), display_safe(quote))
        block, before = split_frontmatter(marked.before)
        self._put("heading", self._make_heading())
        self._put("remark", self._remark)
        self._put("why", self._why)
        self._put("properties", self._properties(block))
        self._put("before", before)
        self._put("quoted", Content(marked.lines).stylize("bold", marked.start, marked.end))
        self._put("after", marked.after)
        around = self._around if self._shows_neighbours else None
        previous, next = (around.before, around.after) if around else (None, None)
        self._put("previous", "" if around is None else _neighbour(previous, "↑") if previous else BEGINS)
        self._put("next", "" if around is None else _neighbour(next, "↓") if next else ENDS)

    def _make_heading(self) -> Content | str:
        cited = self.cited
        if cited is None or not self._headed:
            return ""
        mark = f"[{cited.n}]"
        label = display_safe(source_label(cited, self._folders), line=True)
        if width := self.size.width:  # before the width is known, which may be late, nothing is cut off
            label = cut_left(label, max(LEAST_COLUMNS, width) - len(mark) - 1)
        return Content.assemble((mark, "bold $accent"), " ", link_text(label, cited_link(cited)))

    def _properties(self, block: str) -> str:
        """The frontmatter in the passage, else the fetched properties of the note."""
        if block:
            label, keys, lines = "frontmatter", count_keys(block), block.splitlines()[1:-1]
        elif self._around is not None and (properties := self._around.properties):
            label, keys = "properties", len(properties)
            lines = [" ".join(f"{key}: {value}".split()) for key, value in properties.items()]
        else:
            return ""
        head = f"{'▾' if self._unfolded else '▸'} {label}: {count(keys, 'key')}"
        return "\n".join([head, *(f"  {line}" for line in lines)]) if self._unfolded else head

    def _put(self, part: str, text: str | Content) -> None:
        plain = self._parts[part]
        plain.update(text)
        plain.display = bool(text)


class Passages(VerticalScroll, can_focus=False):
    """The passage of the selected citation; `stacked` those of all, with the selected one highlighted."""

    def __init__(self) -> None:
        super().__init__(id="passages")
        self._citations: Sequence[wire.Citation] = ()
        self._folders: tuple[str, ...] = ()
        self._selected = 0
        self._stacked = False
        self._shown = [Passage()]

    def compose(self) -> ComposeResult:
        yield from self._shown

    @property
    def selected(self) -> Passage:
        return self._shown[self._selected if self._stacked and self._citations else 0]

    def find(self, cited: wire.Citation) -> Passage | None:
        """The passage of a citation, if it is shown."""
        return next((passage for passage in self._shown if passage.cited == cited), None)

    def on_resize(self) -> None:
        stacked = self.app.size.width >= STACKED_FROM
        if stacked != self._stacked:
            self._stacked = stacked
            self.set_class(stacked, "-stacked")
            for passage in self._shown:
                passage.remove()
            self._shown = []
            self._fill()

    def show(self, citations: Sequence[wire.Citation], folders: Iterable[str]) -> None:
        """Sets the citations whose passages are shown. Select one of them afterwards."""
        self._citations, self._folders = citations, tuple(folders)
        self._selected = min(self._selected, max(0, len(citations) - 1))
        self._fill()

    def select(self, index: int) -> None:
        """Shows the passage of a citation, or lights it up and scrolls to it."""
        self._selected = index
        self._fill()

    def reveal(self) -> None:
        """Scrolls to the quoted lines, or to the remarks above them."""
        self.call_after_refresh(self._reveal)

    def _fill(self) -> None:
        n_passages = max(1, len(self._citations)) if self._stacked else 1
        for passage in self._shown[n_passages:]:
            passage.remove()
        del self._shown[n_passages:]
        new = [Passage(headed=self._stacked) for _ in range(n_passages - len(self._shown))]
        self._shown += new
        if new:
            self.mount_all(new)
        for place, passage in enumerate(self._shown):
            index = place if self._stacked else self._selected
            passage.show(self._citations[index] if index < len(self._citations) else None, self._folders)
            passage.set_class(self._stacked and place == self._selected, "-selected")
        self.reveal()

    def _reveal(self) -> None:
        selected = self.selected
        quoted = selected.quoted
        if selected.has_something_above or not quoted.display:
            self.scroll_to_widget(selected, animate=False, top=True)
        else:
            if self._stacked:
                self.scroll_to_widget(selected, animate=False, top=selected.region.height >= self.container_size.height)
            self.scroll_to_widget(quoted, animate=False, top=quoted.region.height >= self.container_size.height)


def _neighbour(passage: wire.Passage, arrow: str) -> str:
    """A neighbouring passage under its position, without frontmatter."""
    safe = display_safe(passage.text)
    block, body = split_frontmatter(safe)
    if passage.line is None:
        position = passage.speaker or ""
    else:
        position = wire.name_position(passage.uri, passage.line, passage.end_line)
    head = f"{arrow} {display_safe(position, line=True)}".rstrip()
    return f"{head}\n{(body if block else safe).strip()}"
