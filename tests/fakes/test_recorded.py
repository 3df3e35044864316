"""The recorded model: what it says of a passage, of two facts, and how it goes wrong."""

import json
from typing import Any

from tests.fakes import Says
from tests.fakes.recorded import Noise, Recorded, Recording

PAGE = "---\ndate: 2024\n---\nThe Petrel lies\nin Oslo. The stove burns paraffin.\n"


def item(quote: str, **more: Any) -> dict[str, Any]:
    return {"subject": "Petrel", "predicate": "lies_in", "object": "Oslo", "quote": quote, **more}


FILES = {
    "boat.md": {
        "objects": [{"name": "Oslo", "type": "place"}, {"name": "Bergen", "type": "place"}],
        "triples": [item("The Petrel lies in Oslo."), item("lies in Bergen")],
        "theses": [{"text": "Its stove burns paraffin.", "objects": ["stove"], "quote": "The stove burns paraffin."}],
    },
    "other.md": {"objects": [], "triples": [item("The stove burns", object="wood")], "theses": []},
    "rates.csv": {"objects": [], "triples": [item("2024-05,Lumen,5350"), item("2024-06,Lumen,6800")], "theses": []},
    "days.ics": {"objects": [], "triples": [item("SUMMARY:Regatta\r\nLOCATION:Horten")], "theses": []},
}  # fmt: skip


def body(prompt: str) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": "Read."}, {"role": "user", "content": prompt}]}


def said(reply: Any) -> Any:
    assert isinstance(reply, Says)
    return json.loads(reply.text)


ASKED = "slot\n  1. a ABCDEF words ABCDEF\n  2. {}\nother\n  3. c\n\nCompare"


def test_it_reads_the_file_of_which_most_stands_in_a_passage() -> None:
    found = Recording(FILES).read(PAGE)
    assert [one["quote"] for one in found["triples"]] == ["The Petrel lies in Oslo."]
    assert [one["text"] for one in found["theses"]] == ["Its stove burns paraffin."]
    assert [one["name"] for one in found["objects"]] == ["Oslo"]  # no other is spoken of
    assert Recording(FILES).read("Nothing of it.") == {"objects": [], "triples": [], "theses": []}


def test_it_quotes_tables_and_calendars_as_a_reader_shows_them() -> None:
    rows = "month: 2024-05; vendor: Lumen; usd: 5350\nmonth: 2024-06; vendor: Lumen; usd: 6800"
    assert [one["quote"] for one in Recording(FILES).read(rows)["triples"]] == rows.split("\n")
    event = "## Regatta\nWhen: 2024-05-05\nWhere: Horten"
    (found,) = Recording(FILES).read(f"## Lunch\nWhere: Horten\n\n{event}")["triples"]
    assert found["quote"] == event


def test_it_answers_for_each_episode_and_each_pair() -> None:
    asked: list[tuple[str, str]] = []

    def decides(old: str, new: str) -> str:
        asked.append((old, new))
        return "replaces"

    model = Recorded(Recording(FILES), decides)
    prompt = f'Episode 1: from "boat"\nf00\n{PAGE}\nf00\n\nEpisode 2: from "a"\nf00\nNothing.\nf00'
    one, two = said(model(body(prompt)))["episodes"]
    assert (one["episode"], len(one["facts"]), two["episode"], two["facts"]) == (1, 1, 2, [])
    prompt = ASKED.format("b") + "\n2: 1\n3: 1, 2"
    assert [(one["older"], one["newer"], one["relation"]) for one in said(model(body(prompt)))["decisions"]] == [
        (1, 2, "replaces"), (1, 3, "replaces"), (2, 3, "replaces"),
    ]  # fmt: skip
    assert asked == [("slot\na", "slot\nb"), ("slot\na", "other\nc"), ("slot\nb", "other\nc")]


def test_noise_is_of_every_kind_at_its_rate_and_the_same_each_time() -> None:
    many = {"objects": [], "triples": [item("The stove burns", object=f"log {n}") for n in range(400)], "theses": []}

    def counts(seed: int, rate: float = 0.2) -> tuple[int, int, int, int]:
        noise = Noise(rate, seed)
        found = Recording({"a.md": many}, noise).read(PAGE)["triples"]
        model = Recorded(Recording({}, noise), lambda old, new: "unrelated", noise)
        wrong = broken = 0
        for n in range(400):
            text = model(body(ASKED.format(f"b{n}") + "\n2: 1")).text  # type: ignore[union-attr]
            try:
                wrong += len(json.loads(text)["decisions"])
            except (ValueError, KeyError, TypeError):
                broken += 1
        return len(found), sum(one["quote"] not in PAGE or not one["quote"] for one in found), wrong, broken

    assert counts(1) == counts(1) != counts(2)
    assert counts(1, rate=0) == (400, 0, 0, 0)
    left, misquoted, wrong, broken = counts(1)
    assert 290 <= left <= 350
    assert 0.12 <= misquoted / left <= 0.28
    assert 40 <= wrong <= 110
    assert 40 <= broken <= 110


def test_who_asks_again_may_get_a_better_answer() -> None:
    model = Recorded(Recording(FILES), lambda old, new: "unrelated", Noise(0.5))
    prompt = body(ASKED.format("b") + "\n2: 1")
    assert len({model(prompt).text for _ in range(20)}) > 1  # type: ignore[union-attr]
