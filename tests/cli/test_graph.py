"""pal graph: what stands around something, drawn."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Pal
from tests.cli.vault import Shell


def test_what_stands_around_something_is_drawn(vault: Shell) -> None:
    said = vault.pal("graph", "Ozzie Penhale")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Ozzie Penhale\n  ")
    assert "\n  birthday → 1951-06-02\n" in said.out and "\n  Second Opinion\n" in said.out
    assert "\n  Ozzie\n" not in said.out, "that is a name of the one in the middle"


def test_a_limit_leaves_out(vault: Shell) -> None:
    few = vault.pal("graph", "Beatrice", "-n", "5")
    assert few.code == 0 and "other" in few.err and "-n draws more" in few.err


def test_facts_and_joint_mentions_are_edges(vault: Shell) -> None:
    found = vault.pal("graph", "Ozzie Penhale", "--json").json
    names = {node["id"]: node["name"] for node in found["nodes"]}
    edges = {(names[edge["source"]], edge["relation"], names[edge["target"]]): edge for edge in found["edges"]}
    facts = {fact["id"]: fact for fact in vault.pal("facts", "Ozzie Penhale", "--json").json["facts"]}
    birthday = edges["Ozzie Penhale", "birthday", "1951-06-02"]
    assert facts[birthday["id"]]["predicate"] == "birthday"
    mentioned = [edge for edge in found["edges"] if not edge["relation"]]
    assert mentioned and all(edge["passages"] > 0 for edge in mentioned)


def test_of_what_is_not_known_nothing_is_drawn(vault: Shell) -> None:
    said = vault.pal("graph", "Nobody")
    assert (said.code, said.out) == (4, "") and "Nothing is known about 'Nobody'." in said.err


@pytest.mark.parametrize("args", [("-n", "1"), ("--as-of", "soonish"), ()])
def test_what_cannot_be_meant(pal: Pal, args: tuple[str, ...]) -> None:
    assert pal("graph", *(("Beatrice", *args) if args else ())).exit_code == 2
