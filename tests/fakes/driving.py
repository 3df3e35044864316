"""How the oracle drives the tools of memory: it looks for the names in the question, follows what it sees to what is
missing, collects it, and ends. It only ever asks for what it has seen; which of it leads on it knows from the gold."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tests.fakes.recorded import Noise
from tests.fakes.server import Calls
from tests.fakes.talents import text_of
from tests.fakes.truth import Gold, Known, holds

DONE = "DONE"
NAMES = 3  # of the question, that are looked for
AT_ONCE = 3  # calls of a turn that look for something; all that is found may be collected
RESULTS = 10  # of a search
_FENCED = re.compile(r"^([A-Z]{6})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
_PASSAGE = re.compile(
    r'^\[(\d+)\] "[^\n]*?"(?:, \d{4}-\d\d-\d\d)?(?:, by [^\n:]*?)?(?: \(fits -?[\d.]+\))?: ([^\n]*)', re.MULTILINE
)
_OBJECT = re.compile(r'^\[(\d+)\] "([^\n"]+)"(?=[,;]|$)', re.MULTILINE)
_WITHIN = re.compile(r'\[(\d+)\] "([^\n"]+)"')
_READ = re.compile(r"\APassage \[(\d+)\]")
_COLLECTED = re.compile(r"^Turn \d+ of \d+\. Collected: ([^\n]*?)\. Explored", re.MULTILINE)
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’.-]*(?: (?:(?:of|the|de|von|van|and) )?[A-Z][\w'’.-]*)*")


@dataclass
class Seen:
    """What a conversation shows: passages by number as they are listed, `whole` those that were read, objects by
    number, what is collected, and the calls that were made."""

    passages: dict[int, str] = field(default_factory=dict)
    whole: dict[int, str] = field(default_factory=dict)
    objects: dict[int, str] = field(default_factory=dict)
    collected: set[int] = field(default_factory=set)
    made: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, body: dict[str, Any]) -> Seen:
        seen = cls()
        for turn in body["messages"]:
            text = text_of(turn)
            if match := _COLLECTED.search(text):
                seen.collected |= {int(number) for number in re.findall(r"\d+", match[1])}
            seen.made |= {_key(name, arguments) for name, arguments in _calls(turn)}
            read = _READ.search(text)
            for _, data in _FENCED.findall(text):
                if read is not None:
                    seen.whole[int(read[1])] = data
                seen.passages |= {int(number): words for number, words in _PASSAGE.findall(data)}
                listed = data.rpartition("\nObjects: ")[2] if read is not None else ""
                seen.objects |= {
                    int(number): name for number, name in (*_OBJECT.findall(data), *_WITHIN.findall(listed))
                }
        return seen

    def is_new(self, call: Calls) -> bool:
        return _key(call.name, call.arguments) not in self.made


def driven(
    body: dict[str, Any], question: str, known: Known, kept: dict[int, Gold], noise: Noise
) -> tuple[str, list[Calls]]:
    """The next turn of a conversation with tools: what is said, and the calls. `kept`: what was found before, by its
    number; what is found now is added."""
    seen = Seen.of(body)
    kept |= {number: gold for gold in known.gold for number, words in seen.passages.items() if gold.has(words)}
    kept |= {number: gold for gold in known.gold for number, words in seen.whole.items() if gold.stands_in(words)}
    what = (question, sorted(seen.made), sorted(seen.passages), sorted(seen.collected))
    if noise.strikes("turn", *what):
        return _astray(seen, question, noise.of("how", what))
    calls = [Calls("collect_chunk", {"passage": number, "relevance": 1.0}) for number in kept]
    calls = [call for call in calls if call.arguments["passage"] not in seen.collected and seen.is_new(call)]
    missing = [gold for gold in known.gold if gold not in kept.values()]
    if missing:
        calls += islice(filter(seen.is_new, _looks(seen, question, missing, kept)), AT_ONCE)
    return ("", calls) if calls else (DONE, [])


def _looks(seen: Seen, question: str, missing: Sequence[Gold], found: Iterable[int]) -> Iterator[Calls]:
    """What may be asked next, the most promising first: for objects that lead to what is missing, for what was found as
    a whole, for the question and its names, and for what is around these."""
    leading = {number: name for number, name in seen.objects.items() if any(gold.is_called(name) for gold in missing)}
    leading |= {
        number: name
        for number, name in seen.objects.items()
        if any(holds(text, name) for gold in missing for text in gold.texts)
    }
    yield from (Calls("get_chunks_for_entity", {"object": number}) for number in leading)
    yield from (Calls("vector_search", {"query": name, "k": RESULTS}) for name in leading.values())
    yield from (Calls("read_chunk", {"passage": number}) for number in found)
    yield Calls("vector_search", {"query": question, "k": RESULTS})
    yield from (Calls("entity_search", {"query": name}) for name in _NAME.findall(question)[:NAMES])
    named = [number for number, name in seen.objects.items() if holds(question, name)]
    yield from (Calls("expand_neighbors", {"object": number}) for number in named)


def _astray(seen: Seen, question: str, draw: random.Random) -> tuple[str, list[Calls]]:
    """A turn as a bad model takes it: it ends, talks, collects or looks for anything, calls what there is not."""
    passages, objects = sorted(seen.passages) or [1], sorted(seen.objects) or [1]
    ways = [
        (DONE, None),
        ("I would look at the notes first.", None),
        ("", Calls("collect_chunk", {"passage": draw.choice(passages), "relevance": 1.0})),
        ("", Calls("get_chunks_for_entity", {"object": draw.choice(objects)})),
        ("", Calls("google", {"query": question})),
    ]
    text, call = draw.choice(ways)
    return text, [call] if call else []


def _calls(turn: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, arguments) of the calls of a turn, in either protocol."""
    for call in turn.get("tool_calls") or ():
        yield call["function"]["name"], call["function"]["arguments"]
    content = turn.get("content")
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            yield block["name"], block["input"]


def _key(name: str, arguments: Any) -> str:
    return json.dumps([name, arguments], sort_keys=True)
