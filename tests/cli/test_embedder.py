"""pal embedder: what turns text into vectors, shown and changed."""

from __future__ import annotations

import time

from tests.cli.vault import Shell


def test_it_shows_what_is_in_use(vault: Shell) -> None:
    said = vault.pal("embedder")
    assert (said.code, said.err) == (0, "")
    rows = {line.split()[0]: line for line in said.out.splitlines()}
    assert rows["Embedder"].split()[1:] == ["auto", "(static)"]
    assert rows["In"].split()[2].startswith("wordllama-256@")
    assert {"auto", "minilm", "st:MODEL", "static"} <= {*rows["Known"].replace(",", "").split()}


def test_a_change_is_kept_in_the_settings(shell: Shell) -> None:
    assert shell.pal("remember", "The gallery key is the one with the cork.").code == 0
    said = shell.pal("embedder", "static")
    assert (said.code, said.out) == (0, "Embedder: static\n")
    assert "pal embedder" in said.err
    assert 'name = "static"' in (shell.home / "config.toml").read_text("utf-8")
    deadline = time.monotonic() + 10
    while shell.pal("embedder", "--json").json["building"] and time.monotonic() < deadline:
        time.sleep(0.05)
    state = shell.pal("embedder", "--json").json
    assert (state["name"], state["building"], state["problem"]) == ("static", False, "")


def test_what_cannot_be_is_reported_and_not_kept(shell: Shell) -> None:
    said = shell.pal("embedder", "nope")
    assert (said.code, said.out) == (4, "")
    assert "There is no embedder called 'nope'. Known: " in said.err
    said = shell.pal("embedder", "st:./models/mine")
    assert said.code == 1
    assert "./models/mine" in said.err, "the path is meant from here"
    assert not (shell.home / "config.toml").exists()
