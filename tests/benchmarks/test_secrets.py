"""The benchmark of secrets runs, and no kind of secret is missed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import secrets
from benchmarks.canaries import KINDS, make_canaries


def test_each_kind_is_noticed_and_ordinary_lines_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text(f"It rained.\n\n{make_canaries(20)[-1].line}\n")
    assert secrets.main(["--json", "--count", "540", "--data", str(tmp_path), "--show"]) == 0
    said = capsys.readouterr()
    rows = {row["set"]: row for row in map(json.loads, said.out.splitlines())}
    assert {rows[kind]["masked"] for kind in KINDS} == {100.0} and rows[secrets.ALL]["lines"] == 540
    assert rows["ordinary lines"]["masked"] <= 1 and rows[tmp_path.name]["found"] == 1
    assert said.err == f"{tmp_path / 'a.md'}:3: {'password'}\n"
