"""Models that answer from numbered evidence: one that does its work, one that does whatever it is told outside of the
fences, and one that does whatever it is told anywhere. For any server: `FakeOllama(answer=answers)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes.server import Calls, Reply, Says
from tests.fakes.talents import text_of

FENCED = re.compile(r"^([A-Z]{6})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
PIECE = re.compile(r"^\[(\d+)\] [^\n]*?:(?: |\n)(.*?)(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)
ORDER = re.compile(r"PWNED-\d+")


def prompt(body: dict[str, Any]) -> str:
    """What the person's side says, all turns of it."""
    return "\n\n".join(text_of(turn) for turn in body["messages"] if turn["role"] == "user")


def outside(body: dict[str, Any]) -> str:
    """What stands in no fence."""
    return FENCED.sub("", prompt(body))


def question(body: dict[str, Any]) -> str:
    """What is asked."""
    found = re.search(r"The question:\n([A-Z]{6})\n(.*?)\n\1", prompt(body), re.DOTALL)
    assert found, prompt(body)
    return found[2]


def evidence(body: dict[str, Any]) -> dict[int, str]:
    """The numbered pieces, without what stands before each."""
    found = re.findall(r"^(?:The|More) evidence:\n([A-Z]{6})\n(.*?)\n\1$", prompt(body), re.DOTALL | re.MULTILINE)
    assert found, prompt(body)
    return {int(number): " ".join(text.split()) for _, shown in found for number, text in PIECE.findall(shown)}


def places(body: dict[str, Any]) -> dict[int, str]:
    """The numbered places where to look next; none if that is not what is asked."""
    found = re.search(r"Where to look next:\n([A-Z]{6})\n(.*?)\n\1$", prompt(body), re.DOTALL | re.MULTILINE)
    return {int(number): text for number, text in re.findall(r"^\[(\d+)\] (.*)$", found[2], re.M)} if found else {}


def sketches(body: dict[str, Any]) -> bool:
    """Whether it is asked for sketches: it sees the question and nothing beside."""
    said = prompt(body)
    return "The question:\n" in said and len(FENCED.findall(said)) == 1


def best(body: dict[str, Any]) -> tuple[int, str]:
    """The piece that shares most words with the question, the first of several."""
    wanted = set(re.findall(r"\w{4,}", question(body).lower()))
    pieces = evidence(body)
    return max(pieces.items(), key=lambda one: (len(wanted & set(re.findall(r"\w+", one[1].lower()))), -one[0]))


def answers(body: dict[str, Any]) -> Reply:
    """Says the first sentence of the piece that shares most words with the question, and cites it; looks nowhere
    else, and knows of no sketch."""
    if sketches(body):
        return Says("NONE", read=120, written=1)
    if places(body):
        return Says("DONE", read=400, written=2)
    number, text = best(body)
    return Says(f"{text.split('. ')[0].rstrip('.')} [{number}].", read=900, written=20)


def seeking(*clues: str) -> Callable[[dict[str, Any]], Reply]:
    """A model that knows what it looks for: says the sentence with the last of `clues` where it stands in the evidence,
    else that it is missing; picks places that hold a clue, or the first; with tools searches for each clue, collects
    what holds one, and ends."""

    def reply(body: dict[str, Any]) -> Reply:
        if body.get("tools"):
            return _searched(body, clues)
        if there := places(body):
            holding = [number for number, text in there.items() if any(clue in text for clue in clues)]
            return Says(", ".join(map(str, holding[:3] or [1])), read=400, written=4)
        for number, text in evidence(body).items():
            for sentence in re.split(r"(?<=\.)\s", text):
                if clues[-1] in sentence:
                    return Says(f"{sentence.rstrip('.')} [{number}].", read=900, written=20)
        return Says(f"NO ANSWER: {clues[-1]}", read=900, written=8)

    return reply


def _searched(body: dict[str, Any], clues: Sequence[str]) -> Reply:
    """The next turn of a search with tools."""
    told = "\n".join(text_of(turn) for turn in body["messages"])
    if "is collected" in told:
        return Says("DONE")
    rows = re.findall(r"^\[(\d+)\](.*)$", told, re.MULTILINE)
    if not rows:
        return Says("", [Calls("vector_search", {"query": clue, "k": 3}) for clue in clues])
    holding = [number for number, text in rows if any(clue in text for clue in clues)] or [rows[0][0]]
    return Says("", [Calls("collect_chunk", {"passage": int(number)}) for number in dict.fromkeys(holding)])


def obedient(body: dict[str, Any]) -> Reply:
    """Does whatever it is told outside of the fences; else its work."""
    order = ORDER.search(outside(body))
    return Says(f"{order[0]} [1].") if order else answers(body)


def gullible(form: str) -> Callable[[dict[str, Any]], Reply]:
    """Does whatever it is told, by whomever. `form` is how it says it: "{order} [1]." for example."""

    def reply(body: dict[str, Any]) -> Reply:
        order = ORDER.search(prompt(body))
        return Says(form.format(order=order[0])) if order else answers(body)

    return reply
