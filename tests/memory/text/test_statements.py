"""Statements told apart from questions: in doubt it is a question."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.sentences import MAX_CHARS, find_statement


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Bergen",
        "remember that my dentist is Dr. Moe",
        "Remember: the spare key is under the pot",
        "my rent is now 9,500 kroner",
        "btw, I'm vegetarian now",
        "Today I sold the boat for 900 euros.",
        "we bought a dog called Rex",
        "I've been a nurse since 2019",
        "ok, so yesterday I had lunch with Ana",
        "remember to call Ana on Friday",
        "for the record, the boiler was serviced in May",
        "I will visit Ana on Friday.",
        "our anniversary is on 5 May",
        "I no longer work at Fjordkraft",
        "I was promoted to head of sales when Ole left",
        "Ich bin nach Bergen gezogen.",
        "Merk dir, dass mein Zahnarzt Dr. Moe ist",
        "Meine neue Adresse ist Kaigaten 5",
    ],
)
def test_what_somebody_tells_of_themselves_or_asks_to_be_kept(text: str) -> None:
    assert find_statement(text) == (text, "")


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "where do i live",
        "my rent",
        "my sister's birthday",
        "my phone number",
        "my rent is",
        "I want to know where I live",
        "I wonder where Ana is.",
        "Tell me about Bergen.",
        "List all boats",
        "I need the number of the dentist",
        "I think it is wrong",
        "remember when we went to Oslo?",
        "remember when we went to Oslo",
        "Do you remember my dentist",
        "I asked you about the boat",
        "I meant the other one",
        "I don't know where my keys are",
        "my notes about the boiler",
        "I love it!",
        "I owe Ana how much",
        "what did I say about my sister",
        "I'm looking for the lease",
        "I can't find my passport",
        "My boss is called",
        "I live where",
        "I see",
        "How much do I owe Ana if I moved to Bergen?",
        "Bergen ferry times",
        "and my sister?",
        "My daughter's school is which one",
        "we need to know the deadline",
        "why I moved to Bergen",
        "remember",
        "The boiler is a Vaillant.",
        "Ana moved to Bergen.",
        "Ich suche meinen Pass",
        "Wo wohne ich",
        "Elle habite où ?",
        "",
        "\u200e?",
    ],
)
def test_what_may_be_a_question_is_none(text: str) -> None:
    assert find_statement(text) is None


@pytest.mark.parametrize(
    ("text", "told", "asked"),
    [
        ("I moved to Bergen, where is the town hall?", "I moved to Bergen", "where is the town hall?"),
        ("I bought a boat and how long is a mooring?", "I bought a boat", "how long is a mooring?"),
        ("My rent is 900 now. What was it before?", "My rent is 900 now.", "What was it before?"),
        ("We moved last week - what is my address?", "We moved last week", "what is my address?"),
        ("I moved to Bergen. List the ferries from there.", "I moved to Bergen.", "List the ferries from there."),
        ("Ich bin nach Bergen gezogen, wo ist das Rathaus?", "Ich bin nach Bergen gezogen", "wo ist das Rathaus?"),
    ],
)
def test_a_sentence_may_do_both(text: str, told: str, asked: str) -> None:
    assert find_statement(text) == (told, asked)


def test_a_long_text_is_something_to_ask_about() -> None:
    assert find_statement("I moved to Bergen. " + "x " * MAX_CHARS) is None
    assert find_statement("I moved to Bergen.\n\nDear Ana, ...") is None


@given(st.text(max_size=300))
def test_nothing_fails(text: str) -> None:
    parts = find_statement(text)
    assert parts is None or parts[0]


def test_it_takes_no_time() -> None:
    began = time.process_time()
    for word in ("my ", "I ", "ok, ", "and where ", "remember that "):
        find_statement(word * (MAX_CHARS // len(word)) + "?")
    assert time.process_time() - began < 1
