"""The tab of reading: progress, skipped files, and failed jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.content import Content

from daemon import wire
from daemon.terminal import count
from tui.actions import Action, Where, bindings_of
from tui.folders.rows import TabList, paragraphs, two_lines
from tui.link import Activity
from tui.shared import Shared
from tui.wording import short_path

REMEDIES = (  # words of a reason -> what would read the file
    ("no reader", "Save it as text, Markdown or HTML, or let a plug-in read such files."),
    ("too large", "Split it, or save it as plain text."),
    ("password", "To read it anyway: pal add FILE"),
    ("key", "To read it anyway: pal add FILE"),
    ("empty", "It has no text."),
    ("binary", "It is not a text file."),
    ("no text", "It may be a scan: an OCR program can add its text."),
    ("longer than", "Enter retries it."),
    ("failed", "Retry it; if it fails again, the file may be damaged."),
    ("permission", "Make it readable: chmod u+r FILE"),
    ("forgotten", "It was forgotten. To read it again: pal add --again FILE"),
)


class ReadingList(TabList):
    """Failed jobs first, then skipped files; the progress above."""

    TITLE = "Reading"
    EMPTY = "Nothing was skipped or failed."
    PLACES: ClassVar[tuple[Where, ...]] = ("reading", "rows")
    BINDINGS = bindings_of("reading")

    def __init__(self, shared: Shared, changed: Callable[[TabList], None]) -> None:
        super().__init__(shared, changed, "reading")
        self._status: wire.Status | None = None
        self._skipped = wire.SkippedReply((), 0)
        self._progress: wire.Progress | None = None
        self._began: tuple[datetime, int] | None = None  # of what is being read: when, and how much was done

    @property
    def failed(self) -> dict[str, wire.FailedJob]:
        """Returns failed jobs, by the key of their row."""
        status = self._status
        models = status.enrichment.failed if status and status.enrichment else ()
        return {f"job {job.id}": job for job in (*(status.files.failed if status else ()), *models)}

    @property
    def summary(self) -> str:
        lines = [self._describe_progress()]
        if self._status and self._status.enrichment and self._status.enrichment.total:
            lines.append(describe_models(self._status.enrichment))
        shown, total = len(self._skipped.files), self._skipped.total
        if total > shown:
            lines.append(f"Shown: the newest {shown:,} of {total:,} skipped files; pal status --skipped lists all")
        return "\n".join(lines)

    def status_changed(self, status: wire.Status) -> None:
        before = self._status
        self._status = status
        if before is None or before.stats.skipped != status.stats.skipped:
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
                self.show_changes()
            case wire.Skipped():
                self.load()

    async def fetch(self) -> None:
        if (reply := await self.call(lambda client: client.list_skipped())) is not None:
            self._skipped = reply
            self.show_rows()

    def can_do(self, action: Action) -> bool:
        return super().can_do(action) and (action.handler != "retry(True)" or bool(self.failed))

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for key, job in self.failed.items():
            yield key, two_lines(short_path(job.label, self.shared.folders), f"failed · {job.reason}")
        for file in self._skipped.files:
            yield file.uri, two_lines(short_path(file.uri, self.shared.folders), f"skipped · {file.reason}")

    def describe(self, key: str) -> Content:
        if (job := self.failed.get(key)) is not None:
            reader = "by a model" if job.kind in ("extract", "decide") else "from the disk"
            return paragraphs(
                job.label, f"Reading it {reader} failed: {job.reason}", "Enter retries it, or all of them."
            )
        file = next((file for file in self._skipped.files if file.uri == key), None)
        if file is None:
            return Content("")
        remedy = next((remedy for words, remedy in REMEDIES if words in file.reason.casefold()), "Enter retries it.")
        return paragraphs(file.uri, f"It was skipped: {file.reason.rstrip('.')}.", remedy)

    def _describe_progress(self) -> str:
        progress = self._progress
        if progress is None or self._began is None:
            waiting = self._status.files.queue if self._status else 0
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
    async def action_retry(self, every: bool = False) -> None:
        key = self.key
        if every or key in self.failed:
            id = None if every else self.failed[key or ""].id
            if (jobs := await self.call(lambda client: client.retry(id))) is not None:
                self.say(f"{count(jobs, 'job')} will be retried." if jobs else "Nothing has failed.")
        elif key is not None:
            path = Path(key)
            events = await self.call(lambda client: list(client.add([path])))
            reasons = [event.reason for event in events or () if isinstance(event, wire.Skipped)]
            if events:
                self.say(f"Skipped again: {reasons[0]}." if reasons else "It was read.")
        self.load()
        self.shared.link.refresh_status()


def describe_models(state: wire.Enrichment) -> str:
    """Describes the progress of models, and today's usage against the limits."""
    far = f"{state.read:,} of {count(state.total, 'passage')} read by a model"
    doing = {"off": "paused: /unpause", "no_model": "no model connected (optional)"}.get(state.state, state.detail)
    if state.state == "reading":
        doing = "; ".join(filter(None, (f"now {state.model}", state.detail)))
    most = f" of {state.daily_minutes:,}" if state.daily_minutes else ""
    spent = f"{state.tokens:,} tokens, {state.minutes:,.0f}{most} min today"
    return " · ".join(filter(None, (far, doing, spent if state.tokens else "")))


def describe_seconds(seconds: float) -> str:
    """`about 40 s`, `about 12 min`, `about 3 h`."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {round(seconds / 3600)} h"
