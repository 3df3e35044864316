"""Secrets that a label names."""

from __future__ import annotations

import pytest

from memory.text.secret_lines import find_labelled


@pytest.mark.parametrize(
    "line",
    [
        "Account number: *62145890*",
        "acct. no. 62-145-890, sort code 20-11-43",
        "The account number of the flat is 6214 5890.",
        "Kontonummer: *0062145890*",
        "Kto.-Nr. 62145890 bei der Sparbank",
        "Numéro de compte : 00621458901",
        "número de cuenta 62145890",
        "Card number: 4000 1234 5678 9010",
        "номер счета: 40817810099910004312",
        "口座番号: 6214589",
        "IBAN: DE12 3456 7890 1234 5678 90",
    ],
)
def test_a_number_of_an_account_is_masked_by_its_label(line: str) -> None:
    text = line.replace("*", "")
    (start, end, kind), *others = find_labelled(text)
    assert kind == "account-number" and not others
    digits = "".join(filter(str.isdigit, text[start:end]))
    assert len(digits) >= 7 and digits[-4:] in "".join(filter(str.isdigit, text))


@pytest.mark.parametrize(
    "line",
    [
        "The account was opened on 2026-03-04.",
        "Account number: see the letter of 04-03-2026",
        "On account of the storm 1200000 people had no power.",
        "The card game has 52 cards and 104000 players.",
        "My account manager: 0161 496 0111",
        "Konto: 3 Buchungen am 12. Mai",
    ],
)
def test_other_numbers_near_an_account_stay(line: str) -> None:
    assert [*find_labelled(line)] == []
