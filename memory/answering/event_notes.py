"""What notes say of events: a calendar may not know that a dinner is cancelled, and a note that was written later does.

Of an event in a calendar, the newest line of a note that names it is shown before its entry.
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

BEFORE = timedelta(days=31)  # an event so long at most a note about it was written
MAX_PASSAGES = 20  # that are looked at for an event
FEW_WORDS = 1  # in the name of an event, of which a note must also say the day


def precede_with_notes(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The lines of entries under their days, before each event the newest line of a note about it, if one is newer
    than its calendar's entry."""
    found: list[AnswerCandidate] = []
    shown = {(one.episode.id, one.start) for one in lines}
    for line in lines:
        note = _find_note(state, line)
        if note is not None and (note.episode.id, note.start) not in shown:
            shown.add((note.episode.id, note.start))
            written = f"{note.episode.at:%Y-%m-%d}: " if note.episode.at else ""
            found.append(replace(note, shown=f"{written}{note.shown}", folded=line.folded))
        found.append(line)
    return found


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
    newest = [one for one in passages if one.at and line.episode.at < one.at and day - BEFORE <= one.at.date() <= day]
    wanted = set(state.features.stem_words(event.shown))
    about = [
        one
        for one in state.read(newest)
        if one.place.kind in ("text", "row") and wanted <= set(state.features.stem_words(one.shown))
        if len(wanted) > FEW_WORDS or _says_day(one, day)
    ]
    return max(about, key=lambda one: (to_wall(one.episode.at) or 0, one.score), default=None)


def _says_day(note: AnswerCandidate, day: date) -> bool:
    """Whether a line names a day, as seen from when it was written."""
    at = note.episode.at
    when = resolve_time(note.shown, at) if at else None
    noon = datetime.combine(day, time(12)).astimezone()
    return bool(when and when.since and when.until and when.since <= noon < when.until)
