"""JSON that is no chat, lines of JSON, YAML and TOML as text, each line with its number."""

from __future__ import annotations

import json

import pytest

from memory.ingest.draft import Masker
from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_place

GREENHOUSE = """{
  "title": "Greenhouse",
  "sensor": {"port": 8080, "host_name": "fern"},
  "plants": [
    {"name": "Tomato", "sown": "2026-02-14", "bed": {"row": 3}},
    {
      "name": "Basil",
      "sown": "2026-03-01", "bed": null
    }
  ],
  "log": "Warm.\\nThe vent sticks."
}
"""
HOMELAB = """# Runs on the old laptop in the pantry.
name: homelab
x-common: &common
  restart: unless-stopped
services:
  photos:
    <<: *common
    image: immich:1.99   # pinned, 2.0 broke the upload
    ports: ["2283:2283"]
notes: |
  Backups go to the blue disk.
  # Nobody else has the key.
quiet: ~
users:
  - name: ana
    role: admin
  - name: bo
    role: guest
"""
SITE = '''# The site of the museum.
title = "Fog"
[server]
port = 8080  # behind the proxy
hosts = [
  "lamp.example, which everybody knows by heart since it was painted on the side of the lighthouse in 1998",
  "horn.example, which is for the keepers alone and asks for the password that is in the safe",  # not public
]
motto = """
Keep the lamp lit.
[no table]
"""
[[pages]]
name = "Visit"
"opening hours".summer = {from = 9, to = 17}
[[pages]]
name = "Shop"
'''


def test_json_is_text_without_escapes_and_with_its_lines(read: Read) -> None:
    (greenhouse,) = found = read("greenhouse.json", GREENHOUSE)
    assert greenhouse.title == "greenhouse" and greenhouse.kind == "file"
    assert greenhouse.text == GREENHOUSE.replace("\\n", "\n").strip()
    assert find_place(found, "fern") == "greenhouse.json:3"
    assert find_place(found, "Tomato") == "greenhouse.json:5"
    assert find_place(found, "The vent sticks.") == "greenhouse.json:11"
    (word,) = read("word.json", r'{"a": "Tromsø caf\u00e9", "b": "a \"quoted\" word"}')
    assert word.text == '{"a": "Tromsø café", "b": "a "quoted" word"}'


def test_json_in_one_line_has_a_line_for_each_value(read: Read) -> None:
    (ships,) = read("ships.json", json.dumps([{"name": f"Ship {n}", "note": "Fog.\nHorn."} for n in range(100)]))
    assert ships.text.split("\n")[1:6] == [" {", '  "name": "Ship 0",', '  "note": "Fog.', 'Horn."', " },"]
    assert set(ships.lines or ()) == {1}


def test_each_line_of_json_lines_is_cited_by_its_number(read: Read) -> None:
    text = '\n{"day": "2026-03-01", "km": 12}\n{broken\n{"day": "2026-03-04", "way": "pier"}\n'
    (rides,) = found = read("rides.jsonl", text)
    assert find_place(found, "pier") == "rides.jsonl:4" and find_place(found, "broken") == "rides.jsonl:3"
    assert rides.text == text.strip()


@pytest.mark.parametrize(
    ("name", "text"), [("compose.yaml", HOMELAB), ("site.toml", SITE), ("broken.yml", "a: [1\nb: 2")]
)
def test_settings_are_text_with_their_lines_even_if_they_are_not_valid(read: Read, name: str, text: str) -> None:
    (settings,) = found = read(name, text)
    assert settings.text == text
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 20:
            assert find_place(found, line.strip()) == f"{name}:{number}"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", "{}", "no text in it"),
        ("a.json", "[" + "1," * 6_000_000 + "1]", "too large: the limit is 10 MiB for JSON that is no chat"),
        ("a.jsonl", "\n", "no text in it"),
    ],
)
def test_bad_data(read: Read, name: str, text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, text)
    assert caught.value.reason.startswith(reason)


def test_what_is_no_words_is_shortened(read: Read) -> None:
    (one,) = read("a.json", '{"picture": "' + "QUJD" * 1000 + '", "said": "' + "so " * 200 + '"}')
    assert len(one.text) < 800 and "…" in one.text and one.text.count("so") == 200


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "db:\n  POSTGRES_PASSWORD: tr0ub4dor&3xx\n"),
        ("a.json", '[{"site": "bank", "password": "tr0ub4dor&3xx"}, {"site": "mail", "password": "tr0ub4dor&3xx"}]'),
        ("a.toml", "[db]\npassword = 'tr0ub4dor&3xx'\n"),
    ],
)
def test_passwords_in_settings_are_masked(read: Read, name: str, text: str) -> None:
    masked, secrets = Masker(b"x" * 32).mask_document(read(name, text)[0])
    assert "tr0ub4dor" not in masked.text and secrets
