"""Who the owner of the memory is: what the first start asks for. Each answer is a statement, as of `pal me set`."""

from __future__ import annotations

from typing import NamedTuple

FAMILY = "family"


class IntroductionQuestion(NamedTuple):
    """`key` is what the answer is the owner's; `hint` an example."""

    key: str
    text: str
    hint: str


QUESTIONS = (
    IntroductionQuestion("name", "What is your name?", "Ada Berg"),
    IntroductionQuestion("address", "Where do you live?", "5 Wharf Close, Leeds"),
    IntroductionQuestion(FAMILY, "Who is in your family?", "daughter Ife, partner Jonas"),
    IntroductionQuestion("employer", "Where do you work?", "Harbour Museum"),
)


def read_answer(key: str, answer: str) -> dict[str, str]:
    """The statements of an answer, key to value; an empty answer has no statements. In the family each relation is a
    key: "daughter Ife, daughter Mia, partner Jonas" names two."""
    if key != FAMILY:
        return {key: answer.strip()} if answer.strip() else {}
    names: dict[str, list[str]] = {}
    for person in answer.split(","):
        relation, _, name = person.strip().partition(" ")
        if relation:
            names.setdefault(relation.casefold() if name else FAMILY, []).append(name.strip() or relation)
    return {relation: " and ".join(people) for relation, people in names.items()}
