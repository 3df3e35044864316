"""The docs as a site, which opens from the disk and loads nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.vault import ROOT
from tests.web.chromium import find_chromium, open_chromium

ZENSICAL = Path(sys.executable).with_name("zensical")  # of the extra `docs`


def test_no_page_links_to_a_file_outside_of_the_site() -> None:
    pages = {page.name: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
    assert [(name, link) for name, text in pages.items() for link in re.findall(r"\]\((\.\./[^)]*)\)", text)] == []


@pytest.mark.skipif(not ZENSICAL.exists() or find_chromium() is None, reason="needs the extra docs, and a Chromium")
def test_it_opens_from_the_disk_without_a_network(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    subprocess.run([ZENSICAL, "build", "--clean"], cwd=tmp_path, check=True, capture_output=True)
    asked: list[str] = []
    with open_chromium() as browser:
        page = browser.new_context(offline=True).new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfailed", lambda request: asked.append(f"failed: {request.url}"))
        for name in ("index", "chat"):
            page.goto((tmp_path / "site" / f"{name}.html").as_uri())
            page.wait_for_load_state("networkidle")
    assert asked and [url for url in asked if not url.startswith("file:")] == []
