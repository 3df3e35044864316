"""A question, from Enter to the settled answer; and all the ways it may not get there."""

from __future__ import annotations

import asyncio

import pytest

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.terminal import title_of
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import Script
from tui.link import StreamEvent
from tui.widgets.plain import Plain
from tui.widgets.prose import Prose
from tui.widgets.transcript import Note


def starts(chat: Chat) -> list[StreamEvent]:
    """The messages that a session is stored."""
    messages = [message for message in chat.messages if isinstance(message, StreamEvent)]
    return [message for message in messages if isinstance(message.event, wire.Conversation)]


async def test_an_answer_shows_its_text_its_evidence_and_what_it_took() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        answer = await chat.ask(world.QUESTION)
        assert "- " + "\n- ".join(prose.source for prose in answer.query("Answer > Prose")) == world.TEXT.rstrip()
        assert answer.trace.text == "why this? ^T · not right? ^B"
        await chat.until(lambda: "/fog-signal.md:14" in chat.text())
        screen = chat.text()
        assert "It was last sounded on 9 March 2026" in screen
        assert "/2026-01-14.md:6, 14 Jan 2026 (earlier)" in screen
        assert "orn committee, Nuria Solano, 2026-03-10" in screen
        kinds = [type(message.event) for message in chat.messages if isinstance(message, StreamEvent)]
        assert kinds[:2] == [wire.Conversation, wire.Step] and kinds[-1] is wire.Answered


async def test_a_clear_answer_has_its_value_in_bold_what_it_replaced_below_and_the_rest_folded() -> None:
    async with chatting(world.client(answers=[world.clear_answer()])) as chat:
        answer = await chat.ask(world.QUESTION)
        said, earlier, folded = answer.query(Prose)
        assert said.source == "It was last sounded on **9 March 2026**, for the mayor. [1]"
        assert earlier.has_class("earlier") and earlier.source.startswith("earlier: The fog signal")
        assert not folded.display and "▸ also found: 2" in chat.text() and "coffee" not in chat.text()
        assert [cited.n for cited in answer.shown_citations] == [1, 2]
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: folded.display and "coffee" in chat.text())
        assert [cited.n for cited in answer.shown_citations] == [1, 2, 3, 4]
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: not folded.display)


async def test_an_unsure_answer_names_the_notes_of_its_lines_and_first_offers_the_others() -> None:
    async with chatting(world.client(answers=[world.unsure_answer()]), NARROW) as chat:
        answer = await chat.ask(world.QUESTION)
        head, lines, folded = answer.query(Prose)
        assert head.has_class("head") and head.source.startswith("Your memory does not say this plainly")
        assert lines.source == "- [[Beatrice:]] Last sounded 9 March. [1]\n- The fog signal needs a belt. [2]"
        assert "• Beatrice: Last sounded 9 March. [1]" in chat.text()
        assert answer.trace.text == "what else? ^G · none of them? ^B · why these? ^T"
        assert "masked" not in chat.text() and not answer.placeholders
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: folded.display and "Esc close" in chat.text())
        assert answer.placeholders == ("‹password-kdfqrw›",)
        await chat.pilot.press("escape")
        await chat.until(lambda: not folded.display and "Esc close" not in chat.text())


async def test_escape_folds_how_an_answer_was_found() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        answer = await chat.ask(world.QUESTION)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: answer.trace.unfolded and "Esc close" in chat.text())
        await chat.pilot.press("escape")
        await chat.until(lambda: not answer.trace.unfolded and "Esc close" not in chat.text())


async def test_who_asks_an_empty_memory_is_told_how_to_fill_it() -> None:
    empty = Script(wire.Answered("Nothing has been read yet.", no_answer=True))
    named = Script(
        wire.Answered("There is nothing in your memory about Atlantis.", no_answer=True, missing=("Atlantis",))
    )
    async with chatting(world.client(state=world.EMPTY, answers=[empty, named])) as chat:
        await chat.ask(world.QUESTION)
        assert "/watch ~/notes" in chat.text() and "Try other words" not in chat.text()
        await chat.ask("Where is Atlantis?")
        assert "Try other words" in chat.text() and "No source has" not in chat.text()


async def test_a_session_begins_with_the_first_question_and_is_named_after_it() -> None:
    client = world.client(answers=[world.short_answer(), world.short_answer()])
    async with chatting(client) as chat:
        await chat.ask(world.QUESTION)
        assert chat.title() == world.QUESTION
        await chat.ask("And who has the belt?")
        assert [how["conversation"] for _, how in client.asked] == [100, 100]
        assert len(starts(chat)) == 1


async def test_an_answer_appears_while_it_is_being_written() -> None:
    script = Script(*world.STEPS[:4], world.PRISM, wire.Token("It was last "), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: chat.answers and "It was last" in chat.text())
        await chat.until(lambda: "/fog-signal.md:14" in chat.text())
        assert chat.answers[0].trace.text == "▸ writing · searched 1,204 passages · found 1 thing you named"
        script.give(wire.Token("sounded in March."))
        await chat.until(lambda: "It was last sounded in March." in chat.text())
        assert not chat.answers[0].ready.is_set()


async def test_the_lines_are_shown_until_a_model_has_written() -> None:
    preview = wire.Preview(world.TEXT.rstrip(), world.CITED)
    script = Script(*world.STEPS[:4], preview, ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: chat.answers and "It was last sounded on 9 March 2026" in chat.text())
        assert chat.answers[0].query(".preview") and "asking a model" in chat.answers[0].trace.text
        assert "/fog-signal.md:14" in chat.text(), "its evidence can be looked at meanwhile"
        for event in (world.PRISM, wire.Token("In March, for the mayor. [1]")):
            script.give(event)
        await chat.until(lambda: "In March, for the mayor." in chat.text())
        assert not chat.answers[0].query(".preview")
        assert chat.answers[0].citations == (world.PRISM,)
        script.give(wire.Answered("In March, for the mayor. [1]", (world.PRISM,)))
        script.end()
        await chat.until(lambda: chat.answers[0].ready.is_set())
        assert [prose.source for prose in chat.answers[0].query(Prose)] == ["In March, for the mayor. [1]"]


async def test_the_seconds_that_a_model_takes_are_shown_and_when_it_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tui.widgets.trace_line.monotonic", lambda: now[0])
    script = Script(wire.Preview("", (), "ollama:m"), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: chat.answers and chat.answers[0].trace.text == "asking a model")
        now[0] += 42
        await chat.until(lambda: chat.answers[0].trace.text == "asking a model · 42 s")
        script.give(wire.Writing())
        now[0] += 8
        await chat.until(lambda: chat.answers[0].trace.text == "writing · 50 s")
        script.give(world.PRISM)
        script.give(wire.Token("In March. [1]"))
        await chat.until(lambda: "In March." in chat.text())
        assert chat.answers[0].trace.text == "writing · 50 s"
        script.give(wire.Answered("In March. [1]", (world.PRISM,), model="ollama:m", ms=51_000))
        script.end()
        await chat.until(lambda: chat.answers[0].ready.is_set())
        assert "writing" not in chat.answers[0].trace.text


async def test_who_does_not_wait_for_the_model_keeps_the_lines() -> None:
    script = Script(wire.Preview(world.TEXT.rstrip(), world.CITED), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: chat.answers and "It was last sounded" in chat.text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "Stopped." in chat.text())
        assert "It was last sounded" in chat.text() and chat.answers[0].citations == world.CITED


async def test_no_answer_says_so_with_a_hint_and_shows_no_evidence() -> None:
    async with chatting(world.client(answers=[world.refusal()]), NARROW) as chat:
        answer = await chat.ask("What is the capital of Atlantis?")
        assert answer.citations == ()
        assert "Your memory does not hold the answer." in chat.text()
        assert "No source has “Atlantis”. Try other words, or /add the folder that has it." in chat.words()
        await chat.pilot.press("f2")
        assert "Nothing in the memory answers this." in chat.text()


async def test_questions_wait_their_turn_while_one_is_answered() -> None:
    first = Script(ends=False)
    client = world.client(answers=[first, world.short_answer("Two."), world.short_answer("Three.")])
    async with chatting(client) as chat:
        await chat.send("One?")
        await chat.send("Two?")
        await chat.send("Three?")
        assert "1 waiting  Two?" in chat.text() and "2 waiting  Three?" in chat.text()
        assert len(chat.answers) == 1
        first.give(wire.Answered("One."))
        await chat.until(lambda: len(chat.answers) == 3 and chat.answers[-1].ready.is_set())
        assert [answer.text for answer in chat.answers] == ["One.", "Two.", "Three."]
        assert [question for question, _ in client.asked] == ["One?", "Two?", "Three?"]
        assert not chat.screen.query_one("#waiting").display


async def test_escape_takes_back_what_waits_first_then_what_runs() -> None:
    script = Script(wire.Token("It was"), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send("One?")
        await chat.send("Two?")
        await chat.until(lambda: "It was" in chat.text())
        await chat.pilot.press("escape")
        assert chat.screen.prompt.text == "Two?"
        assert not script.closed
        chat.screen.prompt.clear()
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.screen.prompt.text == "One?")
        assert script.closed
        assert chat.answers[0].ready.is_set()
        assert "Stopped." in chat.text() and "It was" in chat.text()


async def test_what_was_typed_meanwhile_survives_a_question_that_comes_back() -> None:
    async with chatting(world.client(answers=[Script(ends=False)])) as chat:
        await chat.send("One?")
        chat.screen.prompt.insert("half a th")
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.screen.prompt.text == "One?\nhalf a th")
        assert "half a th" in chat.text() and "Stopped." in chat.text()


async def test_the_last_word_may_come_in_the_moment_in_which_the_question_is_stopped() -> None:
    turns = range(40)  # of the event loop, between the last word and Esc
    async with chatting(world.client(answers=[Script(ends=False) for _ in turns])) as chat:
        for waited in turns:
            await chat.send("One?")
            await chat.until(lambda: len(chat.client.asked) > waited)  # noqa: B023
            chat.app.post_message(StreamEvent(waited + 1, wire.Answered("One.")))
            for _ in range(waited):
                await asyncio.sleep(0)
            await chat.screen.conversation.take_back()
            await chat.until(chat.answers[-1].ready.is_set)
            assert chat.app.return_code is None
            is_stopped = "Stopped." in [one.text for one in chat.answers[-1].query(Plain)]
            assert is_stopped != (chat.answers[-1].text == "One.")
            chat.screen.prompt.clear()


async def test_late_events_of_a_stopped_question_change_nothing() -> None:
    script = Script(ends=False)
    client = world.client(answers=[script, world.short_answer("Second.")])
    async with chatting(client) as chat:
        await chat.send("One?")
        await chat.until(lambda: client.asked)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.answers[0].ready.is_set())
        ticket = starts(chat)[0].ticket
        chat.screen.post_message(StreamEvent(ticket, wire.Token("too late")))
        chat.screen.prompt.clear()
        await chat.ask("Two?")
        assert "too late" not in chat.text()
        assert chat.answers[0].text == "" and chat.answers[1].text == "Second."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            DaemonDownError("The daemon went away while it answered. Try again."),
            "The daemon went away while it answered.",
        ),
        (DaemonError(wire.Failed("bad_input", "The question is too long.", "Shorten it.")), "is too long. Shorten it."),
        (RuntimeError("boom"), "The chat failed: RuntimeError: boom."),
    ],
)
async def test_a_question_that_fails_says_why_and_comes_back(error: Exception, sentence: str) -> None:
    client = world.client(answers=[Script(wire.Token("It was last"), error), world.short_answer("Yes.")])
    async with chatting(client, NARROW) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: sentence in chat.words())
        assert "It was last" in chat.text()
        assert chat.screen.prompt.text == world.QUESTION
        chat.screen.prompt.clear()
        assert (await chat.ask("Once more?")).text == "Yes."


async def test_arrow_keys_bring_back_earlier_questions() -> None:
    client = world.client(answers=[world.short_answer(), world.short_answer()])
    async with chatting(client) as chat:
        await chat.ask("One?")
        await chat.ask("Two?")
        chat.screen.prompt.insert("dra")
        await chat.pilot.press("up")
        assert chat.screen.prompt.text == "Two?"
        await chat.pilot.press("up", "up")
        assert chat.screen.prompt.text == "One?"
        await chat.pilot.press("down", "down")
        assert chat.screen.prompt.text == "dra"


async def test_enter_sends_and_ctrl_j_begins_a_line() -> None:
    client = world.client(answers=[world.short_answer()])
    async with chatting(client) as chat:
        await chat.pilot.press("a", "ctrl+j", "b", "shift+enter", "c")
        assert chat.screen.prompt.text == "a\nb\nc"
        assert chat.screen.prompt.size.height == 3
        await chat.pilot.press("enter")
        await chat.until(lambda: client.asked)
        assert client.asked[0][0] == "a\nb\nc"
        assert chat.screen.prompt.text == ""


async def test_an_empty_prompt_asks_nothing() -> None:
    async with chatting(world.client()) as chat:
        await chat.send("  \n ")
        assert chat.client.asked == [] and not chat.screen.query(Note)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Where?", "Where?"),
        ("  Where?\nI mean the prism.", "Where?"),
        ("word " * 40, "word " * 11 + "word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_a_title_is_the_first_line_cut_at_a_word(question: str, title: str) -> None:
    assert title_of(question) == title
