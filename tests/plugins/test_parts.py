"""Which part of a note is from when."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.readers.common.parts import dated_parts, undated_time
from tests.plugins.conftest import MODIFIED, Read

NOW = datetime(2026, 5, 1, 12).astimezone()
MARCH, APRIL = "2026-03-02", "2026-04-10"


def found(text: str, before: int = 0) -> list[tuple[int, str]]:
    """(line, day or "")."""
    return [(line, at.date().isoformat() if at else "") for line, at in dated_parts(text.split("\n"), before, NOW)]


@pytest.mark.parametrize(
    "begin",
    [
        "## 2026-03-02",
        "## 2026-03-02 Call with the builder",
        "## 2026-03-02: the builder called",
        "# Monday, 2 March 2026",
        "### **2. März 2026**",
        "## Montag, 2. März 2026",
        "## lundi 2 mars 2026",
        "## 2 de marzo de 2026",
        "## March 2nd, 2026 at 14:30",
        "## [2026-03-02 Mon 10:00]",
        "## [[2026-03-02]]",
        "2026-03-02",
        "**2 March 2026**",
        "2026-03-02: the deadline moved",
        "2 March 2026 - the deadline moved",
        "2.3.2026 – the deadline moved",
        "2026-03-02 the deadline moved",
        "2026-03-02 10:30 the deadline moved",
        "- 2026-03-02: the deadline moved",
        "* **2026-03-02** the deadline moved",
        "- 2026-03-02 the deadline moved",
        "1. 2026-03-02 | the deadline moved",
        "Update 2026-03-02: the deadline moved",
        "**Edit (2026-03-02):** the deadline moved",
        "- Nachtrag vom 2.3.2026: the deadline moved",
        "## Update 2026-03-02",
    ],
)
def test_what_begins_with_a_date_is_from_then(begin: str) -> None:
    assert found(f"Deadline: 30 April\n\n{begin}\nIt is told here.") == [(1, ""), (3, MARCH)]


@pytest.mark.parametrize(
    "begin",
    [
        "## Trip 2026-03-02 plan",
        "## Deadline 2 March 2026",
        "## 2 March",
        "## March 2026",
        "## 2026",
        "## 03/04/2026",
        "## 2026-02-30",
        "## 2027-05-01 Trip",
        "2027-05-01: we fly",
        "- 2026-05-02: we fly",
        "- [ ] 2026-03-02: pay",
        "- [x] 2026-03-02 paid",
        "2 March 2026 is the day on which all was told",
        "- 2 March 2026 is the day",
        "    2026-03-02: in code, or below an item",
        "> 2026-03-02: they wrote",
        "| 2026-03-02 | in a table |",
        "It was on 2026-03-02: all was told",
        "2026-03-02;12.50;bread",
        "```\n2026-03-02: in code\n## 2026-03-02\n```",
        "The deadline, about which nobody could say anything before it was on\n2026-03-02 told to everybody",
    ],
)
def test_what_does_not_begin_with_a_full_date_that_has_passed_is_from_no_time_of_its_own(begin: str) -> None:
    assert found(f"Deadline: 30 April\n\n{begin}\nIt is told here.") == []


def test_a_section_ends_with_the_next_heading_of_its_level_and_contains_those_below() -> None:
    text = "Head\n## 2026-03-02\na\n### Costs\nb\n- 2026-04-10: paid\n## Contacts\nc\n### 2026-04-10\nd\n## Rest\ne"
    assert found(text) == [(1, ""), (2, MARCH), (7, ""), (9, APRIL), (11, "")]


def test_a_dated_section_in_another() -> None:
    text = "# 2026-03-02 Week\na\n## 2026-04-10\nb\n## Left over\nc"
    assert found(text) == [(1, MARCH), (3, APRIL), (5, MARCH)]


def test_headings_that_only_stand_above_belong_to_what_follows() -> None:
    assert found("# Journal\n\n# 2026\n## March\n### 2026-03-02\na\n## April\n### 2026-04-10\nb") == [
        (1, MARCH),
        (7, APRIL),
    ]


def test_a_date_alone_below_a_heading_dates_its_section() -> None:
    text = "Head\n## Call\n2026-03-02\na\n## Visit\nDate: 10 April 2026\nb\n## Rest\nc"
    assert found(text) == [(1, ""), (2, MARCH), (5, APRIL), (8, "")]
    text = "Head\n## Log\n**2026-03-02**\na\n### More\nb\n\n**2026-04-10**\nc\n## Rest\nd"
    assert found(text) == [(1, ""), (2, MARCH), (8, APRIL), (10, "")]


def test_headings_of_one_name_with_a_date_each_are_a_log() -> None:
    text = "Head\n## Meeting 2026-03-02\na\n### Costs\nb\n## Meeting (10 April 2026)\nc\n## Trip 2026-04-11\nd"
    assert found(text) == [(1, ""), (2, MARCH), (6, APRIL), (8, "")]
    assert found("Head\n## Trip 2026-03-02\na\n## Fair 2026-04-10\nb") == []
    assert found("Head\n## Trip 2026-03-02\na\n### Trip 2026-04-10\nb") == []
    assert found("Head\n## Meeting 2026-07-01\na\n## Meeting 2026-07-08\nb") == []


def test_a_line_after_a_whole_sentence_may_begin_an_item() -> None:
    assert found("The chair is Ida.\n2026-03-02 The chair is Bo.") == [(1, ""), (2, MARCH)]


def test_an_item_ends_with_what_does_not_belong_to_it() -> None:
    assert found("- 2026-03-02: a\n  more\n  - below\n- 2026-04-10: b\ngoes on\n- plain") == [
        (1, MARCH),
        (4, APRIL),
        (6, ""),
    ]
    assert found("- 2026-03-02: a\n- 2026-04-10: b\n\nAfter all.") == [(1, MARCH), (2, APRIL), (4, "")]
    assert found("2026-03-02: a\n\nmore\n\n2026-04-10: b\n\nmore\n## Rest\nc") == [
        (1, MARCH),
        (5, APRIL),
        (8, ""),
    ]
    assert found("**2026-03-02**\na\n\n**2026-04-10**\nb\n\n**By the way**\nc") == [(1, MARCH), (4, APRIL), (7, "")]


def test_a_date_that_nobody_can_tell_or_that_lies_ahead_ends_the_item_before() -> None:
    assert found("Head\n- 2026-03-02: a\n- 03/04/2026: b\n- 2026-04-10: c\n- 2026-07-01: d") == [
        (1, ""),
        (2, MARCH),
        (3, ""),
        (4, APRIL),
        (5, ""),
    ]


def test_a_log_has_a_part_for_each_day() -> None:
    lines = [f"2026-0{3 + n // 50}-02 10:{n % 50:02} INFO step {n}" for n in range(100)]
    assert found("\n".join(lines)) == [(1, MARCH), (51, "2026-04-02")]


@pytest.mark.parametrize(
    "text",
    [
        "Plums\n\n- 2.iii.26 none yet\n- 10.iv.26 the first",
        "Plums\n\n2 March 2026 There were\nnone yet.\n\n10 April 2026 The first.",
        "Tasks\n\n(A) 2026-03-02 buy a net due:2026-04-20\nx 2026-04-10 2026-03-05 mend the net",
    ],
)
def test_what_begins_with_a_date_among_others_that_do_is_an_item(text: str) -> None:
    days = [day for _, day in found(text)]
    assert days == ["", MARCH, APRIL]


def test_a_single_sentence_that_begins_with_a_date_is_no_item() -> None:
    assert found("Plums\n\n- 2 March 2026 was warm\n- none yet\n- 10 April 2026 was cold") == []


@pytest.mark.parametrize(
    ("name", "text", "days"),
    [
        ("plums 2019.md", "# Plums\n\n## Sat Mar 2\nnone\n## 10 April\nthe first", ["03-02", "04-10"]),
        ("plums 2019.md", "Plums\n\nMar 2\nnone\n\nApr 10\nthe first", [None, "03-02", "04-10"]),
        ("plums 2019.md", "Plums\n\n- Mar 2: none\n- Apr 10: the first", []),  # birthdays are listed so, too
        ("2019-03.txt", "Plums\n\n2 Mar: none\n14 Mar - few", [None, "03-02", "03-14"]),
        ("2019-03.txt", "Plums\n\nSat 2. none\nyet\n\nThu 14. few", [None, "03-02", "03-14"]),
        ("2019-03.txt", "Plums\n\n2/3 none\n14/3 few", [None, "03-02", "03-14"]),
        ("2019-03.txt", "Plums\n\n2. none\n14. few", []),
        ("2019-03.txt", "Plums\n\n3/4 cup\n1/2 cup\n", []),
    ],
)
def test_a_year_or_month_in_the_name_is_that_of_the_days_below(
    read: Read, name: str, text: str, days: list[str]
) -> None:
    (note,) = read(name, text)
    assert [at and f"{at:%m-%d}" for _, at in note.parts] == days


@pytest.mark.parametrize(
    "text",
    [
        "# 2026-03-02\na\n## Tasks\nb",
        "# Kick-off\n2026-03-02\na\n## Tasks\nb",
        "# Kick-off\nDate: 2026-03-02\na\n## Tasks\nb",
        "2026-03-02 Kick-off\n\n# Tasks\nb",
        "Nothing\n\n# Tasks\nb",
        "",
    ],
)
def test_a_note_of_one_day_has_no_parts(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ["# Log\n\n- 2026-03-02 painted the mast", "- 2026-03-02: the mast is painted"])
def test_a_single_dated_bullet_is_from_then(text: str) -> None:
    assert found(text) == [(1, MARCH)]


def test_frontmatter_is_no_part_of_what_follows_it() -> None:
    front = "---\ntags: [x]\n---\n"
    assert found(front + "# 2026-03-02\na", 3) == []
    assert found(front + "# 2026-03-02\na\n# 2026-04-10\nb", 3) == [(1, ""), (4, MARCH), (6, APRIL)]


def test_the_date_of_the_whole_counts_for_the_rest_unless_it_lies_among_its_parts() -> None:
    found = dated_parts(f"Head\n## {MARCH}\na\n## {APRIL}\nb".split("\n"), 0, NOW)

    def of(day: str) -> datetime | None:
        return undated_time(datetime.fromisoformat(day).astimezone(), found)

    assert [of(day) for day in (MARCH, "2026-03-20", APRIL)] == [None] * 3
    assert [of(day) is not None for day in ("2026-02-01", "2026-04-11")] == [True, True]
    assert undated_time(None, found) is None


def test_documents_say_their_parts(read: Read) -> None:
    text = "Deadline: 3 May\n## 2020-01-02\nIt moved.\n## 2020-03-02\nNot yet.\n"
    for name in ("a.md", "a.txt", "a"):
        (note,) = read(name, text)
        assert [(line, at and at.date()) for line, at in note.parts] == [(1, None), (2, date(2020, 1, 2)), (4, None)]
        assert note.at == MODIFIED
    assert read("a.html", f"<p>x</p><h2>2020-01-02</h2>{text}")[0].parts == ()


def test_a_journal_is_not_called_by_its_first_day(read: Read) -> None:
    (note,) = read("journal.md", "# 2020-01-02\na\n# 2020-01-03\nb\n")
    assert (note.title, len(note.parts)) == ("journal", 2)
    assert read("journal.md", "# 2020-01-02\na\n")[0].title == "2020-01-02"


def test_the_frontmatter_or_the_name_date_the_head(read: Read) -> None:
    text = "Deadline: 3 May\n## 2020-01-02\nIt moved.\n"
    for name, content in (
        ("a.md", f"---\ndate: 2019-12-01\n---\n{text}"),
        ("2019-12-01 a.md", text),
        ("a.md", f"2019-12-01\n{text}"),
    ):
        (note,) = read(name, content)
        assert [at and at.date().isoformat() for _, at in note.parts] == ["2019-12-01", "2020-01-02"]
    (note,) = read("a.md", f"---\nupdated: 2020-01-02\n---\n{text}")
    assert note.parts[0] == (1, None)
    (note,) = read("a.md", f"---\nupdated: 2020-01-05\n---\n{text}")
    assert [at and at.date().isoformat() for _, at in note.parts] == ["2020-01-05", "2020-01-02"]


_LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "",
                "# H",
                "## H",
                "### H",
                "text",
                "- item",
                "  indented",
                "```",
                "> said",
                "**bold**",
                "Date: 2026-01-05",
            ]
        ),
        st.builds(
            lambda mark, day, end: mark + day.isoformat() + end,
            st.sampled_from(["", "# ", "## ", "### ", "- ", "**", "- [ ] ", "    "]),
            st.dates(date(2025, 1, 1), date(2027, 12, 31)),
            st.sampled_from(["", ": told", " told", " - told"]),
        ),
        st.text(max_size=20).filter(lambda line: "\n" not in line),
    ),
    max_size=25,
)


def test_a_heading_of_the_section_before_does_not_belong_to_what_comes_behind_it() -> None:
    assert found("## 2026-03-02\n### Plan\n## Later\n2026-04-10: told") == [(1, MARCH), (3, APRIL)]
    assert found("## 2026-03-02\n### Plan\n## 2026-04-10\ntold") == [(1, MARCH), (3, APRIL)]


@given(_LINES, st.integers(0, 3))
def test_parts_are_in_order_begin_at_the_first_line_and_never_lie_ahead(lines: list[str], before: int) -> None:
    found = dated_parts(lines, before, NOW)
    numbers = [line for line, _ in found]
    assert numbers == sorted(set(numbers)) and numbers[:1] in ([], [1])
    assert all(1 <= line <= len(lines) for line in numbers)
    assert all(at <= NOW for _, at in found if at)
    for (_, at), (_, following) in pairwise(found):
        assert at is not None or following is not None
    for _, at in found:
        assert at is None or any(re.search(f"{at:%Y-%m-%d}", line) for line in lines)


@given(st.lists(st.integers(0, 480), min_size=2, max_size=12, unique=True), st.sampled_from(["## ", "- ", ""]))
def test_every_entry_of_a_journal_is_from_its_day(ages: list[int], mark: str) -> None:
    days = [NOW.date() - timedelta(days=age) for age in ages]
    text = "Head\n\n" + "\n".join(f"{mark}{day}: told\n  more" for day in days)
    assert found(text) == [(1, ""), *((3 + 2 * n, day.isoformat()) for n, day in enumerate(days))]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("as on Mon 2/3/26:\na\nas on Fri 10/4/26:\nb", [(1, MARCH), (3, APRIL)]),
        ("As on 2/3/26: a\nAs on 10/4/26: b\nAs on 28/4/26: c", [(1, MARCH), (2, APRIL), (3, "2026-04-28")]),
        ("## Mo 2.3.26\na\n## Fr 10.4.26\nb", [(1, MARCH), (3, APRIL)]),
        ("Mon 3/2/26:\na\nFri 4/10/26:\nb", [(1, MARCH), (3, APRIL)]),
        ("Title\n\nMon 2/3/26:\na", [(1, ""), (3, MARCH)]),
    ],
)
def test_days_in_digits_are_read_in_the_order_that_fits(text: str, days: list[tuple[int, str]]) -> None:
    assert found(text) == days


@pytest.mark.parametrize(
    "text",
    [
        "2/3/26\na\n3/3/26\nb",  # both orders fit
        "Tue 2/3/26:\na",  # neither does
        "## 1.2.10\na\n## 1.2.11\nb\n## 1.2.12\nc",  # versions
        "born 3/4/90\nborn 14/5/91",
        "On 3/4/26: paid\nOn 3/5/26: paid",
    ],
)
def test_days_in_digits_that_are_unclear_date_nothing(text: str) -> None:
    assert found(text) == []
