"""What is done with an answer: its sources under it, what has changed since, copied, asked again, edited, forked."""

from __future__ import annotations

from dataclasses import replace

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import HOME, NOW, Script, ScriptedClient
from tui.widgets.passage import Sources
from tui.widgets.plain import Plain

TURNS = tuple(
    wire.ChatMessage(n, "memory" if n % 2 else "user", text, NOW, trace_id=40 + n if n % 2 else None)
    for n, text in enumerate(["One?", "First.", "Two?", "Second.", "Three?", "Third."])
)
KEPT = {7: wire.MessagesReply(wire.Conversation(7, "Numbers", NOW, NOW, 6), TURNS)}


def client(**fields: object) -> ScriptedClient:
    return world.client(kept=dict(KEPT), **fields)


async def resume(chat: Chat) -> None:
    await chat.until(lambda: "Last session" in chat.text())
    await chat.pilot.press("ctrl+l")
    await chat.until(lambda: len(chat.answers) == 3 and all(answer.ready.is_set() for answer in chat.answers))


def questions(kept: wire.MessagesReply) -> list[str]:
    return [one.text for one in kept.messages if one.role == "user"]


async def test_an_answer_has_its_sources_and_their_days_below() -> None:
    async with chatting(world.client(answers=[world.answer()]), NARROW) as chat:
        answer = await chat.ask(world.QUESTION)
        assert answer.query_one(Sources).text.splitlines() == [
            "[1] notes/museum/fog-signal.md:14, 9 Mar 2026",
            "[2] notes/daily/2026-01-14.md:6, 14 Jan 2026 (earlier)",
            "[3] Foghorn committee, Nuria Solano, 2026-03-10",
        ]
        await chat.pilot.click("Answer Sources", offset=(4, 1))
        await chat.until(lambda: chat.screen.has_class("-evidence-open"))
        assert chat.screen.evidence.citation == world.EARLIER
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.has_class("-evidence-open"))


async def test_lines_of_one_source_share_a_line_and_folded_ones_wait() -> None:
    uri = f"{HOME}/museum/birds.md"
    cited = tuple(replace(world.PRISM, n=n, uri=uri, line=n + 2, folded=n > 6) for n in range(1, 9))
    text = "\n".join(f"- bird {n} [{n}]" for n in range(1, 9))
    two = (world.PRISM, replace(world.PRISM, n=2, line=20))
    scripts = [Script(wire.Answered(text, cited)), Script(wire.Answered("- a [1]\n- b [2]", two))]
    async with chatting(world.client(answers=scripts)) as chat:
        answer = await chat.ask("Which birds?")
        assert answer.query_one(Sources).text == "[1] to [6] notes/museum/birds.md:3 to 8, 9 Mar 2026"
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: answer.query_one(Sources).text.startswith("[1] to [8] notes/museum/birds.md:3 to 10,"))
        answer = await chat.ask("And?")
        assert answer.query_one(Sources).text == "[1] [2] notes/museum/fog-signal.md:14, 20, 9 Mar 2026"


async def test_what_is_unproved_has_the_line_that_it_cites_below() -> None:
    unproved = replace(world.PRISM, n=2, verdict="unproved")
    said = wire.Answered("It was for the mayor [1]. It was in May (unproved) [2].", (world.PRISM, unproved), model="m")
    async with chatting(world.client(answers=[Script(said)])) as chat:
        answer = await chat.ask("When?")
        assert [one.text for one in answer.query(".quote").results(Plain)] == [f"[2] “{world.PRISM.quote}”"]


async def test_of_a_long_path_the_end_and_the_day_are_shown() -> None:
    far = replace(world.PRISM, uri=f"/mnt/{'far/' * 30}fog.md", earlier=True)
    async with chatting(world.client(answers=[Script(wire.Answered("- It was. [1]", (far,)))]), NARROW) as chat:
        answer = await chat.ask("When?")
        sources = answer.query_one(Sources)
        await chat.until(lambda: sources.text.startswith("[1] …/"))
        assert sources.text.endswith("/far/fog.md:14, 9 Mar 2026 (earlier)") and len(sources.text) <= sources.size.width


async def test_a_link_between_notes_is_shown_by_its_name() -> None:
    answered = wire.Answered("Ask [[people/Nuria Solano|Nuria]] or [[Bosun]], [[not]this]].")
    async with chatting(world.client(answers=[Script(answered)])) as chat:
        await chat.ask("Whom?")
        assert "Ask Nuria or Bosun, [[not]this]]." in chat.text()


async def test_an_answer_is_copied_as_markdown() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.send("/copy")
        await chat.until(lambda: "There is no answer to copy yet." in chat.words())
        await chat.ask(world.QUESTION)
        await chat.pilot.press("ctrl+o")
        await chat.until(lambda: chat.app.clipboard.startswith("- It was"))
        assert chat.app.clipboard.endswith("\n- [3] Foghorn committee, Nuria Solano, 2026-03-10")


async def test_a_reopened_answer_says_who_wrote_it_and_what_limited_it() -> None:
    limited = replace(TURNS[5], model="qwen3:4b", within=wire.Scope((), ("/n/diary/",), ("boat",)))
    kept = {7: replace(KEPT[7], messages=(*TURNS[:5], limited))}
    async with chatting(world.client(kept=kept)) as chat:
        await resume(chat)
        await chat.until(lambda: "In the words of qwen3:4b, not quoted." in chat.words())
        assert chat.words().count("@diary/ · #boat") == 1


async def test_of_a_models_words_those_say_so_that_rest_on_no_source() -> None:
    text = "# Signal\n\nIn short:\n\n- It was in March. [1]\n- It is loud.\n\n```\nx = 1.\n```\n\nThe mayor was there."
    answered = wire.Answered(text, (world.PRISM,), model="qwen3:4b", ms=9.0)
    quoted = wire.Answered(text, (world.PRISM,), ms=9.0)
    async with chatting(world.client(answers=[Script(answered), Script(quoted)])) as chat:
        answer = await chat.ask("When?")
        await chat.until(lambda: "It is loud. (no source)" in chat.text())
        said = chat.words()
        assert "The mayor was there. (no source)" in said and said.count("(no source)") == 2
        assert "In the words of qwen3:4b, not quoted." in said
        assert "(no source)" not in answer.text, "what is copied is what was answered"
        await chat.send("/new")
        await chat.ask("When?")
        await chat.until(lambda: "It is loud." in chat.text())
        assert "(no source)" not in chat.text() and "the words of" not in chat.text()


async def test_the_number_of_a_quoted_item_begins_no_list() -> None:
    cited = (world.PRISM, replace(world.PRISM, n=2, line=20))
    lines = "- 2. Practice starts at 7. [1]\n- 3) Bas buys the beer. [2]"
    async with chatting(world.client(answers=[Script(wire.Answered(lines, cited))])) as chat:
        await chat.ask("When is practice?")
        assert "• 2. Practice starts at 7. [1]" in chat.text() and "• 3) Bas buys the beer. [2]" in chat.text()
