from __future__ import annotations

import json
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from daemon import wire
from daemon.cli import main
from daemon.terminal import cited_link, count, display_safe, escape_unsafe, file_link, is_file_link, size
from tests.cli.terminal import at_terminal
from tests.cli.vault import Shell

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]52;c;cm0gLXJm\x07", "]52;c;cm0gLXJm"),  # writes the clipboard
        ("\x9b2Jcleared", "2Jcleared"),  # C1: a control sequence without ESC
        ("safe\rover", "safeover"),
        ("a\b\b\bb\x7f", "ab"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("half \ud83d", "half "),
        ("kept: \ttab, line\nnext, é, 漢, 👩‍🚀, [b]", "kept: \ttab, line\nnext, é, 漢, 👩‍🚀, [b]"),
    ],
)
def test_a_terminal_gets_nothing_to_obey(hostile: str, shown: str) -> None:
    assert display_safe(hostile) == shown


@given(st.text(st.characters()))
def test_no_control_character_passes(text: str) -> None:
    shown = display_safe(text)
    left = {char for char in shown if unicodedata.category(char) in ("Cc", "Cs") or char in BIDI}
    assert left <= {"\t", "\n"}
    assert display_safe(shown) == shown


@given(st.text(st.characters()))
def test_a_line_is_one_line(text: str) -> None:
    shown = display_safe(text, line=True)
    assert "\t" not in shown
    assert len(shown.splitlines()) <= 1


@given(st.text(st.characters(exclude_categories=[])))
def test_json_loses_nothing_and_hides_nothing(text: str) -> None:
    document = escape_unsafe(json.dumps(text, ensure_ascii=False))
    assert json.loads(document) == text
    assert display_safe(document) == document


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/n/fog signal.md", "file:///n/fog%20signal.md"),
        ("/n/é 100%;#?.md", "file:///n/%C3%A9%20100%25%3B%23%3F.md"),
        ("/n/\\x.md", "file:///n/%5Cx.md"),
        ("/n/x\x1b\\y.md", None),  # would end the link early
        ("/n/x\x07.md", None),
        ("/n/x\x9c.md", None),
        ("/n/x\ny.md", None),
        ("/n/\u202efdp.exe", None),  # its words would differ from where it leads
        ("/n/\udcff.md", None),
        ("n/fog.md", None),
        ("~/fog.md", None),
        ("//server/share/fog.md", None),
        ("note:7", None),
        ("https://example.org/", None),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("", None),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_only_clean_absolute_paths_become_links(path: str, link: str | None) -> None:
    assert file_link(path) == link


@given(st.text(st.characters(exclude_categories=[])))
def test_no_path_makes_a_link_that_a_terminal_could_misread(path: str) -> None:
    link = file_link(f"/n/{path}")
    assert link is None or (is_file_link(link) and link.isascii() and link.isprintable() and " " not in link)


def test_a_citation_leads_to_its_file_if_it_stands_in_one() -> None:
    cited = wire.Citation(1, 1, "/n/a#b.md", "A", "Yes.", 7)
    assert cited_link(cited) == Path("/n/a#b.md").as_uri()
    assert cited_link(replace(cited, line=None)) is None
    assert cited_link(replace(cited, uri="/n/costs.xlsx#Rent")) == Path("/n/costs.xlsx").as_uri()
    assert cited_link(replace(cited, uri="/n/report.pdf")) == Path("/n/report.pdf").as_uri()


def test_counts_and_sizes_read_well() -> None:
    assert [count(0, "source"), count(1, "source"), count(1204, "source")] == ["0 sources", "1 source", "1,204 sources"]
    assert [size(1), size(999), size(1000), size(3_240_000), size(12_000_000_000)] == [
        "1 byte", "999 bytes", "1.0 kB", "3.2 MB", "12.0 GB",
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["gbk", "latin-1"])
def test_a_terminal_that_is_not_utf_8_gets_what_it_can_show(shell: Shell, encoding: str) -> None:
    (shell.folder / "⚓ quay.md").write_text("# The ⚓ quay\n\nThe ⚓ rope hangs on hook 7.\n\nOwner: Zoë ⚓ Dorn\n")
    assert shell.pal("add", ".").code == 0
    runner = CliRunner(env={"PALIMPSEST_HOME": str(shell.home), "NO_COLOR": "1"}, charset=encoding)

    def pal(*args: str) -> str:
        result = runner.invoke(main, args, prog_name="pal")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.stdout

    for args in (["facts", "quay"], ["status", "--sources"], ["forget", "⚓ nothing"], ["x⚓"], ["man"]):
        pal(*args)
    assert "The ? rope hangs on hook 7." in pal("ask", "Where does the rope hang?")
    assert "⚓" in json.dumps(json.loads(pal("recall", "rope", "--json")), ensure_ascii=False)


def test_a_line_of_an_answer_breaks_between_words(shell: Shell) -> None:
    words = "the second shelf of the pantry, between the lentils and the vinegar, in the tin with the lighthouse on it"
    (shell.folder / "key.md").write_text(f"# Keys\n\nThe cellar key hangs in {words}.\n")
    assert shell.pal("add", ".").code == 0
    first, second, *_ = at_terminal(shell, "ask", "Where is the cellar key?", keys=[]).out.splitlines()
    assert len(first) <= 80 and second.startswith("  ") and f"{first[2:]} {second.strip()}".count(words) == 1
    lines = at_terminal(shell, "recall", "pantry", keys=[]).out.splitlines()
    assert max(map(len, lines)) <= 80 and any(line.endswith("the lentils") for line in lines)
