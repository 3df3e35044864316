"""What leaves a memory to be read: a page for each thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.api.sources import export
from daemon.cli.export import MAX_NAME_BYTES, fold_name, make_name, write_pages
from memory import Memory
from memory.nouns import Document
from plugins import manager
from plugins.readers import documents
from tests.cli.vault import NOTES
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
        memory.ingest.remember_many(
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
        memory.ingest.remember_many(
            [Document("/n/ana v2.md", "# Ana Ruiz", title="Ana Ruiz", at=later, properties={"phone": "0161 950"})]
        )
        yield memory


def pages(memory: Memory) -> dict[str, str]:
    lines = b"".join(export(memory, pages=True)).splitlines(keepends=True)
    return {name: content.decode() for name, content in write_pages(lines)}


def test_the_same_memory_gives_the_same_pages(memory: Memory) -> None:
    assert pages(memory) == pages(memory)


def test_pages_tell_what_is_known_how_it_changed_and_where(memory: Memory) -> None:
    ana = pages(memory)["Ana Ruiz.md"]
    assert "## Now\n\n- **phone**: 0161 950, since 2026-05-09 ([Ana Ruiz](<file:///n/ana%20v2.md>), line 1)\n" in ana
    assert "\n- 2026-03-09 to 2026-05-09: **phone**: 0161 900 ([Ana Ruiz](<file:///n/ana.md>), line 1; Version 2" in ana
    assert "> \\[\\[Ana Ruiz\\]\\] came." in ana and "— [flat](<file:///n/flat.md>), line 1" in ana
    ozzie = pages(memory)["Ozzie Penhale.md"]
    assert "**birthday**: 1951-06-02" in ozzie
    assert {"Osgood Penhale", "Ozzie"} <= {*ozzie.splitlines()[2].removeprefix("Also: ").split(", ")}


def test_what_a_note_says_links_and_embeds_nothing(memory: Memory) -> None:
    for text in pages(memory).values():
        for line in text.splitlines():
            assert "![[" not in line and "<script" not in line.replace("\\<", "")
            assert "%%hidden%%" not in line and not re.search(r"(?<![\\\w/])#tag", line)


def test_names_of_pages_are_apart_on_any_file_system(memory: Memory) -> None:
    found = [path.removesuffix(".md") for path in pages(memory)]
    assert len({fold_name(name) for name in found}) == len(found)
    assert "CON_" in found and "aux.md_" in found
    assert {name for name in found if name.startswith("a b c")} != set()


@examples(3)
@given(st.text(max_size=200))
def test_a_name_is_good_on_any_file_system(title: str) -> None:
    name = make_name(title)
    assert len(name.encode()) <= MAX_NAME_BYTES + 1
    assert not re.search(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]', name) and name == name.strip(". ")
    assert name.casefold().partition(".")[0] not in ("con", "prn", "aux", "nul", "com1", "lpt9")
    assert make_name(name) == name
