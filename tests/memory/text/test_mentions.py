"""Which objects a passage mentions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.mentions import mentions, norm, property_mentions, title_names


def norms(text: str, title: str = "", kind: str | None = None) -> list[str]:
    return [m.norm for m in mentions(text, title) if kind in (None, m.kind)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She met Ana Duarte in Lisbon.", ["ana duarte", "lisbon"]),
        ("Met Ana in Rome, called Rui.", ["ana", "rome", "rui"]),
        ("However, Toto toured.", ["toto"]),
        ("It was the Bay of Bengal.", ["bay of bengal"]),
        ("I asked Ludwig van Beethoven's nephew.", ["ludwig van beethoven"]),
        ("NASA and the BBC agreed.", ["nasa", "bbc"]),
        ("Meet me at Café Nero", ["café nero"]),
        ("Nothing here is a name.", []),
        ("", []),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert norms(text, kind="name") == expected


def test_what_the_writer_marked() -> None:
    text = "See [[Ana Duarte|Ana]] and [[Plans#May]] about #garden/roses, mail ana@example.org, read “The Salt Map”."
    found = {(m.kind, m.norm) for m in mentions(text)}
    assert {
        ("link", "ana duarte"),
        ("link", "plans"),
        ("email", "ana@example.org"),
        ("title", "salt map"),
    } == found, "and no tag"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2025-05-03", "2025-05-03"),
        ("on 3 May 2025", "2025-05-03"),
        ("on May 3rd, 2025", "2025-05-03"),
        ("in May 2025", "2025-05"),
        ("in 1987", "1987"),
    ],
)
def test_dates_get_their_iso_form(text: str, expected: str) -> None:
    assert norms(text, kind="date") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("am 5. März", "-03-05"),
        ("3月5日", "-03-05"),
        ("en mars 2024", "2024-03"),
        ("05.03.2024", "2024-03-05"),
        ("1er mars 2024", "2024-03-01"),
        ("v březnu, 5. března 2024", "2024-03-05"),
    ],
)
def test_dates_of_other_languages(text: str, expected: str) -> None:
    assert norms(text, kind="date") == [expected]


def test_what_begins_a_sentence_is_a_name_in_one_language_and_none_in_another() -> None:
    assert norms("Depuis mai nous habitons à Lyon. Je suis allée chez Ana.", kind="name") == ["lyon", "ana"]
    assert norms("Ana met Bo Chen. Bo moved to Porto.", kind="name") == ["ana", "bo chen", "bo chen", "porto"]


def test_a_bare_month_name_is_no_date() -> None:
    assert norms("you may go, and May agreed", kind="date") == []


def test_a_short_form_counts_for_the_longer_name_of_the_same_passage() -> None:
    assert norms("Jeff Porcaro drummed. Porcaro wrote, too.", kind="name") == ["jeff porcaro", "jeff porcaro"]


def test_an_ambiguous_short_form_stays_itself() -> None:
    found = norms("Ana Duarte met Rui Duarte. Duarte laughed.", kind="name")
    assert found == ["ana duarte", "rui duarte", "duarte"]


def test_the_title_titles() -> None:
    found = mentions("A thriller.", "Guns (2012 film)")
    assert {m.norm for m in found if m.titles} == {"guns", "guns (2012 film"}
    assert all(m.start == -1 for m in found if m.titles)
    assert title_names("Guns (2012 film)") == ["Guns", "Guns (2012 film)"]


def test_properties() -> None:
    found = {
        (m.kind, m.norm)
        for m in property_mentions(
            {
                "employer": "[[Lumen]]",
                "age": 41,
                "cities": ["Rome"],
                "columns": ["month"],
                "mood": "fine",
                "aliases": ["Lum"],
                "from": "Ana Ruiz <Ana@x.example>",
            },
        )
    }
    assert found == {
        ("property", "lumen"), ("property", "rome"), ("property", "ana ruiz"), ("email", "ana@x.example")
    }, "a key is no thing, nor are a number, a word and another name of the note"  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b"), [("The Beatles", "beatles"), ("Ника Ковалёв", "НИКА КОВАЛЕВ"), ("Ana’s", "ana"), ("A_B", "a b")]
)
def test_norm_folds_what_does_not_tell_objects_apart(a: str, b: str) -> None:
    assert norm(a) == norm(b)


@pytest.mark.parametrize(("a", "b"), [("José", "Jose"), ("Øre", "Ore"), ("Bay", "Бай"), ("Мой", "Мои")])
def test_norm_keeps_what_tells_objects_apart(a: str, b: str) -> None:
    assert norm(a) != norm(b)
    assert norm(unicodedata.normalize("NFD", a)) == norm(unicodedata.normalize("NFC", a))


@given(st.text(max_size=400), st.text(max_size=60))
def test_any_text_is_read(text: str, title: str) -> None:
    found = mentions(text, title)
    assert found == mentions(text, title)
    for mention in found:
        assert mention.norm
        assert mention.start == -1 or 0 <= mention.start < mention.end <= len(text)


@given(st.text())
def test_norm_is_stable(surface: str) -> None:
    assert norm(norm(surface)) == norm(norm(norm(surface)))


def test_no_name_goes_on_behind_a_heading() -> None:
    found = mentions("# Ana Silva\nPartner. Lives in New York.")
    assert [mention.norm for mention in found][:2] == ["ana silva", "partner"]


def test_a_name_goes_on_in_the_next_line_only_where_that_was_wrapped() -> None:
    wrapped = "She has lived with her partner and two cats in New\nYork since May."
    assert norms(wrapped) == ["new york"]
    days = "We met people from Leeds there, exchanged addresses, Ron and Sal\n21 Oslo"
    assert "sal" in norms(days)
    columns = "Mondays     toys + sharpening     leader: Des Pardew\nTuesdays    boats"
    assert norms(columns) == ["pardew"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Must do\n 1 Oslo\n 2 Riga trip\n 3 the bakery", ["oslo", "riga"]),
        ("Our office:\n10 Downing Street\nwhere else", ["10 downing street"]),
        ("Meet at gate B 8:20, in room B2.04.", ["b2.04"]),
        ("Version V1.2.3 runs on Kea.", ["version v1.2.3", "kea"]),
    ],
)
def test_a_number_belongs_to_a_name_only_if_it_is_no_place_in_a_list_or_time(text: str, expected: list[str]) -> None:
    assert [mention.norm for mention in mentions(text) if mention.sure and mention.kind == "name"] == expected
    assert norms("see Port Skerrow\nHigh water at noon", kind="name") == ["port skerrow", "high"]


def test_the_label_of_the_next_line_and_the_beginning_of_a_number_belong_to_no_name() -> None:
    assert norms("There is a guest bed in the flat in Bergen since IKEA\nHamid: who") == ["bergen", "ikea", "hamid"]
    assert norms("We paid NL 4,120 for it, and sat in Room B 12.") == ["nl", "room b 12"]
    assert norms("Dues go up as of January.\n3. Elections were dull.") == ["dues", "elections"], "no third of January"


def sure(text: str) -> list[str]:
    return [mention.norm for mention in mentions(text) if mention.sure]


def test_a_word_with_a_capital_from_its_place_alone_is_no_sure_name() -> None:
    assert norms("Mooring forms. Loves tea. Log it", kind="name") == ["mooring", "loves", "log"]
    assert sure("# Moulds\nMooring forms. Loves tea. Log it. Order 500 mugs. Fr 27.06.25") == []
    assert sure("Launch at noon. We saw Launch again.") == ["launch", "launch"], "it has the capital inside, too"
    assert sure("Tasting is at six. Huts were full. Nothing has changed") == [], "any noun may come before these verbs"
    assert sure("- Ana avoids nuts\n- Bo\n| Rui | 3 |\nSAME again. KrakenNet works") == ["ana", "krakennet"]
    assert sure("Ana Duarte came. Ana sang.") == ["ana duarte", "ana duarte"]


def test_a_day_of_the_week_is_no_name() -> None:
    assert norms("open Fridays 9 to 5, not on Mondays", kind="name") == []


def test_a_quotation_is_a_sure_title_only_if_it_is_written_as_a_name() -> None:
    text = "She called it “I miss the rabbit”, in “Salt Cartographer”. His boat is *Heron*. *Needed* at once."
    assert sure(text) == ["salt cartographer", "heron"]


def test_no_name_ends_with_a_word_that_is_none() -> None:
    assert norms("I saw Alf Not long ago, and decisions on Trados I'm sorry about", kind="name") == ["alf", "trados"]


def test_a_number_in_rows_of_data_is_no_year() -> None:
    row = "month: 2025-07; visitors: 1128; built: 1866"
    assert norms(row, kind="date") == ["2025-07", "1128", "1866"]
    assert [one.norm for one in mentions(row, in_columns=True) if one.kind == "date"] == ["2025-07"]


def test_the_note_and_a_heading_that_is_a_name_are_what_a_title_names() -> None:
    titled = {title: [one.norm for one in mentions("", title) if one.titles] for title in (
        "Second Opinion › Plan", "contacts › People › Petra Vance", "Opening checklist › Before Easter", "3 May 2024",
    )}  # fmt: skip
    assert [*titled.values()] == [
        ["second opinion"],
        ["contacts", "petra vance"],
        ["opening checklist"],
        ["2024-05-03"],
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Heron\nBerth: 17", ["heron", "berth"]),
        ("Sent: Wed, 11:20:00 +0100\nSubject: Patch test", ["patch"]),
        ("We need 40\nMum said so", ["mum"]),
        ("It costs 17 I'm told", []),
        ("All of 24 Membership cards", ["membership"]),
        ("at 09:00 UTC\nWhere: the hall", []),
        ("in the old ADR I find few, Gwenda & I are fine, so was Elizabeth I", ["adr", "gwenda", "elizabeth i"]),
        ("14 Shore Road, Pier 39", ["14 shore road", "pier 39"]),
    ],
)
def test_no_name_goes_on_with_a_label_or_behind_a_number_nor_begins_with_what_counts(
    text: str, names: list[str]
) -> None:
    assert [mention.norm for mention in mentions(text)] == names


def test_what_an_outline_writes_before_a_task_and_its_days_is_no_name() -> None:
    outline = """# Before Easter
## TODO Ana Silva about the leaflets
DEADLINE: <2026-03-28 Sat> CLOSED: [2026-03-21 Sat]
- DONE Ask Hask & Daughter
NEXT: Mill Lane"""
    names = [one.surface for one in mentions(outline) if one.kind == "name"]
    assert names == ["Easter", "Ana Silva", "Hask & Daughter", "Mill Lane"]
    assert norms("Its sign says CLOSED: gone fishing.", kind="name") == ["closed"], "in prose it is a word"


def test_the_heads_of_a_mail_are_no_objects() -> None:
    mail = "From: Ana Silva\nSubject: Boat of Rui\nDate: 3 May 2024\n\nSubject to change, says Bo."
    assert norms(mail, kind="name") == ["ana silva", "boat of rui", "subject", "bo"]
    found = property_mentions({"from": "Ana Silva", "subject": "Boat", "date": "2024-05-03", "boat": "Heron"})
    assert [mention.surface for mention in found] == ["Ana Silva", "Boat", "Heron"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("## Dentist\nWhen: 2026-12-01 08:15 to 08:45 Europe/Stockholm\nWhere: Lund", ["Dentist", "Lund"]),
        ("## Choir\nRepeats: FREQ=WEEKLY;BYDAY=TU", ["Choir"]),
        ("# Petra Vance\nPhone (mobile): +46 70 555 77 00\nEmail: x", ["Petra Vance"]),
        ("| Crop | Variety |\n|------+---------|\n| Garlic | Therador |", ["Garlic", "Therador"]),
    ],
)
def test_words_of_a_format_are_no_things(text: str, names: list[str]) -> None:
    found = mentions(f"{text}\nWe saw {', '.join(names)}")
    assert {mention.surface for mention in found if mention.kind == "name" and mention.sure} == set(names)


def test_without_verbs_of_a_language_a_place_makes_no_name() -> None:
    text = "Det er sent. Kaffe og brød til alle som er her i dag. Vi har det godt, og det er ikke noe å si på det."
    assert "kaffe" not in sure(text)
