"""JSON that is no chat, lines of JSON, YAML and TOML: fields with their paths, rows, and where each stands."""

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


def test_records_that_say_much_are_sections(read: Read) -> None:
    (book,) = found = read("recipes.json", '[{"title": "Soup", "steps": "Cut.\\nCook."}, {"title": "Bread"}]')
    assert book.text == "## Soup\n\n- title: Soup\n- steps:\nCut.\nCook.\n\n## Bread\n\n- title: Bread"
    assert find_place(found, "Cook.") == "recipes.json:1"


def test_what_is_in_each_line_of_json_lines_is_cited_by_it(read: Read) -> None:
    found = read("rides.jsonl", '\n{"day": "2026-03-01", "km": 12}\n{broken\n{"day": "2026-03-04", "way": "pier"}\n')
    assert find_place(found, "pier") == "rides.jsonl:4"
    assert found[0].properties == {"columns": ["day", "km", "way"], "note": "1 of its lines are no valid JSON"}


def test_yaml_has_paths_comments_and_what_an_alias_stands_for_once(read: Read) -> None:
    (lab,) = found = read("compose.yaml", HOMELAB)
    assert lab.title == "homelab" and "quiet" not in lab.text and lab.text.count("unless-stopped") == 1
    assert find_place(found, "old laptop") == "compose.yaml:1"
    assert find_place(found, "- services.photos.image: immich:1.99") == "compose.yaml:8"
    assert find_place(found, "(pinned, 2.0 broke the upload)") == "compose.yaml:8"
    assert find_place(found, "Nobody else") == "compose.yaml:12"
    assert find_place(found, "| bo |") == "compose.yaml:17"
    assert ("ana", "role", "admin") in find_facts([lab])


def test_several_documents_in_a_file_of_yaml(read: Read) -> None:
    found = read("pods.yml", "kind: Pod\nspec: {ports: [{n: 1}, 2]}\n---\nkind: Job\nspec: {}\n---\n- x\n")
    assert find_place(found, "- spec.ports.1.n: 1") == "pods.yml:2"
    assert find_place(found, "- kind: Job") == "pods.yml:4"


def test_toml_has_paths_comments_and_lines_within_lists_and_texts(read: Read) -> None:
    (site,) = found = read("site.toml", SITE)
    assert site.title == "Fog"
    for words, line in (
        ("The site of the museum", 1), ("- server.port: 8080", 4), ("(behind the proxy)", 4), ("lamp.example", 6),
        ("horn.example", 7), ("(not public)", 7), ("Keep the lamp lit.", 10), ("[no table]", 11),
        ("| Visit | 9 | 17 |", 13), ("Shop", 16),
    ):  # fmt: skip
        assert find_place(found, words) == f"site.toml:{line}"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.yaml", "a: [1\nb: 2", "not valid YAML: line 2: expected ',' or ']'"),
        ("a.yaml", "a: *nobody", "not valid YAML: line 1: found undefined alias"),
        ("a.toml", "a = 1\na = 2\n", "not valid TOML: Cannot overwrite a value"),
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


CRATE = """[package]
name = "tide"
edition = "2021"  # not 2024 yet

[dependencies]
serde = { version = "1.0", features = ["derive"] }
"clap.derive" = '4.5'

[[bin]]
name = "gauge"
path = "src/gauge.rs"
"""
LOG = (
    '{"time": "2026-03-01T10:00:00Z", "event": {"kind": "start", "host": "fern"}}\n'
    '{"time": "2026-03-02T11:30:00Z", "event": {"kind": "alarm"}, "tags": ["fog", "horn"]}\n'
)


def test_the_manifest_of_a_package(read: Read) -> None:
    (crate,) = found = read("Cargo.toml", CRATE)
    assert find_place(found, "(not 2024 yet)") == "Cargo.toml:3"
    assert find_place(found, "- dependencies.serde.features: derive") == "Cargo.toml:6"
    assert find_place(found, "- dependencies.clap.derive: 4.5") == "Cargo.toml:7"
    assert find_place(found, "| gauge | src/gauge.rs |") == "Cargo.toml:9"
    assert ("Cargo", "package.edition", "2021") in find_facts([crate])


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
