"""same, apart: a person says what two names mean."""

from __future__ import annotations

from tests.cli.taught import teach
from tests.cli.vault import Shell


def test_two_names_become_one_and_two_again(shell: Shell) -> None:
    teach(
        shell,
        ("2024-05-01.md", "Liz lives in Lisbon.", ("Liz", "lives in", "Lisbon"), "asserted"),
        ("2026-03-09.md", "Elizabeth lives in Porto.", ("Elizabeth", "lives in", "Porto"), "asserted"),
    )
    said = shell.pal("same", "Liz", "Elizabeth")
    assert said.out == "Liz and Elizabeth are one now. Replaced by it: 1 fact; `pal review` shows them.\n"
    assert "Porto" in shell.pal("facts", "Liz").out and "Lisbon" not in shell.pal("facts", "Liz").out
    again = shell.pal("same", "Liz", "Elizabeth")
    assert again.code and again.err == "Error: 'Liz' and 'Elizabeth' are one already.\n"
    assert shell.pal("apart", "Liz", "Elizabeth", "--json").json["replaced"] == 1
    assert "Lisbon" in shell.pal("facts", "Liz").out
    nobody = shell.pal("apart", "Liz", "Nobody Known")
    assert nobody.code == 4 and "Nobody Known" in nobody.err
