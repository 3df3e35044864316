"""Files made to break a reader. Each gives documents or a reason, in time that grows with its size and no faster.

The time limit is what fails when a reader takes quadratic time: every file here is read in less than a second.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from plugins.readers import Unreadable
from tests.plugins.conftest import Read

NAMES = tuple(
    "a.md a.txt a.org a.html a.csv a.eml a.ics a.json a.yaml a.toml a.canvas journals/2026_01_01.md a.srt a.ass"
    " a.rst a.adoc a.py a.js a.sql a.bib a.ris a.vcf".split()
)
SHAPES = {
    "one long line": "x" * 400_000,
    "spaces": "a" + " " * 400_000 + "x",
    "brackets": "[[" * 80_000,
    "colons": ":" * 200_000,
    "stars": "* " * 80_000,
    "bars": "|" * 200_000,
    "quotes": '"' * 200_001,
    "digits": "1" * 200_000,
    "dates": "2024-01-01 " * 20_000,
    "backslashes": "\\" * 200_000,
    "carriage returns": "\r" * 50_000 + "x",
    "noise": random.Random(7).randbytes(100_000),
}
LETTERS = "abcdefghijklmnopq"
BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}]\n" for a, b in itertools.pairwise(LETTERS)
)


def outcome(read: Read, name: str, content: str | bytes) -> str:
    """The text of what was read, or the reason."""
    try:
        return "\n".join(document.text for document in read(name, content))
    except Unreadable as error:
        assert "failed" not in error.reason
        return error.reason


@pytest.mark.timeout(15)
@pytest.mark.parametrize("name", NAMES)
def test_one_shape_for_every_reader(read: Read, name: str) -> None:
    assert [shape for shape, content in SHAPES.items() if not outcome(read, name, content)] == []


@pytest.mark.timeout(15)
@pytest.mark.parametrize(
    "yaml",
    [
        BOMB,
        "a: " + "[" * 30_000,
        "a: " + "{b: " * 10_000,
        "\n".join(" " * depth + "a:" for depth in range(300)),
        "a: !!python/object/apply:os.mkdir [pwned]",
        "? " * 20_000,
        "a: [" + "x, " * 10_000 + "]",
    ],
    ids=["aliases", "brackets", "braces", "indent", "objects", "keys", "wide"],
)
def test_frontmatter_bombs(read: Read, yaml: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(read, "a.md", f"---\n{yaml}\n---\nthe body\n").endswith("the body\n")
    assert not (tmp_path / "pwned").exists()


def test_frontmatter_without_end_is_text(read: Read) -> None:
    text = "---\n" + "a: b\n" * 50_000
    assert outcome(read, "a.md", text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "JSON that is nested too deeply"),
        ('{"a":' * 100_000, "JSON that is nested too deeply"),
        ('{"messages":' + "[" * 900 + "]" * 900 + "}", '{"messages":['),
        ("9" * 10_000, "not valid JSON"),
    ],
)
def test_deep_json(read: Read, text: str, reason: str) -> None:
    assert outcome(read, "a.json", text).startswith(reason)


def test_deep_content_of_a_message(read: Read) -> None:
    content = "[" * 800 + '"deep"' + "]" * 800
    chat = '{"messages": [{"role": "u", "content": CONTENT}]}'.replace("CONTENT", content)
    assert outcome(read, "a.json", chat) in ("", "nested too deeply for the chat reader")  # "": read, as a turn


@pytest.mark.timeout(15)
@pytest.mark.parametrize(
    "piece",
    (
        *(
            "<a ",
            "<!--",
            "<",
            "</",
            "<a b='",
            "<![",
            "<?",
            "<!",
            "&#",
            "<![CDATA[",
            "<textarea>",
            "<script>",
            "<title>",
        ),
        *("<div>", "<ul><li>", "<table><tr><td>", "<td>", "<b>x</b>", "<p hidden>", "<h1>\n", "<pre>\n"),
    ),
)
def test_html_bombs(read: Read, piece: str) -> None:
    assert "the text" in outcome(read, "a.html", "<p>the text</p>" + piece * 50_000)


@pytest.mark.timeout(15)
@pytest.mark.parametrize(
    "head",
    [
        "From: " + "(" * 20_000,
        "From: " + "a@b.example, " * 20_000,
        "From: a@b.example\nSubject: " + "=?utf-8?q?x?= " * 20_000,
        "From: a@b.example\nContent-Type: " + ";" * 50_000,
        "From: a@b.example\nContent-Type: text/plain; " + "charset*0=a;" * 5_000,
        "From: a@b.example\nContent-Disposition: attachment; " + "filename*0=a;" * 5_000,
        "X: y\n" * 100_000 + "From: a@b.example",
        "From: a@b.example\n" + "Content-Type: message/rfc822\n\n" * 3_000 + "Subject: x",
        "From: a@b.example\n"
        + "".join(f"Content-Type: multipart/mixed; boundary=B{n}\n\n--B{n}\n" for n in range(2_000)),
    ],
    ids=["comments", "addresses", "words", "semicolons", "charset", "filename", "headers", "forwards", "multiparts"],
)
def test_mail_bombs(read: Read, head: str) -> None:
    assert outcome(read, "a.eml", head + "\n\nthe body")


@pytest.mark.timeout(15)
@pytest.mark.parametrize(
    "content",
    [
        "BEGIN:VEVENT\n" * 50_000,
        "BEGIN:VEVENT\nSUMMARY:a\n" + " b\n" * 200_000 + "END:VEVENT",
        "BEGIN:VEVENT\nSUMMARY" + ";A=b" * 50_000 + ":x\nEND:VEVENT",
        "BEGIN:VEVENT\n" + "ATTENDEE:mailto:a@b.example\n" * 50_000 + "END:VEVENT",
        "BEGIN:VEVENT\nDTSTART;TZID=../../etc/passwd:20250101T100000\nEND:VEVENT",
    ],
    ids=["begins", "folds", "parameters", "guests", "zone"],
)
def test_calendar_bombs(read: Read, content: str) -> None:
    assert outcome(read, "a.ics", content).startswith("## ")
