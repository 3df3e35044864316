"""same, apart: a person says what two names mean."""

from __future__ import annotations

from memory import Memory
from memory.revisions import Decision
from plugins import manager
from tests.cli.taught import teach
from tests.cli.vault import Shell


def test_two_names_become_one_and_two_again(shell: Shell) -> None:
    teach(
        shell,
        ("2024-05-01.md", "Liz lives in Lisbon.", ("Liz", "lives in", "Lisbon"), "asserted"),
        ("2026-03-09.md", "Elizabeth lives in Porto.", ("Elizabeth", "lives in", "Porto"), "asserted"),
    )
    said = shell.pal("same", "Liz", "Elizabeth")
    assert said.out == "Merged Liz and Elizabeth.\n"
    assert "Porto" in shell.pal("facts", "Liz").out and "Lisbon" in shell.pal("facts", "Liz").out
    again = shell.pal("same", "Liz", "Elizabeth")
    assert again.code and again.err == "Error: 'Liz' and 'Elizabeth' are already the same.\n"
    assert shell.pal("apart", "Liz", "Elizabeth").out == "Separated Liz and Elizabeth; 0 replacements undone.\n"
    assert "Porto" not in shell.pal("facts", "Liz").out
    nobody = shell.pal("apart", "Liz", "Nobody Known")
    assert nobody.code == 4 and "Nobody Known" in nobody.err


def test_names_stated_as_one_are_proposed_after_the_review(shell: Shell) -> None:
    teach(
        shell,
        ("2024-05-01.md", "The flat costs 690 euros.", ("the flat", "costs", "690 euros"), "asserted"),
        ("2025-03-09.md", "Harbour Street 3 costs 690 euros.", ("Harbour Street 3", "costs", "690 euros"), "asserted"),
    )
    assert "may be one" not in shell.pal("review").out
    shell.pal("daemon", "stop")
    with Memory.open(shell.home / "memory.db", embedder=manager.load().embedder("static")) as memory:
        old, new = (memory.knowledge.facts(name)[0].id for name in ("the flat", "Harbour Street 3"))
        assert memory.knowledge.apply_decisions([Decision(old, new, "duplicates", 0.9)], "m")
    said = shell.pal("review").out
    assert "Names that may be one; if they are: pal same NAME OTHER\n" in said
    assert said.splitlines()[-1].split("  ") == ["", "Harbour Street 3", "the flat", "called the same in 1 fact"]
    assert "called the same in 1 fact" in shell.pal("doctor", "--memory").out
    shell.pal("same", "the flat", "Harbour Street 3")
    assert "may be one" not in shell.pal("review").out
