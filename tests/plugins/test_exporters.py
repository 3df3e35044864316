"""What leaves a memory in other forms: tables, a vault; and what a plugin writes."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from daemon.api.exporting import read_lines
from memory import Memory
from memory.nouns import Document
from plugins import manager
from plugins.exporters import vault
from plugins.exporters.contract import Exporter, Line
from plugins.readers import documents
from tests.cli.vault import NOTES, ROOT
from tests.examples import examples

AT = datetime(2026, 3, 9, tzinfo=UTC)
HOSTILE = (
    '=HYPERLINK("http://evil.example") and [[Beatrice]] and <script>alert(1)</script> & ]]> \x00\x07 \u2028 '
    "#tag ![[secret]] `code` **bold** %%hidden%% $x$ | pipe \U0001f9c2 日本語"
)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    """The example notes, and a note that means no good."""
    plugins = manager.load()
    with Memory.open(":memory:", embedder=plugins.embedder("static")) as memory:
        read: list[Document] = []
        for path in sorted(NOTES.rglob("*")):
            if path.is_file():
                reader = plugins.reader_for(path, path.stat().st_size)
                read += documents(reader, path, path.read_bytes(), path.stat())
        memory.remember_many(
            [
                *read,
                Document("/n/evil.md", f"# Evil\n\nphone: {HOSTILE}\n\n- {HOSTILE}", title="=cmd|' /C calc'!A0", at=AT),
                Document("/n/ana.md", "# Ana Ruiz", title="Ana Ruiz", at=AT, properties={"phone": "0161 900"}),
                Document(
                    "/n/flat.md", "[[Ana Ruiz]] came. [[CON]], [[aux.md]], [[a/b:c?]] and [[A/B:C?]].", title="flat"
                ),
                Document(
                    "/n/more.md", "[[Ana Ruiz]], [[CON]], [[aux.md]], [[a/b:c?]], [[A/B:C?]] again.", title="more"
                ),
            ]
        )
        later = AT.replace(month=5)
        memory.remember_many(
            [Document("/n/ana v2.md", "# Ana Ruiz", title="Ana Ruiz", at=later, properties={"phone": "0161 950"})]
        )
        yield memory


def written(memory: Memory, name: str) -> dict[str, bytes]:
    """The files of a format by their paths."""
    exporter = manager.load().exporters[name]
    return put_together(exporter, memory)


def put_together(exporter: Exporter, memory: Memory) -> dict[str, bytes]:
    pieces = read_lines(memory, exporter.kinds)
    lines = (Line(line) for piece in pieces for line in piece.splitlines(keepends=True))
    files: dict[str, bytes] = defaultdict(bytes)
    for part in exporter.write(lines):
        files[part.path] += part.data
    return files


@pytest.mark.parametrize("name", ["jsonl", "csv", "vault"])
def test_the_same_memory_gives_the_same_bytes(memory: Memory, name: str) -> None:
    first = written(memory, name)
    assert first == written(memory, name)
    assert all(first.values())


# Tables -----------------------------------------------------------------------------------------------------------


def table(memory: Memory, name: str) -> list[dict[str, str]]:
    text = written(memory, "csv")[name].decode()
    return list(csv.DictReader(StringIO(text, newline="")))


def test_tables_hold_what_there_is(memory: Memory) -> None:
    stats = memory.stats()
    assert len(table(memory, "sources.csv")) == stats.sources
    assert len(table(memory, "episodes.csv")) == stats.episodes
    assert len(table(memory, "objects.csv")) == stats.objects
    facts = table(memory, "facts.csv")
    old, new = (next(row for row in facts if row["object"] == value) for value in ("0161 900", "0161 950"))
    assert (new["subject"], new["predicate"], new["source"], new["line"]) == ("Ana Ruiz", "phone", "/n/ana v2.md", "1")
    assert (old["until"], old["replaced_by"]) == ("2026-05-09", new["id"])
    passages = {row["text"] for row in table(memory, "episodes.csv")}
    assert any("\n" in text for text in passages)


def test_no_cell_is_a_formula(memory: Memory) -> None:
    for name in written(memory, "csv"):
        for row in table(memory, name):
            assert not [value for value in row.values() if value.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert "'=cmd|' /C calc'!A0" in {row["title"] for row in table(memory, "sources.csv")}


def test_an_empty_memory_has_empty_tables() -> None:
    lines = iter([Line(b'{"type":"palimpsest","counts":{}}\n'), Line(b'{"type":"end","lines":1}\n')])
    parts = list(manager.load().exporters["csv"].write(lines))
    assert [part.path for part in parts] == ["facts.csv", "objects.csv", "sources.csv", "episodes.csv"]
    assert all(part.data.count(b"\r\n") == 1 for part in parts)


# The vault --------------------------------------------------------------------------------------------------------


def pages(memory: Memory) -> dict[str, str]:
    return {path: data.decode() for path, data in written(memory, "vault").items()}


def test_pages_tell_what_is_known_how_it_changed_and_where(memory: Memory) -> None:
    ana = pages(memory)["Ana Ruiz.md"]
    assert "## Now\n\n- **phone**: 0161 950, since 2026-05-09 ([Ana Ruiz](<file:///n/ana%20v2.md>), line 1)\n" in ana
    assert "\n- 2026-03-09 to 2026-05-09: **phone**: 0161 900 ([Ana Ruiz](<file:///n/ana.md>), line 1; Version 2" in ana
    assert "> \\[\\[Ana Ruiz\\]\\] came." in ana and "— [flat](<file:///n/flat.md>), line 1" in ana
    ozzie = pages(memory)["Ozzie Penhale.md"]
    assert "[[Second Opinion]]" in ozzie and "**birthday**: 1951-06-02" in ozzie
    assert "- [[Ozzie Penhale]]\n" in pages(memory)["Index.md"]


def test_links_resolve_and_properties_are_yaml(memory: Memory) -> None:
    found = pages(memory)
    names = {path.removesuffix(".md") for path in found}
    for path, text in found.items():
        _, front, body = text.split("---\n", 2)
        properties = yaml.safe_load(front)
        assert isinstance(properties, dict) and all(isinstance(one, str) for one in properties.get("aliases", []))
        links = re.findall(r"(?<!\\)\[\[([^\]|]+)", body)
        assert not {*links} - names, path
    assert {"Osgood Penhale", "Ozzie"} <= {*yaml.safe_load(found["Ozzie Penhale.md"].split("---\n")[1])["aliases"]}


def test_what_a_note_says_links_and_embeds_nothing(memory: Memory) -> None:
    for text in pages(memory).values():
        body = text.split("---\n", 2)[2]
        for line in body.splitlines():
            assert "![[" not in line and "<script" not in line.replace("\\<", "")
            assert "%%hidden%%" not in line and not re.search(r"(?<![\\\w/])#tag", line)


def test_names_of_pages_are_apart_on_any_file_system(memory: Memory) -> None:
    found = [path.removesuffix(".md") for path in pages(memory)]
    assert len({vault._fold(name) for name in found}) == len(found)
    assert "CON_" in found and "aux.md_" in found
    assert {name for name in found if name.startswith("a b c")} != set()


@examples(3)
@given(st.text(max_size=200))
def test_a_name_is_good_on_any_file_system(title: str) -> None:
    name = vault.make_name(title)
    assert len(name.encode()) <= vault.MAX_NAME_BYTES + 1
    assert not re.search(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]', name) and name == name.strip(". ")
    assert name.casefold().partition(".")[0] not in ("con", "prn", "aux", "nul", "com1", "lpt9")
    assert vault.make_name(name) == name


# Plugins ----------------------------------------------------------------------------------------------------------


def test_the_exporter_of_the_documentation_works(memory: Memory) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    code = re.search(r"## register_exporters\n\n```python\n(.*?)```", page, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)  # noqa: S102
    registered: list[Exporter] = []
    names["register_exporters"](registered.append)
    (exporter,) = registered
    titles = put_together(exporter, memory)[""].decode().splitlines()
    assert "Ana Ruiz" in titles and "Ozzie Penhale" in titles


def test_kinds_are_told_in_the_documentation(memory: Memory) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    for kind in ("thing", "note", "passage", "fact", "page"):
        assert f"| `{kind}` |" in page
        header, *lines = [Line(line) for line in b"".join(read_lines(memory, (kind,))).splitlines()]
        assert header.kind == "palimpsest" and {line.kind for line in lines} == {kind, "end"}
        if kind != "page":
            assert header.fields["counts"][kind] == len(lines) - 1
