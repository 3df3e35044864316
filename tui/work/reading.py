"""The tab of what is being read, what could not be, and what was given up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.content import Content

from daemon import wire
from tui.actions import Where, bindings_of
from tui.messages import Activity
from tui.screens.ask import AskScreen
from tui.wording import count, short_path
from tui.work.rows import WorkList, paragraphs, two_lines

MOST = 1000  # skipped files that are listed at once
REMEDIES = (  # words of a reason -> what would read the file
    ("no reader", "Save it as text, Markdown or HTML, or let a plug-in read such files."),
    ("too large", "Split it, or save it as plain text."),
    ("password", "If it is to be read all the same, name it: pal add FILE"),
    ("key", "If it is to be read all the same, name it: pal add FILE"),
    ("empty", "There is nothing in it to read."),
    ("binary", "It is no text. Save it as text, if it has any."),
    ("no text", "It may be a picture of text: a program that recognises text (OCR) can make one of it."),
    ("longer than", "r tries it once more."),
    ("failed", "r tries it once more; if it fails again, the file may be damaged."),
    ("permission", "Allow it to be read: chmod u+r FILE"),
    ("forgotten", "You have forgotten it. To read it again: pal add --again FILE"),
)


class ReadingList(WorkList):
    """What was given up first, then files that could not be read; above them how far the reading is."""

    TITLE = "Reading"
    EMPTY = "Nothing was skipped, and nothing given up."
    PLACE: ClassVar[Where] = "reading"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, shared: Any) -> None:
        super().__init__(shared, "reading")
        self._status: wire.Status | None = None
        self._skipped = wire.SkippedReply((), 0)
        self._match = ""
        self._progress: wire.Progress | None = None
        self._began: tuple[datetime, int] | None = None  # of what is being read: when, and how much was done

    @property
    def failed(self) -> dict[str, wire.FailedJob]:
        """What was given up, by the key of its row."""
        status = self._status
        models = status.enrichment.failed if status and status.enrichment else ()
        return {f"job {one.id}": one for one in (*(status.failed if status else ()), *models)}

    @property
    def enabled(self) -> bool:
        """Whether models read in the background."""
        return not (self._status and self._status.enrichment and self._status.enrichment.state == "off")

    @property
    def summary(self) -> str:
        lines = [self._describe_progress()]
        if self._status and self._status.enrichment and self._status.enrichment.total:
            lines.append(describe_models(self._status.enrichment))
        shown, total = len(self._skipped.files), self._skipped.total
        if self._match:
            lines.append(f"Shown: {count(total, 'skipped file')} with “{self._match}”; / shows others")
        elif total > shown:
            lines.append(f"Shown: the newest {shown:,} of {total:,} skipped files; / finds others")
        return "\n".join(lines)

    def status_changed(self, status: wire.Status) -> None:
        known = self._status
        self._status = status
        if known is None or known.skipped_total != status.skipped_total:
            self.load()
        self.show_rows()

    def daemon_acted(self, message: Activity) -> None:
        match message.event:
            case wire.Progress(done, total) as progress:
                if done >= total:
                    self._progress = self._began = None
                elif self._began is None or done < self._began[1]:
                    self._began = self.shared.now(), done
                if done < total:
                    self._progress = progress
                self.post_message(self.Changed(self))
            case wire.Skipped():
                self.load()

    async def fetch(self) -> None:
        match = self._match
        if (reply := await self.call(lambda client: client.list_skipped(match, MOST))) is not None:
            self._skipped = reply
            self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for key, job in self.failed.items():
            if self._match.casefold() in f"{job.label} {job.reason}".casefold():
                yield key, two_lines(short_path(job.label, self.shared.folders), f"given up · {job.reason}")
        for one in self._skipped.files:
            yield one.uri, two_lines(short_path(one.uri, self.shared.folders), f"skipped · {one.reason}")

    def describe(self, key: str) -> Content:
        if (job := self.failed.get(key)) is not None:
            by = "by a model" if job.kind in ("extract", "decide") else "from the disk"
            return paragraphs(
                job.label, f"Reading it {by} was given up: {job.reason}", "r tries it again, R all of them."
            )
        one = next((one for one in self._skipped.files if one.uri == key), None)
        if one is None:
            return Content("")
        remedy = next((remedy for words, remedy in REMEDIES if words in one.reason.casefold()), "r tries it once more.")
        return paragraphs(one.uri, f"It was skipped: {one.reason.rstrip('.')}.", remedy)

    def _describe_progress(self) -> str:
        progress = self._progress
        if progress is None or self._began is None:
            waiting = self._status.queue if self._status else 0
            return f"{count(waiting, 'file')} to read." if waiting else "All files are read."
        began, before = self._began
        seconds = (self.shared.now() - began).total_seconds()
        rate = (progress.done - before) / seconds if seconds > 0 else 0.0
        far = f"Reading {progress.done:,} of {progress.total:,}"
        if rate <= 0:
            return f"{far}."
        left = describe_seconds((progress.total - progress.done) / rate)
        return f"{far} · {rate:,.0f} a second · {left} left." if rate >= 1 else f"{far} · {left} left."

    @work
    async def action_switch(self) -> None:
        wanted = not self.enabled
        if await self.call(lambda client: client.enable_enrichment(wanted)) is not None:
            said = "Models read in the background again" if wanted else "No model reads in the background now"
            self.say(f"{said}; for the next start, too: pal {'resume' if wanted else 'pause'}")
            self.shared.link.refresh_status()

    @work
    async def action_retry(self, every: bool = False) -> None:
        key = self.key
        if every or key in self.failed:
            id = None if every else self.failed[key or ""].id
            if (jobs := await self.call(lambda client: client.retry(id))) is not None:
                self.say(f"{count(jobs, 'job')} will be done again." if jobs else "Nothing was given up.")
        elif key is not None:
            path = Path(key)
            events = await self.call(lambda client: list(client.add([path])))
            reasons = [event.reason for event in events or () if isinstance(event, wire.Skipped)]
            if events:
                self.say(f"Skipped again: {reasons[0]}." if reasons else "It was read.")
        self.load()
        self.shared.link.refresh_status()

    @work
    async def action_find(self) -> None:
        hint = "In the name or the reason · Enter shows them · nothing shows all · Esc leaves it"
        typed = await self.app.push_screen_wait(AskScreen("Which files?", value=self._match, hint=hint))
        if typed is not None:
            self._match = typed
            self.load()


def describe_models(state: wire.Enrichment) -> str:
    """How far models are with reading, and what that took today of what it may take."""
    far = f"{state.read:,} of {count(state.total, 'passage')} read by a model"
    doing = {"off": "paused: p goes on", "no_model": "there is none that can"}.get(state.state, state.detail)
    if state.state == "reading":
        doing = "; ".join(filter(None, (f"now {state.model}", state.detail)))
    spent = (
        f"{state.tokens:,}{_of(state.daily_tokens)} tokens, {state.minutes:,.0f}{_of(state.daily_minutes)} min today"
    )
    return " · ".join(filter(None, (far, doing, spent if state.tokens else "")))


def describe_seconds(seconds: float) -> str:
    """`about 40 s`, `about 12 min`, `about 3 h`."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {round(seconds / 3600)} h"


def _of(most: int) -> str:
    return f" of {most:,}" if most else ""
