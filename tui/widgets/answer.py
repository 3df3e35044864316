"""An answer: its text as it arrives, and the line with its effort."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from daemon import wire
from daemon.terminal import IN_THE_WORDS_OF, count, display_safe, name_note
from tui.keys import Keymap
from tui.session import Limit
from tui.widgets.passage import Sources
from tui.widgets.plain import Plain
from tui.widgets.trace_line import ASKED, WRITING, TraceLine

if TYPE_CHECKING:
    from textual.widgets.markdown import Markdown

    from tui.widgets.prose import Prose

NO_KEYS = Keymap()
NO_SOURCE = "(no source)"
NO_ANSWER_HINT = "Try other words, or /add the folder that has it."
EMPTY_HINT = "Read a folder, and whatever changes in it: /watch ~/notes. Ctrl+N shows other ways to begin."
LIMITED_HINT = "Try other words, or ask the whole memory: Backspace in the empty prompt removes the limit."


class Answer(Vertical):
    """One answer. It runs until the last event of its question, or `stop`; `kept` is a completed answer of an earlier
    run. Paths are shown relative to `folders`. `limits` are those of the question.

    `ready` is set when it has its final height.
    """

    @dataclass
    class Selected(Message):
        """A person selected this answer, or its `[n]`: show its evidence."""

        answer: Answer
        n: int | None = None

    def __init__(
        self,
        question: str,
        kept: wire.ChatMessage | None = None,
        folders: Sequence[str] = (),
        limits: tuple[Limit, ...] = (),
        keymap: Keymap = NO_KEYS,
    ) -> None:
        super().__init__()
        self._folders = folders
        self.question = question
        self.limits = limits  # of the question
        self.text = ""
        self.citations: tuple[wire.Citation, ...] = kept.citations if kept else ()
        self.no_answer = False
        self.trace_id: int | None = kept.trace_id if kept else None
        self.model = ""  # wrote it
        self.ready = asyncio.Event()
        self.trace = TraceLine(keymap, self.act)
        self._kept = kept
        self._lock = asyncio.Lock()  # a person may stop it while it is drawn
        self._prose: Prose | None = None  # the text while it streams
        self._preview: list[Prose] = []  # the lines that are shown while a model is asked
        self._preview_text = ""  # and their text

    def compose(self) -> ComposeResult:
        yield self.trace

    async def on_mount(self) -> None:
        kept, self._kept = self._kept, None
        if kept is None:
            self.trace.begin()
            return
        self.trace.judge(kept.verdict)
        self.trace.can_be_fetched = kept.trace_id is not None
        self.model = kept.model
        await self._finish(wire.Answered(kept.text, kept.citations, kept.no_answer, model=kept.model))
        await self._name_author()
        if kept.state != "complete":
            await self._remark("The answer was interrupted here.")
        self.ready.set()

    @property
    def without_evidence(self) -> str:
        """Returns the text in place of citations, for an answer without any."""
        if not self.ready.is_set():
            return "Searching…"
        if self.no_answer or not self.text:
            return "Nothing in the memory answers this." if self.no_answer else "There is no answer."
        return "This answer cites nothing."

    async def add(self, events: Sequence[wire.Event]) -> None:
        """Adds the next events of its question, drawn together; the last of all is an Answered or a Failed."""
        async with self._lock:
            if self.ready.is_set():
                return
            self.trace.add(events)
            written = ""
            for event in events:
                match event:
                    case wire.Preview():
                        await self._show_preview(event)
                    case wire.Writing():
                        self.trace.wait_for_model(WRITING)
                    case wire.Citation():
                        await self._drop_preview()
                        self.citations = (*self.citations, event)
                    case wire.Token():
                        text = display_safe(event.text)
                        kinds = {line.kind for line in wire.split_lines(text, self.citations)}
                        if kinds != {"folded"}:
                            await self._drop_preview()
                            written += text
                    case wire.Answered():
                        await self._settle(event)
                    case wire.Failed():
                        self.text += written
                        await self._fail(event)
            if written and not self.ready.is_set():
                self.text += written
                await self._write(written)

    async def stop(self) -> bool:
        """Stops the answer; the received text stays, or the preview if the model has not written yet. False if it is
        complete."""
        async with self._lock:
            if self.ready.is_set():
                return False
            await self._finish(wire.Answered(self.text or self._preview_text, self.citations))
            await self._remark("Stopped.")
            self.ready.set()
            return True

    async def _settle(self, answered: wire.Answered) -> None:
        self.trace_id, self.model = answered.trace_id, answered.model
        await self._finish(answered)
        if answered.no_answer:
            missing = [word for word in answered.missing if word not in answered.text]  # it says those itself
            hint = _hint(missing, bool(self.limits))
            await self._remark(EMPTY_HINT if answered.is_of_empty_memory else hint)
        await self._name_author()
        if placeholders := self.placeholders:
            await self._remark(f"{count(len(placeholders), 'secret')} masked: /secrets")
        if answered.note:
            await self._remark(display_safe(answered.note, line=True))
        self.ready.set()

    async def _name_author(self) -> None:
        if self.model and not self.no_answer:
            await self._remark(display_safe(IN_THE_WORDS_OF.format(self.model), line=True))

    async def _fail(self, failed: wire.Failed) -> None:
        await self._finish(wire.Answered(self.text, self.citations))
        await self._remark(" ".join(filter(None, (failed.message, failed.remedy))), "-error")
        self.ready.set()

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Returns the placeholders of secrets in its visible lines, each once."""
        lines = wire.split_lines(self.text, self.citations)
        shown = [line.text for line in lines if line.kind != "folded" or self.has_class("-unfolded")]
        return tuple(dict.fromkeys(wire.find_placeholders("\n".join(shown))))

    @property
    def shown_citations(self) -> tuple[wire.Citation, ...]:
        """Returns the citations of the lines that are not folded."""
        return tuple(citation for citation in self.citations if self.has_class("-unfolded") or not citation.folded)

    def toggle_more(self) -> Fold | None:
        """Unfolds or folds the additional lines of a clear answer. -> the line above them, if there are any."""
        if (fold := next(iter(self.query(Fold)), None)) is not None:
            self.toggle_class("-unfolded")
            fold.show(self.has_class("-unfolded"))
            self.trace.show_more(self.has_class("-unfolded"))
            self.call_later(self._show_sources)
            self._choose()
        return fold

    @property
    def is_unfolded(self) -> bool:
        """Whether it shows more than its answer: how it was found, or its other lines."""
        return self.trace.unfolded or self.has_class("-unfolded")

    def fold(self) -> None:
        self.trace.unfolded = False
        if self.has_class("-unfolded"):
            self.toggle_more()

    def act(self, name: str) -> None:
        """Selects this answer, and runs an action on it."""
        self._choose()
        self.call_later(self.run_action, f"screen.{name}")

    def _choose(self, n: int | None = None) -> None:
        self.post_message(self.Selected(self, n))

    async def _show_sources(self) -> None:
        await self.query("Sources, .quote").remove()
        if self.shown_citations:
            below = next(iter(self.query(".remark")), self.trace)
            await self.mount(Sources(self.shown_citations, self._folders, self._choose), before=below)
            quotes = [
                Plain(f"[{cited.n}] “{display_safe(cited.quote, line=True)}”", classes="remark quote")
                for cited in self.shown_citations
                if cited.verdict == "unproved"
            ]
            await self.mount_all(quotes, before=below)

    def on_click(self) -> None:
        self._choose()

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        event.stop()
        self._choose(int(event.href.partition(":")[2]))

    async def _show_preview(self, preview: wire.Preview) -> None:
        """Shows the extractive lines, while a model is asked."""
        await self._drop_preview()
        self.citations, self._preview_text = preview.citations, preview.text
        for kind, text in _passages(display_safe(preview.text), preview.citations):
            if kind != "folded":
                prose = await self._mount_prose()
                prose.add_class("preview")
                await prose.complete(text)
                self._preview.append(prose)
        self.trace.wait_for_model("loading a model" if preview.is_loading else ASKED)

    async def _drop_preview(self) -> None:
        if self._preview:
            self.citations, self._preview_text = (), ""
            for prose in self._preview:
                await prose.remove()
            self._preview.clear()

    async def _write(self, text: str) -> None:
        if self._prose is None:
            self.trace.begin(WRITING)
            self._prose = await self._mount_prose()
        await self._prose.extend(text)

    async def _finish(self, answered: wire.Answered) -> None:
        await self._drop_preview()
        self.text = display_safe(answered.text)
        self.citations = answered.citations
        self.no_answer = answered.no_answer
        self.set_class(answered.no_answer and answered.kind == "closest", "-refused")
        is_unsure = answered.kind == "closest"
        above: Prose | None = None
        folded = sum(line.kind == "folded" for line in wire.split_lines(self.text, answered.citations))
        for kind, text in _passages(self.text, answered.citations, answered.model, is_unsure):
            if kind == "folded" and not self.query(Fold):
                await self.mount(Fold(folded), before=self.trace)
            prose = self._prose or await self._mount_prose()
            prose.add_class(*kind.split())
            await prose.complete(text)
            if kind == "earlier" and above is not None:
                above.add_class("-above")
            above = prose
            self._prose = None
        await self._show_sources()
        self.trace.settle(answered.citations, answered.ms, bool(folded), is_unsure)

    async def _mount_prose(self) -> Prose:
        from tui.widgets.prose import Prose  # 60 ms, which an empty chat should not pay

        prose = Prose()
        await self.mount(prose, before=self.trace)
        return prose

    async def _remark(self, text: str, kind: str = "") -> None:
        await self.mount(Plain(text, classes=f"remark {kind}"), before=self.trace)


class Fold(Plain):
    """The number of folded lines; a click unfolds them."""

    def __init__(self, lines: int) -> None:
        super().__init__(classes="fold")
        self._lines = lines
        self.show(False)

    def show(self, unfolded: bool) -> None:
        """Shows the number of lines, with an arrow that points down if they are unfolded."""
        self.update(f"{'▾' if unfolded else '▸'} also found: {self._lines:,}")

    async def on_click(self, event: events.Click) -> None:
        event.stop()
        self.query_ancestor(Answer).act("toggle_more")


def _passages(
    text: str, citations: tuple[wire.Citation, ...], model: str = "", is_unsure: bool = False
) -> list[tuple[str, str]]:
    """Splits the Markdown of an answer by the kind of its lines: "earlier", "folded", "head" for the sentence above the
    lines of an unsure answer, or "" for the rest, in which the value is bold. Lines of a model without a source are
    marked; those of an unsure answer begin with the name of their note."""
    lines = wire.split_lines(text, citations)
    note = ""
    passages: list[tuple[str, list[str]]] = []
    in_code = False
    for written in text.splitlines():
        line = next(lines) if written.strip() else None
        kind: str = line.kind if line and line.kind in ("earlier", "folded") else ""
        if is_unsure and not passages:
            kind = "head"
        in_code ^= written.lstrip().startswith(("```", "~~~"))
        if model and line and not line.citations and not in_code and _states_something(line.text):
            written = f"{written.rstrip()} {NO_SOURCE}"
        if not model:  # a quoted line may begin with its number in a list of its note
            written = re.sub(r"^(- \d+)(?=[.)] )", r"\1\\", written)
        if line and line.value and "*" not in line.text:
            written = written.replace(line.value, f"**{line.value}**", 1)
        elif line is None and passages:
            kind = passages[-1][0]
        if is_unsure and line:
            above, note = note, name_note(line, citations)
            if note and note != above:
                written = written.replace("- ", f"- [[{re.sub(r'[][|]', '', note)}:]] ", 1)
        if not passages or passages[-1][0] != kind:
            passages.append((kind, []))
        passages[-1][1].append(written)
    return [(kind, "\n".join(_unlist(written))) for kind, written in passages]


def _unlist(lines: list[str]) -> list[str]:
    """Returns a list of one item as a paragraph."""
    items = sum(line.startswith("- ") for line in lines)
    return [line.removeprefix("- ") for line in lines] if items == 1 == len(list(filter(None, lines))) else lines


def _states_something(line: str) -> bool:
    """Whether a line is a statement: no heading, no row of a table, no introduction of the next lines."""
    return line.rstrip().endswith((".", "!", "…", ")")) and not line.lstrip().startswith(("#", "|", "```", "~~~"))


def _hint(missing: Sequence[str], limited: bool) -> str:
    words = ", ".join(f"“{word}”" for word in missing)
    beginning, hint = ("Nothing there", LIMITED_HINT) if limited else ("No source", NO_ANSWER_HINT)
    return f"{beginning} has {words}. {hint}" if missing else hint
