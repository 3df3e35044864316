"""Models that can do what `pal models probe` asks of them, or cannot. For any server: `FakeOllama(answer=diligent)`."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.fakes.server import Calls, Reply, Says


def diligent(body: dict[str, Any]) -> Reply:
    """Follows schemas, calls tools one after the other, cites, admits what it does not know, reads all of a prompt."""
    turns, asked = body["messages"], text_of(body["messages"][-1])
    if body.get("tools"):
        results = [
            text_of(turn) for turn in turns if turn["role"] == "tool" or "tool_result" in str(turn.get("content"))
        ]
        match len(results):
            case 0:
                return Says("", [Calls("search", {"name": "Mira Okafor"})])
            case 1:
                return Says("", [Calls("read", {"card": int(re.findall(r"Card (\d+)", results[0])[0])})])
            case _:
                return Says("She lives in Tromsø.")
    if note := re.search(r"Note: (.*)", asked):
        names = re.findall(r"[A-ZÅØ]\w+(?: [A-ZÅØ]\w+)*", note[1])
        fact = {"subject": names[0], "predicate": "is with", "object": names[-1], "quote": note[1]}
        objects = [{"name": name, "type": "other"} for name in names]
        return Says(json.dumps({"objects": objects, "facts": [fact]}))
    if question := re.search(r"Question: (.*)", asked):
        known = {"Where does the van": "In Quayside Street [5].", "When does the ferry": "At 7:40 [2]."}
        return Says(next((answer for start, answer in known.items() if question[1].startswith(start)), "NO ANSWER"))
    if number := re.search(r"The number of the safe is (\d+)", asked):
        return Says(number[1])
    return Says("one, two, three, four, five, six, seven, eight, nine, ten")


def sloppy(body: dict[str, Any]) -> Reply:
    """Says the same to everything, whatever form it should have."""
    return Says("Sure! Here is what I think: pineapple [1] [3].")


def text_of(turn: dict[str, Any]) -> str:
    """What a turn says, in either protocol."""
    content = turn.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(block.get("text") or block.get("content") or "") for block in content)
