"""Listed entries: the entries of passages that may answer a question, on which days each is, and how it is shown."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from memory.answering.candidates import AnswerCandidate
from memory.answering.entries import Entry, read_entries
from memory.answering.features import AnswerState
from memory.answering.places import read_cells, show_row
from memory.nouns import Episode
from memory.store import episodes, text
from memory.store.episodes import Thesis
from memory.text.languages import content_words, guess_language
from memory.text.task_marks import drop_marks, drop_other_days, read_marks
from memory.text.words import show_links
from memory.time.expressions import resolve_time
from memory.time.recurrence import MAX_AHEAD_DAYS, Recurrence, list_event_days, move_day, read_recurrence
from memory.time.timestamps import to_wall

NO_DAYS: frozenset[date] = frozenset()
MAX_UNFOLDED, MAX_ENTRIES = 12, 100  # of a list: shown at once; shown at all
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)(?:[T ]?(?:[A-Z][a-z]{2} )?(\d\d:\d\d))?")
_TASK_TAG = re.compile(r"\s*#task(?![\w/-])")
_NO_DAY = re.compile(r"(?m:^Not on: .*)|^(?:x(?: \d{4}-\d\d-\d\d)?|\([A-Z]\)) \d{4}-\d\d-\d\d")
_DETAIL = re.compile(r"(?:When|Due|Where|Who): (.+)")


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a passage. `heads` and `own`: the stems of the question that its headings and its words contain;
    `elsewhere`: days of its series that another file describes."""

    episode: Episode
    entry: Entry
    heads: frozenset[str]
    own: frozenset[str]
    elsewhere: frozenset[date] = frozenset()

    @property
    def quote(self) -> str:
        """The words of the passage."""
        return self.episode.text[self.entry.start : self.entry.end]

    @property
    def block(self) -> tuple[int, int, tuple[str, ...]]:
        """A key of its list."""
        return self.episode.id, self.entry.block, self.entry.heads

    @property
    def again(self) -> Recurrence | None:
        """The recurrence of an event; None without one."""
        return read_recurrence(self.quote) if self.entry.kind == "event" else None

    def days_within(self, since: date, until: date) -> dict[date, str]:
        """Its days from `since` on and before `until`, each with its time of day or ""."""
        if self.entry.kind == "event":
            return list_event_days(self.quote, since, until, self.elsewhere)
        return {day: at for day, at in self.days().items() if since <= day < until}

    def next_day(self, today: date) -> tuple[date, str] | None:
        """Its first day that is not before `today`, with its time of day or ""."""
        ahead = move_day(today, MAX_AHEAD_DAYS)
        return min(self.days_within(today, date.max if self.again is None else ahead).items(), default=None)

    @property
    def stated_due(self) -> str:
        """The due date of a task as its marks write it, or ""."""
        marks = dict(reversed(read_marks(self.quote))) if self.entry.kind == "task" else {}
        return marks.get("due") or marks.get("deadline") or ""

    @property
    def due(self) -> tuple[date, str] | None:
        """The day on which a task is due, with the time of day ""; None if its marks name no day ("next week")."""
        with suppress(ValueError):
            return date.fromisoformat(self.stated_due.strip("[]")), ""
        return None

    def days(self) -> dict[date, str]:
        """The days that it names, each with its time of day or "", except those of creation, start and completion."""
        if self.entry.kind == "event":
            again = self.again
            if again is None:
                return list_event_days(self.quote, date.min, date.max)
            return dict.fromkeys(sorted({again.first.date(), *again.listed} - again.left_out), "")
        days: dict[date, str] = {}
        for year, month, day, at in _DAY.findall(_NO_DAY.sub("", drop_other_days(self.quote))):
            try:
                days.setdefault(date(int(year), int(month), int(day)), at)
            except ValueError:
                continue
        return days


def share_of(state: AnswerState, stems: frozenset[str], topic: frozenset[str]) -> float:
    """In [0, 1]: the share of a topic's weight that these stems cover; 1 for an empty topic."""
    weights = dict(zip(state.features.stems, state.features.shares.tolist(), strict=True))
    total = sum(weights[key] for key in topic)
    return sum(weights[key] for key in topic & stems) / total if total else 1.0


def list_passage_entries(state: AnswerState, passages: Iterable[Episode], topic: frozenset[str]) -> list[ListedEntry]:
    """The entries of these passages, compared with the stems of a topic."""
    entries = []
    elsewhere = state.found.snapshot.entry_versions(state.conn).elsewhere
    for episode in passages:
        for entry in read_entries(episode.text):
            texts = (" ".join((episode.title, *entry.heads)), episode.text[entry.start : entry.end])
            heads, own = (topic.intersection(state.features.stem_words(words)) for words in texts)
            entries.append(ListedEntry(episode, entry, heads, own, elsewhere.get(episode.id, NO_DAYS)))
    return entries


def keep_newest(entries: Iterable[ListedEntry]) -> list[ListedEntry]:
    """Of entries that say the same only the one of the newest passage."""
    newest: dict[str, ListedEntry] = {}
    for entry in entries:
        key = key_of(entry)
        other = newest.get(key)
        if other is None or (to_wall(entry.episode.at) or 0) > (to_wall(other.episode.at) or 0):
            newest[key] = entry
    return list(newest.values())


def key_of(listed: ListedEntry) -> str:
    """A key that is the same for entries that say the same: their words, and the days of an event."""
    words, again = strip_days(listed), listed.again
    if listed.entry.kind != "event":
        return words
    return f"{words} {sorted(listed.days())} {again.rules if again else ''}"


def strip_days(listed: ListedEntry) -> str:
    """The words of an entry in lower case, without its days."""
    return " ".join(_DAY.sub("", _drop_marks(listed.entry.shown)).casefold().split())


def show_entry(listed: ListedEntry, day: date | None = None, time: str = "") -> str:
    """The text of an entry for an answer; with `day` (and `time`) as the entry of that day."""
    kind, quote = listed.entry.kind, listed.quote
    bare = _show_cells(listed, day) if quote.lstrip().startswith("|") else listed.entry.shown
    words = " ".join(_drop_marks(bare).split()) or bare
    words = re.sub(r"\*\*|__", "", show_links(words))
    if day is None:
        if kind != "task":
            return words
        due = listed.stated_due or next((day.isoformat() for day in listed.days()), "")
        rule = dict(reversed(read_marks(quote))).get("repeats", "")
        plans = [f"due {due}" if due and due not in words else "", f"repeats {rule}" if rule else ""]
        return f"{words} ({', '.join(filter(None, plans))})" if any(plans) else words
    at = " ".join(filter(None, (day.isoformat(), time)))
    details = [] if kind == "item" else _DETAIL.findall(quote)
    bare_details = (" ".join(_DAY.sub("", detail).replace("(all day)", "").split()) for detail in details)
    rest = [re.sub(r"^to(?! \d) ?" if time else r"^to\b ?", "", detail) for detail in bare_details]
    if details and not time and (span := re.search(r"\d\d:\d\d(?: to \d\d:\d\d)?", details[0])):
        rest[0] = span[0]
    elif details:
        at, rest[0] = f"{at} {rest[0]}".strip(), ""
    return f"{at}: {', '.join(filter(None, (words, *rest)))}"


def _drop_marks(words: str) -> str:
    return drop_marks(_TASK_TAG.sub("", words))


def _show_cells(listed: ListedEntry, day: date | None) -> str:
    """A row of a table without the cell of its `day`; with its column names if it has more than two columns."""
    cells = read_cells(listed.quote)
    head = listed.entry.heads[-1].split(" | ") if listed.entry.heads else []
    kept = [column for column, cell in enumerate(cells) if not column or day is None or cell != day.isoformat()]
    is_named = len(head) == len(cells) > 2
    return show_row([cells[column] for column in kept], [head[column] for column in kept] if is_named else ())


def show_entries(state: AnswerState, entries: Sequence[tuple[ListedEntry, str]]) -> list[AnswerCandidate]:
    """The lines of entries with their texts, at most MAX_ENTRIES; those after the first MAX_UNFOLDED are folded."""
    if more := max(0, len(entries) - MAX_ENTRIES):
        last, text = entries[MAX_ENTRIES - 1]
        entries = [*entries[: MAX_ENTRIES - 1], (last, f"{text} (and {more} more)")]
    theses: dict[int, list[Thesis]] = defaultdict(list)
    for thesis in episodes.theses_of(state.conn, sorted({listed.episode.id for listed, _ in entries})):
        theses[thesis.episode_id].append(thesis)
    lines = []
    for place, (listed, text) in enumerate(entries):
        of_passage, start = theses[listed.episode.id], listed.entry.start
        begun = [thesis for thesis in of_passage if (thesis.span_from or 0) <= start]
        line = AnswerCandidate.from_thesis(listed.episode, (begun or of_passage)[-1])
        folded = place >= MAX_UNFOLDED and len(entries) > MAX_UNFOLDED + 1
        lines.append(replace(line, start=start, quote=listed.quote, shown=text, folded=folded))
    return lines


# Notes about events: a calendar may not know that a dinner is cancelled, but a later note does -------

BEFORE = timedelta(days=31)  # the earliest that a note was written before its event
MAX_PASSAGES = 20  # read for an event
FEW_WORDS = 1  # in an event's name: its notes must also name the day


def precede_with_notes(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The lines of entries under their days; before each event the newest line of a note about it, if newer than the
    entry."""
    preceded: list[AnswerCandidate] = []
    shown = {(line.episode.id, line.start) for line in lines}
    for line in lines:
        note = _find_note(state, line)
        if note is not None and (note.episode.id, note.start) not in shown:
            shown.add((note.episode.id, note.start))
            written = f"{note.episode.at:%Y-%m-%d}: " if note.episode.at else ""
            preceded.append(replace(note, shown=f"{written}{note.shown}", folded=line.folded))
        preceded.append(line)
    return preceded


def _find_note(state: AnswerState, line: AnswerCandidate) -> AnswerCandidate | None:
    event = None if line.folded else next(iter(read_entries(line.quote)), None)
    if event is None or event.kind != "event" or line.episode.at is None:
        return None
    day = date.fromisoformat(line.shown[:10])
    language = guess_language(event.shown)
    names = content_words(event.shown, language)
    if not names:
        return None
    ids, _ = text.search(state.conn, names, MAX_PASSAGES)
    passages = episodes.by_ids(state.conn, [id for id in ids.tolist() if state.found.sees(id)])
    since = line.episode.at
    newer = [note for note in passages if note.at and since < note.at and day - BEFORE <= note.at.date() <= day]
    stems = set(state.features.stem_words(event.shown))
    notes = [
        note
        for note in state.read(newer)
        if note.place.kind in ("text", "row") and stems <= set(state.features.stem_words(note.shown))
        if len(stems) > FEW_WORDS or _names_day(note, day)
    ]
    return max(notes, key=lambda note: (to_wall(note.episode.at) or 0, note.score), default=None)


def _names_day(note: AnswerCandidate, day: date) -> bool:
    """Whether a line names a day, relative to when it was written."""
    at = note.episode.at
    when = resolve_time(note.shown, at) if at else None
    noon = datetime.combine(day, time(12)).astimezone()
    return bool(when and when.since and when.until and when.since <= noon < when.until)
