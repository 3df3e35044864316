"""The shape of an answer: its value, what that replaced, and what is folded behind it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.nouns import Answer, AnswerLine, Citation, Document, split_lines
from memory.settings import AnswerSettings, MemorySettings
from plugins.embedders.static import StaticEmbedder

NOTES = {
    "Kiosk": "The landlord of the kiosk is Hedda Brandt.",
    "Walk": "We walked past the kiosk and had ice cream.",
    "Ice": "The kiosk sells ice cream and papers.",
    "Summer": "Last summer the kiosk was closed in July.",
}


@pytest.fixture(scope="module")
def kiosk() -> Iterator[Memory]:
    settings = MemorySettings(answer=AnswerSettings(line_margin=9.0))  # lines that stand far behind, too
    with Memory.open(":memory:", embedder=StaticEmbedder(), settings=settings) as memory:
        for title, text in NOTES.items():
            memory.ingest.remember(text, title=title, source=f"/{title}.md")
        yield memory


def ask(memory: Memory, question: str) -> Answer:
    *_, answer = memory.questions.ask(question)
    assert isinstance(answer, Answer)
    return answer


def test_a_clear_answer_stands_alone_with_its_value_and_the_rest_is_folded(kiosk: Memory) -> None:
    first, *rest = ask(kiosk, "Who is the landlord of the kiosk?").lines
    assert (first.kind, first.value) == ("answer", "Hedda Brandt")
    assert {line.kind for line in rest} <= {"folded"}


def test_where_no_line_is_clearly_the_answer_it_says_so_and_shows_the_closest(kiosk: Memory) -> None:
    answer = ask(kiosk, "What happened at the kiosk?")
    head, *lines = answer.lines
    assert answer.kind == "closest" and ask(kiosk, "Who is the landlord of the kiosk?").kind == "answer"
    assert (head.kind, head.text) == ("text", "Your memory does not say this plainly. Closest:")
    assert [line.kind for line in lines] == ["answer", "answer", "answer", "folded"]
    assert not any(line.value for line in lines)


def test_what_a_value_replaced_stands_under_it() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for day, rent in (("2025-01-10", 480), ("2026-03-01", 520)):
            memory.ingest.remember(
                f"Kiosk rent: {rent} euros", title="Kiosk", source="/kiosk.md", at=datetime.fromisoformat(f"{day}T00Z")
            )
        first, second, *_ = ask(memory, "What is the rent of the kiosk?").lines
    assert (first.kind, first.value, second.kind) == ("answer", "520 euros", "earlier")
    assert "480" in second.text


def cite(n: int, **how: object) -> Citation:
    return Citation(n, 1, "/a.md", "a", "words", **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (("Hedda's phone: 0161 496 0500", "Hedda's phone: 0161 496 0403"), 2),
        (("Hedda's phone: 0161 496 0500", "Otto's phone: 0161 496 0403"), 1),
    ],
)
def test_another_value_of_the_same_field_is_not_folded(texts: tuple[str, str], shown: int) -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for number, text in enumerate(texts):
            memory.ingest.remember(text, title=f"Card {number}", source=f"/{number}.md")
        lines = ask(memory, "What is Hedda's phone?").lines
    assert sum(line.kind == "answer" for line in lines) == shown


def test_the_lines_are_read_off_the_text_and_its_citations() -> None:
    text = "Where?\n- Rent: 520 [1]\n- earlier: Rent: 480 [2]\n\n- It was cold [3] [4]"
    cited = [cite(1, value="520"), cite(2, earlier=True), cite(3, folded=True), cite(4, folded=True)]
    assert list(split_lines(text, cited)) == [
        AnswerLine("Where?", "text"),
        AnswerLine("Rent: 520", "answer", (1,), "520"),
        AnswerLine("Rent: 480", "earlier", (2,)),
        AnswerLine("It was cold", "folded", (3, 4)),
    ]


@given(st.text(max_size=80))
def test_any_text_has_lines(text: str) -> None:
    lines = list(split_lines(text, [cite(1), cite(2, folded=True)]))
    assert len(lines) == sum(bool(line.strip()) for line in text.splitlines())


def test_a_briefing_shows_no_line_twice() -> None:
    goat = "# Bosun\n\nBosun is a goat who came with the sea.\n\n- Bosun has one horn. The other one is lost.\n"
    with Memory.open(":memory:", embedder=StaticEmbedder()) as fresh:
        fresh.ingest.remember(goat, title="Bosun", source="/Bosun.md")
        *_, answer = fresh.questions.ask("Who is Bosun?")
    assert isinstance(answer, Answer)
    shown = [line.text for line in answer.lines]
    assert len(shown) == len(set(shown)) >= 2 and any("one horn" in line for line in shown)


def test_a_sentence_of_a_briefing_is_shown_once_with_what_goes_on_from_it() -> None:
    boat = "# Ozzie\n\nOzzie builds boats in a shed by the loft. Retired twice, both times badly.\n\nOzzie hates tea.\n"
    with Memory.open(":memory:", embedder=StaticEmbedder()) as fresh:
        fresh.ingest.remember(boat, title="Ozzie", source="/Ozzie.md")
        *_, answer = fresh.questions.ask("Who is Ozzie?")
    assert isinstance(answer, Answer)
    assert answer.text.count("builds boats") == 1 == answer.text.count("Retired twice"), answer.text


def ask_about(text: str, written: str, question: str) -> Answer:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        at = datetime.fromisoformat(f"{written}T12Z") if written else None
        memory.ingest.remember_many([Document("/boat.md", text, title="Boat", kind="file", at=at)])
        *_, answer = memory.questions.ask(question, now=datetime.fromisoformat("2026-06-01T12Z"))
    assert isinstance(answer, Answer) and not answer.no_answer
    return answer


@pytest.mark.parametrize(
    ("written", "note"),
    [
        ("2026-03-01", ""),
        ("2025-04-01", "[1] was written 14 months ago."),
        ("2023-01-01", "[1] was written 3 years ago."),
    ],
)
def test_an_answer_says_when_it_is_more_than_a_year_old(written: str, note: str) -> None:
    assert ask_about("The berth costs 480 euros.", written, "What does the berth cost?").note == note


@pytest.mark.parametrize("day", ["0001-01-01T00Z", "9999-12-31T23Z"])
def test_the_age_of_an_answer_ends_today(day: str) -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        at = datetime.now(UTC) - timedelta(days=800)
        memory.ingest.remember_many(
            [Document("/boat.md", "The berth costs 480 euros.", title="Boat", kind="file", at=at)]
        )
        *_, answer = memory.questions.ask("What does the berth cost?", as_of=datetime.fromisoformat(day))
    assert isinstance(answer, Answer) and ("written 2 years ago" in answer.note) == day.startswith("9999")


def test_the_age_of_an_answer_at_a_time_counts_from_that_time() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for year, price in ((2020, 480), (2024, 520)):
            text, at = f"The berth costs {price} euros.", datetime(year, 3, 1, tzinfo=UTC)
            memory.ingest.remember_many([Document(f"/{year}.md", text, title="Boat", kind="file", at=at)])
        *_, answer = memory.questions.ask("What does the berth cost?", as_of=datetime(2022, 6, 1, tzinfo=UTC))
    assert (
        isinstance(answer, Answer)
        and "480" in answer.text
        and answer.note == "[1] was written 2 years before that day."
    )


@pytest.mark.parametrize("question", ["What did the berth cost in 2023?", "What was the cost of the berth?"])
def test_an_answer_about_the_past_is_not_called_old(question: str) -> None:
    assert ask_about("The berth costs 480 euros.", "2023-01-01", question).note == ""


def test_several_lines_without_a_date_say_so() -> None:
    text = "The berth costs 480 euros.\n\nThe berth costs 520 euros."
    assert ask_about(text, "", "What does the berth cost?").note.startswith("None of these lines has a date")


@pytest.mark.parametrize(("edit", "shown"), [("raised the fern to 88 ml", 2), ("the shelf is 2 metres long", 1)])
def test_another_number_of_the_same_unit_is_shown_with_the_first(edit: str, shown: int) -> None:
    text = f"| Plant | Water |\n|---|---|\n| Fern | 75 ml |\n| Cactus | 10 ml |\n\n2026-08-19: {edit}."
    cited = ask_about(text, "", "How much water does the fern get?").citations
    assert sum(not citation.folded for citation in cited) == shown


def test_a_line_without_the_kind_of_thing_asked_for_is_no_clear_answer(kiosk: Memory) -> None:
    head, *_ = ask(kiosk, "When does the kiosk sell ice cream?").lines
    assert head.text == "Your memory does not say this plainly. Closest:"


@pytest.mark.parametrize("time", ["at 12:00", "at 10 am", "on Friday", "next week", "in July"])
def test_a_time_without_a_date_is_a_clear_answer(time: str) -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember(f"The regatta starts {time}.", title="Regatta", source="/regatta.md")
        assert ask(memory, "When does the regatta start?").lines[0].kind == "answer"


def test_a_place_without_a_name_is_a_clear_answer() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember("The spare key is in the blue drawer.", title="Key", source="/key.md")
        assert ask(memory, "Where is the spare key?").lines[0].kind == "answer"


def test_a_line_without_a_date_is_not_taken_for_the_oldest() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember_many(
            [Document("/berth.md", "The berth costs 480 euros a year.", title="Berth", kind="file")]
        )
        for title, text, year in (("Paint", "Bought paint.", 2024), ("Paid", "Paid for the berth again.", 2025)):
            day = datetime(year, 3, 1, tzinfo=UTC)
            memory.ingest.remember_many([Document(f"/{title}.md", text, title=title, kind="file", at=day)])
        assert "480" in ask(memory, "What does the berth cost?").lines[0].text


def test_the_value_is_that_of_the_fact_and_no_other_number(kiosk: Memory) -> None:
    kiosk.ingest.remember("Half a gram of saffron goes into water of 30 degrees.", title="Risotto", source="/r.md")
    kiosk.ingest.remember(
        "---\nphone: 0161 496 07\n---\n# Hedda Brandt\n\nHas the kiosk since 2019.",
        title="Hedda Brandt",
        source="/h.md",
    )
    assert ask(kiosk, "How much saffron goes into the water?").lines[0].value == ""
    assert ask(kiosk, "What is the phone number of Hedda Brandt?").lines[0].value == "0161 496 07"


def test_a_time_of_day_in_words_is_a_clear_answer_with_its_value() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember("The pottery class starts at ten.", source="/class.md")
        answer = ask(memory, "When does the pottery class start?")
        assert answer.lines[0] == AnswerLine("The pottery class starts at ten.", "answer", (1,), "at ten")


def test_a_line_that_says_today_of_another_day_has_the_day() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        at = datetime(2026, 3, 9, 12, tzinfo=UTC)
        memory.ingest.remember("The harbour office is in the Old Ice House from today.", source="/day.md", at=at)
        line = ask(memory, "Where is the harbour office?").lines[0]
        assert line.text == "The harbour office is in the Old Ice House from today. (written 2026-03-09)"
        memory.ingest.remember("The kiosk is closed today.", source="/now.md", at=datetime.now(UTC))
        assert ask(memory, "Is the kiosk closed?").lines[0].text == "The kiosk is closed today."


def test_a_briefing_begins_with_what_a_thing_is_and_not_with_what_names_it() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for title, text in {
            "Bosun": "Bosun is a goat. He came with the lighthouse.",
            "Start here": "- Who ate the leaflets: [[Bosun]]\n- Who did not: [[Ozzie Penhale]]",
        }.items():
            memory.ingest.remember(text, title=title, source=f"/{title}.md")
        lines = [line.text for line in ask(memory, "Who is Bosun?").lines]
    assert lines[0].startswith("Bosun is a goat.")
    assert "Start here, who ate the leaflets: Bosun" in lines[1:]


def test_a_line_about_something_else_is_no_clear_answer() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember("My boss says yes to that. Belgium is over.", title="Talk", source="/talk.md")
        memory.ingest.remember("Insurance: with the car, till March.", title="Papers", source="/papers.md")
        memory.ingest.remember("We drive to the coast on Sunday.", title="Plan", source="/plan.md")
        heads = [ask(memory, question).lines[0].text for question in ("What car do we drive?", "Who is my boss?")]
    assert set(heads) == {"Your memory does not say this plainly. Closest:"}


def test_what_several_notes_say_leads() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for number, text in enumerate((
            "The boiler was serviced by Rudge.", "The boiler was serviced by Penk, who left it open.",
            "Rudge came for the boiler.", "Paid Rudge for the boiler.",
        )):  # fmt: skip
            memory.ingest.remember(text, title=f"Day {number}", source=f"/{number}.md")
        lines = ask(memory, "Who serviced the boiler?").lines
    assert "Rudge" in next(line.text for line in lines if line.citations)


def test_a_row_is_shown_with_its_columns_and_never_raw() -> None:
    table = "# Tablets\n\n| who | what | how much |\n|---|---|---|\n| Ani | thyroxine | 50 mcg |\n"
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember(table, title="Tablets", source="/tablets.md")
        answer = ask(memory, "How much thyroxine does Ani take?")
    assert "who: Ani; what: thyroxine; how much: 50 mcg" in answer.text and "|" not in answer.text


def test_the_only_line_with_every_word_of_the_question_is_a_clear_answer() -> None:
    text = "Marta is my sister. She paints.\n\nMarta lives in Lisbon. She keeps bees."
    assert ask_about(text, "", "Where does Marta live?").lines[0].kind == "answer"


def test_the_line_of_another_thing_than_the_one_asked_about_is_not_clearly_the_answer() -> None:
    recipes = {
        "Sourdough": "Feed the starter on Fridays.\n\nOven 240, 20 min lid on, 25 min lid off.",
        "Goulash": "Simmer three hours with the lid on.",
        "Rhubarb cake": "300 g rhubarb\n\nBake at 170 fan for 45 minutes.",
    }
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for month, (title, text) in enumerate(recipes.items(), 1):
            at = datetime(2026, 3 * month, 1, tzinfo=UTC)
            memory.ingest.remember(f"# {title}\n\n{text}\n", title=title, source=f"/{title}.md", at=at)
        assert ask(memory, "How long does the rhubarb cake bake?").kind == "answer"
        assert ask(memory, "How long does the sourdough bake?").kind == "closest"


def test_a_line_with_what_is_asked_for_comes_before_one_that_only_has_the_words() -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember("The survey of the quay wall.\n\nAuthor: Ida Lorn", title="survey", source="/survey.md")
        memory.ingest.remember("The survey of the weir.\n\nIt was long.", title="weir", source="/weir.md")
        assert "Ida Lorn" in ask(memory, "Who is the author of the survey of the quay wall?").lines[1].text
