"""The recipes of other systems' packages, and what is said of the cost of an installation."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.cli.vault import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PAGE = (ROOT / "docs" / "packaging.md").read_text("utf-8")
SITE = (ROOT / "mkdocs.yml").read_text("utf-8")
FOR_DEVELOPERS = ("dev", "bench", "real-model")  # extras that no user installs


def test_every_dependency_says_why_it_is_there_and_what_it_costs() -> None:
    extras = PROJECT["optional-dependencies"]
    lines = [line for name, of in extras.items() if name not in FOR_DEVELOPERS for line in of]
    needed = {Requirement(line).name for line in PROJECT["dependencies"] + lines}
    assert {name for name in needed if f"`{name}`" not in PAGE} == set()
    assert {name for name in extras if name not in FOR_DEVELOPERS and f"| `{name}` |" not in PAGE} == set()


def test_a_release_fills_in_the_recipes(tmp_path: Path) -> None:
    sdist = tmp_path / "palimpsest_memory-1.2.tar.gz"
    sdist.write_bytes(b"a release")
    url = "https://example.org/palimpsest_memory-1.2.tar.gz"
    command = [sys.executable, str(ROOT / "packaging" / "release.py"), str(sdist), "--url", url]
    command += ["--homepage", "https://example.org", "--out", str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True)
    for name in ("palimpsest.rb", "PKGBUILD"):
        text = (tmp_path / "out" / name).read_text("utf-8")
        assert hashlib.sha256(b"a release").hexdigest() in text and url in text
        assert not re.search(r"@\w+@", text)
    assert "pkgver=1.2\n" in (tmp_path / "out" / "PKGBUILD").read_text("utf-8")
    refused = subprocess.run([*command[:2], str(ROOT / "README.md"), *command[3:]], capture_output=True, text=True)
    assert refused.returncode == 1 and "is no source distribution" in refused.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_pkgbuild_is_shell() -> None:
    parsed = subprocess.run(["bash", "-n", str(ROOT / "packaging" / "PKGBUILD.in")], capture_output=True, text=True)
    assert (parsed.returncode, parsed.stderr) == (0, "")


def test_the_container_is_not_root_and_keeps_the_memory_in_a_volume() -> None:
    text = (ROOT / "packaging" / "Containerfile").read_text("utf-8")
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER [1-9]", last, re.MULTILINE)
    assert "VOLUME /data" in last and "PALIMPSEST_HOME=/data" in last


def test_every_page_is_in_the_site_and_none_comes_from_elsewhere() -> None:
    listed = re.findall(r"^  - (\w+\.md)$", SITE, re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))
    assert "font: false" in SITE and "http" not in SITE
