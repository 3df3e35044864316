"""Notes of Obsidian: callouts, tasks with signs, fields within lines, embeds, and canvases."""

from __future__ import annotations

import json

import pytest

from memory.text.mentions import mentions
from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

DAILY = """# Garden

Weather:: fog

> [!warning]- Bring boots
> The path is **wet**.
> Deposit: 300 euros
> > [!note]
> > The key is under the pot.

> Rent: 1 euro, as somebody else said

- [ ] #task Order the tray 📅 2026-11-27 ⏫
- [ ] Water the plants 🔁 every week 🛫 2026-11-20 ⏳ 2026-11-25 📅 2026-11-27
- [x] Choose tiles ✅ 2026-09-12 #bathroom
- [ ] Call Ida [due:: 2026-11-30] [priority:: high]
- Dune [rating:: 5] (author:: [[Frank Herbert]])

![[Roof#Costs]]
"""
PLAN = """{
	"nodes":[
		{"id":"g1","type":"group","x":-50,"y":-50,"width":500,"height":400,"label":"Kitchen"},
		{"id":"n1","type":"text","text":"# Budget\\nNo more than 4,200 euros.","x":0,"y":0,"width":100,"height":60},
		{"id":"n2","type":"file","file":"House/Roof.md","subpath":"#Costs","x":900,"y":0,"width":100,"height":60},
		{"id":"n3","type":"link","url":"https://slates.example","x":900,"y":200,"width":100,"height":60}
	],
	"edges":[
		{"id":"e1","fromNode":"n1","fromSide":"right","toNode":"n2","toSide":"left","label":"pays for"},
		{"id":"e2","fromNode":"n1","toNode":"gone"}
	]
}
"""


def test_a_callout_is_the_writers_own_words(read: Read) -> None:
    (daily,) = found = read("2026-03-10.md", DAILY)
    assert daily.at is not None and daily.at.date().isoformat() == "2026-03-10" and daily.lines is None
    assert "**Bring boots**\nThe path is **wet**.\nDeposit: 300 euros\n**Note**\nThe key is" in daily.text
    assert find_place(found, "The path is") == "2026-03-10.md:6"
    assert find_place(found, "under the pot") == "2026-03-10.md:9"
    assert find_place(found, "somebody else") == "2026-03-10.md:11"


def test_facts_of_tasks_and_of_fields_within_a_line(read: Read) -> None:
    facts = find_facts(read("Garden.md", DAILY))
    assert {
        ("Garden", "Weather", "fog"), ("Garden", "Deposit", "300 euros"),
        ("Order the tray", "status", "open"), ("Order the tray", "due", "2026-11-27"),
        ("Water the plants", "repeats", "every week"), ("Water the plants", "start", "2026-11-20"),
        ("Water the plants", "scheduled", "2026-11-25"), ("Choose tiles", "closed", "2026-09-12"),
        ("Call Ida", "due", "2026-11-30"), ("Call Ida", "priority", "high"),
        ("Dune", "rating", "5"), ("Dune", "author", "Frank Herbert"),
    } <= facts  # fmt: skip
    assert not [one for one in facts if "1 euro" in one[2]]


def test_an_embed_is_a_link_to_its_note() -> None:
    assert [(one.surface, one.kind) for one in mentions("![[Roof#Costs]] and ![[fog.png|300]]")] == [
        ("Roof", "link"),
        ("fog.png", "link"),
    ]


def test_a_canvas_has_groups_cards_and_arrows(read: Read) -> None:
    (plan,) = found = read("plan.canvas", PLAN)
    assert plan.text == (
        "Kitchen\n\n# Budget\nNo more than 4,200 euros.\n\n[[Roof#Costs]]\n\nhttps://slates.example\n\n"
        "## Arrows\n\n- Budget → pays for → [[Roof#Costs]]"
    )
    assert find_place(found, "4,200") == "plan.canvas:4"
    assert find_place(found, "pays for") == "plan.canvas:9"


def test_a_canvas_in_one_line(read: Read) -> None:
    cards = [{"id": "a", "type": "text", "text": "The **lamp**"}, {"id": "b", "type": "text", "text": "x " * 50}]
    (plan,) = read("p.canvas", json.dumps({"nodes": cards, "edges": [{"id": "e", "fromNode": "a", "toNode": "b"}]}))
    assert plan.text.endswith("- The lamp → " + "x " * 29 + "x…")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"nodes": [', "not a valid canvas"),
        ("[]", "not a canvas of Obsidian"),
        ('{"nodes": [1, {"id": 2}, {"id": "a", "type": "group"}], "edges": 3}', "no text in it"),
    ],
)
def test_bad_canvases(read: Read, text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read("a.canvas", text)
    assert caught.value.reason.startswith(reason)
