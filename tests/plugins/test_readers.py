"""What every file gets, whatever reads it: identity, date, a reason if it cannot be read, and never a crash."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memory.nouns import Document
from plugins.manager import Plugins
from plugins.readers import MIB, Reader, Unreadable, documents
from tests.examples import examples
from tests.plugins.conftest import MODIFIED, Read

SUFFIXES = (".md", ".txt", ".org", ".html", ".csv", ".eml", ".ics", ".json", ".jsonl", ".yaml", ".toml", "")


def test_a_document_knows_its_file(read: Read, tmp_path: Path) -> None:
    content = "# Rent\n\nThe rent is 690 euros.\n"
    (document,) = read("notes/rent.md", content)
    assert document == Document(
        uri=(tmp_path / "notes/rent.md").as_posix(),
        text=content,
        title="Rent",
        kind="file",
        reader="markdown",
        at=MODIFIED,
        sha256=hashlib.sha256(content.encode()).hexdigest(),
        size=len(content),
        mtime_ns=int(MODIFIED.timestamp()) * 10**9,
        location="rent.md",
    )


def test_the_date_comes_from_header_then_text_then_name_then_disk(read: Read) -> None:
    def day(name: str, content: str) -> str:
        at = read(name, content)[0].at
        return at.date().isoformat() if at else ""

    assert day("2001-01-01 x.md", "---\ndate: 2024-05-01\n---\n# 3 May 2024\nhello") == "2024-05-01"
    assert day("2001-01-01 x.md", "# 3 May 2024\nhello") == "2024-05-03"
    assert day("2001-01-01 x.md", "# Hello") == "2001-01-01"
    assert day("x.md", "# Hello") == MODIFIED.date().isoformat()


def test_a_relative_path_becomes_absolute(plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("hello", encoding="utf-8")
    (document,) = documents(plugins.reader_for(Path("a.txt"), 5), Path("a.txt"), b"hello", Path("a.txt").stat())
    assert document.uri == f"{tmp_path.as_posix()}/a.txt"


def test_several_documents_in_a_file_have_their_own_uris(read: Read, tmp_path: Path) -> None:
    def chat(text: str, **more: str) -> dict[str, object]:
        return {"messages": [{"role": "user", "content": text}], **more}

    chats = [chat("one"), chat("two", id="abc"), chat("three", id="abc")]
    found = read("all.json", json.dumps(chats))
    base = (tmp_path / "all.json").as_posix()
    assert [document.uri for document in found] == [f"{base}#1", f"{base}#abc", f"{base}#abc#3"]
    assert [document.title for document in found] == ["all"] * 3
    assert read("one.json", json.dumps([chat("one")]))[0].uri.endswith("/one.json#1")
    assert read("single.json", json.dumps(chat("one")))[0].uri.endswith("/single.json")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.md", b"", "empty file"),
        ("a.md", b" \n\t\n", "no text in it"),
        ("a.md", b"\x00\x01\x02\x03", "binary file"),
        ("a.txt", b"\x89PNG\r\n\x1a\n and more", "binary file"),
        ("a.csv", b"PK\x03\x04 and more", "binary file"),
        ("a.eml", b"\x1f\x8b\x08 and more", "binary file"),
        ("a.xyz", b"hello", "no reader for .xyz"),
        ("A.DOC", b"hello", "no reader for .doc"),
        (".secret", b"hello", "no reader for hidden files"),
        ("NOTES", b"x" * (MIB + 1), "too large: the limit is 1 MiB for a file without a suffix"),
        ("a.json", b"{'title'", "not valid JSON"),
        ("a.json", b'{"messages": []}', "a chat without messages"),
        ("a.csv", b'a,b\n1,"' + b"x" * 200_000 + b'"', "not a table of values: line 2"),
        ("a.eml", b"hello", "not a mail"),
        ("a.ics", b"hello", "a calendar without events"),
    ],
)
def test_what_cannot_be_read_says_why(read: Read, name: str, content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read(name, content)
    assert raised.value.reason.startswith(reason) and str(raised.value) == raised.value.reason


def test_the_size_is_judged_before_the_file_is_read(plugins: Plugins) -> None:
    assert plugins.reader_for(Path("a.md"), 10 * MIB).name == "markdown"
    for name, size in (("a.md", 10 * MIB + 1), ("a.eml", 26 * MIB), ("a.json", 2049 * MIB), ("a.csv", 51 * MIB)):
        with pytest.raises(Unreadable, match="too large"):
            plugins.reader_for(Path(name), size)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("x"), "the bad reader failed: KeyError: 'x'"),
        (RecursionError(), "nested too deeply for the bad reader"),
        (MemoryError(), "too large for the bad reader: out of memory"),
        (Unreadable("its own reason"), "its own reason"),
    ],
)
def test_whatever_a_reader_raises_becomes_a_reason(tmp_path: Path, error: Exception, reason: str) -> None:
    def read(path: Path, data: bytes) -> list[Document]:
        raise error

    path = tmp_path / "a.bad"
    path.write_bytes(b"x")
    with pytest.raises(Unreadable) as raised:
        documents(Reader("bad", (".bad",), "", read), path, b"x", path.stat())
    assert raised.value.reason == reason


def test_a_reader_that_returns_nonsense_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "a.bad"
    path.write_bytes(b"x")
    reader = Reader("bad", (".bad",), "", lambda path, data: ["text"])  # type: ignore[list-item]
    with pytest.raises(Unreadable, match="the bad reader failed"):
        documents(reader, path, b"x", path.stat())


def test_a_name_that_is_no_text_is_refused(plugins: Plugins, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x")
    with pytest.raises(Unreadable, match="rename it"):
        documents(plugins.reader_for(path, 1), tmp_path / "caf\udce9.txt", b"x", path.stat())


def test_surrogates_and_nul_never_survive(read: Read) -> None:
    (chat,) = read(
        "a.json", '{"title": "x\\ud800", "messages": [{"role": "r\\udfff", "content": "a\\u0000b \\ud83d"}]}'
    )
    assert (chat.title, chat.turns[0].speaker, chat.turns[0].text) == ("x\ufffd", "r\ufffd", "ab \ufffd")
    (mail,) = read("a.eml", b"From: caf\xe9 <a@b.example>\nSubject: =?utf-8?q?=ED=A0=80?=\n\nhello \xff")
    for text in (mail.text, mail.title, *mail.properties.values()):
        assert text and str(text).encode()


@examples(3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    suffix=st.sampled_from(SUFFIXES),
    content=st.binary(max_size=300)
    | st.text(st.characters(exclude_categories=()), max_size=300).map(lambda text: text.encode("utf-8", "replace"))
    | st.text("-#*:;,=<>/[]{}|\"'\\&%\n \tab1é", max_size=300).map(str.encode),
    head=st.sampled_from(
        (
            b"",
            b"---\n",
            b"* ",
            b"<p>",
            b"From: a@b.example\n",
            b"BEGIN:VEVENT\n",
            b"a,b\n",
            b'{"messages":[',
            b"a: &b\n",
            b"[a]\nb = ",
        )
    ),
)
def test_any_bytes_give_documents_or_a_reason(plugins: Plugins, suffix: str, content: bytes, head: bytes) -> None:
    path, stat = Path("/somewhere/name" + suffix), Path(__file__).stat()
    try:
        found = documents(plugins.reader_for(path, len(head + content)), path, head + content, stat)
    except Unreadable as error:
        assert error.reason and "failed" not in error.reason
        return
    for document in found:
        assert document.title and isinstance(document.at, datetime) and document.at.tzinfo
        assert document.text.strip() or document.turns
        json.dumps([document.text, document.title, dict(document.properties)], ensure_ascii=False).encode()
        source_lines = (head + content).count(b"\n") + (head + content).count(b"\r") + 1
        if document.lines is not None:
            assert len(document.lines) == document.text.count("\n") + 1
            assert all(1 <= line <= source_lines for line in document.lines)
            assert list(document.lines) == sorted(document.lines)
