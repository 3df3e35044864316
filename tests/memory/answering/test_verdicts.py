"""Sentences in other words than the notes', right ones and wrong ones in which every word stands somewhere."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answering.grounding import Proof, judge_claim
from memory.text.clauses import Clause, read_passage
from memory.text.content import put_digits

NOTES = {
    "Harbour office": """# Harbour office

The mooring fee is raised from £310 to £345 a quarter as of 1 April 2025. Berths are paid by the 10th.
The slipway is open on Tuesdays and no longer on Fridays. Diesel is not sold here any more; the pump was removed.
Ebba Strand runs the office. Her brother Nils Okoye mends sails in the loft and teaches knots.
P. Varga retires at the end of May. The request for a second crane was refused.""",
    "Crew list": """| who | job | since |
|---|---|---|
| Ines Caldeira | cook | 2021 |
| Tor Bakke | engineer, two days a week | 2019 |
| Wanda Lisk | navigator | 2023 |

Tor replaces Sefton, who went to Bergen. 12 sailors and 3 pupils on board. No dogs.
Cabin 4 = Ines, cabin 7 = Wanda. Medicine chest: key 15, flare locker: key 22.
Sefton wondered whether Wanda is a cousin of Ines.""",
    "Doctor": """Saw Dr Aydin on 3 June 2025. Ramipril goes from 5 to 10 mg, metformin is stopped.
Blood pressure 151/88, weight 78.5 kg.
I may fly again. Next visit on 2 September, bring the diary. She is not worried about the knee.
Maybe the knee is operated on in spring.""",
}
DAYS = {"Harbour office": (2025, 3, 12), "Crew list": (2024, 10, 1), "Doctor": (2025, 6, 4)}

RIGHT = [
    ("Harbour office", "What does the mooring cost?", "The mooring fee went up to £345 per quarter."),
    ("Harbour office", "What does the mooring cost?", "Your quarterly mooring fee is 345 pounds since April 1, 2025."),
    ("Harbour office", "What did the mooring cost?", "It was increased from £310 to £345."),
    ("Harbour office", "When do I pay?", "You must pay the berths by the 10th."),
    ("Harbour office", "When is the slipway open?", "The slipway opens every Tuesday."),
    ("Harbour office", "When is the slipway open?", "It's open on Tuesdays instead of Fridays now."),
    ("Harbour office", "Is the slipway open on Fridays?", "No, the slipway is no longer open on Fridays."),
    ("Harbour office", "Can I buy diesel?", "No, diesel isn't sold there anymore since the pump was taken away."),
    ("Harbour office", "Who runs the office?", "The office is run by Ebba Strand."),
    ("Harbour office", "Who mends sails?", "Nils Okoye repairs the sails."),
    ("Harbour office", "Who is Nils?", "Nils Okoye is Ebba Strand's brother."),
    ("Harbour office", "Who is leaving?", "P. Varga will retire at the end of May."),
    ("Harbour office", "Do we get a second crane?", "The request for a second crane was rejected."),
    ("Crew list", "Who cooks?", "Ines Caldeira is the cook."),
    ("Crew list", "Since when is Wanda on board?", "Wanda Lisk has been the navigator since 2023."),
    ("Crew list", "How often does Tor work?", "Tor Bakke works as an engineer 2 days per week."),
    ("Crew list", "Who left?", "Sefton was replaced by Tor."),
    ("Crew list", "How many are on board?", "There are 12 sailors and three pupils."),
    ("Crew list", "Which key opens the medicine chest?", "Key number 15 opens the medicine chest."),
    ("Crew list", "Are dogs allowed?", "No dogs are allowed on board."),
    ("Doctor", "How much ramipril do I take?", "Your ramipril dose was increased from 5 to 10 mg."),
    ("Doctor", "Do I still take metformin?", "No, metformin was discontinued."),
    ("Doctor", "May I fly?", "Yes, you are allowed to fly again."),
    ("Doctor", "When do I see her next?", "Your next appointment is on September 2."),
    ("Doctor", "What do I weigh?", "You weighed 78.5 kilograms."),
]
WRONG = [  # kind, title, question, what is said
    ("number", "Harbour office", "What does the mooring cost?", "The mooring fee is £355 a quarter."),
    ("number", "Crew list", "Which key opens the flare locker?", "Key 15 opens the flare locker."),
    ("number", "Crew list", "How many are on board?", "There are 3 sailors on board."),
    ("number", "Doctor", "What do I weigh?", "You weigh 79.5 kg."),
    ("swapped", "Harbour office", "What does the mooring cost?", "The mooring fee goes from £345 to £310."),
    ("swapped", "Harbour office", "What does the mooring cost?", "The mooring fee was lowered to £310."),
    ("swapped", "Harbour office", "When is the slipway open?", "It is open on Fridays and no longer on Tuesdays."),
    ("swapped", "Crew list", "How many are on board?", "There are 12 pupils and 3 sailors."),
    ("swapped", "Doctor", "How much ramipril do I take?", "Ramipril goes from 10 to 5 mg."),
    ("denied", "Harbour office", "Can I buy diesel?", "Diesel is sold here."),
    ("denied", "Harbour office", "When is the slipway open?", "The slipway is still open on Fridays."),
    ("denied", "Harbour office", "Do we get a second crane?", "The request for a second crane was accepted."),
    ("denied", "Doctor", "May I fly?", "You may not fly again."),
    ("denied", "Doctor", "Do I still take metformin?", "Metformin is continued."),
    ("denied", "Doctor", "Is she worried about my knee?", "She is worried about the knee."),
    ("person", "Harbour office", "Who is leaving?", "Ebba Strand retires at the end of May."),
    ("person", "Crew list", "Who cooks?", "Tor Bakke is the cook."),
    ("person", "Crew list", "Who navigates?", "Ines Caldeira has been navigator since 2023."),
    ("person", "Crew list", "Who has cabin 4?", "Cabin 4 belongs to Wanda."),
    ("supposed", "Doctor", "How is the knee?", "The knee is operated on in spring."),
    ("supposed", "Crew list", "Who is related?", "Wanda Lisk is a cousin of Ines."),
    ("time", "Doctor", "When do I see her next?", "Your next visit is in November 2025."),
    ("time", "Harbour office", "Since when is it dearer?", "The fee is £345 as of 1 April 2024."),
    ("time", "Doctor", "When do I see her next?", "Your next visit is on 3 September."),
    ("time", "Crew list", "Since when is Wanda on board?", "Wanda Lisk has been navigator since 2019."),
]


def proof(title: str) -> dict[int, Proof]:
    day = datetime(*DAYS[title], tzinfo=UTC)
    return {1: Proof(f"{title}\n{day.date()}\n{NOTES[title]}", day, title)}


UNPROVED = {  # that are right: without a value, all their words are compared, also those of the model's own
    "No, diesel isn't sold there anymore since the pump was taken away.",
    "Nils Okoye repairs the sails.",
    "The request for a second crane was rejected.",
    "No dogs are allowed on board.",
    "No, metformin was discontinued.",
    "Yes, you are allowed to fly again.",
}


@pytest.mark.parametrize(("title", "question", "said"), RIGHT)
def test_what_is_right_in_other_words_is_shown(title: str, question: str, said: str) -> None:
    judged = judge_claim(f"{said} [1]", proof(title), question)
    assert judged == ("unproved" if said in UNPROVED else "proved", None, "")


@pytest.mark.parametrize(("kind", "title", "question", "said"), WRONG)
def test_what_is_wrong_in_words_that_stand_there_is_not_proved(kind: str, title: str, question: str, said: str) -> None:
    verdict, problem, check = judge_claim(f"{said} [1]", proof(title), question)
    assert verdict != "proved", kind
    assert (verdict == "contradicted") == (problem is not None) == bool(check)


@pytest.mark.parametrize(
    ("check", "title", "said"),
    [
        ("rival", "Crew list", "Tor Bakke has been on board since 2023."),  # of another row
        ("rival", "Harbour office", "The slipway is open on Fridays."),
        ("ended", "Harbour office", "The mooring fee goes from £345 to £310."),
        ("denied", "Harbour office", "Diesel is sold here."),
        ("denied", "Doctor", "You may not fly again."),
        ("counted", "Crew list", "There are 3 sailors."),
    ],
)
def test_each_check_contradicts(check: str, title: str, said: str) -> None:
    assert judge_claim(f"{said} [1]", proof(title), "What is it?").check == check


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("seventy-five crates", "75 crates"),
        ("a milligram and a half", "1.5 milligram"),
        ("two and a half tons", "2.5 tons"),
        ("a hundred and thirty thousand euros", "a 130000 euros"),
        ("the first of May", "the 1st of May"),
        ("at half past six", "at 6:30"),
        ("a quarter to eight", "7:45"),
        ("one of them", "one of them"),
    ],
)
def test_numbers_in_words_are_read(words: str, digits: str) -> None:
    assert put_digits(words, "en") == digits


def test_a_day_has_the_month_of_its_note() -> None:
    (sentence,) = read_passage("The course begins on the 7th.", "", datetime(2025, 4, 28, tzinfo=UTC))
    for said, is_there in (("7 May 2025", True), ("the 7th", True), ("8 May 2025", False), ("7 September 2025", False)):
        assert all(map(sentence.holds, Clause(said, "en").values)) == is_there


def test_what_goes_on_and_on_is_not_compared() -> None:
    for said in (" ".join(map(str, range(4_000))), "Ines cooks, " * 2_000):
        assert judge_claim(f"{said} [1]", proof("Crew list"), "Who cooks?") == ("unproved", None, "")


@given(st.text(max_size=120), st.sampled_from(sorted(NOTES)), st.text(max_size=40))
def test_any_text_can_be_compared(said: str, title: str, question: str) -> None:
    for text, claim in ((NOTES[title], said), (said, NOTES[title])):
        assert judge_claim(f"{claim} [1]", {1: Proof(text, None, title)}, question).verdict


PAIRS = [  # a passage, and what is right and wrong of one of its clauses
    ("Benno pays 560 a month and Ludo pays 610.", "Ludo pays 610.", "Ludo pays 560."),
    ("The chapel seats 80, the barn seats 140.", "The barn seats 140.", "The barn seats 80."),
    ("Key A opens the shed and key B opens the boat house.", "Key B opens the boat house.", "Key B opens the shed."),
    ("The red tin holds screws, the blue tin holds nails.", "The blue tin holds nails.", "The blue tin holds screws."),
    ("Ilka gave up the violin and took up the cello.", "Ilka took up the cello.", "Ilka took up the violin."),
    ("Ilka visited Benno in Bergen.", "Ilka visited Benno.", "Benno visited Ilka."),
    ("Ludo lent Marit 300 euros in May.", "Ludo lent Marit 300 euros.", "Marit lent Ludo 300 euros."),
    ("Ilka beat Tamsin at chess on Sunday.", "Ilka beat Tamsin at chess.", "Tamsin beat Ilka at chess."),
    ("Tamsin owes Benno 40 for the tickets.", "Tamsin owes Benno 40.", "Benno owes Tamsin 40."),
    ("# Feast plan\nThere is cake.", "There is cake.", "The feast is planned for May 2026."),
    ("Ilka is back home on the 29th.", "Ilka is back home on 29 May 2026.", "Ilka is back home on 20 May 2026."),
    ("Ilka is ill. Ludo mends the oars.", "Ludo mends the oars.", "Ilka mends the oars."),
    ("Ilka R. has moved to Bergen.", "Ilka R. has moved to Bergen.", "Ilka S. has moved to Bergen."),
    ("It took Ludo 2:09, not 2:05.", "It took Ludo 2:09.", "It took Ludo 2:05."),
    ("The kiln is at 64 °C for 3 hours.", "The kiln is at 64 degrees.", "The kiln is at 64 °F."),
    ("The kiln is at 64 °C for 3 hours.", "The kiln is at 64 °C for 3 hrs.", "The kiln is at 64 °C for 3 days."),
    ("The berth costs £2,900 a year.", "The berth costs 2,900 pounds yearly.", "The berth costs £2,900 a month."),
    ("The berth costs £2,900.", "The berth costs 2,900 pounds.", "The berth costs €2,900."),
    ("Tins: 25 kg, 17.90 euros.", "Tins cost 17.90 euros.", "Tins cost 17.90 euros per kg."),
    ("40% of the boxes are damp.", "40 percent of the boxes are damp.", "40 boxes are damp."),
    ("The loft is big, 75 in all.", "The loft is big, 75 in all.", "The big loft has 75 square metres."),
    ("Regatta: 9 June, in Bergen.", "The regatta is on 9 June.", "The regatta was held in Bergen on 9 June."),
    ("14 of the 60 sails tore.", "14 of the 60 sails tore.", "All 60 sails tore."),
    ("- [ ] paint the 2 masts", "You need to paint the 2 masts.", "You painted the 2 masts."),
    ("Ilka will row to Bergen on 9 June.", "Ilka will row to Bergen on 9 June.", "Ilka rowed to Bergen on 9 June."),
    ("Ilka is in Bergen since 9 May.", "Ilka was in Bergen on 9 May.", "Ilka was in Bergen on 9 June."),
    ("Kim-Lee isn't here and can't order sails.", "Kim-Lee can't order sails.", "Kim-Lee can order sails."),
]


@pytest.mark.parametrize(("text", "right", "wrong"), PAIRS)
def test_what_two_clauses_say_and_two_names_swapped_are_not_proved(text: str, right: str, wrong: str) -> None:
    proof = {1: Proof(f"a\n2026-05-20\n{text}", datetime(2026, 5, 20, tzinfo=UTC), "a")}
    assert judge_claim(f"{right} [1]", proof, "What is it?").verdict == "proved"
    assert judge_claim(f"{wrong} [1]", proof, "What is it?").verdict != "proved"


@pytest.mark.parametrize(
    ("text", "claim", "verdict"),
    [
        ("Mira works for Nordlys.", "Mira does not work for Nordlys.", "contradicted"),
        ("Mira does not work for Nordlys.", "Mira works for Nordlys.", "contradicted"),
        ("Mira works for Nordlys and lives in Bergen.", "Mira doesn't live in Bergen.", "contradicted"),
        ("# Mira Okafor\n\nShe works for Nordlys.", "Mira Okafor does not work for Nordlys.", "contradicted"),
        ("Jonas never eats meat.", "Jonas eats meat.", "contradicted"),
        ("Mira works for Nordlys. She has never worked for Kestrel.", "Mira has never worked for Kestrel.", "proved"),
        ("Mira works for Nordlys. Jonas has never worked there.", "Mira works for Nordlys.", "proved"),
    ],
)
def test_a_denial_and_its_opposite_contradict_each_other(text: str, claim: str, verdict: str) -> None:
    proof = {1: Proof(f"a\n2026-05-20\n{text}", datetime(2026, 5, 20, tzinfo=UTC), "a")}
    assert judge_claim(f"{claim} [1]", proof, "What is it?").verdict == verdict


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Rent of the barn: 140 euros. Rent of the sheds: 90 euros.", "The rent is 90 euros."),
        ("Filipa answers the phone. At Ribeira it was a menu.", "Filipa works at Ribeira."),
    ],
)
def test_what_fits_another_value_as_well_or_has_no_relation_is_unproved(text: str, claim: str) -> None:
    proof = {1: Proof(f"a\n2026-05-20\n{text}", datetime(2026, 5, 20, tzinfo=UTC), "a")}
    assert judge_claim(f"{claim} [1]", proof, "What is it?") == ("unproved", None, "")
