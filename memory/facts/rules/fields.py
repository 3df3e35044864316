"""Semi-structured facts: properties of a source, "key: value" lines, tasks, tables and series of dated rows.

The subject is what the note is about; under a second heading that is part of the key ("vet phone"), so that the same
key under two headings is two things. A value is short: a line that goes on is a sentence, not a field.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from itertools import pairwise
from typing import Any, NamedTuple

from memory.facts.attributes import attribute_of
from memory.facts.extraction import OWNER, Cardinality, ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.passages import Line, Passage, read_lines
from memory.facts.rules.tasks import HEADLINE, PLANNED, inline_facts, task_facts
from memory.text.languages import alternatives, word_set
from memory.text.predicates import SINGLE, canonical_predicate
from memory.text.words import EVENT_RECURS
from memory.time.dates import month_names

_RECORDS = ("day", "month")  # dated so, a note is of its time, as an invoice is, and not a version of an earlier one
_KEY_WORDS = 5
_VALUE_WORDS, _ADDRESS_WORDS = 9, 16

_FIELD = re.compile(
    r"(?P<key>(?:\[\[)?[^\W\d_][^:|\n]{0,60}?)(?P<colon>\s?::?(?!//)(?:\*\*|__|\*|_)?)\s+(?P<value>\S.*)?"
)
_NO_VALUE, _NEW, _WHEN = (
    re.compile(alternatives("facts", "fields", key), re.IGNORECASE) for key in ("no_value", "new", "when")
)
_ME = frozenset(("me", "i", "myself"))
_NO_KEYS = word_set("facts", "no_keys")
_NO_PROPERTIES = word_set("facts", "no_properties")
_DATED = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[:.]\d\d|\d{1,2} \w+$")
_ASIDE = re.compile(r"\s*\((?P<aside>[^()]{0,120})\)")
_TELLING = word_set("facts", "telling")
_VERBS = word_set("facts", "clause")
_ENDING = re.compile(
    r"[!?;](?=\s|$)|\.$|\s[–—]\s|,\s(?=[a-z]|\()|"
    r"\s(?:from|since|as of|starting|effective|until)\s(?=\d|[A-Z]|next|this|last|the \d)"
    rf"|\s(?:{alternatives('time', 'signals', 'begun')})\s(?=(?:\w{{2,4}}\s)?(?:\d|(?i:{'|'.join(month_names())})\b))"
)


def property_facts(topic: str, dated: str, properties: Mapping[str, Any]) -> Iterator[ExtractedRelation]:
    """What a source's frontmatter says of what the source is about; `dated` as `phrases.topic` says it. Headers of
    mails and what describes the file are no facts."""
    if not topic or "from" in properties:
        return
    for key, value in properties.items():
        name = str(key).replace("_", " ").strip()
        if name.lower() in _NO_PROPERTIES or not 0 < len(name) <= 60:
            continue
        listed = isinstance(value, (list, tuple))
        form: Cardinality = "many" if listed else "unknown" if dated in _RECORDS else "one"
        for item in value if listed else (value,):
            if text := _plain(item):
                yield ExtractedRelation(subject=topic, predicate=name, object=text, start=-1, end=-1, cardinality=form)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (str, int, float)):
        text = phrases.clean(str(value))
        return text if 0 < len(text) <= 120 else ""
    return ""


def field_keys(text: str) -> frozenset[str]:
    """The keys, in lower case, of the lines of a note that begin with one."""
    lines = (line.lstrip(" \t-*+•") for line in text.split("\n") if ":" in line)
    return frozenset(label(line, 0, len(line)).lower() for line in lines) - {""}


def find_things(text: str) -> frozenset[str]:
    """The headings of a note that are each a thing of its own: those of the first level, where there are several that
    are no tasks; else those of records of one form, as in an address book: two keys at least stand under several of
    them, and no field stands outside. A record may have parts, so none where headings are of different levels."""
    if text.count("\n#") + text.startswith("#") < 2:
        return frozenset()
    keys: dict[str, set[str]] = defaultdict(set)
    headings: dict[int, set[str]] = defaultdict(set)
    for line in read_lines(text):
        if line.heading and not HEADLINE.match(text, line.start, line.end):
            headings[line.heading].add(line.section or line.chapter)
        elif line.own and ":" in text[line.start : line.end] and (key := label(text, line.start, line.end)):
            keys[line.section].add(key.lower())
    if len(chapters := headings.pop(1, set())) > 1:
        return frozenset(chapters)
    shared = [key for key, number in Counter(key for of in keys.values() for key in of).items() if number > 1]
    return frozenset(keys) if len(shared) > 1 and len(headings) == 1 and "" not in keys else frozenset()


def line_facts(
    passage: Passage, topic: str, dated: str, at: datetime | None, field_keys: frozenset[str] = frozenset()
) -> Iterator[ExtractedRelation]:
    """The fields and tasks of a passage about `topic`; `dated` as `phrases.topic` says it. A key of the note's fields
    (`field_keys`) may also begin a later sentence of a line."""
    text = passage.text
    fields = (_field(text, start, end, line, topic, field_keys) for start, end, line in passage.sentences)
    found = [field for field in fields if field is not None]
    counts = Counter((field.line.section, field.key.lower()) for field in found)
    for field in found:
        value = phrases.clean(_without_asides(text[field.start : field.end]))
        subject = topic or field.line.speaker
        section = phrases.topic(field.line.section)[0] if field.line.section else ""
        predicate = f"{section} {field.key}" if section and section.lower() != subject.lower() else field.key
        since = phrases.valid_from(text[field.start : field.until], at)
        is_version = topic and (dated not in _RECORDS or (dated == "month" and since is not None))
        single: Cardinality = "one" if field.new or is_version else "unknown"
        yield ExtractedRelation(
            subject=subject,
            predicate=predicate,
            object=OWNER if value.lower() in _ME else value,
            start=field.start,
            end=field.end,
            valid_from=since,
            cardinality="many" if counts[field.line.section, field.key.lower()] > 1 else single,
        )
    yield from task_facts(passage)
    yield from inline_facts(passage, topic)


class _Field(NamedTuple):
    """A `key` in a `line`, its value in [start, end), its sentence up to `until`. `new`: it says of itself that it is
    a new one."""

    key: str
    start: int
    end: int
    until: int
    new: bool
    line: Line


def label(text: str, start: int, end: int) -> str:
    """The key of a line that begins so, also where what follows is no short value; "" if it has none."""
    match = _FIELD.match(text, start + _marks(text, start), min(end, start + 100))
    key, _ = _key(match["key"]) if match else ("", False)
    return key


_BOLD = re.compile(r"\*\*(?P<value>[^*\n]{1,80})\*\*")
_SUBJECT = re.compile(r"(?:i|we|he|she|they|it|that|you)(?:$|['’])")


def _key(said: str) -> tuple[str, bool]:
    """A key as it is kept, and whether it was called new: "New slot from this week" is a new slot. "" if it is none."""
    key = phrases.clean(_ASIDE.sub("", said))
    new = _NEW.match(key)
    key = _WHEN.sub("", key[new.end() :] if new else key)
    key = key.removeprefix("My ").removeprefix("my ").removeprefix("our ").strip()
    words = key.lower().split()
    # "works at" is whole
    while words and words[-1] in phrases.STOPS and canonical_predicate(" ".join(words)) not in SINGLE:
        words.pop()
    key = " ".join(key.split()[: len(words)])
    if not 0 < len(words) <= _KEY_WORDS or words[0] in phrases.PRONOUNS or words[0] in _NO_KEYS:
        return "", False
    if any(word in _VERBS or word in _TELLING for word in words) or _DATED.search(key) or not _names(key):
        return "", False
    return key, new is not None


def _field(text: str, start: int, end: int, line: Line, topic: str, field_keys: frozenset[str]) -> _Field | None:
    """A sentence that is a field: it begins its line, says that it is new, or its note has such a field. In prose (a
    diary, a mail, a chat) only with a key in bold or a value that can be no clause."""
    logged = phrases.LOGGED.match(text, start, end)
    first = logged.end() if logged else start
    marks = _marks(text, first)
    match = _FIELD.match(text, first + marks, end)
    if match is None or match["value"] is None or PLANNED.match(text, first, end) or EVENT_RECURS.match(text, start):
        return None
    key, new = _key(match["key"])
    begins = start == line.start or new or (topic and key.lower() in field_keys)
    if not key or line.box or not begins or (topic and topic.lower() in key.lower()):
        return None
    bold = _BOLD.match(text, match.start("value"), end)
    begin, last = bold.span("value") if bold else (match.start("value"), end)
    is_address = attribute_of(key) == "address"
    span = _value_span(text, begin, last, not (line.bullet or marks or bold or new), is_address)
    if span is None:
        return None
    clean = phrases.clean(_without_asides(text[span[0] : span[1]]))
    prose = (not topic or line.turn) and marks < 2 and not (new or bold)
    if not clean or (prose and phrases.value_kind(clean) == "word"):
        return None
    return _Field(key, *span, end, new, line)


def _value_span(text: str, begin: int, last: int, plain_line: bool, is_address: bool = False) -> phrases.Span | None:
    """The short value that begins behind a colon; None if what stands there is a clause, a question or no value. In an
    address with a number a word of a street ("Rua do Farol 1") is no verb."""
    value = text[begin:last]
    stop = _ENDING.search(_ASIDE.sub(lambda aside: "_" * len(aside[0]), value))
    if stop and plain_line and value[stop.start()] == "," and phrases.value_kind(value[: stop.start()]) == "word":
        return None  # a sentence: "Turkey: the first leg, held in April"
    begin, last = phrases.trim(text, begin, begin + stop.start() if stop else last)
    value = text[begin:last]
    plain = _ASIDE.sub("", value).lower().split()
    is_address = is_address and any(map(str.isdigit, value))
    most = _ADDRESS_WORDS if is_address else _VALUE_WORDS
    if not plain or _NO_VALUE.match(value) or len(plain) > most or text[last : last + 1] == "?":
        return None
    if ": " in value or value[0] in "\"“'":  # a label of a label; a quotation
        return None
    if not is_address and any(word.strip(",.'\"“") in _VERBS or _SUBJECT.match(word) for word in plain):
        return None
    return begin, last


def _marks(text: str, start: int) -> int:
    """How many characters emphasise what begins at `start`."""
    head = text[start : start + 2]
    return 2 if head in ("**", "__") else 1 if head[:1] in ("*", "_") else 0


def _names(key: str) -> bool:
    return all(c.isalnum() or c in " -_'’/&.%+€$#" for c in key)


def _without_asides(value: str) -> str:
    """A value without what is added in brackets, where something stands before them."""
    bare = _ASIDE.sub("", value).strip()
    return bare or value


# Tables ---------------------------------------------------------------------------------------

_RULE = re.compile(r"[\s|:\-–]+$")
_TOTALS = frozenset("total sum average avg mean min max subtotal all other others".split())
_VALUE_COLUMNS = frozenset("value values".split())
_BEGINS = re.compile("|".join(alternatives("time", "signals", key) for key in ("begun", "begin")), re.IGNORECASE)
_CELL = re.compile(r"(?P<column>[^:;\n]{1,60}): (?P<value>[^;\n]{0,120})(?:; |$)")
_DATE = re.compile(r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?")
_SERIES_ROWS = 3  # at least


def table_facts(passage: Passage, topic: str, dated: str, at: datetime | None) -> Iterator[ExtractedRelation]:
    """The facts of the tables of a passage about `topic`, written `at`; `dated` is how precisely its title is dated."""
    text = passage.text
    rows: list[tuple[Line, list[tuple[int, int]]]] = []
    for line in passage.lines:
        if not line.own or text[line.start] != "|":
            continue
        if rows and text.count("\n", rows[-1][0].end, line.start) > 1:  # another table
            yield from _table(text, rows, topic, dated, at)
            rows = []
        rows.append((line, _cells(text, line)))
    if rows:
        yield from _table(text, rows, topic, dated, at)


def _cells(text: str, line: Line) -> list[tuple[int, int]]:
    cells, start = [], line.start + 1
    end = line.end - 1 if text[line.end - 1] == "|" else line.end
    while start <= end:
        stop = text.find("|", start, end)
        stop = end if stop < 0 else stop
        cells.append(phrases.trim(text, start, stop))
        start = stop + 1
    return cells


def _table(
    text: str, rows: list[tuple[Line, list[tuple[int, int]]]], topic: str, dated: str, at: datetime | None
) -> Iterator[ExtractedRelation]:
    """Row header × column header. Only a table with a header, whose first column names each row once. A column that
    only says "value" has the fields of what the note is about; of another, a row has one value in this note, and maybe
    others in other notes. A column that says since when a row holds is its time."""
    if len(rows) < 3 or not _RULE.match(text, rows[1][0].start, rows[1][0].end):
        return
    header = [phrases.clean(text[a:b]) for a, b in rows[0][1]]
    body = [cells for _, cells in rows[2:] if len(cells) == len(header)]
    names = [phrases.clean(text[a:b]) for a, b in (cells[0] for cells in body)]
    if len(header) < 2 or len({*names}) < len(names) or any(phrases.value_kind(name) != "word" for name in names):
        return
    of_note = any(column.lower() in _VALUE_COLUMNS for column in header[1:])
    form: Cardinality = "one" if of_note else "one in document"
    times = {place for place, column in enumerate(header) if _BEGINS.fullmatch(column)}
    for name, cells in zip(names, body, strict=True):
        begins = (phrases.valid_from(f"since {text[slice(*cells[place])]}", at) for place in times)
        since = next(filter(None, begins), None)
        for place, (start, end) in enumerate(cells[1:], 1):
            column, value = header[place], phrases.clean(text[start:end])
            if place in times or name.lower() in _TOTALS | phrases.PRONOUNS or not (name and column and value):
                continue
            if len(value.split()) > _VALUE_WORDS or _NO_VALUE.match(value):
                continue
            if of_note and (not topic or column.lower() not in _VALUE_COLUMNS):
                continue
            yield ExtractedRelation(
                subject=topic if of_note else name,
                predicate=name if of_note else column,
                object=value,
                start=start,
                end=end,
                valid_from=since,
                cardinality=form if topic and "," not in value and dated not in _RECORDS else "unknown",
            )


def series_facts(passage: Passage, topic: str, at: datetime | None) -> Iterator[ExtractedRelation]:
    """What changed along rows of "month: 2024-05; price: 30; seats: 12", each with its date first. Only of numbers that
    stay the same from most rows to the next: those are how things stand, others what happened."""
    rows = [row for line in passage.lines if (row := _row(passage.text, line.start, line.end)) is not None]
    if len(rows) < _SERIES_ROWS or not topic or any(one[0] >= two[0] for one, two in pairwise(rows)):
        return
    for column in rows[0][1]:
        cells = [(date, *row[column]) for date, row in rows if column in row]
        values = [passage.text[start:end] for _, start, end in cells]
        changes = sum(one != two for one, two in pairwise(values))
        if len(cells) < _SERIES_ROWS or 2 * changes >= len(cells) or {*map(phrases.value_kind, values)} != {"number"}:
            continue
        for place, (day, start, end) in enumerate(cells):
            before = values[place - 1] if place else None
            if values[place] != before:
                yield ExtractedRelation(
                    subject=topic,
                    predicate=column.replace("_", " "),
                    object=values[place],
                    start=start,
                    end=end,
                    valid_from=day.astimezone() if at else None,
                    replaces=before,
                    cardinality="one",
                )


def _row(text: str, start: int, end: int) -> tuple[datetime, dict[str, tuple[int, int]]] | None:
    """The date of a row and the places of its other values, by column; None if it is no row of a series."""
    cells = list(_CELL.finditer(text, start, end))
    date = _DATE.fullmatch(cells[0]["value"].strip()) if cells else None
    if date is None or len(cells) < 2:
        return None
    try:
        first = datetime(int(date["y"]), int(date["m"]), int(date["d"] or 1))
    except ValueError:
        return None
    values = {cell["column"].strip(): phrases.trim(text, *cell.span("value")) for cell in cells[1:]}
    return first, {column: span for column, span in values.items() if span[0] < span[1]}
