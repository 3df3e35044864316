"""JSON that is no chat and lines of JSON as fields and rows, YAML and TOML as text: each with its line."""

from __future__ import annotations

import pytest

from memory.ingest.masking import Masker
from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

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
RIDES = """[
 {"month": "2026-01", "km": 120, "note": "fog"},
 {"month": "2026-02", "km": 95},
 {"month": "2026-03", "km": 95}
]
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


def test_json_has_fields_rows_and_facts(read: Read) -> None:
    found = read("greenhouse.json", GREENHOUSE)
    assert found[0].title == "Greenhouse" and found[0].kind == "file"
    assert find_place(found, "- sensor.host_name: fern") == "greenhouse.json:3"
    assert find_place(found, "Tomato") == "greenhouse.json:5"
    assert find_place(found, "Basil") == "greenhouse.json:6"
    assert find_place(found, "The vent sticks.") == "greenhouse.json:11"
    assert {("Greenhouse", "sensor.port", "8080"), ("Tomato", "bed.row", "3")} <= find_facts(found)


def test_a_list_of_like_records_is_a_table(read: Read) -> None:
    (rides,) = found = read("rides.json", RIDES)
    assert rides.text.split("\n")[0] == "month: 2026-01; km: 120; note: fog"
    assert find_place(found, "2026-02") == "rides.json:3"


def test_values_of_records_that_do_not_fit_into_a_line_have_their_name(read: Read) -> None:
    (book,) = found = read("recipes.json", '[{"title": "Soup", "steps": "Cut.\\nCook."}, {"title": "Bread"}]')
    assert book.text == "- Soup.title: Soup\n- Soup.steps:\nCut.\nCook.\n\n- Bread.title: Bread"
    assert find_place(found, "Cook.") == "recipes.json:1"


def test_what_is_in_each_line_of_json_lines_is_cited_by_it(read: Read) -> None:
    found = read("rides.jsonl", '\n{"day": "2026-03-01", "km": 12}\n{broken\n{"day": "2026-03-04", "way": "pier"}\n')
    assert find_place(found, "pier") == "rides.jsonl:4"
    assert found[0].properties == {"columns": ["day", "km", "way"], "not read": "1 of its lines are no valid JSON"}


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
        ("a.jsonl", "broken\n{\n", "no line is valid JSON"),
    ],
)
def test_bad_data(read: Read, name: str, text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, text)
    assert caught.value.reason.startswith(reason)


def test_what_is_no_words_is_shortened(read: Read) -> None:
    (one,) = read("a.json", '{"picture": "' + "QUJD" * 1000 + '", "said": "' + "so " * 200 + '"}')
    assert len(one.text) < 800 and "…" in one.text and one.text.count("so") == 200


LOG = (
    '{"time": "2026-03-01T10:00:00Z", "event": {"kind": "start", "host": "fern"}}\n'
    '{"time": "2026-03-02T11:30:00Z", "event": {"kind": "alarm"}, "tags": ["fog", "horn"]}\n'
)


def test_a_log_of_nested_records(read: Read) -> None:
    (log,) = found = read("events.jsonl", LOG)
    assert log.text.split("\n")[1] == "time: 2026-03-02T11:30:00Z; event.kind: alarm; tags: fog, horn"
    assert find_place(found, "fern") == "events.jsonl:1"


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
