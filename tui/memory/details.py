"""The lines on the page of an object, a note, a fact, or a profile entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from textual.content import Content

from daemon import wire
from daemon.terminal import count, display_safe, flatten
from tui.memory.rows import Target, make_fact_target, make_note_target, make_object_target, say_when_read
from tui.wording import cut_left, day, fact_label, short_path

MUTED: Final = "$foreground-muted"
PAST: Final = "$foreground-muted strike"
MAX_LABEL = 22  # characters of the label before a value
MAX_PLACE = 44  # characters of a path: its end says most
MAX_CHANGES = 60


class Line(NamedTuple):
    """One line of a page, or a few that belong together. `target`: the destination of Enter; `fact`: the fact to
    correct or forget; `place`: the file and line to open. A line without any of them cannot be selected."""

    content: Content
    target: Target | None = None
    fact: wire.Fact | None = None
    place: tuple[str, int | None] | None = None

    @property
    def is_heading(self) -> bool:
        return self.target is None and self.fact is None and self.place is None


def make_heading(text: str, more: str = "", first: bool = False) -> Line:
    """Returns the heading of the lines below it."""
    above = "" if first else "\n"
    return Line(Content.assemble(above, (text, "bold $accent"), (f"  {more}" if more else "", MUTED)))


def make_remark(text: str) -> Line:
    return Line(Content.styled(text, MUTED))


def make_fact_line(fact: wire.Fact, label: str, folders: Iterable[str], width: int = 0, past: bool = False) -> Line:
    """Returns `phone 0161 496 07`, and below it the time and the source."""
    value = flatten(fact.objects[-1] if fact.predicate else fact.text)
    read = " · read by a model" if fact.origin == "model" else ""
    origin = flatten(f"{fact.period} · {name_source(fact, folders)}{read}")
    content = Content.assemble(
        (f"{flatten(label):<{width}}  " if label else "", MUTED),
        (value + fact.remark, PAST if past else "bold"),
        (f"\n{'':<{width + 2 if label else 0}}{origin}", MUTED),
    )
    return Line(content, make_fact_target(fact), fact, (fact.uri, fact.line))


def name_source(fact: wire.Fact, folders: Iterable[str]) -> str:
    """Returns the source of a fact, for a person."""
    if fact.uri.startswith(("note:me/", "note:corrected/")):
        return "you said so"
    return cut_left(fact_label(fact, folders), MAX_PLACE)


def list_object_lines(thing: wire.ObjectReply, folders: Sequence[str]) -> list[Line]:
    """Lists an object's page: current facts, history, relations, and the notes that mention it."""
    lines: list[Line] = []
    aliases = [name for name in thing.names if name != thing.name]
    if aliases:
        lines.append(make_remark(f"also called {flatten(', '.join(aliases))}"))
    lines.append(make_heading("Facts now", first=not aliases))
    named_facts = [(fact, _name_fact(fact, thing)) for fact in thing.facts]
    width = min(MAX_LABEL, max((len(label) for _, label in named_facts), default=0))
    lines += [make_fact_line(fact, label, folders, width) for fact, label in named_facts]
    if not named_facts:
        lines.append(make_remark("No facts yet, only mentions in the notes below."))
    if changed := _list_changes(thing.timelines):
        lines.append(make_heading("History"))
        lines += [_make_change_line(value, timeline, folders) for value, timeline in changed]
    if thing.notes:
        extent = (
            f"the newest {len(thing.notes):,} of {thing.notes_total:,}" if thing.notes_total > len(thing.notes) else ""
        )
        lines.append(make_heading("Notes that mention it", extent))
        lines += [_make_mention_line(entry) for entry in thing.notes]
    if thing.neighbours:
        lines.append(make_heading("Related"))
        lines += [_make_neighbour_line(entry) for entry in thing.neighbours]
    return lines


def _name_fact(fact: wire.Fact, thing: wire.ObjectReply) -> str:
    """Returns the label of a fact on an object's page: `phone`, or `Ozzie Penhale phone` for another subject."""
    predicate = fact.predicate or ""
    return predicate if fact.objects[0] in thing.names else f"{fact.objects[0]} {predicate}".strip()


def _list_changes(timelines: Iterable[wire.FactTimeline]) -> list[tuple[wire.TimelineValue, wire.FactTimeline]]:
    """Returns changed values, newest first."""
    values = [
        (value, timeline)
        for timeline in timelines
        if len(timeline.values) > 1 or any(value.ended for value in timeline.values)
        for value in timeline.values
    ]
    values.sort(key=lambda entry: (entry[0].fact.valid_from or entry[0].fact.recorded, entry[0].fact.id), reverse=True)
    return values[:MAX_CHANGES]


def _make_change_line(value: wire.TimelineValue, timeline: wire.FactTimeline, folders: Sequence[str]) -> Line:
    fact = value.fact
    past = value.ended is not None or fact.is_over
    words = flatten(fact.objects[-1] if fact.predicate else fact.text)
    began = fact.since or day(fact.valid_from or fact.recorded)
    until = f" until {fact.until}" if past and fact.until else ""
    why = f" · {flatten(value.ended.reason)}" if value.ended is not None else ""
    content = Content.assemble(
        (f"{began:<12}", MUTED),
        (f"{flatten(timeline.predicate)} " if timeline.predicate else "", MUTED),
        (words, PAST if past else "bold"),
        (f"{until}\n{'':<12}{flatten(name_source(fact, folders))}{why}", MUTED),
    )
    return Line(content, make_fact_target(fact), None if past else fact, (fact.uri, fact.line))


def _make_neighbour_line(neighbour: wire.Neighbour) -> Line:
    if not neighbour.relation:
        joined = f"in {count(neighbour.passages, 'passage')} with it"
        return Line(
            Content.assemble(("· ", MUTED), flatten(neighbour.name), (f"  {joined}", MUTED)),
            make_object_target(neighbour.name),
        )
    arrow = f"── {flatten(neighbour.relation)} ─▸ " if neighbour.forward else f"◂─ {flatten(neighbour.relation)} ── "
    return Line(Content.assemble((arrow, MUTED), flatten(neighbour.name)), make_object_target(neighbour.name))


def _make_mention_line(mention: wire.MentionedIn) -> Line:
    more = f" · {count(mention.passages, 'passage')}" if mention.passages > 1 else ""
    name = mention.title or mention.uri.rpartition("/")[2]
    head = Content.assemble((flatten(name), "bold"), (f"  {day(mention.at)}{more}", MUTED))
    content = Content.assemble(head, (f"\n{flatten(mention.quote)}", MUTED)) if mention.quote else head
    return Line(content, make_note_target(mention.uri, name), place=(mention.uri, mention.line))


def list_note_lines(note: wire.NoteReply, folders: Sequence[str]) -> list[Line]:
    """Lists a note's page: its file and dates, its extracted facts, and its passages."""
    source = note.source
    readers = f" by rules and {', '.join(note.models)}" if note.models else " by rules alone"
    about = [
        cut_left(short_path(source.uri, folders), 200),
        " · ".join(filter(None, (f"of {day(source.at)}" if source.at else "", say_when_read(note.read) + readers))),
        " ".join(f"#{tag}" for tag in note.tags),
    ]
    first = note.passages[0].line if note.passages else None
    lines = [Line(Content.styled("\n".join(flatten(part) for part in about if part), MUTED), place=(source.uri, first))]
    lines.append(make_heading("Facts", count(len(note.facts), "fact") if note.facts else ""))
    lines += [make_fact_line(fact, _name_told(fact), folders) for fact in note.facts]
    if not note.facts:
        lines.append(make_remark("No facts; questions find its passages."))
    more = f"the first {len(note.passages):,} of {source.episodes:,}" if source.episodes > len(note.passages) else ""
    lines.append(make_heading("Passages", more))
    for passage in note.passages:
        position = wire.name_position(passage.uri, passage.line) if passage.line is not None else ""
        head = " · ".join(filter(None, (position, passage.speaker or "", day(passage.at))))
        text = display_safe(passage.text).strip()
        content = Content.assemble((f"{flatten(head)}\n" if head else "", MUTED), text, "\n")
        lines.append(Line(content, place=(passage.uri, passage.line)))
    return lines


def _name_told(fact: wire.Fact) -> str:
    return f"{fact.objects[0]} {fact.predicate or ''}".strip() if fact.predicate else ""


def list_fact_lines(fact: wire.Fact, passage: wire.Passage | None, folders: Sequence[str]) -> list[Line]:
    """Lists a fact's page: its text, its time, its objects, and its passage."""
    past = fact.is_over
    head = Content.assemble((flatten(fact.statement), PAST if past else "bold"), (f"\n{fact.period}", MUTED), " ")
    lines = [Line(head, fact=None if past or fact.predicate is None else fact, place=(fact.uri, fact.line))]
    lines.append(make_heading("About"))
    lines += [Line(Content(flatten(name)), make_object_target(name)) for name in dict.fromkeys(fact.objects)]
    lines.append(make_heading("Source"))
    name = fact.title or fact.uri.rpartition("/")[2]
    lines.append(
        Line(
            Content.assemble((flatten(name), "bold"), (f"  {flatten(name_source(fact, folders))}", MUTED)),
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
    """Lists a profile entry: its current and former values."""
    lines = [make_heading("Now", first=True)]
    lines += [make_fact_line(fact, "", folders) for fact in entry.facts] or [make_remark("Nothing now.")]
    if entry.before:
        lines.append(make_heading("Before"))
        lines += [make_fact_line(fact, "", folders, past=True) for fact in entry.before]
    return lines
