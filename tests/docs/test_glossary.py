"""The glossary speaks of the code as it is: every symbol it names is there, and no term has two meanings."""

from __future__ import annotations

import importlib

from tests.cli.vault import ROOT

COLUMNS = ["term", "meaning", "standard name, paper", "where"]


def rows() -> list[list[str]]:
    """The rows of all tables, without their heads."""
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    return [row for row in cells if row != COLUMNS and set(row[0]) != {"-"}]


def resolve(name: str) -> object:
    """The module, or what a module holds, of a dotted name."""
    module, _, symbol = name.rpartition(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(module), symbol)


def test_what_a_term_names_exists() -> None:
    assert [row for row in rows() if len(row) != len(COLUMNS) or not all(row)] == [], f"{COLUMNS} are filled in"
    assert [row[0] for row in rows() if resolve(row[-1].strip("`")) is None] == []


def test_each_term_stands_once() -> None:
    terms = [term.strip().casefold() for row in rows() for term in row[0].split(",")]
    assert sorted(terms) == sorted(set(terms))
    assert len(terms) >= 35
