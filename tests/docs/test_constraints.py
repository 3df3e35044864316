"""constraints.txt makes an installation repeatable: it pins everything that pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cli.vault import ROOT

PINS = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if line and line[0] != "#"]


def test_every_line_is_a_name_and_a_version() -> None:
    assert [line for line in PINS if not re.fullmatch(r"[\w.-]+==[\w.+]+", line)] == []
    names = [canonicalize_name(line.partition("==")[0]) for line in PINS]
    assert len(names) == len(set(names))


def test_every_dependency_is_pinned_to_a_version_it_allows() -> None:
    pinned = {canonicalize_name(line.partition("==")[0]): line.partition("==")[2] for line in PINS}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [
        line
        for name in ("dev", "local", "onnx", "keyring", "bench", "docs", "real-model", "sync")
        for line in extras[name]
    ]
    wanted = [Requirement(line) for line in project["dependencies"] + lines]
    assert [str(need) for need in wanted if canonicalize_name(need.name) not in pinned] == []
    assert [str(need) for need in wanted if pinned[canonicalize_name(need.name)] not in need.specifier] == []
