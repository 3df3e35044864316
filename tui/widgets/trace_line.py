"""The trace of a question in a line that unfolds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer

from daemon import wire
from daemon.terminal import count
from tui.keys import Keymap, short_key
from tui.widgets.plain import Parts

if TYPE_CHECKING:
    from tui.widgets.walk import WalkView

ASKING = ("compose", "guided", "sketch")  # the stages that tell the tokens a model took
USUAL = "R2"  # the tier that is not shown
PATIENCE_SECONDS = 0.5  # after which a question that runs shows how it goes
ASKED, WRITING = "asking a model", "writing"  # what a model is doing, which takes seconds that are shown
SEARCHING, STARTING = "searching", "starting the memory"


class TraceLine(Parts):
    """Information about an answer, with the keys; while the question runs, the current stage. It unfolds to `walk`. A
    click calls `act` with the action under it."""

    unfolded = reactive(False)

    def __init__(self, keymap: Keymap, act: Callable[[str], None]) -> None:
        super().__init__()
        self._act = act
        self._keymap = keymap
        self._has_more = False  # folded lines
        self._is_unsure = False
        self.shows_more = False  # unfolded
        self._walk: WalkView | None = None
        self.can_be_fetched = False  # an answer of an earlier run, whose trace is kept
        self._stages: list[wire.Step] = []
        self._visits: dict[tuple[str, int], wire.Visit] = {}
        self._cited: tuple[wire.Citation, ...] = ()
        self._ms: float | None = None  # None while the question runs
        self._doing = ""  # empty before and after
        self._asked_at: float | None = None  # when a model was asked
        self._clock: Timer | None = None
        self._verdict: str | None = None

    @property
    def has_details(self) -> bool:
        return bool(self._stages or self._visits)

    @property
    def taken(self) -> tuple[int, int]:
        """Returns calls and known tokens of models."""
        return sum(map(_calls, self._stages)), sum(map(_tokens, self._stages))

    @property
    def walk(self) -> WalkView:
        """Returns the details, made on first use: few people open them, and they are five widgets."""
        if self._walk is None:
            from tui.widgets.walk import WalkView

            self._walk = WalkView(self._visits.values())
            if not self._doing:
                self._walk.settle(self._cited)
            self.query_ancestor(Vertical).mount(self._walk, after=self)
        return self._walk

    def begin(self, doing: str = SEARCHING) -> None:
        """Shows that the question was sent; `doing` is the current stage."""
        if not self._doing:
            self.set_timer(PATIENCE_SECONDS, self._unfold_if_slow)
        self._doing = doing
        if doing == WRITING:
            self.unfolded = False  # the answer is in view now
        self._show()

    def wait_for_daemon(self, is_down: bool) -> None:
        """Shows that the memory must be started before it can search, or that it runs again."""
        if self._doing in (SEARCHING, STARTING):
            self.begin(STARTING if is_down else SEARCHING)

    def wait_for_model(self, doing: str = ASKED) -> None:
        """Shows for how many seconds a model has been working."""
        if self._asked_at is None:
            self._asked_at, self._clock = monotonic(), self.set_interval(1.0, self._show)
        self.begin(doing)

    def add(self, events: Iterable[wire.Event]) -> None:
        """Adds completed stages, visits and other events."""
        for event in events:
            if isinstance(event, wire.Step):
                self._stages.append(event)
            elif isinstance(event, wire.Visit):
                self._visits[event.kind, event.node_id] = event
                if self._walk is not None:
                    self._walk.add(event)
        self._show()

    def recall(self, trace: wire.StoredTrace) -> None:
        """Shows the trace of an earlier run."""
        self._stages = list(trace.steps)
        for visit in trace.visits:
            self._visits[visit.kind, visit.node_id] = visit
        self.settle(trace.answer.citations if trace.answer else (), trace.asked.ms)

    def settle(
        self,
        citations: tuple[wire.Citation, ...],
        ms: float | None = None,
        has_more: bool = False,
        is_unsure: bool = False,
    ) -> None:
        """Ends the question; without `ms` the stages' times are summed. `has_more`: some lines are folded; `is_unsure`:
        none of the lines is the answer for sure."""
        self._has_more, self._is_unsure = self._has_more or has_more, self._is_unsure or is_unsure
        if self._doing:
            self.unfolded = False
        self._doing = ""
        if self._clock is not None:
            self._clock.stop()
        self._cited = citations
        if self._walk is not None:
            self._walk.settle(citations)
        self._ms = ms or sum(stage.ms for stage in self._stages)
        self._show()

    def judge(self, verdict: str | None) -> None:
        """Shows a verdict, or removes it."""
        self._verdict = verdict
        self._show()

    def watch_unfolded(self) -> None:
        if self.unfolded or self._walk is not None:
            self.walk.unfold(self.unfolded)
        self._show()

    def _unfold_if_slow(self) -> None:
        if self._doing and self._doing != WRITING and self._visits:
            self.unfolded = True

    async def on_click(self, event: events.Click) -> None:  # Textual calls that of `Parts`, too
        if not self._parts and self.has_details:
            event.stop()
            await self.choose_part("toggle_why")

    async def choose_part(self, name: str) -> None:
        self._act(name)

    def show_more(self, shown: bool) -> None:
        """The folded lines are shown, or folded again."""
        self.shows_more = shown
        self._show()

    def _show(self) -> None:
        if self._doing:
            self._parts = ()
            self.update(("▾ " if self.unfolded else "▸ ") * self.has_details + self._describe_running())
        else:
            self.show_parts(self._list_questions(), " · ")
        self.display = bool(self.text)
        if self.unfolded:
            self.walk.tell(self._describe_stages())

    def _describe_running(self) -> str:
        waited = int(monotonic() - self._asked_at) if self._asked_at is not None else 0
        doing = [self._doing, *([f"{waited} s"] if waited else [])]
        return " · ".join([*doing, *([] if self.unfolded else self._describe_stages()), *self._describe_usage()])

    def _list_questions(self) -> Iterator[tuple[Content, str]]:
        """`why this? ^T · not right? ^B · what else? ^G`, and the verdict. The next step from an unsure answer is
        to look further, so that is the first."""
        can_explain = self.has_details or self.can_be_fetched
        why, wrong = ("why these?", "none of them?") if self._is_unsure else ("why this?", "not right?")
        more = "hide the others" if self.shows_more else "what else?"
        questions = [("hide why" if self.unfolded else why, "toggle_why")] * can_explain
        questions += [(wrong, "dispute")] * bool(self._cited and can_explain) + [(more, "toggle_more")] * self._has_more
        for words, handler in reversed(questions) if self._is_unsure else questions:
            key = short_key(self._keymap.keys_of(handler))
            yield Content.assemble(words, " ", (key, "bold")), handler
        if self._verdict:
            yield Content(self._verdict), ""

    def _describe_stages(self) -> list[str]:
        stages = list(filter(None, dict.fromkeys(map(wire.describe_step, self._stages))))
        if not self._doing and self._ms:
            stages.append(f"{self._ms / 1000:.0f} s" if self._ms >= 10_000 else f"{max(1, self._ms):.0f} ms")
        return stages if self._doing else [*stages, *self._describe_usage()]

    def _describe_usage(self) -> list[str]:
        tiers = [note.tier for stage in self._stages if (note := wire.RouteNote.from_step(stage))]
        calls, tokens = self.taken
        further = [wire.TIERS[tier] for tier in tiers[-1:] if tier in wire.TIERS and tier != USUAL]
        return further + ([count(calls, "call")] if calls else []) + ([count(tokens, "token")] if tokens else [])


def _calls(stage: wire.Step) -> int:
    """Returns the model calls of a stage: one for each step of guided expansion that asked."""
    if (guided := wire.GuidedNote.from_step(stage)) is not None:
        return int(guided.call > 0)
    note = wire.ComposeNote.from_step(stage) or wire.AgentNote.from_step(stage)
    return (note.calls or 0) if note is not None else 0


def _tokens(stage: wire.Step) -> int:
    tokens = stage.detail.get("tokens")
    return tokens if isinstance(tokens, int) and stage.name in ASKING else 0
