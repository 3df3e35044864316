"""Notes about events: a calendar may not know that a dinner is cancelled, but a later note does.

The newest line of a note that names an event is shown before the event's calendar entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from memory.answering.candidates import AnswerCandidate
from memory.answering.entries import read_entries
from memory.answering.features import AnswerState
from memory.store import episodes, text
from memory.text.languages import content_words, guess_language
from memory.time.expressions import resolve_time
from memory.time.timestamps import to_wall

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
