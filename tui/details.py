"""What stands on the page of an object, a note, a fact, or of something of the owner's, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from textual.content import Content

from daemon import wire
from daemon.drawing.layout import Edge, Graph, Node
from daemon.terminal import display_safe, modality, statement
from tui.browse import Target, make_fact_target, make_note_target, make_object_target, say_when_read
from tui.changes import describe_time, source_label
from tui.wording import count, cut_left, day, short_path

MUTED: Final = "$foreground-muted"
PAST: Final = "$foreground-muted strike"
MAX_LABEL = 22  # characters of what stands before a value
MAX_PLACE = 44  # characters of a path: its end says most
MAX_CHANGES = 60
MAX_DRAWN = 12  # neighbours


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page, or a few that belong together. `target`: where Enter leads; `fact`: what a key corrects or
    forgets; `place`: the file and line that a key opens. One without any of them cannot be chosen."""

    content: Content
    target: Target | None = None
    fact: wire.Fact | None = None
    place: tuple[str, int | None] | None = None

    @property
    def is_heading(self) -> bool:
        return self.target is None and self.fact is None and self.place is None


def make_heading(text: str, more: str = "", first: bool = False) -> Line:
    """What the lines below it are."""
    above = "" if first else "\n"
    return Line(Content.assemble(above, (text, "bold $accent"), (f"  {more}" if more else "", MUTED)))


def make_remark(text: str) -> Line:
    return Line(Content.styled(text, MUTED))


def make_fact_line(fact: wire.Fact, label: str, folders: Iterable[str], width: int = 0, past: bool = False) -> Line:
    """`phone  0161 496 07`, and below it since when and where it stands."""
    value = _flatten(fact.objects[-1] if fact.predicate else fact.text)
    read = " · a model read it so" if fact.origin == "model" else ""
    where = _flatten(f"{describe_time(fact)} · {name_source(fact, folders)}{read}")
    content = Content.assemble(
        (f"{_flatten(label):<{width}}  " if label else "", MUTED),
        (value + modality(fact), PAST if past else "bold"),
        (f"\n{'':<{width + 2 if label else 0}}{where}", MUTED),
    )
    return Line(content, make_fact_target(fact), fact, (fact.uri, fact.line))


def name_source(fact: wire.Fact, folders: Iterable[str]) -> str:
    """Where a fact stands, for a person."""
    if fact.uri.startswith(("note:me/", "note:corrected/")):
        return "you said so"
    return cut_left(source_label(fact, folders), MAX_PLACE)


def list_object_lines(of: wire.ObjectReply, folders: Sequence[str]) -> list[Line]:
    """An object's page: what holds, how it changed, what it is joined to, and the notes that mention it."""
    lines: list[Line] = []
    others = [name for name in of.names if name != of.name]
    if others:
        lines.append(make_remark(f"also called {_flatten(', '.join(others))}"))
    lines.append(make_heading("Facts now", first=not others))
    mine = [(fact, _name_fact(fact, of)) for fact in of.facts]
    width = min(MAX_LABEL, max((len(label) for _, label in mine), default=0))
    lines += [make_fact_line(fact, label, folders, width) for fact, label in mine]
    if not mine:
        lines.append(make_remark("No fact was read of it; the notes below mention it."))
    if changed := _list_changes(of.strands):
        lines.append(make_heading("How it changed"))
        lines += [_make_change_line(value, strand, folders) for value, strand in changed]
    if of.notes:
        shown = f"the newest {len(of.notes):,} of {of.notes_total:,}" if of.notes_total > len(of.notes) else ""
        lines.append(make_heading("Notes that mention it", shown))
        lines += [_make_mention_line(one) for one in of.notes]
    if of.neighbours:
        lines.append(make_heading("Stands beside"))
        lines += [_make_neighbour_line(one) for one in of.neighbours]
    return lines


def draw_neighbours(of: wire.ObjectReply) -> Graph:
    """An object and what it is joined to, as a drawing."""
    drawn = {one.name: one for one in reversed(of.neighbours[:MAX_DRAWN]) if one.name != of.name}
    nodes = [Node(of.name, of.name, mark="●")]
    nodes += [Node(one.name, one.name, 1.0 if one.relation else 0.4) for one in reversed(drawn.values())]
    edges = [
        Edge(of.name, one.name, one.relation) if one.forward else Edge(one.name, of.name, one.relation)
        for one in reversed(drawn.values())
    ]
    return Graph(tuple(nodes), tuple(edges), (of.name,)) if edges else Graph()


def draw_neighbourhood(then: wire.Neighbourhood) -> Graph:
    """The same as it stood at a time: the thing alone if nothing was joined to it."""
    names = {one.id: one.name for one in then.nodes[: MAX_DRAWN + 1]}
    told = {names.get(id) for edge in then.edges if edge.fact for id in (edge.source, edge.target)}
    shown = {then.name: None} | dict.fromkeys(names.values())
    nodes = (Node(one, one, 1.0 if one in told or one == then.name else 0.4, _mark(one, then.name)) for one in shown)
    joined = (one for one in then.edges if one.source in names and one.target in names)
    edges = (Edge(names[one.source], names[one.target], one.relation) for one in joined)
    return Graph(tuple(nodes), tuple(edges), (then.name,))


def _mark(name: str, middle: str) -> str:
    return "●" if name == middle else "○"


@dataclass(frozen=True, slots=True)
class Change:
    """A time from which on something else holds, and its day as precisely as it is told."""

    at: datetime
    day: str


def list_change_times(of: wire.ObjectReply, now: datetime) -> tuple[Change, ...]:
    """When facts of an object began or ended, up to now, the earliest first."""
    held = [*of.facts, *(value.fact for strand in of.strands for value in strand.values)]
    times: dict[datetime, str] = {}
    for fact in held:
        if fact.valid_to is not None:
            times.setdefault(fact.valid_to, day(fact.valid_to))
    for fact in held:
        if fact.valid_from is not None:
            times[fact.valid_from] = fact.since or day(fact.valid_from)
    return tuple(Change(at, said) for at, said in sorted(times.items()) if at <= now)


def _name_fact(fact: wire.Fact, of: wire.ObjectReply) -> str:
    """What a fact says of an object: `phone`; where it is told of another one, `Ozzie Penhale phone`."""
    predicate = fact.predicate or ""
    return predicate if fact.objects[0] in of.names else f"{fact.objects[0]} {predicate}".strip()


def _list_changes(strands: Iterable[wire.Strand]) -> list[tuple[wire.HeldValue, wire.Strand]]:
    """The values of what changed at all, the newest first."""
    found = [
        (value, strand)
        for strand in strands
        if len(strand.values) > 1 or any(value.ended for value in strand.values)
        for value in strand.values
    ]
    found.sort(key=lambda one: (one[0].fact.valid_from or one[0].fact.recorded, one[0].fact.id), reverse=True)
    return found[:MAX_CHANGES]


def _make_change_line(value: wire.HeldValue, strand: wire.Strand, folders: Sequence[str]) -> Line:
    fact = value.fact
    past = value.ended is not None or fact.superseded_by is not None or fact.retired is not None
    words = _flatten(fact.objects[-1] if fact.predicate else fact.text)
    began = fact.since or day(fact.valid_from or fact.recorded)
    until = f" until {fact.until}" if past and fact.until else ""
    why = f" · {_flatten(value.ended.reason)}" if value.ended is not None else ""
    content = Content.assemble(
        (f"{began:<12}", MUTED),
        (f"{_flatten(strand.predicate)} " if strand.predicate else "", MUTED),
        (words, PAST if past else "bold"),
        (f"{until}\n{'':<12}{_flatten(name_source(fact, folders))}{why}", MUTED),
    )
    return Line(content, make_fact_target(fact), None if past else fact, (fact.uri, fact.line))


def _make_neighbour_line(one: wire.Neighbour) -> Line:
    if not one.relation:
        joined = f"in {count(one.passages, 'passage')} with it"
        return Line(
            Content.assemble(("· ", MUTED), _flatten(one.name), (f"  {joined}", MUTED)), make_object_target(one.name)
        )
    arrow = f"── {_flatten(one.relation)} ─▸ " if one.forward else f"◂─ {_flatten(one.relation)} ── "
    return Line(Content.assemble((arrow, MUTED), _flatten(one.name)), make_object_target(one.name))


def _make_mention_line(one: wire.MentionedIn) -> Line:
    more = f" · {count(one.passages, 'passage')}" if one.passages > 1 else ""
    name = one.title or one.uri.rpartition("/")[2]
    head = Content.assemble((_flatten(name), "bold"), (f"  {day(one.at)}{more}", MUTED))
    content = Content.assemble(head, (f"\n{_flatten(one.quote)}", MUTED)) if one.quote else head
    return Line(content, make_note_target(one.uri, name), place=(one.uri, one.line))


def list_note_lines(note: wire.NoteReply, folders: Sequence[str]) -> list[Line]:
    """A note's page: where it is from and when it was read, the facts read out of it, and its passages."""
    source = note.source
    by = f" by rules and {', '.join(note.models)}" if note.models else " by rules alone"
    about = [
        cut_left(short_path(source.uri, folders), 200),
        " · ".join(filter(None, (f"of {day(source.at)}" if source.at else "", say_when_read(note.read) + by))),
        " ".join(f"#{tag}" for tag in note.tags),
    ]
    first = note.passages[0].line if note.passages else None
    lines = [Line(Content.styled("\n".join(_flatten(one) for one in about if one), MUTED), place=(source.uri, first))]
    lines.append(make_heading("Read out of it", count(len(note.facts), "fact") if note.facts else ""))
    lines += [make_fact_line(fact, _name_told(fact), folders) for fact in note.facts]
    if not note.facts:
        lines.append(make_remark("No fact; questions find its passages all the same."))
    more = f"the first {len(note.passages):,} of {source.episodes:,}" if source.episodes > len(note.passages) else ""
    lines.append(make_heading("What it says", more))
    for passage in note.passages:
        where = wire.name_position(passage.uri, passage.line) if passage.line is not None else ""
        head = " · ".join(filter(None, (where, passage.speaker or "", day(passage.at))))
        text = display_safe(passage.text).strip()
        content = Content.assemble((f"{_flatten(head)}\n" if head else "", MUTED), text, "\n")
        lines.append(Line(content, place=(passage.uri, passage.line)))
    return lines


def _name_told(fact: wire.Fact) -> str:
    return f"{fact.objects[0]} {fact.predicate or ''}".strip() if fact.predicate else ""


def list_fact_lines(fact: wire.Fact, passage: wire.Passage | None, folders: Sequence[str]) -> list[Line]:
    """A fact's page: what it says of what, since when, and the passage it stands in."""
    past = fact.superseded_by is not None or fact.retired is not None
    head = Content.assemble(
        (_flatten(statement(fact)), PAST if past else "bold"), (f"\n{describe_time(fact)}", MUTED), " "
    )
    lines = [Line(head, fact=None if past or fact.predicate is None else fact, place=(fact.uri, fact.line))]
    lines.append(make_heading("It is told of"))
    lines += [Line(Content(_flatten(name)), make_object_target(name)) for name in dict.fromkeys(fact.objects)]
    lines.append(make_heading("It stands in"))
    name = fact.title or fact.uri.rpartition("/")[2]
    lines.append(
        Line(
            Content.assemble((_flatten(name), "bold"), (f"  {_flatten(name_source(fact, folders))}", MUTED)),
            make_note_target(fact.uri, name), place=(fact.uri, fact.line),
        )
    )  # fmt: skip
    if passage is not None:
        text, quote = display_safe(passage.text).strip(), display_safe(fact.quote)
        content, start = Content(text), text.find(quote)
        if quote and start >= 0:
            content = content.stylize("bold $accent", start, start + len(quote))
        lines.append(Line(Content.assemble("\n", content), place=(fact.uri, fact.line)))
    return lines


def list_entry_lines(entry: wire.ProfileEntry, folders: Sequence[str]) -> list[Line]:
    """What something of the owner's is, and what it was before."""
    lines = [make_heading("Now", first=True)]
    lines += [make_fact_line(fact, "", folders) for fact in entry.facts] or [make_remark("Nothing any more.")]
    if entry.before:
        lines.append(make_heading("Before"))
        lines += [make_fact_line(fact, "", folders, past=True) for fact in entry.before]
    return lines


def _flatten(text: str) -> str:
    """Foreign text on one line."""
    return " ".join(display_safe(text, line=True).split())
