"""Questions that ask two things, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval.question_type import MAX_PARTS, decompose

TWO = {
    "Where does Ana live and who is her dentist?": ("Where does Ana live?", "Who is Ana's dentist?"),
    "When did I move, and what does the flat cost now?": ("When did I move?", "What does the flat cost now?"),
    "Where does Ana live? Who is her dentist?": ("Where does Ana live?", "Who is Ana's dentist?"),
    "When did I buy the car and how much did it cost?": ("When did I buy the car?", "How much did the car cost?"),
    "When did I buy a car and how much did it cost?": ("When did I buy a car?", "How much did the car cost?"),
    "Is Ana vegan and does she drink coffee?": ("Is Ana vegan?", "Does Ana drink coffee?"),
    "Where did Ana meet Bo and when did she leave?": ("Where did Ana meet Bo?", "When did Ana leave?"),
    "What's the rent and what's the deposit?": ("What's the rent?", "What's the deposit?"),
    "Who is older, Ana or Bo?": ("How old is Ana?", "How old is Bo?"),
    "Is the Outback cheaper than the Ioniq?": ("How much does the Outback cost?", "How much does the Ioniq cost?"),
    "Which shop was opened first, Kiosk Nord or Lumen?": ("When was Kiosk Nord opened?", "When was Lumen opened?"),
    "Are Ana and Bo both vegan?": ("Is Ana vegan?", "Is Bo vegan?"),
    "Wo wohnt Ana und wer ist ihr Zahnarzt?": ("Wo wohnt Ana?", "Wer ist ihr Zahnarzt (Ana)?"),
    "Wann bin ich umgezogen und was kostet die Wohnung?": ("Wann bin ich umgezogen?", "Was kostet die Wohnung?"),
    "Wer ist älter, Ana oder Bo?": ("Wie alt ist Ana?", "Wie alt ist Bo?"),
}
ONE = (
    "Where is salt and pepper?",
    "What does Research and Development do?",
    "What is between A and B?",
    "Who did I meet in Rome and in Paris?",
    "What did Ana say and do?",
    "Tell me where Ana lives and who her dentist is",
    "What do I know about where Ana lives and what she does?",
    "Who was on the slot that Bao took over, and where did that person go?",
    "Did I call her and what did she say?",
    "Do Ana and Bo live in the same city?",
    "Are Chess and Go both board games?",
    "Are Ana and Bo both in the same choir?",
    "Which film has the director who is older, Solaris or Stalker?",
    "Who lived longer, Ana or Bo?",
    "Wo sind Salz und Pfeffer?",
    "Où habite Ana et qui est son dentiste ?",
    "",
)


@pytest.mark.parametrize(("asked", "found"), TWO.items())
def test_two_questions(asked: str, found: tuple[str, ...]) -> None:
    assert decompose(asked) == found


@pytest.mark.parametrize("asked", ONE)
def test_one_question_stays_one(asked: str) -> None:
    assert decompose(asked) == ()


def test_more_than_three_are_three() -> None:
    found = decompose("Where does Ana live; when did she move; who is her dentist; what is her phone number?")
    assert len(found) == MAX_PARTS and found[2].endswith("phone number?")


_WORDS = [
    "and", ",", "?", ";", "who", "is", "Ana", "Bo", "her", "it", "where", "does", "live", "the car", "or", "older",
    "both", "und", "wer", "ist", "what", "did", "she", "salt", "pepper", "tell", "than", "ihr", "first",
]  # fmt: skip


@given(st.lists(st.sampled_from(_WORDS), max_size=24).map(" ".join) | st.text(max_size=120))
def test_parts_are_few_and_shorter(text: str) -> None:
    found = decompose(text)
    assert len(found) != 1 and len(found) <= MAX_PARTS
    longest = max((len(word) for word in text.split()), default=0)
    for part in found:
        assert part.strip(" ?") and part.endswith("?")
        assert len(part) <= len(text) + 2 * longest + len("How much does the cost?'s ()")
