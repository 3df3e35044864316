"""Sessions: kept by the daemon, listed, resumed, renamed, deleted; and long ones."""

from __future__ import annotations

from dataclasses import replace

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import NOW, Script
from tui.chat.screen import ChatScreen
from tui.dialogs.sessions import SessionsScreen
from tui.session import WINDOW, Session, parse_day
from tui.widgets.answer import Answer
from tui.widgets.below import Chips
from tui.widgets.transcript import Question

BELOW = "why this? ^T · not right? ^B"  # an answer


async def open_list(chat: Chat) -> None:
    await chat.pilot.press("ctrl+s")
    await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))


async def back(chat: Chat) -> None:
    await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))


async def settled(chat: Chat) -> None:
    await chat.until(lambda: chat.answers and all(answer.ready.is_set() for answer in chat.answers))


async def test_the_last_session_is_offered_and_not_forced() -> None:
    async with chatting(world.client(kept=world.sessions())) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        assert "Who has the belt for the compressor?  today 14:02" in chat.text()
        assert not chat.answers
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        assert [answer.text for answer in chat.answers] == ["Answer 1. [1]", "Answer 2. [1]", "Answer 3. [1]"]
        assert chat.title() == "Who has the belt for the compressor?"


async def test_a_resumed_session_goes_on_where_it_was() -> None:
    client = world.client(kept=world.sessions(), answers=[world.short_answer()])
    async with chatting(client) as chat:
        await open_list(chat)
        assert "Opening times at Easter" in chat.text() and "yesterday 09:10 · 1 question" in chat.text()
        await chat.pilot.press("down", "enter")
        await back(chat)
        await settled(chat)
        assert len(chat.screen.evidence.citations) == 1
        await chat.pilot.press("up")
        assert chat.screen.prompt.text == "Question 1?"
        chat.screen.prompt.clear()
        await chat.ask("And at Whitsun?")
        assert client.asked[0][1]["conversation"] == 5


async def test_sessions_are_deleted_after_asking() -> None:
    client = world.client(kept=world.sessions())
    async with chatting(client) as chat:
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        await open_list(chat)
        await chat.pilot.press("down", "delete")
        await chat.until(lambda: "Delete “Opening times at Easter” with its 1 question?" in chat.words())
        await chat.pilot.press("enter")  # no has the focus
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        assert 5 in client.kept
        await chat.pilot.press("delete")
        await chat.until(lambda: "Yes, delete" in chat.text())
        await chat.pilot.press("right", "enter")
        await chat.until(lambda: 5 not in client.kept and "Easter" not in chat.text())
        await chat.pilot.press("escape")
        await back(chat)


def talk() -> dict[int, wire.MessagesReply]:
    """Two sessions, of which one speaks of a goat."""
    goat = [("user", "What may the goat not eat?"), ("memory", "Marmalade [1], the goat may not.")]
    turns = world.session(2, "Animals", NOW, 40).messages
    said = tuple(wire.ChatMessage(100 + n, role, text, NOW) for n, (role, text) in enumerate(goat))  # type: ignore[arg-type]
    animals = wire.Conversation(2, "Animals", NOW, NOW, 42)
    return {7: world.session(7, "Belt", NOW, 6), 2: wire.MessagesReply(animals, (*turns, *said))}


async def test_all_sessions_are_searched_and_what_was_found_is_shown() -> None:
    async with chatting(world.client(kept=talk())) as chat:
        await open_list(chat)
        await chat.pilot.press(*"GOAT")
        await chat.until(lambda: "Memory: Marmalade [1], the goat may not." in chat.text())
        assert "Belt" not in chat.text().replace("Belt for", "") and "2 of their messages have it" in chat.text()
        await chat.pilot.press(*"xyz")
        await chat.until(lambda: "No session contains these words." in chat.text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "Belt" in chat.text())
        assert isinstance(chat.app.screen, SessionsScreen)
        await chat.pilot.press(*"goat", "enter")
        await back(chat)
        await settled(chat)
        assert chat.title() == "Animals"


async def test_a_session_is_opened_where_the_words_were_found() -> None:
    kept = world.session(2, "Animals", NOW, 120)
    goat = replace(kept.messages[31], text="Marmalade [1], the goat may not.")
    kept = replace(kept, messages=(*kept.messages[:31], goat, *kept.messages[32:]))
    async with chatting(world.client(kept={2: kept}, answers=[world.short_answer()])) as chat:
        await chat.send("/sessions marmalade")
        await chat.until(lambda: "Memory: Marmalade" in chat.text())
        await chat.pilot.press("enter")
        await back(chat)
        await chat.until(lambda: "Marmalade [1], the goat may not." in chat.text())
        selected = chat.screen.conversation.transcript.selected
        assert selected is not None and selected.question == "Question 16?" and selected.has_class("-found")
        await chat.pilot.press("alt+down", "alt+down")
        await chat.until(lambda: "↑ 30 earlier messages" not in chat.text() and "Question 18?" in chat.text())
        chat.screen.conversation.transcript.scroll_end(animate=False)
        await chat.until(lambda: "↓ 70 later messages" in chat.text())
        assert "Question 26?" not in chat.text() and len(chat.answers) == 10
        await chat.pilot.click(".later")
        await chat.until(lambda: len(chat.answers) == 20)
        await chat.send("And honey?")
        await chat.until(lambda: "Question 60?" in chat.text() and "On Friday." in chat.text())
        assert "later" not in chat.text() and len(chat.answers) == WINDOW // 2


async def test_what_limited_a_session_and_what_it_took_are_there_again() -> None:
    scope = wire.Scope(("/n/fog.md",), ("/n/diary/", "/n/fog.md#"), ("boat",))
    session, day = world.session(7, "Belt", NOW, 6), parse_day("2026-03")
    last = replace(session.messages[-1], trace_id=1, within=scope, as_of=day, model="qwen3:4b", calls=3, tokens=1200)
    kept = replace(session, messages=(*session.messages[:-1], last))
    async with chatting(world.client(kept={7: kept}, answers=[world.short_answer()])) as chat:
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        labels = ["@fog.md", "@diary/", "#boat", "as of 2026-03"]
        await chat.until(lambda: chat.screen.query_one(Chips).labels == labels)
        assert chat.screen.conversation.border_subtitle == "qwen3:4b · 3 calls · 1,200 tokens"
        await chat.ask("And now?")
        _, how = chat.client.asked[-1]
        assert how["within"] == scope and how["as_of"] == day
        await chat.screen.action_new_session()
        await chat.until(lambda: not chat.screen.query_one(Chips).labels)


async def test_search_begins_from_the_prompt() -> None:
    async with chatting(world.client(kept=talk()), NARROW) as chat:
        await chat.send("/sessions marmalade")
        await chat.until(lambda: "Memory: Marmalade" in chat.text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "Belt" in chat.text())
        await chat.pilot.press("escape")
        await back(chat)


async def test_the_session_on_screen_is_renamed() -> None:
    client = world.client(kept=talk())
    async with chatting(client) as chat:
        await chat.send("/rename Anything")
        await chat.until(lambda: "There is no session yet." in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        await chat.send("/rename The belt")
        await chat.until(lambda: chat.title() == "The belt")
        await chat.send("/rename")
        await chat.until(lambda: "Enter saves the name" in chat.text())
        await chat.pilot.press("end", *"s", "enter")
        await chat.until(lambda: client.kept[7].conversation.title == "The belts")


async def test_deleting_the_session_on_screen_begins_a_new_one() -> None:
    client = world.client(kept=world.sessions())
    async with chatting(client) as chat:
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        await open_list(chat)
        await chat.pilot.press("delete")
        await chat.until(lambda: "Yes, delete" in chat.text())
        await chat.pilot.press("right", "enter")
        await chat.until(lambda: 7 not in client.kept)
        await chat.pilot.press("escape")
        await back(chat)
        await chat.until(lambda: "Ask your memory." in chat.text())
        assert not chat.answers and chat.title() == "New session"


async def test_a_new_session_leaves_the_running_answer_to_the_daemon() -> None:
    script = Script(wire.Token("Slow"), ends=False)
    client = world.client(answers=[script, world.short_answer("New.")])
    async with chatting(client) as chat:
        await chat.send("One?")
        await chat.send("Two?")
        await chat.until(lambda: "Slow" in chat.text())
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.answers)
        assert not script.closed
        assert chat.screen.prompt.text == "Two?"
        script.give(wire.Answered("Slow but done."))
        chat.screen.prompt.clear()
        assert (await chat.ask("Three?")).text == "New."
        assert [how["conversation"] for _, how in client.asked] == [100, 101]


async def test_sessions_without_messages_are_not_listed_and_an_empty_list_says_so() -> None:
    client = world.client()
    client.new_conversation("A first question that failed")
    async with chatting(client, NARROW) as chat:
        await open_list(chat)
        assert "There is no session yet." in chat.text()
        await chat.pilot.press("enter", "delete", "escape")
        await back(chat)


async def test_a_session_that_is_gone_is_reported() -> None:
    client = world.client(kept=world.sessions())
    async with chatting(client) as chat:
        await open_list(chat)
        client.kept.clear()
        await chat.pilot.press("enter")
        await back(chat)
        await chat.until(lambda: "There is no session 7. Choose another one." in chat.words())
        assert not chat.answers and chat.title() == "New session"


async def test_an_answer_that_broke_off_is_marked() -> None:
    reply = world.session(7, "Belt", NOW, 2)
    broken = wire.ChatMessage(9, "memory", "It was last", NOW, state="partial")
    client = world.client(kept={7: wire.MessagesReply(reply.conversation, (*reply.messages[:1], broken))})
    async with chatting(client) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        assert "It was last" in chat.text() and "The answer was interrupted here." in chat.text()


async def test_a_resumed_session_shows_what_was_said_of_its_answers() -> None:
    reply = world.session(7, "Belt", NOW, 4)
    judged = [
        replace(one, trace_id=n, verdict=verdict)
        for n, (one, verdict) in enumerate(zip(reply.messages, [None, "bad", None, "good"], strict=True))
    ]
    client = world.client(kept={7: replace(reply, messages=tuple(judged))}, verdicts={1: "bad", 3: "good"})
    async with chatting(client) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        assert [answer.trace.text for answer in chat.answers] == [f"{BELOW} · bad", f"{BELOW} · good"]
        assert f"{BELOW} · bad" in chat.text()
        await chat.send("/unsay")
        await chat.until(lambda: chat.answers[1].trace.text == BELOW)
        assert [one.verdict for one in chat.screen.conversation.session.messages] == [None, "bad", None, None]


async def test_an_answer_that_is_scrolled_back_to_shows_what_was_said_of_it() -> None:
    reply = world.session(7, "Belt", NOW, 2)
    client = world.client(kept={7: reply}, answers=[world.answer()])
    async with chatting(client) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        await chat.ask("Who?")
        await chat.send("/bad")
        await chat.until(lambda: chat.answers[-1].trace.text.endswith("bad"))
        again = Answer("Who?", chat.screen.conversation.session.messages[-1])
        await chat.screen.conversation.transcript.prepend([again])
        await chat.until(again.ready.is_set)
        assert again.trace.text == f"{BELOW} · bad"


async def test_a_session_of_500_messages_mounts_only_its_end() -> None:
    client = world.client(kept={7: world.session(7, "Long", NOW, 500)})
    async with chatting(client) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        await chat.until(lambda: "Answer 250." in chat.text())
        assert len(chat.screen.query("Answer Prose")) == WINDOW // 2
        assert len(chat.screen.query("*")) < 150
        assert chat.screen.conversation.transcript.follows


async def test_scrolling_to_the_top_loads_more_and_holds_the_view() -> None:
    client = world.client(kept={7: world.session(7, "Long", NOW, 500)})
    async with chatting(client, NARROW) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        transcript = chat.screen.conversation.transcript
        await chat.until(lambda: "Answer 250." in chat.text())
        while len(chat.answers) == WINDOW // 2:
            await chat.pilot.press("pageup")
        await chat.until(lambda: len(chat.answers) == WINDOW)
        await chat.until(lambda: "Question 241?" in chat.text())
        assert "Question 230?" not in chat.text() and transcript.scroll_y > 0
        assert chat.answers[0].text == "Answer 231. [1]"
        await chat.until(lambda: "more line" not in chat.text())  # once the place in view is found again
        assert not transcript.follows


async def test_what_is_out_of_sight_is_unmounted_as_the_session_grows() -> None:
    client = world.client(kept={7: world.session(7, "Long", NOW, WINDOW)}, answers=[world.short_answer()])
    async with chatting(client, NARROW) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await settled(chat)
        await chat.send("One more?")
        await chat.until(lambda: chat.answers[-1].question == "One more?" and chat.answers[-1].ready.is_set())
        await chat.until(lambda: len(chat.screen.query(Question)) + len(chat.answers) == WINDOW)
        assert chat.screen.conversation.session.shown_from == 2


def test_a_session_knows_which_messages_have_widgets() -> None:
    session = Session.from_messages(world.session(7, "Long", NOW, 50))
    assert [message.text for message in session.shown][:2] == ["Question 16?", "Answer 16. [1]"]
    assert session.show_earlier()[0].text == "Question 6?"
    assert session.show_earlier()[0].text == "Question 1?"
    assert session.show_earlier() == []
    assert len(session.shown) == 50
    assert session.asked[-1] == "Question 25?"


async def test_ctrl_r_searches_all_questions_and_answers_at_once() -> None:
    async with chatting(world.client(kept=talk())) as chat:
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        await chat.pilot.press(*"marmalade")
        await chat.until(lambda: "Memory: Marmalade" in chat.text())
