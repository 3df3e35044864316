"""Fields: the properties of a source, "key: value" lines and the cells of tables.

A field is recognised by its form, never by its words: it belongs to a record of several fields, or its value has a form
that no sentence has, such as a number, a date or a name.

The subject of a field, cell or task is its place: the note, or the object of a heading if each heading is a record, as
in an address book, or an event. Below another heading the heading is part of the key: "vet phone". A note or heading
that is only a date or a version is an entry of a log and no subject. A repeated key in one place is no fact about
it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any, NamedTuple

from memory.facts.attributes import owner_words, person_of
from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules.passages import Line, PassageText, read_lines
from memory.facts.rules.phrases import Span, clean, names_log_entry, read_value, trim, value_kind
from memory.facts.rules.tasks import HEADLINE, PLANNED
from memory.text.languages import word_set
from memory.text.markup import PLACEHOLDER
from memory.text.mentions import is_name
from memory.text.sentences import sentences
from memory.text.words import EVENT_RECURS, EVENT_TIME, split_version

_KEY_WORDS = 5
_VALUE_WORDS = 12
MAX_NAME_WORDS = 6  # a longer heading is a sentence
LEAST_KEYS = 0.75  # share of the lines of a record that have other keys
LEAST_VALUES = 0.5  # share of the fields of a note that have other values
_BROKEN = 60, 80  # characters of a line that may be broken within a sentence

_FIELD = re.compile(
    r"(?P<mark>\*\*|__|\*|_)?(?P<key>(?:\[\[)?[^\W\d_][^:：|`\n]{0,60}?)"
    r"(?:\s?::?(?!//)(?:\*\*|__|\*|_)?\s+|(?:\*\*|__|\*|_)\s?:\s+|：\s*)(?P<value>\S.*)"
)
_CONTINUATION = re.compile(r"[ \t]*\n([ \t]+)(?![-*+•\s]|\d+[.)]\s|[^\s:]{1,30}:)\S")  # of a value, on the next line
_ENDS = frozenset(".!?:;|-=*_~")  # of sentences, rows and rules
_ASIDE = re.compile(r"\s*\([^()]{0,120}\)")
_NO_VALUE = re.compile(r"[\"'“„«]|.*(?:[!?…:]$|: )|(?:\S+\s+){4}.*\w{3}\.$")  # quoted, a question, a sentence
_OF_FILES = word_set("facts", "no_properties")
_ME = frozenset(("me", "i", "myself"))


# Places ---------------------------------------------------------------------------------------


class Headings(NamedTuple):
    """The kinds of a note's headings: `records`, each a subject, and `sections` of the first level, which qualify the
    keys below them. `keys`: each unique key with its record, "" for the note; None if the whole note is not known."""

    records: frozenset[str] = frozenset()
    sections: frozenset[str] = frozenset()
    keys: frozenset[tuple[str, str]] | None = None

    def record(self, line: Line) -> str:
        """Returns the record of a line, "" for none."""
        return next((name for name in (line.section, line.chapter) if name in self.records), "")


class Places:
    """The places in a passage. `title`: its note's title and headings; `headings`: those of the whole note
    (`fields.find_headings`)."""

    def __init__(self, passage: PassageText, title: str, headings: Headings, is_about_owner: bool) -> None:
        name, _ = split_version(title.split(" › ")[0])
        # what the note as a whole is about; "" for a page of a diary
        self.note = OWNER if is_about_owner else "" if names_log_entry(name) else clean(name)
        self._headings = headings
        self._events = {
            line.section for line in passage.lines if EVENT_TIME.match(passage.text, line.start, line.end)
        } - {""}

    def find(self, line: Line, key: str = "") -> tuple[str, str] | None:
        """Returns the subject of a line and its `key`, qualified by the heading above; None in an entry of a log, and
        for a repeated key."""
        section, chapter = clean(line.section), clean(line.chapter)
        if line.section in self._events:
            return section, key
        keys = self._headings.keys
        if key and keys is not None and (self._headings.record(line), key.casefold()) not in keys:
            return None
        if line.section in self._headings.records:
            return section, key
        if names_log_entry(section) or names_log_entry(chapter):
            return None
        subject = chapter if line.chapter in self._headings.records else self.note
        if line.chapter in self._headings.sections:
            section = section or chapter
        if not subject or len(section.split()) > MAX_NAME_WORDS:
            return None
        return subject, f"{section} {key}" if section and section.casefold() != subject.casefold() else key


# Properties -----------------------------------------------------------------------------------


def property_facts(subject: str, properties: Mapping[str, Any]) -> Iterator[ExtractedRelation]:
    """Yields the facts of a source's frontmatter, also the relation of a note's person to the owner. Headers of mails
    and properties of the file are no facts."""
    if not subject or "from" in properties:
        return
    for key, value in properties.items():
        name = str(key).replace("_", " ").strip()
        if name.lower() in _OF_FILES or not 0 < len(name) <= 60:
            continue
        if subject != OWNER and name.casefold() in owner_words("relation") and person_of(str(value)):
            yield ExtractedRelation(
                subject=OWNER, predicate=str(value).lower(), object=subject, start=-1, end=-1, conf=0.9
            )
        is_list = isinstance(value, (list, tuple))
        for item in value if is_list else (value,):
            if text := _plain(item):
                yield ExtractedRelation(
                    subject=subject, predicate=name, object=text, start=-1, end=-1, by_place=True, single=not is_list
                )


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (str, int, float)):
        text = clean(str(value))
        return text if 0 < len(text) <= 120 else ""
    return ""


# Lines ----------------------------------------------------------------------------------------


class Field(NamedTuple):
    """A `key` and its value, at [start, end), of a line. `is_marked`: written with "::", which has no other use."""

    key: str
    start: int
    end: int
    line: Line
    is_marked: bool


def line_facts(passage: PassageText, places: Places, written: datetime | None) -> Iterator[ExtractedRelation]:
    """Yields the facts of the fields of a passage: those of a record if at least half of its values have the form of a
    value, and single ones with such a value, unless they are among several items of a list. If many keys repeat, the
    lines are items of a list, or a conversation."""
    text = passage.text
    items = {line.start for pair in pairwise(passage.lines) if all(line.bullet for line in pair) for line in pair}
    for run in _runs(passage):
        counts = Counter(field.key.lower() for field in run)
        if _goes_on(text, run[0]) or 1 < len(run) >= len(counts) / LEAST_KEYS:
            continue
        read = [(field, read_value(text, field.start, field.end, written)) for field in run]
        values = [clean(text[valid.start : valid.end]) for _, valid in read]
        has_forms = 2 * sum(map(_is_value, values)) >= len(run) > 1
        for (field, valid), value in zip(read, values, strict=True):
            place = places.find(field.line, field.key)
            is_value = _is_value(value) and field.line.start not in items
            if place is not None and (field.is_marked or has_forms or is_value):
                yield ExtractedRelation(
                    subject=place[0],
                    predicate=place[1],
                    object=OWNER if value.lower() in _ME else value,
                    start=valid.start,
                    end=valid.end,
                    valid_from=valid.valid_from,
                    valid_to=valid.valid_to,
                    by_place=True,
                    single=counts[field.key.lower()] == 1,
                )


def _is_value(value: str) -> bool:
    is_constant = value.isupper() and " " not in value  # of a program
    return value_kind(value) != "word" or (is_name(value) and not is_constant)


def _goes_on(text: str, field: Field) -> bool:
    """Whether a field continues the line above it, which ends with a colon or in the middle of a sentence."""
    begin = text.rfind("\n", 0, field.line.start)
    above = text[text.rfind("\n", 0, max(begin, 0)) + 1 : max(begin, 0)].rstrip()
    is_broken = _BROKEN[0] <= len(above) <= _BROKEN[1] and above[-1] not in _ENDS and not field.line.bullet
    return is_broken or above.endswith(":")


def _runs(passage: PassageText) -> Iterator[list[Field]]:
    """Yields the fields of consecutive lines below one heading, without an empty line in between."""
    run: list[Field] = []
    for line in passage.lines:
        field = read_field(passage.text, line)
        adjacent = run and passage.text.count("\n", run[-1].line.end, line.start) == 1
        if run and not (field and adjacent and run[-1].line.section == line.section):
            yield run
            run = []
        if field:
            run.append(field)
    if run:
        yield run


def read_field(text: str, line: Line) -> Field | None:
    """Returns the field of a line; None for other forms: a task, a heading, a turn of a chat, a sentence."""
    if line.heading or line.box or line.turn or not line.own or PLACEHOLDER.search(text, line.start, line.end):
        return None
    match = _FIELD.match(text, line.start, line.end)
    if match is None or line.is_indented:  # what an indented line says is about the line above it
        return None
    if any(form.match(text, line.start, line.end) for form in (PLANNED, EVENT_TIME, EVENT_RECURS)):
        return None
    key, is_marked = clean(_ASIDE.sub("", match["key"])), "::" in text[match.end("key") : match.start("value")]
    if not is_marked and ("_" in key or "  " in match["key"]):  # a name of a program; columns
        return None
    start, end = trim(text, *match.span("value"))
    value = _ASIDE.sub("", text[start:end])
    if not 0 < len(key.split()) <= _KEY_WORDS or not all(c.isalnum() or c in " -_'’/&.%+€$#" for c in key):
        return None
    whole = match["value"]
    if not 0 < len(value.split()) <= _VALUE_WORDS or _NO_VALUE.match(whole) or len(sentences(whole)) > 1:
        return None
    if (goes_on := _CONTINUATION.match(text, line.end)) and len(goes_on[1]) > line.start - text.rfind(
        "\n", 0, line.start
    ) - 1:
        return None
    return Field(key, start, end, line, is_marked)


def find_headings(text: str, title: str) -> Headings:
    """Returns the kinds of a note's headings. Those of the first level are records, as in an address book, if the
    note's name is a plural or a key repeats below several; those of another level if they share two keys or more, and
    no field is outside. A key that repeats elsewhere in its record, or in a note without records, belongs to unnamed
    parts; if half of the values repeat too, the headings are kinds of things, as in a list of types."""
    passage = PassageText(text, tuple(read_lines(text)), ())
    names: dict[int, set[str]] = defaultdict(set)
    for line in passage.lines:
        if line.heading and not HEADLINE.match(text, line.start, line.end):
            names[line.heading].add(line.section or line.chapter)
    runs = [*_runs(passage)]
    fields = [field for run in runs for field in run]
    headings = _records(fields, names, title)
    counts = Counter(
        place for run in runs for place in {(headings.record(field.line), field.key.casefold()) for field in run}
    )
    values = [clean(text[field.start : field.end]) for field in fields]
    if not headings.records and len(values) > 3 and len({*values}) <= LEAST_VALUES * len(values):
        counts.clear()
    return headings._replace(keys=frozenset(place for place, number in counts.items() if number == 1))


def _records(fields: Sequence[Field], names: dict[int, set[str]], title: str) -> Headings:
    """Returns the records and sections among the headings of a note, `names` by their level."""
    keys: dict[str, set[str]] = defaultdict(set)
    chapter_keys: dict[str, set[str]] = defaultdict(set)
    for field in fields:
        keys[field.line.section].add(field.key.casefold())
        chapter_keys[field.line.chapter].add(field.key.casefold())
    if len(chapters := frozenset(names.pop(1, set()))) > 1:
        is_called_so = clean(title).casefold() in {clean(chapter).casefold() for chapter in chapters}
        return (
            Headings(records=chapters)
            if is_called_so or _find_shared_keys(chapter_keys)
            else Headings(sections=chapters)
        )
    is_record = len(names) == 1 and "" not in keys and len(_find_shared_keys(keys)) > 1
    return Headings(records=frozenset(keys)) if is_record else Headings()


def _find_shared_keys(keys: Mapping[str, set[str]]) -> list[str]:
    """Returns the keys that occur below several headings."""
    counts = Counter(key for below in keys.values() for key in below)
    return [key for key, number in counts.items() if number > 1]


# Tables ---------------------------------------------------------------------------------------

_RULE = re.compile(r"[\s|:\-–]+$")


def table_facts(passage: PassageText, places: Places) -> Iterator[ExtractedRelation]:
    """Yields the facts of a passage's tables: a subject for each row, a predicate for each column."""
    text = passage.text
    rows: list[tuple[Line, list[Span]]] = []
    for line in passage.lines:
        if not line.own or text[line.start] != "|":
            continue
        if rows and text.count("\n", rows[-1][0].end, line.start) > 1:  # another table
            yield from _table(text, rows, places)
            rows = []
        rows.append((line, _cells(text, line)))
    if rows:
        yield from _table(text, rows, places)


def _cells(text: str, line: Line) -> list[Span]:
    cells, start = [], line.start + 1
    end = line.end - 1 if text[line.end - 1] == "|" else line.end
    while start <= end:
        stop = text.find("|", start, end)
        stop = end if stop < 0 else stop
        cells.append(trim(text, start, stop))
        start = stop + 1
    return cells


def _table(text: str, rows: Sequence[tuple[Line, list[Span]]], places: Places) -> Iterator[ExtractedRelation]:
    """Yields row header × column header, for a table outside code with a header whose first column names each row
    once."""
    if len(rows) < 3 or not _RULE.match(text, rows[1][0].start, rows[1][0].end) or places.find(rows[0][0]) is None:
        return
    header = [clean(text[a:b]) for a, b in rows[0][1]]
    body = [cells for _, cells in rows[2:] if len(cells) == len(header)]
    names = [clean(text[a:b]) for a, b in (cells[0] for cells in body)]
    is_code = any("`" in text[line.start : cells[0][0]] for line, cells in rows[2:])
    if is_code or len(header) < 2 or len({*names}) < len(names) or any(value_kind(name) != "word" for name in names):
        return
    for name, cells in zip(names, body, strict=True):
        for column, (start, end) in zip(header[1:], cells[1:], strict=True):
            value = clean(text[start:end])
            if name and column and len(name.split()) <= _KEY_WORDS + 1 and 0 < len(value.split()) <= _VALUE_WORDS:
                is_single = value_kind(value) != "word" or (is_name(value) and "," not in value)  # no remark, no list
                yield ExtractedRelation(
                    subject=name, predicate=column, object=value, start=start, end=end, by_place=True, single=is_single
                )
