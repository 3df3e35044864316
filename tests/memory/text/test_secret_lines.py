"""Labels of secrets are looked for where one may begin, and what is found is the same as everywhere."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.text import secret_lines
from memory.text.secret_lines import find_labels

PIECES = (
    "password|Passwort|passphrase|passwd|kennwörter|pwd|PW|user/pass|login / pass|wifi|wi-fi|WLAN|network key|pass|"
    "router-code|api key|secret|token|access_code|client-secret|license key id|credentials|Zugangsdaten|bearer|key|"
    'code|paſſword|wıfi|ſecret|İ| |  |\t|:|:=|=|->|→|(for home)|for the shop|of|von|is|is now|lautet|to|is was|"|“|”|'
    "„|`|'|*|_|hunter2|Tr0ub4dor&3|see|1234|abc-def-ghi|https://x|.|;|,|the horse|1|x9Kq27ZpL0"
).split("|")


@settings(max_examples=400)
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
