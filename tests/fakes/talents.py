"""Models that can do what `pal models probe` asks of them, or cannot. For any server: `FakeOllama(answer=diligent)`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.fakes.server import Calls, Reply, Says

_FACTS: dict[str, list[tuple[str, str, str, str, str]]] = {  # of a note: quote, subject, predicate, object, modality
    "Mira Okafor moved": [
        ("Mira Okafor moved to Tromsø on 2 March", "Mira Okafor", "lives_in", "Tromsø", "asserted"),
        ("works for Nordlys Press", "Mira Okafor", "works_for", "Nordlys Press", "asserted"),
        ("Her sister Petra lives in Bergen", "Petra", "lives_in", "Bergen", "asserted"),
    ],
    "The studio's rent": [
        ("The studio's rent is 940 euros a month since May", "studio", "costs_per_month", "940 euros", "asserted"),
        ("until April it was 880", "studio", "costs_per_month", "880", "past"),
        ("Jonas Brandt is the landlord", "Jonas Brandt", "is", "landlord", "asserted"),
    ],
    "The van stands": [
        ("The van stands in Quayside Street", "van", "stands_in", "Quayside Street", "asserted"),
        ("I may sell it to Petra next year", "owner", "sells_van_to", "Petra", "plan"),
        ("Jonas no longer eats fish", "Jonas", "eats", "fish", "negated"),
    ],
    "The ferry to Vardø": [
        ("The ferry to Vardø leaves at 7:40 on weekdays", "ferry to Vardø", "leaves_at", "7:40", "asserted"),
        (
            "Halden Museum lent its astrolabe to Utrecht University",
            "Halden Museum",
            "lent_astrolabe_to",
            "Utrecht University",
            "asserted",
        ),
    ],
}
_ANSWERS = {
    "Where does Mira Okafor work": "She works for Nordlys Press [1].",
    "How much is the rent": "The rent of the studio is 940 euros a month [2].",
    "Where does the van": "The van stands in Quayside Street [3].",
}
_REPLACING = ("940", "Tromsø", "Thursday")  # the newer values that take the place of older ones


def diligent(body: dict[str, Any]) -> Reply:
    """Reads, decides, answers with citations, admits what it does not know, drives tools, reads all of a prompt."""
    turns, asked = body["messages"], text_of(body["messages"][-1])
    if body.get("tools"):
        results = [
            text_of(turn) for turn in turns if turn["role"] == "tool" or "tool_result" in str(turn.get("content"))
        ]
        match len(results):
            case 0:
                return Says("", [Calls("entity_search", {"query": "Mira Okafor"})])
            case 1:
                return Says("", [Calls("get_chunks_for_entity", {"object": _number(r'\[(\d+)\] "Mira', results[0])})])
            case 2:
                return Says("", [Calls("collect_chunk", {"passage": _number(r"\[(\d+)\] Mira:", results[1])})])
            case _:
                return Says("DONE")
    if "\nEpisode 1:" in f"\n{asked}":
        return Says(json.dumps({"episodes": [_read(next((rows for at, rows in _FACTS.items() if at in asked), []))]}))
    if "\nCompare\n" in asked:
        return Says(json.dumps({"decisions": [*_decide(asked)]}))
    if question := re.search(r"The question:\n\w+\n(.*)", asked):
        return Says(next((said for start, said in _ANSWERS.items() if question[1].startswith(start)), "NO ANSWER"))
    if number := re.search(r"The number of the safe is (\d+)", asked):
        return Says(number[1])
    return Says("one, two, three, four, five, six, seven, eight, nine, ten")


def _number(pattern: str, result: str) -> int:
    return int(re.findall(pattern, result)[0])


def _read(rows: list[tuple[str, str, str, str, str]]) -> dict[str, Any]:
    names = ("quote", "subject", "predicate", "object", "modality")
    none = {"valid_from": None, "valid_until": None}
    return {"episode": 1, "facts": [dict(zip(names, row, strict=True)) | none for row in rows], "statements": [],
            "objects": []}  # fmt: skip


def _decide(asked: str) -> list[dict[str, Any]]:
    facts = dict(re.findall(r"^  (\d+)\. (.*)", asked, re.MULTILINE))
    pairs = re.findall(r"^(\d+): (\d+)$", asked, re.MULTILINE)
    said = {"words": "", "relation": "replaces", "confidence": "high"}
    return [{"newer": int(new), "older": int(old)} | said for new, old in pairs if facts[new].startswith(_REPLACING)]


def does_not(task: str, instead: str) -> Callable[[dict[str, Any]], Reply]:
    """A model that can do all but one kind of tasks: what it is asked then holds `task`, and it says `instead`."""

    def talent(body: dict[str, Any]) -> Reply:
        return Says(instead) if task in text_of(body["messages"][-1]) else diligent(body)

    return talent


def sloppy(body: dict[str, Any]) -> Reply:
    """Says the same to everything, whatever form it should have."""
    return Says("Sure! Here is what I think: pineapple [1] [3].")


def text_of(turn: dict[str, Any]) -> str:
    """What a turn says, in either protocol."""
    content = turn.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(block.get("text") or block.get("content") or "") for block in content)
