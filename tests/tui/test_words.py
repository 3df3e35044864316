"""Words, paths, passages and editors: the plain functions under the chat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from daemon import wire
from tui.editor import editor_command, find_editor
from tui.widgets.passage import mark_quote
from tui.widgets.transcript import hang_lines
from tui.wording import added_report, cited_label, cut_left, day, short_path, skipped_lines, when

NOW = datetime(2026, 4, 24, 1, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-04-24T01:00:00+02:00", "today 01:00"),
        ("2026-04-23T23:00:00+00:00", "today 01:00"),
        ("2026-04-23T12:00:00+02:00", "yesterday 12:00"),
        ("2026-01-02T12:00:00+02:00", "2 Jan"),
        ("2025-12-30T12:00:00+02:00", "30 Dec 2025"),
    ],
)
def test_a_time_is_said_as_people_say_it(at: str, words: str) -> None:
    assert when(datetime.fromisoformat(at), NOW) == words


def test_a_day_without_a_date_is_nothing() -> None:
    assert day(datetime(2026, 3, 9, 11, tzinfo=UTC)) == "9 Mar 2026"
    assert day(None) == ""


def test_a_path_is_as_short_as_it_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/tilda")
    assert short_path("/home/tilda/notes/a.md", ["/home/tilda/notes/"]) == "notes/a.md"
    assert short_path("/home/tilda/other/a.md", ["/home/tilda/notes"]) == "~/other/a.md"
    assert short_path("/home/tildas/a.md", ["/home/tilda"]) == "/home/tildas/a.md"
    assert short_path("/a.md", ["/"]) == "/a.md"


@given(st.text(max_size=40), st.integers(1, 50))
def test_what_is_cut_keeps_its_end(text: str, width: int) -> None:
    cut = cut_left(text, width)
    assert cut == text or (len(cut) <= max(2, width) and cut.startswith("…") and text.endswith(cut[1:]))


def test_a_path_is_cut_at_a_slash() -> None:
    assert cut_left("/home/tilda/notes/a.md:12", 18) == "…/notes/a.md:12"


words = st.lists(st.text("abc.*[(", min_size=1, max_size=4), min_size=1, max_size=6)
gaps = st.sampled_from([" ", "\n", "  ", "\n\n"])


@given(words, words, words, st.data())
def test_a_quote_is_found_however_it_is_wrapped(
    before: list[str], quote: list[str], after: list[str], data: st.DataObject
) -> None:
    passage = "".join(word + data.draw(gaps) for word in [*before, *quote, *after])
    marked = mark_quote(passage, " ".join(quote))
    assert marked.lines[marked.start : marked.end].split() == quote
    assert "".join((marked.before + marked.lines + marked.after).split()) == "".join(passage.split())


@pytest.mark.parametrize("quote", ["not in there", "", "   "])
def test_without_its_quote_a_passage_stays_whole(quote: str) -> None:
    assert mark_quote("some\npassage", quote) == ("some\npassage", "", "", 0, 0)


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "/n/a b.md"]),
        ("/usr/bin/nvim -p", ["/usr/bin/nvim", "-p", "+7", "/n/a b.md"]),
        ("nano", ["nano", "+7", "/n/a b.md"]),
        ("emacsclient -nw", ["emacsclient", "-nw", "+7", "/n/a b.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/n/a b.md:7"]),
        ("hx", ["hx", "/n/a b.md:7"]),
        ("micro", ["micro", "+7", "/n/a b.md"]),
        ("kate -b", ["kate", "-b", "--line", "7", "/n/a b.md"]),
        ("myed --at {line} {path}", ["myed", "--at", "7", "/n/a b.md"]),
        ("ed", ["ed", "/n/a b.md"]),
    ],
)
def test_an_editor_gets_the_line_in_its_own_way(editor: str, command: list[str]) -> None:
    assert editor_command(editor, "/n/a b.md", 7) == command
    assert editor_command(editor, "/n/a b.md")[-1] == "/n/a b.md"


def test_the_editor_is_the_visual_one_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_editor({"VISUAL": "hx", "EDITOR": "vi"}) == "hx"
    assert find_editor({"VISUAL": " ", "EDITOR": "vi"}) == "vi"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_editor({}) is None
    (tmp_path / "vi").touch(mode=0o755)
    assert find_editor({}) == "vi"


def test_an_addition_is_summed_up() -> None:
    assert added_report("~/n", wire.Added(0, 0, 0, 0), ()) == "~/n: nothing to read."
    assert added_report("~/n", wire.Added(1, 1, 2, 0), ()) == "~/n: 1 note read, 1 passage, 2 unchanged."
    assert skipped_lines((), 1) == ["  1 file skipped; `pal status` lists them"]


@pytest.mark.parametrize(("columns", "lines"), [(80, 3), (40, 4)])
def test_what_goes_on_below_an_indented_line_is_indented_as_far(columns: int, lines: int) -> None:
    text = "Ana, lives in:\n  Turin\n      notes/a.md:3, since 2026-03-09, of 24 April"
    hung = str(hang_lines(Content(text), columns)).splitlines()
    assert len(hung) == lines and hung[:2] == ["Ana, lives in:", "  Turin"]
    assert all(line.startswith("      ") and len(line) <= columns for line in hung[2:])


def test_a_note_without_a_file_is_cited_by_its_title() -> None:
    cited = wire.Citation(1, 7, "note:57cbd3da", "The key", "The key is under the pot.", line=1)
    assert cited_label(cited).startswith("The key")
