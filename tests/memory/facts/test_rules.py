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
from memory.facts.rules.fields import field_keys, find_things
from memory.facts.rules.phrases import topic
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


# Changes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "replaced", "value"),
    [
        ("I moved from Turin to Genoa last week.", OWNER, "lives in", "Turin", "Genoa"),
        ("The rent goes from 520 to 560 as of May.", OWNER, "rent", "520", "560"),
        ("The target was raised from 99.5 to **99.9**.", OWNER, "target", "99.5", "99.9"),
        ("They raised the fee from 40 to 45 euros.", OWNER, "fee", "40", "45 euros"),
        ("Dues go up from 60 to 70 in April.", OWNER, "Dues", "60", "70"),
        ("Switched from Evernote to Joplin, finally.", OWNER, "uses", "Evernote", "Joplin"),
        ("We moved the meeting from Tuesday to Thursday.", OWNER, "meeting", "Tuesday", "Thursday"),
        ("Our team is renamed from Comet to **Meteor**.", OWNER, "team", "Comet", "Meteor"),
        ("News from Ana this morning: down from 2 heads to **one**.", OWNER, "News", "2 heads", "one"),
        ("rent: 735 -> 940", OWNER, "rent", "735", "940"),
        ("Postgres 15 -> 16 over the weekend.", OWNER, "Postgres", "15", "16"),
    ],
)  # fmt: skip
def test_a_change_has_its_old_value(text: str, subject: str, predicate: str, replaced: str, value: str) -> None:
    change = only(text)
    assert (change.subject, change.predicate, change.replaces, change.object) == (subject, predicate, replaced, value)
    assert change.modality == "asserted"


@pytest.mark.parametrize(
    "text",
    [
        "The shop is open from 9 to 5.",
        "We drove from Turin to Genoa.",
        "From Monday to Friday I am in the office.",
        "He worked there from 2003 to 2005.",
        "Before moving to the cup he raced there from 2003 to 2005.",
        "The move from Turin to Genoa took a day.",
        "I took the tram instead of the bike.",
        "A -> B -> C is the path of a request.",
        "*device* -> Gerät in all manuals",
        "Room 12 (not 21, I looked).",
        "He was born there (before 1722).",
        "It went from bad to worse.",
        "He was replaced.",
        "This is not a toy, it is a tool.",
        "Before his transition from stage to film he sang.",
        "Iroquois were known as the Five Nations (before 1722).",
    ],
)
def test_what_only_looks_like_a_change_is_none(text: str) -> None:
    assert [relation for relation in told(text) if relation.replaces] == []


# No facts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Does Ana live in Lisbon?",
        "Ana lives in Lisbon.",
        "The fee is 45 euros a month (was 40).",
        "Payment is now within 45 days instead of 30 days.",
        "Spare key: not at the office any more, only with Aunt Rosa.",
        "If I lived in Lisbon I would swim.",
        "Maybe I work at Lumen next year.",
        "I might move to Lisbon.",
        "I could live here.",
        "Ana says Ben lives in Oslo.",
        "Ben's boss is a bore.",
        "My day is over.",
        "I live in fear.",
        "Many moved to Dubai.",
        "The Secret of Kells is a film.",
        "> I live in Lisbon.",
        "```\nAna lives in Lisbon\nport: 8080\n```",
        '"I live in Lisbon," he wrote.',
        '"Our era is Freud", it says.',
        "See https://example.com/a: b for more.",
        "12:30 lunch with Ana",
        "Note: buy milk",
        "TODO: call Ana",
        "Re: the flat",
        "PS: bring bread",
        "I'm living in Aarhus for the month of March.",
        "Ana went to Oslo.",
        "Salt: last chapter tomorrow",
        "x Mum.",
        "Turkey: the first leg, held in April, was short.",
        "Legal studies advanced.",
        "We went to 3 shops.",
        "Ana moved to 5th Avenue.",
        "I quit smoking.",
        "He hired a new bassist, Jason, for the tour.",
        "Offer for the new year, Kasper came back.",
        "Price of the Diamant went up to 400.",
        "- Recipe: serves: 4",
    ],
)
def test_no_fact_is_made_of_what_states_none(text: str) -> None:
    assert facts(text) == set()


@pytest.mark.parametrize(
    "line",
    [
        "Achtung: Pass läuft im März ab!",
        "Teilnehmer: Frau Sommer, Paul",
        "Schritt 1: Linsen waschen",
        "Heute: nichts Besonderes",
        "Datum: 14.03.2026",
        "Allergien: keine",
        "Packliste: siehe unten",
        "Fazit: nie wieder im August",
    ],
)
def test_a_german_line_that_states_nothing_is_no_field(line: str) -> None:
    assert told(f"{line}\n", "Reise nach Rom") == ()


def test_a_german_field_says_that_it_is_new_and_since_when() -> None:
    phone = only("Neue Nummer ab 1. Mai: 0176 5550123\n", "Paul")
    assert (phone.predicate, phone.cardinality) == ("Nummer", "one")
    assert facts("Portionen: 4 Stück\n", "Linsensuppe") == {("Linsensuppe", "Portionen", "4 Stück")}
    assert facts("Farbe: blau\n", "Tagebuch") == set(), "a diary is about nothing"


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("Did the rent go up from 500 to 600?", "question"),
        ("Maybe the rent goes from 500 to 600.", "hypothesis"),
        ("The rent goes from 500 to 600, Ben says.", "hypothesis"),
        ("I'm going to move from Turin to Genoa.", "plan"),
        ("The rent goes from 500 to 600.", "asserted"),
        ("The fee will go from 50 to 60 from 1 May.", "asserted"),
    ],
)
def test_modality_is_that_of_the_sentence(text: str, modality: str) -> None:
    assert {relation.modality for relation in told(text)} == {modality}


def test_first_person_is_who_speaks() -> None:
    moved, there = "I moved from Oslo to Faro.", ("lives in", "Faro")
    assert facts(moved, "Re: hello", speaker="Ana Reyes") == {("Ana Reyes", *there)}
    assert facts(f"user: {moved}\nassistant: I moved from Faro to Oslo.", "a chat") == {(OWNER, *there)}
    said = f"Ana: {moved}\nBen: nice\nBen: I switched from Lumen to Joplin."
    assert facts(said, "group", chat=True) == {("Ana", *there), ("Ben", "uses", "Joplin")}


def test_what_a_machine_answers_is_never_learnt() -> None:
    text = "user: where do I live?\nassistant: You live in Faro.\n- rent: 735\nThe rent goes from 500 to 600."
    assert told(text, "a chat") == ()


def test_of_headers_only_the_sender_s_address_is_told_and_nothing_of_quoted_mails_and_frontmatter() -> None:
    head = "From: Ana <ana@mail.example>\nTo: me@mail.example\nSubject: rent\n\n"
    mail = head + "I moved from Oslo to Faro.\n\nOn Monday Ben wrote:\nI moved from Faro to Oslo."
    assert facts(mail, "rent", speaker="Ana", properties={"from": "Ana", "date": "today"}, first=True) == {
        ("Ana", "lives in", "Faro"),
        ("Ana", "mail address", "ana@mail.example"),
    }
    assert told("---\nrent: 735\n---\nA walk.", first=True) == ()


@pytest.mark.parametrize("title", ["Old copy of rates", "Invoice template", "2023 in review", "Self review 2024"])
def test_old_copies_and_reviews_are_not_taken_for_what_holds(title: str) -> None:
    assert told("rent: 735\n\nI moved from Oslo to Faro.", title) == ()


# Fields ---------------------------------------------------------------------------------------


def test_a_thing_without_a_name_is_the_note_s_or_its_writer_s() -> None:
    said = "The rent goes from 500 to 600."
    assert facts(said, "Flat in Faro") == {("Flat in Faro", "rent", "600")}
    assert facts(said, "your flat", speaker="Ana") == set()  # whose rent that is, Ana does not say
    assert facts("Our rent goes from 500 to 600.", "your flat", speaker="Ana") == set()
    assert facts("My rent goes from 500 to 600.", "your flat", speaker="Ana") == {("Ana", "rent", "600")}
    assert facts(said) == {(OWNER, "rent", "600")}
    assert only(said, "Flat in Faro").cardinality == "one"
    assert only(said).cardinality == "unknown"  # a diary tells of many things
    assert facts("Lumen goes from 500 to 600. I like Lumen.", "Flat") == {("Lumen", "is", "600")}


def test_fields_are_about_what_the_note_is_about() -> None:
    text = "# Rex\n\n**Vet:** Dr. Ada Mulder, Main Street\n- weight: 3.6 kg\n- colour: grey (mostly)\n\n"
    text += "## Insurance\nphone: 555 1234"
    assert facts(text, "Rex") == {
        ("Rex", "Vet", "Dr. Ada Mulder, Main Street"),
        ("Rex", "weight", "3.6 kg"),
        ("Rex", "colour", "grey"),
        ("Rex", "Insurance phone", "555 1234"),
    }


@pytest.mark.parametrize(
    ("title", "about"),
    [
        ("Rates 2024", "Rates"),
        ("rates 2025", "rates"),
        ("Acme — state of play autumn 2025", "Acme"),
        ("Backup v2", "Backup"),
        ("Nordlys Medical (Odense)", "Nordlys Medical"),
        ("The Salt Cartographer — brief", "Salt Cartographer"),
        ("Dmitri 1:1s 2024", "Dmitri"),
        ("oncall-policy-2024-04", "oncall-policy"),
        ("Kitchen 3/4/2026", "Kitchen"),
    ],
)
def test_years_and_kinds_of_notes_are_no_part_of_the_subject(title: str, about: str) -> None:
    assert facts("rent: 735", title) == {(about, "rent", "735")}


@pytest.mark.parametrize("title", ["2026-03-02", "<2026-03-02 Mon>", "Mo 10.04.2026", "10.4.2026", "Mittwoch, 4. März"])
def test_a_day_is_about_nothing(title: str) -> None:
    assert topic(title) == ("", "day")


def told_of(text: str, title: str) -> set[tuple[str, str, str]]:
    found = extract_by_rules(text, title, WRITTEN, None, {}, True, things=find_things(text)).relations
    return {(one.subject, one.predicate, one.object) for one in found}


def test_a_note_of_several_chapters_tells_of_each_what_stands_there() -> None:
    text = "# Oma Helga\nTelefon: 0341 5566\n\n# Onkel Dieter\n## Arbeit\nTelefon: 0345 99881\n"
    text += "The fee goes from 40 to 45.\n"
    dieter = {("Onkel Dieter", "Arbeit Telefon", "0345 99881"), ("Onkel Dieter", "fee", "45")}
    assert told_of(text, "Oma Helga") == {("Oma Helga", "Telefon", "0341 5566"), *dieter}
    assert told_of("# Vet\nPhone: 0341 111\n\n# Kennel\nPhone: 0341 222\n", "Bosun") == {
        ("Bosun", "Vet Phone", "0341 111"), ("Bosun", "Kennel Phone", "0341 222"),
    }, "the note is called otherwise"  # fmt: skip
    assert told_of("# Paul Berger\nPhone: 0341 111\n", "Paul") == {("Paul", "Phone", "0341 111")}
    code = "# Boiler\n\n```\n# pressure\n```\nPressure: 1.5 bar\n"
    assert told_of(code, "Boiler") == {("Boiler", "Pressure", "1.5 bar")}


def test_records_of_one_form_are_things_of_their_own() -> None:
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
    logged = "# Ava\n## 2024-03-01\nMood: 3\nWeight: 70 kg\n## 2024-03-02\nMood: 4\nWeight: 71 kg\n"
    assert {subject for subject, *_ in told_of(logged, "Ava")} == {"Ava"}


def test_the_headings_of_the_whole_note_are_worked_out_once_for_all_its_passages() -> None:
    calls = []
    for count in (10, 1000):
        text = "".join(f"# Part {count}-{number}\nColour: red {number}\n" for number in range(count))
        things, passage = find_things(text), text[:100]

        def read(passage: str = passage, things: frozenset[str] = things) -> None:
            extract_by_rules(passage, "Parts", WRITTEN, None, {}, False, things=things)

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


def test_an_event_of_a_calendar_is_a_thing_of_its_own() -> None:
    text = (
        "## Anna's cello lesson\nWhen: 2026-09-03 16:00 to 16:45\nTeacher: Mr Lindner\nRepeats: FREQ=WEEKLY;BYDAY=TH\n"
    )
    text += "Also on: 2026-09-10, 2026-09-17\n\n## Board meeting\nWhen: 2026-09-04 (all day)\nRoom: 3.12\n"
    expected = {("Anna's cello lesson", "Teacher", "Mr Lindner"), ("Board meeting", "Room", "3.12")}
    assert told_of(text, "kalender") == told_of(text, "2026") == expected


def test_a_key_that_is_a_whole_predicate_stays_whole() -> None:
    assert facts("- works at: Siemens\n- deadline is: 3 May", "Ana Petrov") == {
        ("Ana Petrov", "works at", "Siemens"),
        ("Ana Petrov", "deadline", "3 May"),
    }


def test_a_note_whose_title_says_i_is_about_its_teller() -> None:
    assert facts("- shoe size: 39", "Things I need") == {(OWNER, "shoe size", "39")}
    assert facts("- shoe size: 39", "Charles I of Spain") == {("Charles I of Spain", "shoe size", "39")}


def test_a_key_with_one_value_is_single_and_a_new_one_says_so() -> None:
    assert only("rent: 735", "Flat").cardinality == "one"
    assert only("- New slot from this week: Mondays 14:00", "Team, 2024-03-06").predicate == "slot"
    assert {relation.cardinality for relation in told("- pet: Rex\n- pet: Tom", "Home")} == {"many"}
    assert only("attendance: 19", "Club minutes 2024-03-06").cardinality == "unknown"  # of that day
    assert only("total: 450", "Invoice 2024-03").cardinality == "unknown"  # an invoice is no version of another
    assert only("total: 450", "Invoice May 2024").cardinality == "unknown"
    assert only("stipend: 300 from 1 May 2024", "On-call policy 2024-04").cardinality == "one"
    assert only("rate: 48", "Rates 2024").cardinality == only("rate: 48", "Rates v2").cardinality == "one"
    (run,) = told("fast", "Run 2024-03-06", properties={"km": 5}, first=True)
    assert run.cardinality == "unknown"


def test_a_table_tells_of_each_row_what_its_columns_say() -> None:
    table = "| client | EUR/word | terms |\n|---|---|---|\n| Alba | 0.11 | 30 days |\n| Brenta | 0.15 | — |\n"
    table += "| Total | 0.26 | |"
    assert facts(table, "Rates 2023") == {
        ("Alba", "EUR/word", "0.11"),
        ("Alba", "terms", "30 days"),
        ("Brenta", "EUR/word", "0.15"),
    }


def test_a_table_with_a_column_of_values_is_about_its_note() -> None:
    table = "| what | value | note |\n|---|---|---|\n| flow | 72 °C | set at the panel |\n| pumps | P1 | |\n"
    assert facts(table, "Boiler house") == {("Boiler house", "flow", "72 °C"), ("Boiler house", "pumps", "P1")}
    assert facts(table, "2024-03-06") == set()


@pytest.mark.parametrize(
    "since", ["seit 2020", "seit März 2020", "seit dem 3. März 2020", "since 2020", "depuis mars 2020"]
)
def test_since_when_a_value_holds_is_no_part_of_it(since: str) -> None:
    assert only(f"Phone: 0341 12345 {since}", "Verlag").object == "0341 12345"


def test_a_column_that_says_since_when_is_the_time_of_its_row() -> None:
    table = "| who | dose | since |\n|---|---|---|\n| patch | 4 mg | 2 March 2024 |\n| me | 9 mg | 2019 |\n"
    (patch,) = told(table, "Care 2024")  # "me" names nobody
    assert (patch.subject, patch.predicate, patch.object) == ("patch", "dose", "4 mg")
    assert patch.valid_from == datetime(2024, 3, 2, tzinfo=UTC)
    assert patch.cardinality == "one in document"


def test_a_day_or_a_verb_changes_nothing() -> None:
    assert facts("April went from 40 to 50.", "Harbour") == facts("Then up from 4 to 8 mg.", "Harbour") == set()
    assert facts("So perindopril goes up from 4 to 8 mg.", "Harbour") == {("Harbour", "perindopril", "8 mg")}


def test_a_series_of_dates_tells_when_its_numbers_changed() -> None:
    rows = [("2024-01", 30, 70.1), ("2024-02", 30, 70.4), ("2024-03", 35, 69.8), ("2024-04", 35, 69.9)]
    text = "\n".join(f"month: {month}; price: {price}; weight: {weight}" for month, price, weight in rows)
    series = told(text, "gym", properties={"columns": ["month", "price", "weight"]}, first=True)
    assert [(r.predicate, r.replaces, r.object, r.valid_from) for r in series] == [
        ("price", None, "30", datetime(2024, 1, 1, tzinfo=UTC)),
        ("price", "30", "35", datetime(2024, 3, 1, tzinfo=UTC)),
    ]
    bought = ("02; what: bread; eur: 3", "02; what: tea; eur: 3", "09; what: oil; eur: 9")
    spent = "\n".join(f"date: 2024-01-{row}" for row in bought)
    assert told(spent, "expenses", properties={"columns": ["date", "what", "eur"]}, first=True) == ()


def test_tasks_are_open_or_done() -> None:
    text = "- [x] call Ana\n- [ ] buy milk\nx 2024-03-01 book dentist @phone\n(B) 2024-03-02 renew card +home"
    assert facts(text) == {
        ("call Ana", "status", "done"),
        ("buy milk", "status", "open"),
        ("book dentist", "status", "done"),
        ("renew card", "status", "open"),
    }


def test_properties_are_told_once_by_the_first_episode() -> None:
    properties = {"status": "active", "tags": ["a"], "date": "2024-01-01", "authors": ["Ana", "Ben"], "pages": 98}
    first = told("words", "Book", properties=properties, first=True)
    assert {(r.predicate, r.object, r.cardinality, r.start) for r in first} == {
        ("status", "active", "one", -1), ("authors", "Ana", "many", -1), ("authors", "Ben", "many", -1),
        ("pages", "98", "one", -1),
    }  # fmt: skip
    assert told("words", "Book", properties=properties) == ()


def test_an_acronym_in_the_title_is_another_name() -> None:
    (known,) = extract_by_rules("x", "Harbour Rowing Club (HRC)", WRITTEN, None, {}, False).objects
    assert (known.name, known.aliases) == ("Harbour Rowing Club", ("HRC",))
    assert extract_by_rules("x", "Notes (draft)", WRITTEN, None, {}, False).objects == ()


# Time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("from 1 November", (2023, 11, 1)),  # the nearest one: four months back, eight ahead
        ("from 1 May", (2024, 5, 1)),
        ("as of May 3, 2025", (2025, 5, 3)),
        ("since March", (2024, 3, 1)),
        ("since last month", (2024, 2, 1)),
        ("from next month", (2024, 4, 1)),
        ("as of 2024-07-15", (2024, 7, 15)),
        ("since yesterday", (2024, 3, 5)),
        ("since Monday", (2024, 3, 4)),
        ("starting tomorrow", (2024, 3, 7)),
        ("since 2019", (2019, 1, 1)),
        ("effective today", (2024, 3, 6)),
    ],
)
def test_a_fact_holds_from_when_its_sentence_says(words: str, day: tuple[int, int, int]) -> None:
    assert only(f"rent: 735 {words}.").valid_from == datetime(*day, tzinfo=UTC)
    assert only(f"The rent goes from 520 to 735 {words}.").valid_from == datetime(*day, tzinfo=UTC)


def test_a_line_of_a_log_is_from_its_day_and_about_what_follows() -> None:
    relation = only("- 2024-01-09: Ramipril goes from 5 mg to 10 mg.", "Mum")
    assert (relation.subject, relation.predicate, relation.object) == ("Mum", "Ramipril", "10 mg")
    assert relation.valid_from == datetime(2024, 1, 9, tzinfo=UTC)


def test_the_old_value_is_not_when_the_new_one_begins() -> None:
    assert only("The exam moved from 1 June to 3 July.").valid_from is None
    assert only("The rent goes from 500 to 600 from 1 May.").valid_from == datetime(2024, 5, 1, tzinfo=UTC)


def test_without_a_time_in_words_there_is_none() -> None:
    assert only("rent: 735.").valid_from is None
    assert only("rent: 735 since the 31st of February.").valid_from is None
    assert extract_by_rules("rent: 735 since May.", DIARY, None, None, {}, False).relations[0].valid_from is None


def test_a_key_of_the_notes_fields_makes_a_sentence_elsewhere_a_fact() -> None:
    text = "- 2026-04-10: We met. Builder: Casa Nova. Deadline: 1 June."
    keys = field_keys("# Kitchen\n- **Builder:** Ferro & Sons\nDeadline: 30 April\nNote: none\n")
    assert keys == {"builder", "deadline"}
    for known, expected in ((frozenset[str](), set()), (keys, {("Builder", "Casa Nova"), ("Deadline", "1 June")})):
        result = extract_by_rules(text, "Kitchen", WRITTEN, None, {}, False, field_keys=known)
        assert {(relation.predicate, relation.object) for relation in result.relations} == expected


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
        last = relation.object.split()[-1]
        assert relation.object == OWNER or relation.predicate == "status" or last in quote


@pytest.mark.parametrize(
    "piece",
    [
        "moved from ", "(was ", "not a ", "key: ", "- a: b\n", "I moved from A to B\n", "**a", "[[", "a -> ", "> ",
        "- [ ] ", "| a ", "old x: y. ", "the x of ", "Ana ", "instead of 3 ", "and I'm ", "no longer a, ", "user: x\n",
        "1,", '"', "new x, ",
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
