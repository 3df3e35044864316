"""An answer: its text as it comes, and the line that tells what it took."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from daemon import wire
from daemon.terminal import display_safe
from tui.widgets.plain import Plain
from tui.widgets.trace_line import TraceLine

if TYPE_CHECKING:
    from textual.widgets.markdown import Markdown, MarkdownStream

    from tui.widgets.prose import Prose

NO_ANSWER_HINT = "Try other words, or /add the folder that has it."


class Answer(Vertical):
    """One answer. It runs until `settle`, `stop` or `fail`; with `kept` it was settled in an earlier run.

    `ready` is set when it has its final height.
    """

    @dataclass
    class Selected(Message):
        """A person chose this answer, or its `[n]`: the evidence is to be shown."""

        answer: Answer
        n: int | None = None

    def __init__(self, question: str, kept: wire.ChatMessage | None = None) -> None:
        super().__init__()
        self.question = question
        self.text = ""
        self.citations: tuple[wire.Citation, ...] = kept.citations if kept else ()
        self.no_answer = False
        self.trace_id: int | None = kept.trace_id if kept else None
        self.ready = asyncio.Event()
        self.trace = TraceLine()
        self._kept = kept
        self._prose: Prose | None = None
        self._stream: MarkdownStream | None = None

    def compose(self) -> ComposeResult:
        yield self.trace

    async def on_mount(self) -> None:
        kept, self._kept = self._kept, None
        if kept is None:
            self.trace.begin()
            return
        self.trace.judge(kept.verdict)
        await self._finish(wire.Answered(kept.text, kept.citations, kept.no_answer))
        if kept.state != "complete":
            await self._remark("It broke off here.")
        self.ready.set()

    @property
    def without_evidence(self) -> str:
        """What stands in place of its citations if it has none."""
        if not self.ready.is_set():
            return "Searching…"
        if self.no_answer or not self.text:
            return "Nothing in the memory answers this." if self.no_answer else "No answer came."
        return "This answer cites nothing."

    async def add(self, event: wire.Event) -> None:
        """The next event of its question."""
        match event:
            case wire.Step() | wire.Visit():
                self.trace.add(event)
            case wire.Citation():
                self.citations = (*self.citations, event)
            case wire.Token():
                await self._write(display_safe(event.text))

    async def settle(self, answered: wire.Answered) -> None:
        """The question was answered, or refused."""
        self.trace_id = answered.trace_id
        await self._finish(answered)
        if answered.no_answer:
            await self._remark(_hint(answered.missing))
        if answered.note:
            await self._remark(display_safe(answered.note, line=True))
        self.ready.set()

    async def stop(self) -> None:
        """The person stopped it; what has come stays."""
        await self._finish(wire.Answered(self.text, self.citations))
        await self._remark("Stopped.")
        self.ready.set()

    async def fail(self, failed: wire.Failed) -> None:
        """It could not be answered; what has come stays."""
        await self._finish(wire.Answered(self.text, self.citations))
        await self._remark(" ".join(filter(None, (failed.message, failed.remedy))), "-error")
        self.ready.set()

    def on_click(self) -> None:
        self.post_message(self.Selected(self))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        from tui.widgets.prose import CITE

        event.stop()
        if event.href.startswith(CITE):
            self.post_message(self.Selected(self, int(event.href.removeprefix(CITE))))
        else:
            self.app.copy_to_clipboard(display_safe(event.href))
            self.notify(f"Link copied: {display_safe(event.href, line=True)}", markup=False)

    async def _write(self, text: str) -> None:
        self.text += text
        if self._stream is None:
            self.trace.begin("answering")
            prose = await self._mount_prose()
            self._stream = prose.get_stream(prose)
        await self._stream.write(text)

    async def _finish(self, answered: wire.Answered) -> None:
        self.text = display_safe(answered.text)
        self.citations = answered.citations
        self.no_answer = answered.no_answer
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
        if self.text:
            # Once, with the whole text: a stream leaves a code fence broken that came in pieces.
            await (self._prose or await self._mount_prose()).update(self.text)
        self.trace.settle(answered.citations, answered.ms)

    async def _mount_prose(self) -> Prose:
        from tui.widgets.prose import Prose  # 60 ms, which an empty chat should not pay

        self._prose = Prose()
        await self.mount(self._prose, before=self.trace)
        return self._prose

    async def _remark(self, text: str, kind: str = "") -> None:
        await self.mount(Plain(text, classes=f"remark {kind}"), before=self.trace)


def _hint(missing: tuple[str, ...]) -> str:
    words = ", ".join(f"“{word}”" for word in missing)
    return f"No source has {words}. {NO_ANSWER_HINT}" if missing else NO_ANSWER_HINT
