"""Tables as lines of text."""

from __future__ import annotations

import pytest

from plugins.readers.common.laid_out import MAX_COLUMNS, MAX_ROWS
from plugins.readers.records import delimiter
from tests.plugins.conftest import MODIFIED, Read


def test_rows_become_lines_with_their_numbers(read: Read) -> None:
    (table,) = read("costs.csv", 'date,what,amount\n2024-01-09,"desk,\nby the window",165.00\n\n2024-03-31,,240\n')
    assert table.text == "date: 2024-01-09; what: desk, by the window; amount: 165.00\ndate: 2024-03-31; amount: 240"
    assert table.lines == (2, 5)
    assert table.title == "costs" and table.properties == {"columns": ["date", "what", "amount"]}
    assert table.at == MODIFIED  # the days in it are those of its rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", ","),
        ("name;price\nDesk;1,50\nLamp;2,75\n", ";"),
        ("a\tb, c\n1\t2, 3, 4\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("only words\n", ","),
    ],
)
def test_the_delimiter_is_found(text: str, expected: str) -> None:
    assert delimiter(text) == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("1,2\n3,4\n", ["1; 2", "3; 4"]),
        ("2024-01-01,rent\n2024-02-01,rent\n", ["2024-01-01; rent", "2024-02-01; rent"]),
        ("a,b\n1\n1,2,3\n", ["a: 1", "a: 1; b: 2; 3"]),
        ("a,b\n", ["a; b"]),
        ("\n\na,b\n1,2", ["a: 1; b: 2"]),
    ],
)
def test_tables_without_a_header_and_with_uneven_rows(read: Read, text: str, lines: list[str]) -> None:
    assert read("a.csv", text)[0].text.split("\n") == lines


def test_a_wide_table_is_cut_with_a_note(read: Read) -> None:
    wide = ",".join(f"c{number}" for number in range(1_000_000))
    (table,) = read("a.csv", f"{wide}\n{wide}\n")
    assert f"c{MAX_COLUMNS - 1}: " in table.text and f"c{MAX_COLUMNS}" not in table.text
    assert table.text.endswith("(only the first 512 columns were read)")
    assert table.properties["not read"] == "only the first 512 columns were read"


def test_a_long_table_is_cut_with_a_note(read: Read) -> None:
    (table,) = read("a.csv", "a,b\n" + "x,y\n" * (MAX_ROWS + 5))
    assert table.text.count("\n") == MAX_ROWS + 1
    assert table.text.endswith("(only the first 100000 of 100005 rows were read)")
