"""Text of files and strangers is text: it is no markup, no action, and no terminal obeys it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.events import Paste

from daemon import wire
from daemon.terminal import is_file_link
from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import NOW, Script
from tui.app import OnlyText
from tui.chat.screen import ChatScreen
from tui.dialogs.sessions import SessionsScreen
from tui.folders.screen import FoldersScreen
from tui.memory.rows import KINDS
from tui.memory.screen import MemoryScreen
from tui.review.screen import ReviewScreen

ESCAPES = "\x1b[2J\x1b[31mred\x1b]52;c;ZXZpbA==\x07 \x9b31m \x9d52;c;eA==\x9c \x1bP+q544e\x1b\\ \x1b_apc\x1b\\"
OVERWRITING = "over\rwritten\x08\x08 \x07 \u202egnirts\u202c \u2066iso\u2069 \u061c \U000e0041 half\ud800 漢字 🦭"
HOSTILE = {
    "markup and controls": "[/b] closes nothing, [@click=app.quit]press me[/], [link=file:///etc/passwd]x[/link] [red]y"
    f"{ESCAPES} {OVERWRITING}",
    "markdown": "<script>alert(1)</script> ![x](javascript:alert(1)) [y](javascript:alert(1)) [1]: http://a\n\n"
    "| a | b |\n|---|---|\n| [/x] | `[@click=app.quit]c[/]` |\n\n```[/]\n\x1b[0m\n```\n\nz" + "\u0301" * 400,
    "empty": "",
}
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def cited(text: str) -> wire.Citation:
    return replace(world.PRISM, uri=text, title=text, quote=text, passage=f"a\n{text}\nb", speaker=text)


def safe(chat: Chat) -> bool:
    assert chat.app.return_code is None, "an action ran"
    text = chat.text()
    assert not (bad := FORBIDDEN.search(text)), f"{bad[0]!r} reached the terminal" if bad else ""
    return True


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_text_is_shown_as_text_everywhere(text: str) -> None:
    folder = wire.Folder(f"/n/{text}", "missing", detail=text)
    files = wire.FileReading(busy=text, folders=(folder,), skipped=(wire.Skipped(text, text),))
    state = replace(world.STATUS, files=files)
    answer = wire.ChatMessage(2, "memory", text, NOW, citations=(cited(text),))
    messages = (wire.ChatMessage(1, "user", text, NOW), answer)
    kept = {7: wire.MessagesReply(wire.Conversation(7, text, NOW, NOW, 2), messages)}
    events: list[wire.Event] = [
        wire.Step(text, 1.0, {text: text}),
        wire.Visit(1, "episode", text, 0.5, text),
        cited(text),
        wire.Token(f"{text} [1]"),
    ]
    answered = wire.Answered(f"{text} [1]", (cited(text), replace(cited(text), n=2, line=None)), ms=1.0, trace_id=9)
    refused = wire.Answered(text, (), no_answer=True, missing=(text,))
    scripts = [Script(*events, answered), Script(refused), Script(wire.Failed("x", text, text))]
    path = (wire.Hop(text, "object"), wire.Hop(text, "object", text), wire.Hop(text, "episode"))
    why = wire.Why(wire.AskedQuestion(9, NOW, text), (wire.UsedPassage(cited(text), 1, 0.5, {text: 1.0}, (), path),))
    client = world.client(state=state, kept=kept, answers=scripts, whys={9: why})
    async with chatting(client) as chat:
        chat.app._last_guard = []  # what the widgets show is safe without it
        chat.client.live.give(wire.Notice("error", text))
        chat.client.live.give(wire.Progress(1, 2, text))
        await chat.ask(f"{text} ?")
        await chat.pilot.press("ctrl+t")
        assert safe(chat)
        await chat.pilot.press("tab", "enter", "ctrl+o")
        assert safe(chat)
        await chat.until(lambda: chat.said(".report"))
        assert safe(chat)
        await chat.ask("And?")
        await chat.ask("And now?")
        assert safe(chat)
        chat.screen.prompt.clear()
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        assert safe(chat)
        await chat.pilot.press("delete")
        await chat.until(lambda: not isinstance(chat.app.screen, SessionsScreen))
        assert safe(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        found = (wire.ConversationMatch(kept[7].conversation, 2, 2, "memory", f"found {text}", NOW),)
        chat.client.search_conversations = lambda words, limit=50: found  # type: ignore[method-assign]
        await chat.pilot.press("x")
        await chat.until(lambda: "Memory: found" in chat.text())
        assert safe(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
        await chat.until(lambda: chat.answers and chat.answers[-1].ready.is_set())
        assert safe(chat)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_facts_are_shown_as_text(text: str) -> None:
    facts = [world.fact(n, text, 31, 3, f"/n/{text}", quote=text, since=text, title=text) for n in (1, 2)]
    one = replace(world.changes()[4], old=facts[0], new=facts[1], reason=text)
    relations = ("supersedes", "negates", "contradicts", "duplicates")
    changed = {n: replace(one, id=n, relation=relation) for n, relation in enumerate(relations, 1)}
    async with chatting(world.reviewed(changed=changed, episodes={31: f"a\n{text}\nb"})) as chat:
        chat.app._last_guard = []
        await chat.app.action_open_page("review")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen) and chat.app.screen.changes.revisions)
        for key in ("down", "down", "down", "space", "enter", "a", "f", "o"):
            await chat.pilot.press(key)
            assert safe(chat)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_memories_are_shown_as_text(text: str) -> None:
    fact = replace(
        world.FACT_PHONE, text=text, objects=(text, text), predicate=text or None, uri=text, title=text, quote=text
    )
    neighbours = (wire.Neighbour(f"{text} beside", text), wire.Neighbour(f"{text} near", passages=2))
    revision = replace(world.changes()[4], reason=text)
    timeline = wire.FactTimeline(
        text, text, (wire.TimelineValue(fact, revision), wire.TimelineValue(replace(fact, id=7)))
    )
    thing = wire.ObjectReply(
        text, (text, f"{text}!"), (fact,), (timeline,), (wire.MentionedIn(text, text, 1, text, 1),), 1, neighbours
    )
    passage = wire.Passage(31, text, "file", text, text, speaker=text, line=1)
    source = wire.ListedSource(text, "file", text, 1)
    client = world.client(
        things=(wire.FoundObject(text, text, 1, 1),),
        told=(fact,),
        notes=(source,),
        object_pages={text: thing},
        note_pages={text: wire.NoteReply(source, NOW, (text,), (text,), (passage,), (fact,))},
        mine=wire.Profile((text,), (text,), (wire.ProfileEntry(text, (fact,), (fact,)),)),
    )
    async with chatting(client) as chat:
        chat.app._last_guard = []
        await chat.app.action_open_page("memory")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.target is not None)
        page = chat.app.screen
        assert isinstance(page, MemoryScreen) and safe(chat)
        for kind in KINDS:
            page.target = None
            page.filter.choose(kind)
            page.reload()
            await chat.until(lambda: page.target is not None)
            assert safe(chat)
            for key in ("slash", "down", "enter", "enter", "escape", "escape", "p", "p"):
                await chat.pilot.press(key)
                assert safe(chat)
            for key in ("delete", "ctrl+p"):
                await chat.pilot.press(key, "escape")
                assert safe(chat)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_folders_files_models_and_problems_are_shown_as_text(text: str) -> None:
    folder = wire.Folder(f"/n/{text}", "missing", 3, text, "any", 3, (text,))
    job = wire.FailedJob(5, "extract", text, text)
    enrichment = wire.Enrichment("reading", text, text, 1, 2, failed=(job,), failed_total=1, tokens=1)
    files = wire.FileReading(folders=(folder,), failed=(replace(job, id=6),))
    state = replace(world.STATUS, files=files, enrichment=enrichment)
    graded = replace(world.GRADED, name=text, notes=(text,), problem=text)
    rows = (wire.ModelRow(text, True, roles=(text,), grades=graded),)
    modelled = wire.ModelsReply(rows, (wire.ModelRole(text, (text,), text),), (text,), (text,), (text,))
    left_out = (wire.Skipped(f"/n/{text}", text),)
    kept = world.client(state=state, left_out=left_out, reachable=modelled, problems=(f"{text} pal backup",))
    async with chatting(kept) as chat:
        chat.app._last_guard = []
        await chat.app.action_open_page("folders")
        await chat.until(lambda: isinstance(chat.app.screen, FoldersScreen))
        chat.client.live.give(wire.Progress(1, 2, text))
        for key in "delete escape enter escape right down down right".split():
            await chat.pilot.press(key)
            await chat.pilot.pause(0.05)
            assert safe(chat)
        await chat.choose("Fix")
        await chat.until(lambda: chat.client.done == [("backup",)])
        assert safe(chat)


async def test_a_click_on_hostile_text_runs_nothing() -> None:
    text = "[@click=app.quit]press me[/] or [that](file:///etc/passwd) [1]"
    async with chatting(world.client(answers=[Script(wire.Answered(text, (cited(text),), ms=1.0))])) as chat:
        await chat.ask(text)
        targets = [
            (found.start() + 1, y)
            for y, line in enumerate(chat.text().splitlines())
            for found in re.finditer(r"press|that|\[1\]|@click", line)
        ]
        assert len(targets) > 6
        for target in targets:
            await chat.pilot.click(offset=target)
        assert safe(chat)


async def test_a_link_is_copied_and_reported_and_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    text = "See [here](https://example.org/fog)."
    async with chatting(world.client(answers=[Script(wire.Answered(text, ms=1.0))])) as chat:
        monkeypatch.setattr(chat.app, "open_url", lambda url, new_tab=True: opened.append(url))
        await chat.ask("Where?")
        lines = chat.text().splitlines()
        y = next(y for y, line in enumerate(lines) if "See here." in line)
        await chat.pilot.click(offset=(lines[y].index("here") + 1, y))
        await chat.until(lambda: "Link copied: https://example.org/fog" in chat.words())
        assert opened == [] and chat.app.clipboard == "https://example.org/fog"


async def test_pasted_commands_of_a_terminal_are_taken_out() -> None:
    async with chatting(world.client()) as chat:
        chat.app.post_message(Paste("one\r\ntwo\x1b]52;c;eA==\x07\u202e"))
        await chat.until(lambda: chat.screen.prompt.text == "one\ntwo]52;c;eA==")
        assert "two]52;c;eA==" in chat.text() and not FORBIDDEN.search(chat.text().replace("\n", ""))
        assert chat.client.asked == [] and chat.app.clipboard == ""


def test_the_last_guard_lets_no_control_character_pass() -> None:
    text = "".join(HOSTILE.values())
    kept = OnlyText().apply([Segment("plain"), Segment(text)], Color(0, 0, 0))
    assert kept[0].text == "plain"
    assert not FORBIDDEN.search(kept[1].text) and "\n" not in kept[1].text


@pytest.mark.parametrize("link", ["https://example.org", "file:///a\x1b\\b", "file:///a b", "file://host/a", "x"])
def test_the_last_guard_lets_no_link_pass_but_to_a_file(link: str) -> None:
    ours, theirs = (Segment("words", Style(bold=True, link=to)) for to in ("file:///n/a%20b.md", link))
    kept = OnlyText().apply([ours, theirs], Color(0, 0, 0))
    assert kept[0] == ours and kept[1].text == "words"
    assert kept[1].style is not None and kept[1].style.link is None and kept[1].style.bold


def links(chat: Chat) -> set[str]:
    """Where the words on the screen lead, before the last guard has seen them."""
    strips = chat.app.screen._compositor.render_strips()
    return {segment.style.link for strip in strips for segment in strip if segment.style and segment.style.link}


@pytest.mark.parametrize("size", [(120, 36), (200, 50)])
async def test_paths_of_sources_are_links_and_hostile_ones_are_not(size: tuple[int, int]) -> None:
    names = ["/n/a b.md", *(f"/n/{text}.md" for text in HOSTILE.values()), "javascript:alert(1)", "https://a.b/c"]
    found = [replace(cited(f"[x](https://evil.org) {name}"), n=n, uri=name) for n, name in enumerate(names, 1)]
    text = "- So it is. " + "".join(f"[{one.n}]" for one in found)
    async with chatting(world.client(answers=[Script(wire.Answered(text, tuple(found), ms=1.0))]), size) as chat:
        chat.app._last_guard = []
        await chat.ask("So?")
        await chat.until(lambda: "file:///n/a%20b.md" in links(chat))
        assert all(is_file_link(link) for link in links(chat))
        assert all(link.startswith("file:///n/") for link in links(chat)) and safe(chat)
