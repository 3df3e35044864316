"""pal graph: what stands around something, drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Pal
from tests.cli.vault import Shell


@pytest.fixture
def here(vault: Shell, tmp_path: Path) -> Shell:
    """The example notes, and an empty folder to stand in."""
    return Shell(tmp_path, vault.home)


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


def test_it_is_written_as_a_page(here: Shell) -> None:
    said = here.pal("graph", "Ozzie Penhale", "--html", "o.html")
    assert said.code == 0 and said.out.startswith("Written: ./o.html, ")
    page = (here.folder / "o.html").read_text("utf-8")
    assert "<h2>Ozzie Penhale</h2>" in page and "birthday <a" in page and "in 2 passages with <a" in page
    again = here.pal("graph", "Ozzie Penhale", "--html", "o.html")
    assert again.code == 2 and "add --force" in again.err
    assert here.pal("graph", "Ozzie Penhale", "--html", "o.html", "--force").code == 0
    assert (here.folder / "o.html").stat().st_mode & 0o777 == 0o600


def test_a_page_goes_on_through_a_pipe(here: Shell) -> None:
    said = here.pal("graph", "Ozzie Penhale", "--html", "-")
    assert said.code == 0 and said.out.startswith("<!doctype html>") and said.out.endswith("</html>\n")
    assert here.pal("graph", "Ozzie Penhale", "--html", "-", "--json").code == 2
    assert not [*here.folder.iterdir()]


def test_of_what_is_not_known_nothing_is_drawn_or_written(here: Shell) -> None:
    said = here.pal("graph", "Nobody", "--html", "n.html")
    assert (said.code, said.out) == (4, "") and "Nothing is known about 'Nobody'." in said.err
    assert not [*here.folder.iterdir()]
    assert here.pal("graph", "Beatrice", "--html", "gone/b.html").code == 2


@pytest.mark.parametrize("args", [("--depth", "0"), ("--depth", "7"), ("-n", "1"), ("--as-of", "soonish"), ()])
def test_what_cannot_be_meant(pal: Pal, args: tuple[str, ...]) -> None:
    assert pal("graph", *(("Beatrice", *args) if args else ())).exit_code == 2
