"""Who wrote a file, and which files are templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.nouns import UNKNOWN, Document
from plugins.readers.common.origin import find_placeholder, find_writer, is_template


def writer(path: Path, reader: str = "markdown", **properties: object) -> str | None:
    return find_writer(Document(str(path), "text", properties=properties), path, reader)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, None),
        ({"source": "https://a.example/bread"}, UNKNOWN),
        ({"url": ["https://a.example/bread"]}, UNKNOWN),
        ({"source": "a talk with Ida"}, None),
        ({"author": ["Ida Sund", "Bo Ek"]}, "Ida Sund"),
        ({"from": "Ida Sund <ida@a.example>"}, "Ida Sund"),
    ],
)
def test_a_note_is_the_owners_unless_its_properties_say_otherwise(
    tmp_path: Path, properties: dict[str, object], expected: str | None
) -> None:
    assert writer(tmp_path / "Bread.md", **properties) == expected


@pytest.mark.parametrize("name", ["README.md", "readme.txt", "CONTRIBUTING.md", "AUTHORS"])
def test_files_that_come_with_a_program_are_its_makers(tmp_path: Path, name: str) -> None:
    assert writer(tmp_path / name) == UNKNOWN
    assert writer(tmp_path / "TODO.md") is None


def test_the_files_of_a_project_are_its_makers_but_not_those_of_a_vault_in_it(tmp_path: Path) -> None:
    (tmp_path / "tool" / "vault" / ".obsidian").mkdir(parents=True)
    (tmp_path / "tool" / "package.json").write_text("{}")
    assert writer(tmp_path / "tool" / "docs" / "contact.md") == UNKNOWN
    assert writer(tmp_path / "tool" / "docs" / "mine" / "contact.md") is None
    assert writer(tmp_path / "tool" / "vault" / "contact.md") is None


def test_a_template_is_in_a_folder_of_templates_or_in_the_one_that_the_vault_names(tmp_path: Path) -> None:
    settings = tmp_path / ".obsidian" / "plugins" / "templater-obsidian"
    settings.mkdir(parents=True)
    (settings / "data.json").write_text(json.dumps({"templates_folder": "Extras/Forms"}))
    named = ["99 Templates/person.md", "Extras/Forms/day.md", "Extras/list.md", "Templates.md"]
    assert [is_template(tmp_path / name) for name in named] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "placeholder"),
    [
        ("# {{date}}\n\nMood:", "{{date}}"),
        ("---\ncreated: {{date:YYYY-MM-DD}}\n---\nMet at", "{{date:YYYY-MM-DD}}"),
        ("# Visit\n\nseen on <% tp.date.now() %>", "<% tp.date.now() %>"),
        ("# Jinja\n\nWrite `<% tp.date.now() %>` or {{ name }} where the name goes.", ""),
        ("# Jinja\n\n```\n# {{title}}\n```\n", ""),
        ("- {{query (and [[a]] [[b]])}}\n- {{embed ((64))}}", ""),
    ],
)
def test_a_note_that_a_program_fills_in_is_a_template(text: str, placeholder: str) -> None:
    assert find_placeholder(text) == placeholder
