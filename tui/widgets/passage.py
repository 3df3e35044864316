"""The passage of a citation, as its note shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, cast

from textual import events, work
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget

from daemon import wire
from daemon.terminal import cited_link, display_safe
from tui.widgets.plain import Plain, link_text
from tui.wording import cited_label, cut_left, source_label

if TYPE_CHECKING:
    from tui.widgets.prose import Prose


_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^[^\s#:-][^:\n]*:(?=\s|$)", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
WIDEST = 10_000  # columns, while the size is not known
LEAST_COLUMNS = 20  # of a heading


class Marked(NamedTuple):
    """A passage as the lines before a quote, its lines, and the lines after.

    `lines[start:end]` are the quote's own words.
    """

    before: str
    lines: str = ""
    after: str = ""
    start: int = 0
    end: int = 0


def mark_quote(passage: str, quote: str, *, blocks: bool = False) -> Marked:
    """Finds a quote even if its lines are wrapped differently; without a match, everything is `before`. With `blocks`
    its lines are those of its paragraph, list or table, which are shown as one."""
    words = quote.split()
    match = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    if match is None:
        return Marked(passage)
    mark = "\n\n" if blocks else "\n"
    above, end = passage.rfind(mark, 0, match.start()), passage.find(mark, match.end())
    begin = above + len(mark) if above >= 0 else 0
    if blocks and len(_FENCE.findall(passage[:begin])) % 2:  # within code, which may have empty lines
        begin, end = 0, -1
    end = len(passage) if end < 0 else end
    return Marked(
        passage[:begin].removesuffix(mark),
        passage[begin:end],
        passage[end:].removeprefix(mark),
        match.start() - begin,
        match.end() - begin,
    )


def split_frontmatter(text: str) -> tuple[str, str]:
    """Returns the frontmatter at the top of a text with its rulers, and the rest; "" and the text without frontmatter.
    Text between two rulers without any key does not count."""
    match = _FRONTMATTER.match(text)
    if match is None or not _KEY.search(match[0]):
        return "", text
    return match[0], text[match.end() :].lstrip("\n")


class Heading(Plain):
    """The source of a passage. Its path is cut on the left to the width at which it is drawn, since a size may arrive
    long after the passage."""

    def __init__(self) -> None:
        super().__init__()
        self._cited: wire.Citation | None = None
        self._place = ""
        self._folders: tuple[str, ...] = ()

    def show(self, cited: wire.Citation | None, place: str, folders: Iterable[str]) -> None:
        """Shows a citation's source and its position, `2 of 3`; nothing without a citation."""
        self._cited, self._place, self._folders = cited, place, tuple(folders)
        self.refresh(layout=True)

    def render(self) -> Content:
        if (cited := self._cited) is None:
            return Content("")
        mark, suffix = f"[{cited.n}]", f"  {self._place}" if self._place else ""
        label = display_safe(source_label(cited, self._folders), line=True) + " (earlier)" * cited.earlier
        label = cut_left(label, max(LEAST_COLUMNS, self.size.width) - len(mark) - 1 - len(suffix))
        link = link_text(label, cited_link(cited))
        return Content.assemble((mark, "bold $accent"), " ", link, (suffix, "$foreground-muted"))


class Passage(VerticalScroll, can_focus=False):
    """The passage of one citation, with the quoted part marked by a bar and without frontmatter. Markdown is
    rendered."""

    def __init__(self) -> None:
        super().__init__(id="passage")
        self.cited: wire.Citation | None = None
        self._drawn = 0  # the width for which tables were fitted

    def on_resize(self) -> None:
        """Fits tables again, since the size may arrive after the text."""
        if self.cited is not None and "|" in (self.cited.passage or "") and self._drawn != self.size.width:
            self._draw()

    def show(self, cited: wire.Citation | None) -> None:
        """Shows a citation's passage, or nothing."""
        if cited != self.cited:
            self.cited = cited
            self._draw()

    @work(exclusive=True)
    async def _draw(self) -> None:
        self._drawn = self.size.width  # of all parts: a size that arrives in between draws them again
        await self.remove_children()
        if (cited := self.cited) is None:
            return
        # Made safe before it is searched: removed characters would shift the marks.
        text, quote = display_safe(cited.passage or cited.quote), display_safe(cited.quote)
        head, body = split_frontmatter(text)
        is_in_head = bool(mark_quote(head, quote).lines)
        is_markdown = cited.is_markdown and not is_in_head
        marked = mark_quote(text if is_in_head else body, quote, blocks=is_markdown)
        quoted: str | Content = marked.lines
        if not is_markdown:
            quoted = Content(marked.lines).stylize("bold", marked.start, marked.end)
        parts: dict[str, Widget] = {}
        for name, content in {"before": marked.before, "quoted": quoted, "after": marked.after}.items():
            if str(content).strip():
                parts[name] = await self._mount_part(name, content, is_markdown)
        if is_markdown and "quoted" in parts:
            cast("Prose", parts["quoted"]).stress(quote)
        self.call_after_refresh(self._reveal, parts.get("quoted"))

    async def _mount_part(self, name: str, text: str | Content, is_markdown: bool) -> Widget:
        if not is_markdown:
            plain = Plain(text, classes=name)
            await self.mount(plain)
            return plain
        from tui.widgets.prose import Prose, fit_tables  # 60 ms, which an empty chat should not pay

        prose = Prose(cites=False, classes=name)
        await self.mount(prose)
        await prose.update(fit_tables(str(text), self._drawn - 1 if self._drawn else WIDEST))
        return prose

    def _reveal(self, part: Widget | None) -> None:
        """Scrolls to the quoted lines."""
        if part is not None and part.is_attached:
            self.scroll_to_widget(part, animate=False, top=part.region.height >= self.size.height)
        else:
            self.scroll_home(animate=False)


LONGEST = 200  # columns, before the width is known
_MANY = 4  # citations of one source with a number each; of more the first and the last


class Sources(Plain):
    """`[1] museum/fog.md:14, 9 Mar 2026`: a line for each source; adjacent citations of one file share a line. A click
    calls `choose` with the number of the citation."""

    def __init__(
        self, citations: Sequence[wire.Citation], folders: Iterable[str], choose: Callable[[int], object]
    ) -> None:
        super().__init__()
        self._choose = choose
        self._folders = tuple(folders)
        self._groups = [
            list(group) for _, group in groupby(citations, lambda cited: (cited.uri, cited.at, cited.earlier))
        ]
        self._show(LONGEST)

    def on_resize(self, event: events.Resize) -> None:
        self._show(event.size.width)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._groups):
            event.stop()
            self._choose(self._groups[offset.y][0].n)

    def _show(self, width: int) -> None:
        lines = Content("\n").join(_line(group, self._folders, width) for group in self._groups)
        self.update(lines, layout=False)  # a line for each group, however wide it is


def _line(group: Sequence[wire.Citation], folders: Iterable[str], width: int) -> Content:
    """Returns one line of `width` columns: the beginning of a long path is cut, never the day."""
    first, last = group[0], group[-1]
    each = " ".join(f"[{cited.n}]" for cited in group)
    numbers = each if len(group) <= _MANY else f"[{first.n}] to [{last.n}]"
    place = display_safe(cited_label(first, folders), line=True)
    suffix = display_safe(source_label(first, folders), line=True).removeprefix(place)
    if first.line is not None and len(lines := list(dict.fromkeys(cited.line for cited in group))) > 1:
        suffix = (f", {', '.join(map(str, lines[1:]))}" if len(lines) <= _MANY else f" to {lines[-1]}") + suffix
    suffix += " (earlier)" * first.earlier
    label = cut_left(place, width - len(numbers) - 1 - len(suffix))
    return Content.assemble((numbers, "bold"), " ", link_text(label, cited_link(first)), suffix)
