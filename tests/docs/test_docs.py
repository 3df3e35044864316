"""The documentation is a tested feature: what exists is documented, and what is documented exists."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from plugins import hookspecs
from tests.cli.vault import ROOT
from tests.docs.generated import PAGES, README, commands, regenerated, toured

MARKDOWN = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_parts_are_as_the_code_is(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == regenerated(text), "run: python -m tests.docs.generated"


def test_the_tour_of_the_readme_is_what_the_program_prints(tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    assert text == toured(text, tmp_path / "home"), "run: python -m tests.docs.generated"


def test_the_sections_of_the_guide_are_commands_and_all_commands_have_help() -> None:
    helps = {name: command.get_help(click.Context(command)) for name, command in commands()}
    sections = re.findall(r"^### (pal.*)$", (ROOT / "docs" / "guide.md").read_text("utf-8"), re.MULTILINE)
    assert len(sections) > 40 and set(sections) <= helps.keys()
    assert [name for name, text in helps.items() if len(text.split()) < 10] == []


def test_the_settings_are_in_the_configuration_page() -> None:
    assert "\n<!-- settings -->\n" in (ROOT / "docs" / "configuration.md").read_text("utf-8")


@pytest.mark.parametrize("hook", [name for name in vars(hookspecs) if name.startswith("register_")])
def test_every_hook_has_its_section(hook: str) -> None:
    assert f"\n## {hook}\n" in (ROOT / "docs" / "plugins.md").read_text("utf-8")


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.name)
def test_no_relative_link_is_dead(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in LINK.findall(text):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in _anchors(file), f"{page.name} links to {target}"


def test_the_changelog_starts_with_this_version_or_what_is_not_released() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first = re.search(r"^## \[?([^\]\s]+)\]?", text, re.MULTILINE)
    assert first is not None
    assert first[1] in ("Unreleased", version("palimpsest-memory"))


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named_tests(page: str) -> list[tuple[str, str]]:
    """(file, test) of each test that a page names as `file::test`, or as `::test` behind another one of that file."""
    found, file = [], ""
    for path, name in re.findall(r"`([\w/.]*)::(\w+)`", page):
        file = path or file
        found.append((file, name))
    return found


def test_each_promise_names_tests_that_are_there() -> None:
    page = (ROOT / "docs" / "trust.md").read_text("utf-8")
    promises = [
        line for line in page.split("## Who")[0].splitlines() if line.startswith("| ") and "tested by" not in line
    ]
    assert len(promises) > 10 and all(named_tests(line) for line in promises)
    for file, name in named_tests(page.split("## The test matrix")[0]):
        assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file} has no {name}"
