"""What an answer rests on: the list, the passage, the way to the source."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Markdown

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import Script, ScriptedClient
from tui.app import PalimpsestApp
from tui.widgets.passage import Sources, mark_quote, split_frontmatter
from tui.widgets.plain import Plain


def answering(*citations: wire.Citation, text: str = "So it is. [1]") -> ScriptedClient:
    return world.client(answers=[Script(*citations, wire.Answered(text, citations, ms=5.0))])


def passage(chat: Chat, part: str) -> str:
    """A part of the shown passage, as Markdown where it is Markdown; "" if there is none."""
    shown = next(iter(chat.screen.query(f"Passage .{part}")), None)
    return shown.source if isinstance(shown, Markdown) else shown.text if isinstance(shown, Plain) else ""


async def test_the_quoted_lines_are_marked_in_the_passage() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: passage(chat, "quoted"))
        assert passage(chat, "quoted") == world.PRISM.quote
        assert passage(chat, "before").startswith("# Fog signal")
        assert passage(chat, "after").endswith("Ozzie has the belt.")
        assert "▌ It was last sounded" in chat.text()


async def test_the_arrow_keys_show_the_next_passage() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        await chat.pilot.press("tab", "right")
        await chat.until(lambda: world.EARLIER.quote in passage(chat, "quoted"))
        await chat.pilot.press("right")
        await chat.until(lambda: passage(chat, "quoted").startswith("Nuria Solano: Nobody"))
        await chat.pilot.press("escape")
        assert chat.app.focused is chat.screen.prompt


async def test_a_click_on_a_mark_in_the_answer_shows_its_passage() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        lines = chat.text().splitlines()
        x, y = next((line.find("[2]", 0, 70), y) for y, line in enumerate(lines) if "[2]" in line[:70])
        await chat.pilot.click(offset=(x + 1, y))
        await chat.until(lambda: world.EARLIER.quote in passage(chat, "quoted"))
        assert chat.app.focused is chat.screen.prompt


async def test_a_click_on_a_source_shows_its_passage_and_opens_nothing() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        await chat.pilot.click(chat.screen.evidence.query_one(Sources), offset=(6, 3))
        await chat.until(lambda: world.EARLIER.quote in passage(chat, "quoted"))
        assert not chat.message()


async def test_an_earlier_answer_shows_its_evidence_again() -> None:
    client = world.client(answers=[world.answer(), world.short_answer("No.")])
    async with chatting(client) as chat:
        first = await chat.ask(world.QUESTION)
        await chat.ask("Is it Tuesday?")
        chat.screen.evidence.highlight(1)
        assert len(chat.screen.evidence.citations) == 1
        await chat.pilot.press("alt+up")
        await chat.until(lambda: len(chat.screen.evidence.citations) == 3)
        assert first.has_class("-marked")
        await chat.pilot.press("alt+down")
        await chat.until(lambda: len(chat.screen.evidence.citations) == 1)
        await chat.pilot.click(first)
        await chat.until(lambda: len(chat.screen.evidence.citations) == 3)


async def test_the_highlight_stays_while_citations_come_in() -> None:
    script = Script(world.PRISM, world.EARLIER, wire.Token("x"), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: len(chat.screen.evidence.citations) == 2)
        await chat.pilot.press("tab", "right")
        script.give(world.CHAT)
        await chat.until(lambda: len(chat.screen.evidence.citations) == 3)
        assert chat.screen.evidence.citation == world.EARLIER


async def test_ctrl_o_copies_the_citation_in_the_evidence_and_the_answer_elsewhere() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        await chat.pilot.press("tab", "ctrl+o")
        await chat.until(lambda: chat.app.clipboard)
        assert chat.app.clipboard == f"“{world.PRISM.quote}” ({world.PRISM.label}, 9 Mar 2026)"
        await chat.pilot.press("escape", "ctrl+o")
        await chat.until(lambda: chat.app.clipboard.startswith("- It was"))
        assert chat.app.clipboard.endswith("\n- [3] Foghorn committee, Nuria Solano, 2026-03-10")


def make_room(app: PalimpsestApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the app suspend, which it cannot without a terminal."""
    assert app._driver is not None
    monkeypatch.setattr(type(app._driver), "can_suspend", True)
    for name in ("suspend_application_mode", "resume_application_mode"):
        monkeypatch.setattr(type(app._driver), name, lambda self: None)


async def test_enter_opens_the_source_in_the_editor_at_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "a note.md"
    note.write_text("one\ntwo\n", "utf-8")
    opened = tmp_path / "opened"
    editor = tmp_path / "vim"
    editor.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(opened)!r}, 'w').write(repr(sys.argv[1:]))\n", "utf-8"
    )
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", shlex.quote(str(editor)))
    monkeypatch.delenv("VISUAL", raising=False)
    cited = replace(world.PRISM, uri=str(note), line=2)
    async with chatting(answering(cited)) as chat:
        await chat.ask("?")
        make_room(chat.app, monkeypatch)
        await chat.pilot.press("tab", "enter")
        await chat.until(opened.exists)
        assert opened.read_text("utf-8") == repr(["+2", str(note)])
        assert not chat.message()


@pytest.mark.parametrize(
    ("cited", "editor", "remark"),
    [
        (world.CHAT, "vim", "This comes from a chat or a remembered note"),
        (world.PRISM, "vim", "The file no longer exists"),
        (replace(world.PRISM, uri=__file__), "/nowhere/vim", "$VISUAL names /nowhere/vim, which is not installed"),
        (replace(world.PRISM, uri=__file__), "vim 'half", "$VISUAL cannot be understood"),
    ],
)
async def test_what_cannot_be_opened_shows_its_passage_and_says_why(
    cited: wire.Citation, editor: str, remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor)
    async with chatting(answering(cited), NARROW) as chat:
        await chat.ask("?")
        make_room(chat.app, monkeypatch)
        await chat.pilot.press("tab", "enter")
        await chat.until(lambda: remark in chat.message())
        assert remark[:20] in chat.text() and passage(chat, "quoted")


async def test_a_small_terminal_shows_the_evidence_instead_of_the_conversation() -> None:
    async with chatting(world.client(answers=[world.answer()]), NARROW) as chat:
        await chat.ask(world.QUESTION)
        assert "Evidence" not in chat.text() and "earlier: The fog signal" in chat.text()
        await chat.pilot.press("f2")
        await chat.until(lambda: "notes/museum/fog-signal.md:14" in chat.text())
        assert "earlier: The fog signal" not in chat.text()
        await chat.pilot.press("escape")
        await chat.until(lambda: "earlier: The fog signal" in chat.text())
        assert chat.app.focused is chat.screen.prompt


async def test_why_shows_the_conversation_that_the_evidence_covers() -> None:
    async with chatting(world.examined(), NARROW) as chat:
        await chat.ask(world.QUESTION)
        for _ in range(2):  # it stays open when it is covered again
            await chat.pilot.press("tab")
            await chat.until(lambda: chat.screen.evidence.has_focus)
            await chat.pilot.press("ctrl+t")
            await chat.until(lambda: "kept 3" in chat.words())
        assert chat.screen.prompt.has_focus
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "kept 3" not in chat.words())


async def test_a_wide_terminal_can_hide_the_evidence() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        assert "Evidence" not in chat.text()
        await chat.ask(world.QUESTION)
        assert "Evidence" in chat.text()
        await chat.pilot.press("f2")
        assert "Evidence" not in chat.text()
        assert chat.app.focused is chat.screen.prompt
        await chat.pilot.press("f2")
        assert "Evidence" in chat.text()


@pytest.mark.parametrize(
    ("text", "is_head"),
    [
        ("---\na: 1\nb c: 2\n---\nText.", True),
        ("---\na:\n  b: 1\n- c: 2\n...\nText.", True),
        ("---\nA quotation\n---\nText.", False),
        ("---\na: 1\nText.", False),
        ("Text.\n---\na: 1\n---\n", False),
        ("", False),
    ],
)
def test_what_counts_as_frontmatter(text: str, is_head: bool) -> None:
    block, rest = split_frontmatter(text)
    assert (rest, bool(block)) == (("Text.", True) if is_head else (text, False))


async def test_frontmatter_right_above_the_quoted_line_is_hidden() -> None:
    cited = replace(
        world.PRISM, quote="Born 24 May.", passage="---\ntags: person\n---\nBorn 24 May.\nBest friend: Zofia."
    )
    async with chatting(answering(cited)) as chat:
        await chat.ask("?")
        await chat.until(lambda: passage(chat, "quoted") == "Born 24 May.\nBest friend: Zofia.")
        assert "tags" not in chat.text()


async def test_the_sources_are_in_the_evidence_or_under_the_answer_never_both() -> None:
    label = "[2] notes/daily/2026-01-14.md:6, 14 Jan 2026"
    async with chatting(world.client(answers=[world.answer()]), (160, 36)) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: label in chat.text())
        assert chat.text().count(label) == 1 and "1 of 3" in chat.text()
        await chat.pilot.press("f2")
        await chat.until(lambda: "1 of 3" not in chat.text())
        assert chat.text().count(label) == 1


async def test_a_note_in_markdown_is_rendered_and_the_quoted_table_stays_whole() -> None:
    table = "| part | price |\n|---|---|\n| belt | 12 |\n| prism | 900 |"
    cited = replace(
        world.PRISM, quote="belt | 12", passage=f"# Parts\n\nSee [the shop](https://x.example) [1].\n\n{table}\n\nEnd."
    )
    async with chatting(answering(cited)) as chat:
        await chat.ask("?")
        await chat.until(lambda: passage(chat, "quoted") == table and "│ belt" in chat.text())
        assert "|---|" not in chat.text() and "the shop [1]." in chat.text() and "https" not in chat.text()
        await chat.until(lambda: passage(chat, "after") == "End.")


async def test_a_table_without_room_is_a_list_of_its_rows() -> None:
    row = f"| Ani | thyroxine | {'before breakfast, ' * 6}with water |"
    table = f"| who | what | when |\n|---|---|---|\n{row}"
    cited = replace(world.PRISM, quote=row, passage=f"# Tablets\n\n{table}\n\nEnd.")
    async with chatting(answering(cited)) as chat:
        await chat.ask("?")
        await chat.until(lambda: "who: Ani; what: thyroxine;" in chat.text() and "with water" in chat.text())
        assert "| Ani |" not in chat.text()


async def test_a_page_that_was_laid_out_as_markdown_is_rendered_and_plain_text_is_not() -> None:
    laid_out = "## Prices\n\n| belt | 12 |\n| prism | 900 | old |\n\n- ask *Ozzie*"
    page = replace(world.PRISM, uri="/n/shop.html", quote="| belt | 12 |", passage=laid_out)
    plain = replace(page, n=2, uri="/n/shop.md", is_markdown=False, quote="- ask *Ozzie*")
    async with chatting(answering(page, plain)) as chat:
        await chat.ask("?")
        await chat.until(lambda: "│ belt" in chat.text() and "• ask Ozzie" in chat.text())
        assert "## Prices" not in chat.text() and "old" in chat.text()
        await chat.pilot.press("tab", "right")
        await chat.until(lambda: "- ask *Ozzie*" in chat.text() and "## Prices" in chat.text())


def test_a_quote_is_marked_with_its_block_and_code_is_not_cut() -> None:
    text = "One.\n\nTwo\nlines.\n\nThree."
    assert mark_quote(text, "lines.", blocks=True)[:3] == ("One.", "Two\nlines.", "Three.")
    assert mark_quote(text, "One.", blocks=True)[:3] == ("", "One.", "Two\nlines.\n\nThree.")
    code = "```\na\n\nb\n```"
    assert mark_quote(code, "b", blocks=True).lines == code


async def test_below_an_answer_are_questions_with_their_keys_and_no_numbers() -> None:
    client = world.examined()
    async with chatting(client) as chat:
        answer = await chat.ask(world.QUESTION)
        await chat.until(lambda: "why this? ^T · not right? ^B" in chat.text())
        assert " ms" not in answer.trace.text and "passages" not in answer.trace.text
        await chat.pilot.press("ctrl+b")
        await chat.until(lambda: "Which words did you expect?" in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: "why this? ^T · not right? ^B · bad" in chat.text())
        await chat.pilot.click(answer.trace, offset=(3, 0))
        await chat.until(lambda: answer.trace.unfolded)


def test_wrapped_prose_flows_and_other_lines_of_a_note_stay() -> None:
    from tui.widgets.prose import _parser

    wrapped = "Went to pay for the mooring and found the Customs House locked, with a\nnote on the door."
    address = "Mara Quill\n5 Wharf Close\nLeeds"
    for text, kind in ((wrapped, "softbreak"), (address, "hardbreak")):
        children = _parser(cites=False).parse(text)[1].children or ()
        assert {child.type for child in children} - {"text"} == {kind}
