"""The page of changed facts: old and new side by side, and the person's verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from daemon import wire
from daemon.client.client import Client, DaemonError
from tui.actions import Action, bindings_of
from tui.dialogs.dialog import AskScreen
from tui.link import Activity, StatusChanged
from tui.page import Page
from tui.review.widgets import FactView, RevisionList
from tui.shared import Shared, Step
from tui.widgets.plain import Choices, Plain
from tui.wording import fact_label, mark_difference

FILTERS: Final = {"open": "Waiting", "decided": "Decided", "all": "All"}
MOST_OPEN: Final = 200  # listed at once; when some are decided, the next come
MOST: Final = 1000  # that the daemon lists
PAUSE_SECONDS: Final = 0.05  # before the source of a change is asked for: a person may be on the way to another

NOTHING: Final = {
    "open": (
        "There is nothing to review.",
        "When a note gives a new address or date, the memory uses the newer one and lists both here with their "
        "lines. You say which is right. Where two notes disagree, both are listed until you decide. Only a language "
        "model notices that a sentence changed a fact (pal models).",
    ),
    "decided": ("Nothing has been decided yet.", "Your decisions are listed here, and can be changed."),
    "all": ("Nothing has changed yet.", "Facts that an edit replaced, and notes that disagree, are listed here."),
}


class ReviewScreen(Page):
    """The changes on the left; on the right the reason, and both lines."""

    NAME = "review"
    AUTO_FOCUS = "RevisionList"
    BINDINGS = bindings_of("review")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.add_class("-empty")
        self._wanted: int | None = None  # the revision to highlight once it is listed
        self._deciding: set[int] = set()  # said by the person, not yet known to the daemon
        self._passages: dict[int, str] = {}  # by episode
        self._same: tuple[wire.AliasSuspect, ...] = ()  # names that may mean one thing
        self._side = "new"

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="review"):
            with Vertical(id="changes", classes="pane"):
                yield Choices(FILTERS, self._load)
                yield RevisionList(self.shared.now())
                yield Plain("Looking…", id="nothing")
            with Vertical(id="change", classes="pane"):
                yield Plain(id="why")
                with Horizontal(id="sides"):
                    yield FactView("old")
                    yield FactView("new")

    def on_mount(self) -> None:
        self.query_one("#changes").border_title = "Review"
        self._show_sides()

    @property
    def changes(self) -> RevisionList:
        return self.query_one(RevisionList)

    @property
    def filter(self) -> Choices:
        return self.query_one(Choices)

    def can_do(self, action: Action) -> bool:
        revision = self.changes.revision
        if action.handler == "edit":
            return revision is not None and find_correctable(revision, self._side) is not None
        return super().can_do(action) and (revision is not None or not action.of_row)

    # The daemon ---------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        chosen, self.shared.review_at = self.shared.review_at, None
        if chosen is not None:
            self._wanted = chosen.id
            self.filter.choose("open" if chosen.state == "open" else "all")
        elif self.shared.news:
            self._wanted = max(self.shared.news)
            self.filter.choose("open")
        self.shared.news.clear()
        self._load()

    def status_changed(self, message: StatusChanged) -> None:
        super().status_changed(message)
        self.filter.set_number("open", message.status.review)
        if message.connected and self.is_current:
            self._load()

    def daemon_acted(self, message: Activity) -> None:
        super().daemon_acted(message)
        if isinstance(message.event, wire.FactChanged) and self.is_current:
            self.shared.news.clear()
            self._load()

    @work(exclusive=True, group="load")
    async def _load(self) -> None:
        chosen = self.filter.chosen
        state, most = ("open", MOST_OPEN) if chosen == "open" else ("all", MOST)
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.revisions(state, limit=most))
            revisions = [revision for revision in reply.revisions if revision.id not in self._deciding]
            if chosen == "decided":
                revisions = [revision for revision in revisions if revision.state != "open"]
            self.filter.set_number("open", reply.open)
            self._same = reply.alias_suspects
            self._list(sorted(revisions, key=lambda revision: revision.state != "open"))

    def _list(self, revisions: Sequence[wire.Revision]) -> None:
        self.changes.show(revisions, self.shared.now())
        if self._wanted is not None:
            self.changes.highlight(self._wanted)
            self._wanted = None
        self.set_class(not revisions, "-empty")
        nothing = self.query_one("#nothing", Plain)
        nothing.display = not revisions
        head, more = NOTHING[self.filter.chosen]
        if self._same and self.filter.chosen == "open":
            pairs = ", ".join(f"{pair.one} and {pair.other}" for pair in self._same)
            more += f"\n\nThese names may be one: {pairs}. To merge two: Memory, choose one, Ctrl+P, Same."
        nothing.update(Content.assemble((head, "bold"), "\n\n", (more, "$foreground-muted")))
        self._show()
        if revisions and self.focused is None:  # the list was hidden while it was empty
            self.call_after_refresh(self.changes.focus)
        self.show_keys()

    # Showing ------------------------------------------------------------------------------------

    @on(RevisionList.OptionHighlighted)
    def _show(self) -> None:
        revision = self.changes.revision
        if revision is None:
            return
        self.query_one("#change").border_title = revision.title
        asked = revision.settled is not None or revision.state not in ("open", "kept")  # else it was sure enough
        decided = f"\nYou said: {revision.outcome}" if asked else ""
        self.query_one("#why", Plain).update(revision.explanation + decided)
        both = (("old", revision.old, revision.new), ("new", revision.new, revision.old))
        for heading, (side, fact, counterpart) in zip(revision.sides, both, strict=True):
            place = f"{fact.period}\n{fact_label(fact, self.folders)}"
            passage = self._passages.get(fact.episode_id)
            view = self.query_one(f"#{side}", FactView)
            view.show(heading, mark_difference(fact, counterpart), place, fact.quote, passage)
        self._fetch_passages(revision)

    @work(exclusive=True, group="passages")
    async def _fetch_passages(self, revision: wire.Revision) -> None:
        missing = {fact.episode_id for fact in (revision.old, revision.new)} - set(self._passages)
        if not missing:
            return
        await asyncio.sleep(PAUSE_SECONDS)
        for id in missing:
            passage = await self.find_passage(id)
            self._passages[id] = passage.text if passage else ""  # then the fact's own words are shown
        self._show()

    def action_choose_other_side(self) -> None:
        self._side = "new" if self._side == "old" else "old"
        self._show_sides()

    def action_scroll_side(self, pages: int) -> None:
        view = self.query_one(f"#{self._side}", FactView)
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False)

    def _show_sides(self) -> None:
        for view in self.query(FactView):
            view.set_class(view.id == self._side, "-chosen")

    def action_open_source(self) -> None:
        if (revision := self.changes.revision) is not None:
            fact = revision.old if self._side == "old" else revision.new
            self.open_source(fact.uri, fact.line)

    def action_show_next_filter(self) -> None:
        self.filter.choose_next()

    # Deciding -----------------------------------------------------------------------------------

    def action_decide(self, verdict: str) -> None:
        if (chosen := self.changes.revision) is not None:
            self._deciding.add(chosen.id)
            self._list([revision for revision in self.changes.revisions if revision.id not in self._deciding])
            self._decide(chosen, lambda client: decide(client, chosen, verdict))

    @work
    async def action_edit(self) -> None:
        revision = self.changes.revision
        if revision is None or (fact := find_correctable(revision, self._side)) is None:
            return
        question = f"{fact.objects[0]}, {fact.predicate}"
        more = "From now on. The old value stays in the history, and the notes unchanged."
        value = await self.app.push_screen_wait(AskScreen(question, more, fact.objects[-1]))
        if value and value != fact.objects[-1]:
            self._decide(revision, lambda client: correct(client, revision, fact, value))

    @work
    async def _decide(self, revision: wire.Revision, step: Callable[[Client], tuple[Step, str]]) -> None:
        """Decides, and shows the result, which can be undone here and in the chat."""

        def show() -> None:
            self._wanted = revision.id

        with self.tell_failures():
            undo, outcome = await self.link.call(step)
            self.shared.note_done(undo, "Taken back: a decision on the page Review.", show)
            self.show_message(f"{outcome} Ctrl+Z takes it back.")
        self._deciding.discard(revision.id)
        self.memory_changed()

    def memory_changed(self) -> None:
        self._load()
        super().memory_changed()


SAID = {"keep": "Kept the new one", "old": "Kept the old one", "both": "Both are true"}


def find_correctable(revision: wire.Revision, side: str) -> wire.Fact | None:
    """Returns the fact whose value a person can correct: the chosen side if it is active, else the other; None for a
    sentence of a note, or if both are inactive."""
    facts = (revision.old, revision.new) if side == "old" else (revision.new, revision.old)
    return next((fact for fact in facts if fact.predicate is not None and not fact.is_over), None)


def decide(client: Client, revision: wire.Revision, verdict: str) -> tuple[Step, str]:
    """Applies a verdict. -> what takes it back, and what came of it. DaemonError, DaemonDownError."""
    settled = client.settle(revision.id, verdict)
    message = f"{SAID[verdict]}. {_describe_standing(client, settled)}"
    return lambda client: client.settle(revision.id, revision.verdict), message


def correct(client: Client, revision: wire.Revision, fact: wire.Fact, value: str) -> tuple[Step, str]:
    """Sets the value of a fact of a revision, which decides the revision. DaemonError, DaemonDownError; nothing changes
    then."""
    before = revision.verdict
    client.settle(revision.id, "keep" if fact.id == revision.new.id else "old")
    try:
        client.correct(fact.id, value)
    except DaemonError:
        client.settle(revision.id, before)
        raise

    def take_back(client: Client) -> None:
        client.take_back_correction(fact.id)
        client.settle(revision.id, before)

    return take_back, f"Corrected. {_describe_standing(client, revision)}"


def _describe_standing(client: Client, settled: wire.Revision) -> str:
    """Lists the current facts about a revision's subject after the decision. DaemonDownError."""
    subject, predicate = settled.new.objects[0] if settled.new.objects else "", settled.new.predicate
    if predicate is None:
        active = [fact for fact in (settled.new, settled.old) if not fact.is_over]
        if settled.relation == "negates" and settled.state == "kept":
            active = [] if settled.new.retired is None else [settled.old]
        return f"Now: {' / '.join(fact.statement for fact in active)}" if active else "It is no longer true."
    with suppress(DaemonError):  # nothing is known of it any more
        facts = client.facts(subject).facts
        values = [fact.objects[-1] for fact in facts if fact.predicate == predicate and fact.objects[0] == subject]
        if values:
            return f"Now: {subject}, {predicate}: {', '.join(dict.fromkeys(values))}."
    return f"Nothing is known now about {subject}, {predicate}."
