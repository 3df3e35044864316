"""Models that answer from numbered evidence: one that does its work, one that does whatever it is told outside of the
fences, and one that does whatever it is told anywhere. For any server: `FakeOllama(answer=answers)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.fakes.server import Reply, Says
from tests.fakes.talents import text_of

FENCED = re.compile(r"^([0-9a-f]{16})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
PIECE = re.compile(r"^\[(\d+)\] (?:fact|line|passage)[^\n]*?:(?: |\n)(.*?)(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)
ORDER = re.compile(r"PWNED-\d+")


def prompt(body: dict[str, Any]) -> str:
    """What the person's side says, all turns of it."""
    return "\n\n".join(text_of(turn) for turn in body["messages"] if turn["role"] == "user")


def outside(body: dict[str, Any]) -> str:
    """What stands in no fence."""
    return FENCED.sub("", prompt(body))


def question(body: dict[str, Any]) -> str:
    """What is asked."""
    found = re.search(r"The question:\n([0-9a-f]{16})\n(.*?)\n\1", prompt(body), re.DOTALL)
    assert found, prompt(body)
    return found[2]


def evidence(body: dict[str, Any]) -> dict[int, str]:
    """The numbered pieces, without what stands before each."""
    found = re.search(r"The evidence:\n([0-9a-f]{16})\n(.*?)\n\1$", prompt(body), re.DOTALL | re.MULTILINE)
    assert found, prompt(body)
    return {int(number): " ".join(text.split()) for number, text in PIECE.findall(found[2])}


def best(body: dict[str, Any]) -> tuple[int, str]:
    """The piece that shares most words with the question, the first of several."""
    wanted = set(re.findall(r"\w{4,}", question(body).lower()))
    pieces = evidence(body)
    return max(pieces.items(), key=lambda one: (len(wanted & set(re.findall(r"\w+", one[1].lower()))), -one[0]))


def answers(body: dict[str, Any]) -> Reply:
    """Says the first sentence of the piece that shares most words with the question, and cites it."""
    number, text = best(body)
    return Says(f"{text.split('. ')[0].rstrip('.')} [{number}].", read=900, written=20)


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
