"""What a question did, in people's words and as a graph to draw. Plain values, no widgets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from daemon import wire
from daemon.drawing.layout import Edge, Graph, Node
from tui.wording import count

QUESTION = 0  # the node of the question itself: the memory numbers its own from 1
MAX_NODES = 24  # that are drawn
MAX_TITLE = 40  # characters of a passage's title
PASSAGE, OBJECT, NAMED = "▪", "○", "●"


def tell_stages(steps: Sequence[wire.Step], visits: Collection[wire.Visit]) -> list[str]:
    """What was done so far, a few words each: `found 3 things you named`, `searched 1,204 passages`."""
    told: dict[str, str] = {}
    for step in steps:
        if note := wire.SeedNote.from_step(step):
            told["seed"] = f"found {count(len(note.objects), 'thing')} you named" if note.objects else ""
        elif scope := wire.ScopeNote.from_step(step):
            told["scope"] = f"searched {count(scope.episodes, 'passage')}" if scope.episodes else ""
        elif ranked := wire.RankNote.from_step(step):
            told["rank"] = f"kept {ranked.episodes:,}" if ranked.episodes else ""
    if links := sum(visit.parent is not None for visit in visits):
        told["links"] = f"followed {count(links, 'link')}"
    if more := sum(visit.stage == "collected" for visit in visits):
        told["more"] = f"fetched {more:,} more"
    return [told[stage] for stage in ("seed", "scope", "links", "rank", "more") if told.get(stage)]


class Walk:
    """The visits of a question in the order in which they are drawn and replayed: from where it began outwards, at most
    `MAX_NODES`, with all that leads to what the answer cites."""

    def __init__(self, visits: Iterable[wire.Visit] = (), cited: Sequence[wire.Citation] = ()) -> None:
        known = {visit.node_id: visit for visit in visits}
        numbers: dict[int, list[int]] = {}
        for one in cited:
            if not one.folded:
                numbers.setdefault(one.episode_id, []).append(one.n)
        self._known, self._numbers = known, numbers
        self._ways = [way for id in numbers if (way := self._way_to(id))]
        kept = dict.fromkeys(id for way in self._ways for id in way[1:])
        for visit in sorted(known.values(), key=lambda visit: (visit.stage != "seed", -visit.score, visit.node_id)):
            kept |= dict.fromkeys(self._way_to(visit.node_id)[1:]) if len(kept) < MAX_NODES else {}
        places = {id: place for place, id in enumerate(known)}
        chosen = sorted(list(kept)[:MAX_NODES], key=lambda id: (known[id].depth, places[id]))
        self.visits: tuple[wire.Visit, ...] = tuple(known[id] for id in chosen)

    def __len__(self) -> int:
        return len(self.visits)

    def graph(self, shown: int, finished: bool) -> Graph:
        """As far as the first `shown` visits; what won is marked when all is `finished`."""
        visits = self.visits[:shown]
        nodes = [Node(QUESTION, "question", 1.0, "?"), *map(self._node, visits)]
        edges = [Edge(*self._edge(visit)) for visit in visits]
        return Graph(tuple(nodes), tuple(edges), (QUESTION,), tuple(self._ways) if finished else ())

    def caption(self, shown: int) -> str:
        """What the last of the first `shown` visits is, and how it was come by."""
        if not shown:
            return "Your question."
        visit = self.visits[shown - 1]
        label, parent = self.label(visit), self._known.get(visit.parent or QUESTION)
        if parent is None:
            how = "your question has its words" if visit.kind == "episode" else "your question names it"
        elif visit.relation:
            ends = (label, self.label(parent)) if visit.inverse else (self.label(parent), label)
            return f"{ends[0]} → {visit.relation} → {ends[1]}"
        elif visit.kind == "episode":
            how = f"it names {self.label(parent)}"
        else:
            how = f"{self.label(parent)} names it"
        further = ", fetched when a closer look was taken" if visit.stage == "collected" else ""
        rests = f"; the answer rests on it {self._marks(visit)}" if visit.node_id in self._numbers else ""
        return f"{label}: {how}{further}{rests}"

    def label(self, visit: wire.Visit) -> str:
        """A vertex by its name; a passage by its title, in quotes."""
        if visit.kind != "episode":
            return visit.label
        title = visit.label or "a passage without a title"
        return f"“{title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + '…'}”"

    def _way_to(self, id: int) -> tuple[int, ...]:
        way: list[int] = []
        at = self._known.get(id)
        while at is not None and at.node_id not in way:
            way.insert(0, at.node_id)
            at = self._known.get(at.parent) if at.parent is not None else None
        return (QUESTION, *way) if way else ()

    def _node(self, visit: wire.Visit) -> Node:
        title = visit.label or "(no title)"
        label = f"{self._marks(visit)} {title}".lstrip() if visit.kind == "episode" else title
        mark = PASSAGE if visit.kind == "episode" else NAMED if visit.stage == "seed" else OBJECT
        return Node(visit.node_id, label, min(1.0, max(0.0, visit.score)), mark)

    def _marks(self, visit: wire.Visit) -> str:
        return "".join(f"[{n}]" for n in self._numbers.get(visit.node_id, ()))

    def _edge(self, visit: wire.Visit) -> tuple[int, int, str]:
        if visit.parent is None or visit.parent not in self._known:
            return QUESTION, visit.node_id, "words" if visit.kind == "episode" else "names"
        ends = (visit.node_id, visit.parent) if visit.inverse and visit.relation else (visit.parent, visit.node_id)
        return *ends, visit.relation
