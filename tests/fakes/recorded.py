"""A model that answers as one was recorded: what it reads out of a passage was written down beforehand, and what it
says of two facts comes from whoever knows. With `Noise` it is wrong as often as is asked for.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from tests.fakes.manners import Manners
from tests.fakes.server import Reply, Says
from tests.fakes.talents import text_of

Item = Mapping[str, Any]
"""Something that was read out of a text; its "quote" stands there."""

Decides = Callable[[str, str], str]
"""The older and the newer of two facts, as they are shown to a model (the heading, then a line without its words) ->
what the newer one does to the older one."""

EPISODE = re.compile(r"^Episode (\d+): [^\n]*\n(\S+)\n(.*?)\n\2$", re.MULTILINE | re.DOTALL)
NUMBERED = re.compile(r"  (\d+)\. (.*?)(?: ([A-Z]{6}) .* \3)?")
PAIRS = re.compile(r"(\d+): ([\d, ]+)")
RELATIONS = ("replaces", "disputes", "same", "both true", "unrelated")
SURE = "high"
WORD = re.compile(r"\w+")
FIELD = re.compile(r"^[A-Z]+[:;]", re.MULTILINE)  # of a calendar
PROSE = (
    "I'm sorry, but I can't find any facts in this passage.",
    "",
    "<html><body><h1>502 Bad Gateway</h1></body></html>",
    '{"objects": [], "facts": "none"}',
    "[1, 2, 3]",
)


@dataclass(frozen=True)
class Noise:
    """Goes wrong at `rate`, of every kind: leaves things out, quotes what is not there, decides wrongly, says what is
    no JSON. The same seed goes wrong at the same places."""

    rate: float = 0.0
    seed: int = 42

    def strikes(self, kind: str, *what: object) -> bool:
        return self.of(kind, *what).random() < self.rate

    def of(self, kind: str, *what: object) -> random.Random:
        """What is drawn for one thing; does not depend on what was drawn before."""
        return random.Random(f"{self.seed}:{kind}:{what}")

    def spoilt(self, text: str, *what: object) -> str:
        """JSON as a bad model writes it."""
        draw = self.of("how it is spoilt", *what)
        wrong_words = text.replace('"asserted"', '"certain"').replace('"replaces"', '"overwrites"')
        return draw.choice([*PROSE, text[: len(text) // 2], f"Sure! Here it is:\n{text}", wrong_words])


class Recording:
    """What was read out of each file: its path -> {"objects": [...], "triples": [...], "theses": [...]}."""

    def __init__(self, files: Mapping[str, Mapping[str, Sequence[Item]]], noise: Noise | None = None) -> None:
        self._files = files
        self._noise = noise or Noise()
        self._all_quotes = sorted({item["quote"] for of in files.values() for item in (*of["triples"], *of["theses"])})

    def read(self, passage: str) -> dict[str, list[dict[str, Any]]]:
        """What the recorded model read out of a passage: the items whose quotes stand in it.

        Quotes are those of the passage where only white space differs from the file, or where a reader has put a
        line of a table or a date of a calendar in other words; then all of that is quoted.
        """
        best: dict[str, list[dict[str, Any]]] = {"triples": [], "theses": []}
        objects: Sequence[Item] = ()
        most = 0
        lines = [(part.strip(), WORD.findall(part)) for part in (*passage.splitlines(), *passage.split("\n\n"))]
        for of in self._files.values():
            found = {kind: list(_standing(of[kind], passage, lines)) for kind in best}
            weight = sum(len(item["quote"]) for items in found.values() for item in items)
            if weight > most:
                best, most, objects = found, weight, of["objects"]
        spoken = {
            name
            for item in (*best["triples"], *best["theses"])
            for name in (item.get("subject"), item.get("object"), *item.get("objects", ()))
        }
        told = {kind: [self._noisy(item, passage) for item in items if not self._leaves_out(item)]
                for kind, items in best.items()}  # fmt: skip
        return {"objects": [dict(one) for one in objects if one["name"] in spoken], **told}

    def _leaves_out(self, item: Item) -> bool:
        return self._noise.strikes("omission", sorted(item.items(), key=str))

    def _noisy(self, item: dict[str, Any], passage: str) -> dict[str, Any]:
        what = sorted(item.items(), key=str)
        if not self._noise.strikes("quote", what):
            return item
        draw = self._noise.of("which quote", what)
        others = [draw.choice(self._all_quotes), f"{item['quote']} as we had said", "no such words anywhere", ""]
        return item | {"quote": draw.choice([quote for quote in others if quote not in passage or not quote])}


class Recorded:
    """The talent of a model: reads like a recording, and decides as it is told to; with `manners` it writes JSON as
    chat models do. Give it to a server as `answer`."""

    def __init__(
        self, recording: Recording, decides: Decides, noise: Noise | None = None, manners: Manners | None = None
    ) -> None:
        self._manners = manners
        self._recording = recording
        self._decides = decides
        self._noise = noise or Noise()
        self._asked: dict[str, int] = {}

    def __call__(self, body: dict[str, Any]) -> Reply:
        prompt = text_of(next(turn for turn in body["messages"] if turn["role"] == "user"))
        episodes, pairs = EPISODE.findall(prompt), pairs_in(prompt)
        said: dict[str, Any]
        if pairs:
            said = {"decisions": [row for pair in pairs if (row := self._decision(*pair))["relation"] != "unrelated"]}
        else:
            said = {"episodes": [{"episode": int(n)} | as_reply(self._recording.read(text)) for n, _, text in episodes]}
        text, what = json.dumps(said, ensure_ascii=False), repr(pairs or [passage for _, _, passage in episodes])
        self._asked[what] = turn = self._asked.get(what, 0) + 1
        if self._noise.strikes("no JSON", what, turn):
            return Says(self._noise.spoilt(text, what, turn))
        return Says(self._manners.write_json(text) if self._manners else text)

    def _decision(self, older: int, newer: int, old: str, new: str) -> dict[str, Any]:
        relation = self._decides(old, new)
        if self._noise.strikes("decision", old, new):
            others = [one for one in RELATIONS if one != relation]
            relation = self._noise.of("which decision", old, new).choice(others)
        return {"older": older, "newer": newer, "relation": relation, "words": "", "confidence": SURE}


def as_reply(read: Mapping[str, Sequence[Item]]) -> dict[str, Any]:
    """What was read, as a model is asked to say it: with the last day on which something holds."""

    def said(item: Item) -> dict[str, Any]:
        told = {key: value for key, value in item.items() if key not in ("quote", "valid_to", "time_text")}
        begin, last = item.get("valid_from"), last_day(item.get("valid_to"))
        return {"quote": item["quote"]} | told | {"valid_until": max(last, begin or last) if last else None}

    facts, statements = ([said(item) for item in read[kind]] for kind in ("triples", "theses"))
    return {"facts": facts, "statements": statements, "objects": [*read["objects"]]}


def last_day(valid_to: str | None) -> str | None:
    """The last day, month or year before one on which something no longer holds."""
    if not valid_to or len(valid_to) not in (len("2024"), len("2024-03"), len("2024-03-09")):
        return valid_to
    begin = date.fromisoformat(valid_to + {4: "-01-01", 7: "-01"}.get(len(valid_to), ""))
    return (begin - timedelta(days=1)).isoformat()[: len(valid_to)]


def pairs_in(prompt: str) -> list[tuple[int, int, str, str]]:
    """The pairs that a request for decisions asks about: the numbers of the older and the newer fact, and both as they
    are shown."""
    facts: dict[int, str] = {}
    head, found = "", []
    listed, _, compared = prompt.rpartition("\nCompare\n")
    for line in listed.splitlines():
        if match := NUMBERED.fullmatch(line):
            facts[int(match[1])] = f"{head}\n{match[2]}"
        else:
            head = line
    for line in compared.splitlines():
        if match := PAIRS.fullmatch(line):
            newer, older = int(match[1]), [int(number) for number in match[2].split(", ")]
            found += [(old, newer, facts[old], facts[newer]) for old in older if {old, newer} <= facts.keys()]
    return found


def _standing(
    items: Iterable[Item], passage: str, lines: Sequence[tuple[str, Sequence[str]]]
) -> Iterable[dict[str, Any]]:
    """The items whose quotes stand in a passage, with quotes that stand there word for word."""
    plain = " ".join(passage.split())
    for item in items:
        if " ".join(item["quote"].split()) in plain:
            yield dict(item)
            continue
        wanted = WORD.findall(FIELD.sub("", item["quote"]))
        line = next((line for line, words in lines if wanted and _in_order(wanted, words)), None)
        if line is not None:
            yield dict(item) | {"quote": line}


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    left = iter(words)
    return all(word in left for word in wanted)
