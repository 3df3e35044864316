"""Slash commands: what they do, what they say, how they are completed."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import NOW, Script
from tui.actions import find_command, find_commands, parse_command
from tui.chat.screen import ChatScreen
from tui.dialogs.help import HelpScreen
from tui.dialogs.sessions import SessionsScreen
from tui.link import EFFORTS
from tui.widgets.home import Home
from tui.widgets.plain import Plain
from tui.widgets.transcript import Note

HERE = "Here."  # a note, with which the conversation takes the place of Home


def notes(chat: Chat) -> list[str]:
    return [note.text for note in chat.screen.query(Note) if note.text != HERE]


async def test_add_shows_its_progress_and_its_end(tmp_path: Path) -> None:
    tmp_path /= "letters.zip"
    script = Script(wire.Progress(1, 3, "/x/a.md"), ends=False)
    async with chatting(world.client(state=world.EMPTY, additions=[script])) as chat:
        assert "Your memory is empty." in chat.text() and "Choose a folder" in chat.text()
        await chat.screen.tell(HERE)
        await chat.send(f"/add '{tmp_path}'")
        await chat.until(lambda: notes(chat) == [f"{tmp_path}: read 1 of 3 · /x/a.md"])
        script.give(wire.Skipped("/x/b.bin", "it is no text"))
        script.give(wire.Added(sources=2, episodes=9, unchanged=0, skipped=1))
        expected = f"{tmp_path}: 2 notes read, 9 passages, 1 skipped.\n  skipped /x/b.bin: it is no text"
        await chat.until(lambda: notes(chat) == [expected])
        assert chat.client.asked == []


async def test_adding_does_not_keep_a_question_waiting(tmp_path: Path) -> None:
    tmp_path /= "letters.zip"
    client = world.client(additions=[Script(ends=False)], answers=[world.short_answer("Already.")])
    async with chatting(client) as chat:
        await chat.send(f"/add {tmp_path}")
        assert (await chat.ask("Can I ask?")).text == "Already."


async def test_an_addition_that_fails_says_why(tmp_path: Path) -> None:
    tmp_path /= "letters.zip"
    failed = wire.Failed("store", "The disk is full.", "Make room and add it again.")
    async with chatting(world.client(additions=[Script(failed)]), NARROW) as chat:
        await chat.screen.tell(HERE)
        await chat.send(f"/add {tmp_path}")
        await chat.until(lambda: "The disk is full. Make room and add it again." in chat.words())
        assert chat.screen.query(Note).last().has_class("-error")


async def test_an_addition_outlives_its_session() -> None:
    script = Script(ends=False)
    async with chatting(world.client(additions=[script])) as chat:
        await chat.screen.tell(HERE)
        await chat.send("/add /notes")  # a long path would be told in several lines
        await chat.pilot.press("ctrl+n")
        script.give(wire.Added(1, 1, 0, 0))
        await chat.until(lambda: "1 note read, 1 passage." in chat.words())
        assert notes(chat) == [] and "Ask your memory." in chat.text(), "it is told beside the new session, not in it"


async def test_watch_says_that_it_watches(tmp_path: Path) -> None:
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await chat.screen.tell(HERE)
        await chat.send(f"/watch {tmp_path}")
        await chat.until(lambda: notes(chat) and notes(chat)[0].startswith(f"Watching {tmp_path}."))
        assert chat.client.state.files.folders[-1].path == str(tmp_path)


async def test_home_stays_while_the_first_folder_is_read_and_shows_what_to_ask(tmp_path: Path) -> None:
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await chat.send(f"/watch {tmp_path}")
        await chat.until(lambda: chat.message().startswith(f"Watching {tmp_path}."))
        assert chat.screen.query(Home) and not notes(chat)


async def test_ctrl_c_stops_the_answer_before_it_leaves() -> None:
    async with chatting(world.client(answers=[Script(ends=False)])) as chat:
        await chat.send("Who?")
        await chat.until(lambda: chat.screen.conversation.is_busy)
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: not chat.screen.conversation.is_busy)
        assert chat.screen.prompt.text == "Who?" and chat.app.return_code is None
        await chat.pilot.press("ctrl+c", "ctrl+c")
        await chat.until(lambda: chat.app.return_code == 0)
        assert chat.screen.prompt.text == ""


async def test_status_opens_the_folders() -> None:
    async with chatting(world.client()) as chat:
        await chat.send("/status")
        await chat.until(lambda: "Health" in chat.text() and "watched · 86 notes" in chat.words())
        assert chat.app.current_mode == "folders" and chat.client.asked == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/foo", "There is no command /foo. /help lists them."),
        ("/add", "It needs an argument: /add PATH"),
        ("/theme puce", "There is no theme puce."),
    ],
)
async def test_a_command_that_cannot_be_meant_says_what_is_wrong(typed: str, said: str) -> None:
    async with chatting(world.client()) as chat:
        await chat.send(typed)
        await chat.until(lambda: said in chat.words())
        assert chat.client.asked == []


async def test_commands_do_what_their_keys_do() -> None:
    async with chatting(world.client(kept=world.sessions())) as chat:
        await chat.send("/help")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        assert "Type a question and press Enter" in chat.words()
        await chat.pilot.press("escape")
        await chat.send("/sessions")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        assert "Opening times at Easter" in chat.text()
        await chat.pilot.press("escape")
        await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
        await chat.send("/last")
        await chat.until(lambda: len(chat.answers) == 3)
        assert chat.title() == "Who has the belt for the compressor?"
        await chat.send("/new")
        await chat.until(lambda: not chat.answers)
        assert chat.title() == "New session" and "Ask your memory." in chat.text()
        await chat.send("/theme parchment")
        await chat.until(lambda: chat.app.theme == "parchment")
        await chat.send("/quit")
        await chat.until(lambda: chat.app.return_code == 0)
        assert chat.client.asked == [], "none of them was a question"


async def test_the_hints_follow_what_is_typed_and_tab_completes() -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.press("/")
        slashes = [action.slash for action in find_commands("")]
        assert slashes[0] == "help" and slashes[-1] == "quit", "leaving is offered last, as in the palette"
        await chat.pilot.press("s")
        first, *rest = chat.said("#suggestions").splitlines()
        assert first.startswith("▸ /sessions [WORDS]   Choose an earlier session;")
        assert all(line.startswith("  /s") for line in rest)
        await chat.pilot.press("tab")
        assert chat.screen.prompt.text == "/sessions "
        chat.screen.prompt.fill("/watch ")
        await chat.until(lambda: chat.screen.query_one("#suggestions").display)
        assert "/watch ~/notes" in chat.said("#suggestions"), "an example of what to type"
        chat.screen.prompt.fill("/connect ")
        await chat.until(lambda: "ollama" in chat.said("#suggestions"))
        assert chat.said("#suggestions").splitlines()[-1].endswith("/connect ollama. Tab completes.")
        chat.screen.prompt.fill("/etc/fstab, what is it?")
        await chat.until(lambda: not chat.screen.query_one("#suggestions").display)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/add ~/my notes", ("add", "~/my notes")),
        ("/help", ("help", "")),
        ("/nothing at all", ("nothing", "at all")),
        ("/etc/fstab says what?", None),
        ("what is /add?", None),
        ("/add a\nb", None),
        ("/", None),
    ],
)
def test_a_command_is_one_line_that_begins_with_a_word(text: str, command: tuple[str, str] | None) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("he", "help"), ("stat", "status"), ("wathc", "watch"), ("thmee", "theme"), ("foo", None), ("x", None)],
)
def test_a_command_may_be_shortened_or_mistyped(typed: str, meant: str | None) -> None:
    found = find_command(typed)
    assert (found.slash if found else None) == meant


WHY = wire.Why(
    wire.AskedQuestion(9, NOW, "Who?", False, "R3", 3, 2000, 100),
    (wire.UsedPassage(world.PRISM, 1, 0.83, {"lexical": 6.5, "vector": 0.5, "graph": 0.25}),),
    chain=("Free Guy -> [1] -> Canada",),
    reasons=("The model found no answer in what was found first.",),
    shown=10,
    allowed_calls=4,
    allowed_tokens=12_000,
)


async def test_why_says_what_the_selected_answer_rests_on() -> None:
    async with chatting(world.client(answers=[world.answer()], whys={9: WHY})) as chat:
        await chat.ask("Who?")
        await chat.send("/why")
        await chat.until(lambda: chat.answers[0].trace.unfolded)
        first, scores, *rest = chat.said(".report").splitlines()
        assert first.startswith("[") and "“" in first
        assert scores == "    the best of 10 passages by words, meaning, mentions"
        assert rest == [
            "Chain: Free Guy -> [1] -> Canada",
            "Effort: The model found no answer in what was found first.",
            "It took 3 of 4 calls, 2,100 of 12,000 tokens.",
        ]


async def test_secrets_are_shown_when_they_are_asked_for() -> None:
    masked, gone = "‹password-bcdfgh›", "‹pin-bcdfgh›"
    answers = [world.short_answer(f"It is {masked}, the bike's {gone}. [1]"), world.short_answer()]
    async with chatting(world.client(answers=answers, secrets_kept={masked: "swordfish"})) as chat:
        await chat.send("/secrets")
        await chat.until(lambda: len(notes(chat)) == 1)
        answer = await chat.ask("What is it?")
        assert (
            "2 secrets masked: /secrets" in answer.query_one(".remark", Plain).text and "swordfish" not in answer.text
        )
        await chat.send("/secrets")
        await chat.until(lambda: len(notes(chat)) == 2)
        await chat.ask("When?")
        await chat.send("/secrets")
        await chat.until(lambda: len(notes(chat)) == 3)
        assert notes(chat) == [
            "Nothing was asked yet.",
            f"{masked}: swordfish\n{gone} is no longer stored: its source was changed or deleted.",
            "Nothing is masked in this answer.",
        ]


async def test_there_is_nothing_to_explain_yet() -> None:
    async with chatting(world.client()) as chat:
        await chat.send("/why")
        await chat.until(lambda: chat.message() == "There is no answer yet.")
        assert notes(chat) == [] and chat.client.asked == []


async def test_an_answer_without_a_trace_is_not_explained() -> None:
    async with chatting(world.client(answers=[world.short_answer()])) as chat:
        await chat.ask("When?")
        await chat.send("/why")
        await chat.until(lambda: chat.message() == "The search of this answer is not stored.")
        assert not chat.answers[0].trace.unfolded


async def test_an_answer_is_judged_and_the_line_under_it_says_so() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        answer = await chat.ask("Who?")
        plain = answer.trace.text
        await chat.send("/good")
        await chat.until(lambda: notes(chat))
        assert notes(chat) == ["Noted as good. Its sources come first next time. /unsay takes it back."]
        assert answer.trace.text == f"{plain} · good"
        await chat.send("/bad")
        await chat.until(lambda: answer.trace.text == f"{plain} · bad")
        await chat.send("/bad")
        await chat.until(lambda: len(notes(chat)) == 3)
        await chat.send("/unsay")
        await chat.until(lambda: len(notes(chat)) == 4)
        assert notes(chat)[1:] == [
            "Noted as bad. Its sources are not reused for similar questions. /unsay takes it back.",
            "The verdict was bad.",
            "Removed: it is no longer marked bad.",
        ]
        assert answer.trace.text == plain
        chat.client.passages = 0
        await chat.send("/good")
        await chat.until(lambda: len(notes(chat)) == 5)
        assert (
            notes(chat)[-1]
            == "Noted as good. It cites nothing, so nothing can be learned from it. /unsay takes it back."
        )


async def test_there_is_nothing_to_judge_yet() -> None:
    async with chatting(world.client()) as chat:
        await chat.send("/good")
        await chat.until(lambda: notes(chat))
        assert notes(chat) == ["Nothing was asked yet."]
        assert chat.client.verdicts == {}


async def test_the_effort_goes_with_the_questions_and_stands_before_the_prompt() -> None:
    async with chatting(world.client(answers=[world.short_answer(), world.short_answer()])) as chat:
        await chat.send("/effort deep")
        await chat.until(lambda: chat.said("#sign") == "deep ›")
        await chat.ask("When?")
        await chat.send("/effort normal")
        await chat.until(lambda: chat.said("#sign") == "›")
        await chat.ask("When then?")
        assert [how["effort"] for _, how in chat.client.asked] == ["deep", "normal"]
        await chat.send("/effort heroic")
        await chat.until(lambda: notes(chat)[-1:] and notes(chat)[-1].startswith("There is no effort heroic."))
        assert all(name in notes(chat)[-1] and sentence in notes(chat)[-1] for name, sentence in EFFORTS.items())
        assert notes(chat)[0] == f"Effort: deep, {EFFORTS['deep']}."


async def test_the_drawing_of_a_question_tells_of_models() -> None:
    route = wire.Step("route", 0.0, {"tier": "R3", "reason": "It said NO ANSWER."})
    guided = (wire.Step("guided", 5.0, {"call": 1, "options": 4}), wire.Step("guided", 0.0, {"call": 0}))
    steps = (wire.Step("compose", 9.0, {"calls": 2}), route, *guided)
    script = Script(*steps, wire.Answered("Yes. [1]", (world.PRISM,), ms=14.0))
    async with chatting(world.client(answers=[script])) as chat:
        await chat.ask("Is it?")
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "guided" in chat.words())
        assert [words for words in ("NO ANSWER.", "14 ms", "3 calls") if words not in chat.words()] == []


async def test_me_says_who_the_person_is_and_lets_them_say_it() -> None:
    async with chatting(world.client()) as chat:
        await chat.send("/me")
        await chat.until(lambda: notes(chat) == ["I do not know who you are. Tell me: /me name YOUR NAME"])
        await chat.send("/me phone 0161 496 0731")
        await chat.until(lambda: "phone: 0161 496 0731 (since" in chat.words() and "you said so)" in chat.words())
        assert chat.client.asked == []
