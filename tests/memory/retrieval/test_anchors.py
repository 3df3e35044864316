"""Times that a question names by what happened then: dated by a line of the memory, or by nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory import Memory
from memory.answering.extractive import NOTHING_THERE
from memory.nouns import Answer, Document, Turn
from memory.retrieval.analyse import find_anchor

NOW = datetime(2026, 6, 30, 12).astimezone()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(hour=9).astimezone()


DIARY = {
    "2019-06-12": "Rented a room in Porto, Rua das Flores 8. Rent is 310 euros. The landlady is Dona Celeste.",
    "2021-03-02": "Moved to Ghent today. The rent is 640 euros now. Karim carried the piano.",
    "2023-10-01": "I started at Bramble Press. My boss is Odile Marchetti.",
    "2024-09-14": "We moved from Ghent to Utrecht. The rent is 1150 euros.",
    "2025-02-01": "When we moved to Utrecht it rained. Did I tell you that I moved? I never moved to Rome.",
    "2026-05-03": "Planted beans.",
}


@pytest.fixture
def diary(fresh: Memory) -> Memory:
    fresh.remember_many([Document(f"/{day}.md", text, at=at(day)) for day, text in DIARY.items()])
    return fresh


def time_of(memory: Memory, question: str, **limits: Any) -> dict[str, Any]:
    """What the trace says of the time in the question, with days for moments."""
    steps = memory.recall(question, now=NOW, **limits).trace.steps
    [time] = [step.detail["time"] for step in steps if "time" in step.detail]
    return {key: value[:10] if key in ("since", "until") and value else value for key, value in time.items()}


@pytest.mark.parametrize(
    ("question", "kind", "since", "until", "line"),
    [
        ("Where did I live before I moved to Ghent?", "as_of", None, "2021-03-02", "Moved to Ghent today."),
        ("What was the rent before I moved?", "as_of", None, "2024-09-14", "We moved from Ghent to Utrecht."),
        ("Before we moved to Utrecht, who carried the piano?", "as_of", None, "2024-09-14", "We moved from"),
        ("What did I plant after I started at Bramble Press?", "range", "2023-10-02", None, "I started at Bramble"),
        ("What did I buy until I moved to Utrecht?", "range", None, "2024-09-15", "We moved from Ghent"),
        ("Who was the landlady when I lived in Porto?", "as_of", "2019-06-12", "2021-03-02", "Rented a room in"),
        ("What did I pay when I lived in Ghent?", "as_of", "2021-03-02", "2024-09-14", "Moved to Ghent today."),
        ("What happened while I worked at Bramble Press?", "range", "2023-10-01", "2026-06-30", "I started at"),
        ("What did I write when Karim carried the piano?", "range", "2021-03-02", "2021-03-03", "Karim carried"),
    ],
)
def test_a_dated_line_says_when_it_was(
    diary: Memory, question: str, kind: str, since: str | None, until: str | None, line: str
) -> None:
    time = time_of(diary, question)
    assert (time["kind"], time.get("since"), time.get("until")) == (kind, since, until)
    assert time["line"].startswith(line)
    assert time["words"] in question


@pytest.mark.parametrize(
    "question",
    [
        "What did I pay before I moved to Rome?",  # denied
        "What did I pay before I retired?",
        "What did I pay when I lived in Rome?",
        "Who carried the piano before Karim moved?",  # somebody else did
    ],
)
def test_what_no_line_dates_is_left_open_and_told(diary: Memory, question: str) -> None:
    assert time_of(diary, question)["kind"] == "unknown"
    assert diary.recall(question, now=NOW).hits


def test_nothing_later_is_seen_before_an_event(diary: Memory) -> None:
    *_, answer = diary.ask("What was the rent before I moved?", now=NOW)
    assert isinstance(answer, Answer)
    assert "640" in answer.text
    assert "1150" not in answer.text


def test_a_line_that_may_not_be_seen_dates_nothing(diary: Memory) -> None:
    assert time_of(diary, "What was the rent before I moved?", as_of=at("2022-01-01"))["until"] == "2021-03-02"
    diary.ingest.retire("/2024-09-14.md")
    assert time_of(diary, "What was the rent before I moved?")["until"] == "2021-03-02"


def test_a_line_that_names_its_own_time_counts_by_that(fresh: Memory) -> None:
    fresh.remember("In May 2020 I moved to Faro.", source="/life.md", at=at("2025-08-01"))
    fresh.remember("Lived in Oslo from June 2011 to March 2013.", source="/cv.md", at=at("2025-08-02"))
    assert time_of(fresh, "What did I eat before I moved?")["until"] == "2020-05-01"
    time = time_of(fresh, "What did I eat when I lived in Oslo?")
    assert (time.get("since"), time.get("until")) == ("2011-06-01", "2013-04-01")


def test_a_file_s_time_stamp_dates_nothing(fresh: Memory) -> None:
    stamp = datetime(2024, 5, 3, 12, tzinfo=UTC)
    ns = int(stamp.timestamp()) * 10**9
    fresh.remember_many([Document("/a.md", "I moved to Faro.", at=stamp, mtime_ns=ns, kind="file")])
    assert time_of(fresh, "What did I eat before I moved?")["kind"] == "unknown"


def test_i_is_whose_memory_it_is(fresh: Memory) -> None:
    turns = (
        Turn("assistant", "I moved to Faro.", at("2024-01-01")),
        Turn("user", "I moved to Oban.", at("2023-01-01")),
    )
    for n, turn in enumerate(turns):
        fresh.remember_many([Document(f"chat:{n}", turns=(turn,), kind="chat", title="Talk")])
    assert time_of(fresh, "What did I eat before I moved?")["until"] == "2023-01-01"


@pytest.mark.parametrize(
    "question",
    [
        "When did I move before I worked there?",
        "How long did I live there before I moved?",
        "Where have I lived since I moved?",
        "What should I do when it rains?",
        "before I moved",
        "What comes before the end?",
    ],
)
def test_other_questions_name_no_event(question: str) -> None:
    assert find_anchor(question) is None


def test_a_question_about_a_time_as_a_whole_is_answered_by_what_is_of_it(diary: Memory) -> None:
    *_, answer = diary.ask("What did I do on 3 May 2026?", now=NOW)
    assert isinstance(answer, Answer)
    assert answer.text == "- 2026-05-03: Planted beans. [1]"
    *_, answer = diary.ask("What happened in March 2021?", now=NOW)
    assert isinstance(answer, Answer)
    assert {citation.uri for citation in answer.citations} == {"/2021-03-02.md"}
    *_, answer = diary.ask("What did I do in April 2021?", now=NOW)
    assert isinstance(answer, Answer)
    assert answer.no_answer and answer.text == NOTHING_THERE
