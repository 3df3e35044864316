"""What rules read out of a passage, and above all what they do not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules.extract import extract_by_rules
from memory.facts.rules.fields import Headings, find_headings
from memory.facts.rules.phrases import names_log_entry, value_kind
from memory.text.sentences import sentences

WRITTEN = datetime(2024, 3, 6, 9, tzinfo=UTC)  # a Wednesday
DIARY = "2024-03-06"


def told(
    text: str,
    title: str = DIARY,
    speaker: str | None = None,
    properties: Mapping[str, Any] | None = None,
    first: bool = False,
    chat: bool = False,
) -> tuple[ExtractedRelation, ...]:
    return extract_by_rules(text, title, WRITTEN, speaker, properties or {}, first, chat=chat).relations


def facts(text: str, title: str = DIARY, **given: Any) -> set[tuple[str, str, str]]:
    return {(r.subject, r.predicate, r.object) for r in told(text, title, **given) if r.modality == "asserted"}


def only(text: str, title: str = DIARY, **given: Any) -> ExtractedRelation:
    (relation,) = told(text, title, **given)
    return relation


# No facts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Ana lives in Lisbon.",
        "We moved from Hove to Lund last week.",
        "The fee goes from 40 to 45 euros.",
        "rent -> 940",
        "> rent: 735",
        "```\nport: 8080\n```",
        "See https://example.com/a: b for more.",
        "12:30 lunch with Ana",
        "Note: buy milk",
        "Warning: the pump may run dry. Keep an eye on it.",
        "Hinweis: bitte klingeln",
        "`--json`: print JSON\n`--all`: 5",
        "- fast: compiled to native code\n- simple: one file and no setup",
        "- Fix: moved cards jump\n- Fix: 3 cards are lost",
        "Ana: 5 pm\nBen: 6 pm\nAna: 7 pm",
        "Question: is 5 enough?",
        '"Rent: 735," he said.',
    ],
)
def test_no_fact_is_made_of_what_is_no_field(text: str) -> None:
    assert facts(text, "Home") == set()


def test_what_a_machine_answers_and_what_is_said_in_a_chat_is_no_fact() -> None:
    assert told("user: where do I live?\nassistant: You live in Faro.\n- rent: 735", "a chat") == ()
    assert told("Ana: rent: 735\nBen: ok", "group", chat=True) == ()


def test_of_mail_headers_and_quoted_mails_nothing_is_a_fact() -> None:
    mail = (
        "From: Ana <ana@mail.example>\nTo: me@mail.example\nSubject: rent\n\nA walk.\n\nOn Monday Ben wrote:\nrent: 735"
    )
    properties = {"from": "Ana", "date": "today"}
    assert told(mail, "rent", "Ana", properties, first=True) == ()
    other = mail.replace("From:", "Received: by the harbour\nFrom:").replace("Subject: rent", "Priority: 3")
    assert told(other, "rent", "Ana", properties, first=True) == ()
    assert told("---\nrent: 735\n---\nA walk.", "Home", first=True) == ()


@pytest.mark.parametrize(
    "title",
    ["2026-03-02", "<2026-03-02 Mon>", "Mo 10.04.2026", "Mittwoch, 4. März 2026", "v1.2.0", "[1.4] - 2026-05-01"],
)
def test_an_entry_of_a_log_is_the_subject_of_nothing(title: str) -> None:
    assert names_log_entry(title) and not names_log_entry("Me")
    assert told("Weight: 81 kg", title) == ()
    assert told(f"# Log\n\n## {title}\n\nWeight: 81 kg\n", "Log") == ()


# Fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("640 crowns a month", "number"), ("€45", "number"), ("2026-03-04", "date"), ("Thu 5 May 2026, 18:30", "date"),
        ("19:30", "time"), ("Thursday", "weekday"), ("1.2.3", "version"), ("0161 496 0555", "contact"),
        ("a@b.org", "contact"), ("paused", "word"), ("3 shops on the quay", "word"),
    ],
)  # fmt: skip
def test_the_kind_of_a_value_is_its_form(value: str, kind: str) -> None:
    assert value_kind(value) == kind


def test_the_fields_of_a_note_are_about_the_note_and_keep_their_words() -> None:
    text = "# Rex\n\n**Vet:** Dr. Ada Mulder, Main Street\n- weight: 3.6 kg\n- colour: grey (mostly)\n\n"
    text += "## Insurance\nphone: 555 1234"
    assert facts(text, "Rex") == {
        ("Rex", "Vet", "Dr. Ada Mulder, Main Street"),
        ("Rex", "weight", "3.6 kg"),
        ("Rex", "colour", "grey (mostly)"),
        ("Rex", "Insurance phone", "555 1234"),
    }
    assert all(fact.by_place and fact.single for fact in told(text, "Rex"))


def test_fields_are_found_in_any_language() -> None:
    assert facts("Portionen: 4 Stück\n", "Linsensuppe") == {("Linsensuppe", "Portionen", "4 Stück")}
    assert facts("租金：640元\n房东：王伟", "公寓") >= {("公寓", "租金", "640元")}
    assert facts("Loyer: 640 €\nétat: calme\nBail: Odile Roux", "Appart") == {
        ("Appart", "Loyer", "640 €"), ("Appart", "état", "calme"), ("Appart", "Bail", "Odile Roux"),
    }  # fmt: skip


@pytest.mark.parametrize("title", ["Book: The Salt Road", "Rates 2024", "Acme - notes", "Charles I of Spain"])
def test_the_subject_is_the_whole_title(title: str) -> None:
    assert {subject for subject, *_ in facts("pages: 735", title)} == {title}


def test_versions_of_a_document_are_one_subject() -> None:
    for title in ("Rates", "Rates v2", "Rates (v3)"):
        assert facts("Alba: 0.11", title) == {("Rates", "Alba", "0.11")}


def told_of(text: str, title: str) -> set[tuple[str, str, str]]:
    extraction = extract_by_rules(text, title, WRITTEN, None, {}, True, headings=find_headings(text, title))
    return {(fact.subject, fact.predicate, fact.object) for fact in extraction.relations}


def test_a_note_of_several_chapters_has_a_subject_for_each() -> None:
    text = "# Oma Helga\nTelefon: 0341 5566\n\n# Onkel Dieter\n## Arbeit\nTelefon: 0345 99881\n"
    assert told_of(text, "Oma Helga") == {
        ("Oma Helga", "Telefon", "0341 5566"), ("Onkel Dieter", "Arbeit Telefon", "0345 99881"),
    }  # fmt: skip
    assert told_of("# Paul Berger\nPhone: 0341 111\n", "Paul") == {("Paul", "Phone", "0341 111")}
    assert told_of("# Vet\nPhone: 0341 111\n\n# Kennel\nPhone: 0341 222\n", "Bosun") == {
        ("Vet", "Phone", "0341 111"), ("Kennel", "Phone", "0341 222"),
    }  # fmt: skip
    assert told_of("# Vet\nPhone: 0341 111\n\n# Feed\nBrand: Orion\n", "Bosun") == {
        ("Bosun", "Vet Phone", "0341 111"), ("Bosun", "Feed Brand", "Orion"),
    }  # fmt: skip
    code = "# Boiler\n\n```\n# pressure\n```\nPressure: 1.5 bar\n"
    assert told_of(code, "Boiler") == {("Boiler", "Pressure", "1.5 bar")}


def test_records_of_one_form_are_subjects_of_their_own() -> None:
    helga, anna = (
        "## Oma Helga\nTelefon: 0341 5566\nAdresse: Ring 8\n",
        "## Anna\nAdresse: Am Markt 2\nTelefon: 0171 9988\n",
    )
    expected = {("Oma Helga", "Telefon", "0341 5566"), ("Oma Helga", "Adresse", "Ring 8")}
    found = told_of(f"# Kontakte\n\n{helga}\n{anna}\n## Papa\nGeburtstag: 12. März 1956\n", "Kontakte")
    assert found > expected and {subject for subject, *_ in found} == {"Oma Helga", "Anna", "Papa"}
    others = [f"# Bosun\n{helga}\n## Vet\nTelefon: 0341 7\n", f"# Ava\nTelefon: 0341 7\n{helga}\n{anna}"]
    others += [f"# Ava\n{helga}\n{anna}\n### Büro\nTelefon: 0341 8\n", f"# Ava\n{helga}"]
    for text in others:  # one key in common; fields of the note itself; parts; one
        assert not {"Oma Helga", "Anna"} & {subject for subject, *_ in told_of(text, "Ava")}


def test_the_headings_of_the_whole_note_are_worked_out_once_for_all_its_passages() -> None:
    calls = []
    for count in (10, 1000):
        text = "".join(f"# Part {count}-{number}\nColour: red {number}\n" for number in range(count))
        headings, passage = find_headings(text, "Parts"), text[:100]

        def read(passage: str = passage, headings: Headings = headings) -> None:
            extract_by_rules(passage, "Parts", WRITTEN, None, {}, False, headings=headings)

        read()
        calls.append(count_calls(read))
    assert calls[1] < calls[0] * 1.5, "the passage is as long"


def count_calls(function: Callable[[], None]) -> int:
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "text",
    [
        "Author: Mia Berg\n\nA walk.\n\nAuthor: Tom Falk\n",
        "## Pump\nType: 4\n\nA walk.\n\n## Fan\nType: 5\n",
        "Mo: Ida Lund\nTu: Kai Voss\n\nA walk.\n\nWe: Ida Lund\nTh: Kai Voss\n",
    ],
)
def test_what_comes_again_in_a_note_is_not_about_the_note(text: str) -> None:
    assert told_of(text, "Works") == set()
    assert told_of(text.partition("\n\nA walk")[0], "Works"), "without it there are facts"


def test_a_lone_item_is_a_field_and_one_of_several_is_not() -> None:
    assert told_of("# Gate\n\n- Height: 120 cm\n", "Gate") == {("Gate", "Height", "120 cm")}
    assert told_of("# Gate\n\n- see below\n- Height: 120 cm\n- and more\n", "Gate") == set()


def test_a_key_of_lines_that_follow_each_other_has_several_values() -> None:
    assert told_of("Phone: 0341 111\nPhone: 0341 222\nCity: Leipzig\nZip: 04109\nBorn: 1956\n", "Ana") >= {
        ("Ana", "Phone", "0341 111"), ("Ana", "Phone", "0341 222"),
    }  # fmt: skip


def test_an_example_that_two_passages_share_states_nothing() -> None:
    begin, end = "```\nlevel: 3\n\n", "port: 8080\n```\n"
    headings = find_headings(begin + end, "Pump")
    assert extract_by_rules(end, "Pump", WRITTEN, None, {}, False, headings=headings).relations == ()
    assert facts(end, "Pump"), "the passage alone does not show it"


@pytest.mark.parametrize(
    "text",
    [
        "The cellar\n    height: 2 m\n",
        "- the cellar\n  - height: 2 m\n",
        "For the cellar:\nheight: 2 m\n",
        "The cellar of the old house at the harbour is where we keep the\nwine: 40 bottles\n",
        "## How we came to find a house with a good cellar\nheight: 2 m\n",
        "Cellar    stairs    height: 2 m\n",
    ],
)
def test_a_field_that_belongs_to_another_line_is_not_about_the_note(text: str) -> None:
    assert facts(text, "House") == set()


@pytest.mark.parametrize(
    "text", ["- wine: 40 bottles\n- we should buy more of it\n", "max_height: 2 m\n", "kind: INTEGER\n"]
)
def test_an_item_of_a_list_and_the_words_of_a_program_are_no_fields(text: str) -> None:
    assert facts(text, "House") == set()


def test_an_event_of_a_calendar_is_a_thing_of_its_own() -> None:
    text = (
        "## Anna's cello lesson\nWhen: 2026-09-03 16:00 to 16:45\nTeacher: Mr Lindner\nRepeats: FREQ=WEEKLY;BYDAY=TH\n"
    )
    text += "Also on: 2026-09-10, 2026-09-17\n\n## Board meeting\nWhen: 2026-09-04 (all day)\nRoom: 3.12\n"
    expected = {("Anna's cello lesson", "Teacher", "Mr Lindner"), ("Board meeting", "Room", "3.12")}
    assert told_of(text, "kalender") == told_of(text, "2026") == expected


def test_a_table_has_a_subject_for_each_row() -> None:
    table = "| client | EUR/word | terms |\n|---|---|---|\n| Alba | 0.11 | 30 days |\n| Brenta | 0.15 | — |\n"
    assert facts(table, "Rates 2023") == {
        ("Alba", "EUR/word", "0.11"),
        ("Alba", "terms", "30 days"),
        ("Brenta", "EUR/word", "0.15"),
    }
    twice = "| who | fee |\n|---|---|\n| Ana | 5 |\n| Ana | 6 |\n"
    code = "| name | size |\n|---|---|\n| `--depth` | 5 |\n| `--width` | 6 |\n"
    assert facts(twice, "Fees") == facts(code, "Saw") == facts(table, "2024-03-06") == set()


def test_tasks_are_open_or_done() -> None:
    text = "- [x] call Ana\n- [ ] buy milk\nx 2024-03-01 book dentist @phone\n(B) 2024-03-02 renew card +home"
    assert facts(text, "Home") == {
        ("call Ana", "status", "done"),
        ("buy milk", "status", "open"),
        ("book dentist", "status", "done"),
        ("renew card", "status", "open"),
    }


def test_properties_are_facts_of_the_first_episode() -> None:
    properties = {"status": "active", "tags": ["a"], "date": "2024-01-01", "authors": ["Ana", "Ben"], "pages": 98}
    first = told("words", "Book", properties=properties, first=True)
    assert {(r.predicate, r.object, r.single, r.start) for r in first} == {
        ("status", "active", True, -1), ("authors", "Ana", False, -1), ("authors", "Ben", False, -1),
        ("pages", "98", True, -1),
    }  # fmt: skip
    assert told("words", "Book", properties=properties) == ()


# Time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("from 1 November", (2023, 11, 1)),  # the nearest one: four months back, eight ahead
        ("from 1 May", (2024, 5, 1)),
        ("since March", (2024, 3, 1)),
        ("seit 2020", (2020, 1, 1)),
        ("depuis mars 2020", (2020, 3, 1)),
        ("as of 2024-07-15", (2024, 7, 15)),
        ("(since Monday)", (2024, 3, 4)),
    ],
)
def test_a_value_is_valid_from_when_its_line_says(words: str, day: tuple[int, int, int]) -> None:
    fact = only(f"rent: 735 {words}", "Flat")
    assert (fact.object, fact.valid_from, fact.valid_to) == ("735", datetime(*day, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("words", "day"), [("until 3 May", 4), ("till 3 May", 4), ("bis 3. Mai", 4), ("hasta 3 mayo", 4)]
)
def test_a_value_is_valid_until_its_line_says(words: str, day: int) -> None:
    fact = only(f"rent: 735 {words}", "Flat")
    assert (fact.object, fact.valid_from, fact.valid_to) == ("735", None, datetime(2024, 5, day, tzinfo=UTC))


@pytest.mark.parametrize(
    "line", ["Elm Street until 3 May 2024, Oak Lane since", "735, 640 since May, heating not in it"]
)
def test_a_line_that_cannot_be_split_stays_whole(line: str) -> None:
    (fact,) = told(f"School: {line}\nRooms: 3", "Ida")[:1]
    assert (fact.object, fact.valid_from, fact.valid_to) == (line, None, None)


def test_without_a_time_in_words_there_is_none() -> None:
    assert only("rent: 735", "Flat").valid_from is None
    assert extract_by_rules("rent: 735 since May", "Flat", None, None, {}, False).relations[0].valid_from is None


# Any text -------------------------------------------------------------------------------------

PIECES = st.lists(
    st.sampled_from(
        """I my our Ana Ben lives in moved from to Faro 12 30 days is are was (was 40) not any more , . : ; ? ! ->
        instead of **bold** [[Link]] | \n \n\n # ## > - [x] key: value ``` no longer replaced by as renamed now since
        March 1 2024 next month "quoted" user: assistant: old plan: new ( ) ’s isn't it's € 1.5 İ ﬁ""".split(" ")
    ),
    max_size=60,
).map(" ".join)


@given(st.one_of(PIECES, st.text(max_size=300)), st.sampled_from([DIARY, "Rates 2024", "", "A › B (C)"]), st.booleans())
def test_any_text_is_read_and_each_quote_stands_in_it(text: str, title: str, first: bool) -> None:
    result = extract_by_rules(text, title, WRITTEN, None, {}, first)
    assert result == extract_by_rules(text, title, WRITTEN, None, {}, first)
    assert result == extract_by_rules(text, title, WRITTEN, None, {}, first, spans=sentences(text))
    for relation in result.relations:
        assert relation.subject and relation.predicate and relation.object
        assert 0 <= relation.start < relation.end <= len(text)
        quote = text[relation.start : relation.end]
        assert relation.object == OWNER or relation.predicate == "status" or relation.object.split()[-1] in quote


@pytest.mark.parametrize(
    "piece",
    [
        "key: ", "- a: b\n", "a: 1\n", "**a", "[[", "a -> ", "> ", "- [ ] ", "| a ", "old x: y. ", "Ana ", "user: x\n",
        "1,", '"', "a: 1 since May, ", "# a\nb: 2\n",
    ],
)  # fmt: skip
def test_work_grows_with_the_text_and_no_faster(piece: str) -> None:
    def calls(times: int) -> int:
        counted = 0

        def count(frame: FrameType, event: str, argument: object) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            extract_by_rules(piece * times, "Note", WRITTEN, None, {}, True)
        finally:
            sys.setprofile(None)
        return counted

    calls(1)  # what is read once, the words of the languages, is no work of a text
    assert calls(1600) < 3 * calls(800) + 1000


def test_an_indented_line_is_no_task_of_a_list() -> None:
    assert facts("Written by\n   (B) the people of the harbour\n", "Book") == set()


def test_a_task_has_its_state_and_when_it_is_planned() -> None:
    outline = (
        "# TODO Prune the apple tree\nDEADLINE: <2027-02-15 Mon>\n# DONE Plant garlic\nCLOSED: [2026-10-18 Sun 15:20]"
    )
    assert facts(outline, "Garden") == {
        ("Prune the apple tree", "status", "open"),
        ("Prune the apple tree", "deadline", "2027-02-15"),
        ("Plant garlic", "status", "done"),
        ("Plant garlic", "closed", "2026-10-18"),
    }
    assert facts("(A) 2026-11-18 Pay the deposit due:2026-11-30 @bank", "tasks") == {
        ("Pay the deposit", "status", "open"),
        ("Pay the deposit", "due", "2026-11-30"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "notes: It must be called with the\n  full name of the pump.\nport: 80",
        "| lib | size |\n|---|---|\n| got | [![][gis]][g8] |\n| ky | &#10003; |",
    ],
)
def test_half_a_value_and_markup_are_no_facts(text: str) -> None:
    assert facts(text, "Home") <= {("Home", "port", "80")}
