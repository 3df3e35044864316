"""Labels of secrets are looked for where one may begin, and what is found is the same as everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import secret_lines
from memory.text.secret_lines import find_labelled, find_labels
from tests.examples import examples

PIECES = (
    "password|Passwort|passphrase|passwd|kennwörter|pwd|PW|user/pass|login / pass|wifi|wi-fi|WLAN|network key|pass|"
    "router-code|api key|secret|token|access_code|client-secret|license key id|credentials|Zugangsdaten|bearer|key|"
    'code|paſſword|wıfi|ſecret|İ| |  |\t|:|:=|=|->|→|(for home)|for the shop|of|von|is|is now|lautet|to|is was|"|“|”|'
    "„|`|'|*|_|hunter2|Tr0ub4dor&3|see|1234|abc-def-ghi|https://x|.|;|,|the horse|1|x9Kq27ZpL0"
).split("|")


@examples(8)
@given(st.lists(st.sampled_from(PIECES), max_size=20), st.sampled_from(["", " "]), st.integers(0, 3))
def test_labels_are_what_each_pattern_finds_alone(pieces: list[str], between: str, begin: int) -> None:
    line = between.join(pieces)
    end = len(line) - begin
    found = find_labels(line, begin, end)
    expected = [list(pattern.finditer(line, begin, end)) for pattern in secret_lines._LABELLED]
    assert [[match.span() for match in some] for some in found] == [
        [match.span() for match in some] for some in expected
    ]
    assert [[match.groupdict() for match in some] for some in found] == [
        [match.groupdict() for match in some] for some in expected
    ]


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
