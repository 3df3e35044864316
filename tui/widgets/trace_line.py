"""What a question did, in a line that unfolds."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.content import Content
from textual.reactive import reactive

from daemon import wire
from daemon.terminal import display_safe
from tui.widgets.plain import Plain
from tui.wording import count

TOP_VISITS = 8
ASKING = ("compose", "guided", "sketch")  # the stages that tell the tokens a model took
USUAL = "R2"  # the tier that nobody needs to be told of
_LABEL = 60


class TraceLine(Plain):
    """`12 passages · 41 ms · 3 files`, live while the question runs; unfolded, the stages and the best visits. Where a
    language model was asked, how far the question went and how many calls that took."""

    unfolded = reactive(False)

    def __init__(self) -> None:
        super().__init__()
        self._stages: list[wire.Step] = []
        self._visits: dict[tuple[str, int], wire.Visit] = {}
        self._cited: tuple[wire.Citation, ...] = ()
        self._ms: float | None = None  # None while the question runs
        self._doing = ""  # empty before and after
        self._verdict: str | None = None

    @property
    def has_details(self) -> bool:
        """Whether there is something to unfold."""
        return bool(self._stages or self._visits)

    @property
    def taken(self) -> tuple[int, int]:
        """How many calls of models it took, and how many tokens as far as they are told."""
        return sum(map(_calls, self._stages)), sum(map(_tokens, self._stages))

    def begin(self, doing: str = "searching") -> None:
        """The question was sent, and this is what is done about it now."""
        self._doing = doing
        self._show()

    def add(self, event: wire.Step | wire.Visit) -> None:
        """A stage ended or a vertex was visited."""
        if isinstance(event, wire.Step):
            self._stages.append(event)
        else:
            self._visits[event.kind, event.node_id] = event
        self._show()

    def settle(self, citations: tuple[wire.Citation, ...], ms: float | None = None) -> None:
        """The question is over; without `ms` the stages' times are summed."""
        self._doing = ""
        self._cited = citations
        self._ms = ms or sum(stage.ms for stage in self._stages)
        self._show()

    def judge(self, verdict: str | None) -> None:
        """A person called the answer good or bad, or takes that back."""
        self._verdict = verdict
        self._show()

    def toggle(self) -> None:
        """Folds or unfolds."""
        self.unfolded = self.has_details and not self.unfolded

    def watch_unfolded(self) -> None:
        self._show()

    def on_click(self, event: events.Click) -> None:
        if self.has_details:
            event.stop()
            self.toggle()

    def _show(self) -> None:
        summary = self._summary()
        self.display = bool(summary)
        self.set_class(self.has_details, "-details")
        fold = "" if not self.has_details else "▾ " if self.unfolded else "▸ "
        text = Content(fold + summary)
        if self.unfolded:
            text = Content("\n").join([text, *self._stage_lines(), *self._visit_lines()])
        self.update(text)

    def _summary(self) -> str:
        episodes = sum(1 for kind, _ in self._visits if kind == "episode")
        parts = [count(episodes, "passage")] if episodes else []
        parts += self._asked()
        if self._doing:
            last = [self._stages[-1].name] if self._stages else []
            return " · ".join([self._doing, *last, *parts])
        if self._ms:
            parts.append(f"{self._ms:.0f} ms" if self._ms >= 1 else "under 1 ms")
        if self._cited:
            noun = "file" if all(cited.line is not None for cited in self._cited) else "source"
            parts.append(count(len({cited.uri for cited in self._cited}), noun))
        return " · ".join([*parts, *filter(None, [self._verdict])])

    def _asked(self) -> list[str]:
        tiers = [note.tier for stage in self._stages if (note := wire.RouteNote.from_step(stage))]
        calls, tokens = self.taken
        further = [wire.TIERS[tier] for tier in tiers[-1:] if tier in wire.TIERS and tier != USUAL]
        return further + ([count(calls, "call")] if calls else []) + ([count(tokens, "token")] if tokens else [])

    def _stage_lines(self) -> list[Content]:
        width = max((len(stage.name) for stage in self._stages), default=0)
        return [
            Content.assemble(
                f"  {display_safe(stage.name, line=True):<{width}} {stage.ms:7.1f} ms",
                (f"  {_details(stage.detail)}" if stage.detail else "", "dim"),
            )
            for stage in self._stages
        ]

    def _visit_lines(self) -> list[Content]:
        best = sorted(self._visits.values(), key=lambda visit: -visit.score)[:TOP_VISITS]
        return [
            Content(f"  {visit.score:5.2f}  {visit.kind:<7}  {display_safe(visit.label, line=True)[:_LABEL]}")
            for visit in best
        ]


def _calls(stage: wire.Step) -> int:
    """The calls of a model that a stage took: one for each step of guided expansion, but for one that asked nothing."""
    if (guided := wire.GuidedNote.from_step(stage)) is not None:
        return int(guided.call > 0)
    note = wire.ComposeNote.from_step(stage) or wire.AgentNote.from_step(stage)
    return (note.calls or 0) if note is not None else 0


def _tokens(stage: wire.Step) -> int:
    tokens = stage.detail.get("tokens")
    return tokens if isinstance(tokens, int) and stage.name in ASKING else 0


def _details(detail: Mapping[str, object]) -> str:
    parts = (f"{name} {value}" for name, value in detail.items() if isinstance(value, (str, int, float)))
    return display_safe(", ".join(parts), line=True)
