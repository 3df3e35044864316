"""What a question did: in words while it runs, drawn when one wants to see it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, chatting
from tests.tui.scripted import NOW, Script
from tests.tui.test_hostile import FORBIDDEN, HOSTILE
from tui.widgets.plain import Plain
from tui.widgets.walk import MAX_NODES, Walk, WalkView

STEPS = [event for event in world.STEPS if isinstance(event, wire.Step)]
BROAD = (180, 40)
VISITS = [event for event in world.STEPS if isinstance(event, wire.Visit)]


def test_each_cited_passage_says_what_led_there() -> None:
    walk = Walk(VISITS, world.CITED)
    assert list(walk.rows()) == [
        ("? question", True),
        ("├─ names → ● Beatrice", True),
        ("│  ├─ sounded for → ○ the mayor", True),
        ("│  │  └─ ▪ [1] Fog signal", True),
        ("│  └─ ▪ [3] Foghorn committee", True),
        ("└─ words → ▪ [2] Wednesday", True),
    ]
    assert not any(won for _, won in Walk(VISITS).rows())


def test_of_many_visits_what_is_cited_is_drawn_with_all_that_led_there() -> None:
    many = [wire.Visit(100 + n, "object", f"thing {n}", 0.99, "graph", "selected", n, 1, 7, "has") for n in range(60)]
    walk = Walk([*VISITS, *many], [world.PRISM])
    assert len(walk.visits) == MAX_NODES and {7, 8, 31} <= {visit.node_id for visit in walk.visits}


async def test_the_drawing_unfolds_and_folds_again() -> None:
    async with chatting(world.client(answers=[world.answer()]), BROAD) as chat:
        await chat.ask(world.QUESTION)
        assert "41 ms" not in chat.text() and "sounded for" not in chat.text()
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "sounded for → ○ the mayor" in chat.text())
        assert " · ".join([*filter(None, map(wire.describe_step, STEPS)), "41 ms"]) in chat.words()
        assert "▪ [3] Foghorn committee" in chat.text()
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "sounded for" not in chat.text())
        assert chat.app.focused is chat.screen.prompt


async def test_what_unfolds_is_brought_into_view() -> None:
    many = [wire.Visit(100 + n, "episode", f"passage {n}", 0.5, "text", "seed") for n in range(40)]
    script = Script(*world.STEPS, *many, *world.CITED, wire.Answered(world.TEXT, world.CITED, ms=41.0))
    async with chatting(world.client(answers=[script]), NARROW) as chat:
        await chat.ask(world.QUESTION)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "? question" in chat.text())
        await chat.until(lambda: "hide why ^T" in chat.text() and "▪ [1] Fog signal" in chat.text())


async def test_while_a_model_is_asked_it_grows_and_when_the_answer_comes_it_folds() -> None:
    script = Script(*world.STEPS, wire.Preview(world.TEXT.rstrip(), world.CITED), ends=False)
    async with chatting(world.client(answers=[script]), BROAD) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: "sounded for → ○ the mayor" in chat.text())
        assert chat.app.focused is chat.screen.prompt, "typing goes on"
        script.give(wire.Visit(90, "episode", "Minutes", 0.3, "collected", "selected", 904, 1, 7))
        script.give(wire.Step("guided", 900.0, {"call": 1, "taken": [90]}))
        await chat.until(lambda: "▪ Minutes" in chat.text() and "fetched 1 more" in chat.words())
        script.give(wire.Token("In March. [1]"))
        await chat.until(lambda: "In March." in chat.text() and "○ the mayor" not in chat.text())


async def test_the_walk_of_an_earlier_session_is_fetched_when_it_is_wanted() -> None:
    reply = world.session(7, "Belt", NOW, 4)
    messages = tuple(replace(one, trace_id=n) for n, one in enumerate(reply.messages))
    asked = wire.AskedQuestion(3, NOW, "Question 2?", False, ms=12.0)
    trace = wire.StoredTrace(asked, steps=tuple(STEPS), visits=tuple(VISITS), answer=wire.Answered("", world.CITED))
    client = world.client(kept={7: replace(reply, messages=messages)}, kept_traces={3: trace})
    async with chatting(client, BROAD) as chat:
        await chat.until(lambda: "Last session" in chat.text())
        await chat.pilot.press("ctrl+l")
        await chat.until(lambda: len(chat.answers) == 2 and chat.answers[-1].ready.is_set())
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "sounded for → ○ the mayor" in chat.text())
        await chat.pilot.press("alt+up", "ctrl+t")
        await chat.until(lambda: "There is no trace 1." in chat.words())


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_names_are_drawn_as_text(text: str) -> None:
    visits = (
        wire.Visit(7, "object", text, 0.6, "seed", "seed"),
        wire.Visit(31, "episode", text, 0.9, "rank", "selected", 902, 1, 7, text, True),
    )
    script = Script(*visits, wire.Answered("So. [1]", (world.PRISM,), ms=1.0, trace_id=9))
    async with chatting(world.client(answers=[script])) as chat:
        chat.app._last_guard = []
        await chat.ask("Who?")
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: chat.screen.query_one(WalkView).display)
        assert len(chat.screen.query_one(WalkView).query_one(".tree", Plain).text.splitlines()) == 3
        assert chat.app.return_code is None and not FORBIDDEN.search(chat.text().replace("\n", ""))
