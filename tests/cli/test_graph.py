"""pal graph: what stands around something, drawn."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Pal
from tests.cli.vault import Shell


def test_what_stands_around_something_is_drawn(vault: Shell) -> None:
    said = vault.pal("graph", "Ozzie Penhale")
    assert (said.code, said.err) == (0, "")
    assert "● Ozzie Penhale" in said.out and "birthday → ○ 1951-06-02" in said.out and "○ Second Opinion" in said.out
    assert "○ Ozzie\n" not in said.out, "that is a name of the one in the middle"
    assert all(len(line) <= 100 for line in said.out.splitlines())


def test_more_steps_reach_further_and_a_limit_leaves_out(vault: Shell) -> None:
    near, far = (vault.pal("graph", "Beatrice", "--depth", depth, "--json").json for depth in ("1", "2"))
    assert {one["steps"] for one in near["nodes"]} == {0, 1} and {one["steps"] for one in far["nodes"]} == {0, 1, 2}
    assert {one["id"] for one in near["nodes"]} < {one["id"] for one in far["nodes"]}
    few = vault.pal("graph", "Beatrice", "--depth", "2", "-n", "5")
    assert few.code == 0 and "other" in few.err and "-n draws more" in few.err


def test_facts_are_told_with_their_source(vault: Shell) -> None:
    found = vault.pal("graph", "Ozzie Penhale", "--json").json
    names = {one["id"]: one["name"] for one in found["nodes"]}
    told = {
        (names[one["source"]], one["relation"], names[one["target"]]): one["fact"]
        for one in found["edges"]
        if one["fact"]
    }
    fact = told["Ozzie Penhale", "birthday", "1951-06-02"]
    assert fact["uri"].endswith("Ozzie Penhale.md") and fact["line"] == 5
    beside = [one for one in found["edges"] if not one["fact"]]
    assert beside and all(one["passages"] > 0 for one in beside)


def test_of_what_is_not_known_nothing_is_drawn(vault: Shell) -> None:
    said = vault.pal("graph", "Nobody")
    assert (said.code, said.out) == (4, "") and "Nothing is known about 'Nobody'." in said.err


@pytest.mark.parametrize("args", [("--depth", "0"), ("--depth", "7"), ("-n", "1"), ("--as-of", "soonish"), ()])
def test_what_cannot_be_meant(pal: Pal, args: tuple[str, ...]) -> None:
    assert pal("graph", *(("Beatrice", *args) if args else ())).exit_code == 2
