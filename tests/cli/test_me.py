"""pal me: who the person is to the memory, from notes and by hand, and how it is mended."""

from __future__ import annotations

from tests.cli.vault import Shell


def test_nobody_is_known_at_first(shell: Shell) -> None:
    said = shell.pal("me")
    assert (said.code, said.out) == (0, "")
    assert said.err == "I do not know who you are. Say it: pal me set name 'YOUR NAME'\n"


def test_a_note_about_the_writer_fills_the_profile_and_a_person_mends_it(shell: Shell) -> None:
    shell.pal("remember", "Name: Nadia Okafor\n\nPhone: 07700 900142\n", "--title", "About me")
    told = shell.pal("me").out
    assert told.startswith("Nadia Okafor  ") and "phone: 07700 900142" in told
    said = shell.pal("me", "set", "phone", "07700 111222")
    assert "Your phone is 07700 111222." in said.err and "It replaces 07700 900142." in said.err
    told = shell.pal("me").out
    assert "phone: 07700 111222" in told and "before: 07700 900142" in told and "you said so" in told
    assert "07700 111222" in shell.pal("ask", "What is my phone number?").out.split("\n")[0]
    (revision,) = [one["id"] for one in shell.pal("review", "--json").json["revisions"]]
    assert shell.pal("undo", str(revision)).code == 0
    assert "before" not in shell.pal("me").out.split("phone: 07700 900142")[1].split("\n")[0]
    answered = shell.pal("ask", "What is my phone number?", "--all").out
    assert "phone: 07700 900142" in answered and "phone: 07700 111222" in answered and "earlier" not in answered


def test_what_was_remembered_is_named_by_its_title(shell: Shell) -> None:
    shell.pal("remember", "Name: Nadia Okafor\n\nPhone: 07700 900142\n", "--title", "About me")
    shell.pal("remember", "Plumber\n\nPhone: 0161 496 0222\n")
    told = shell.pal("me").out
    assert "Nadia Okafor  your note\n" in told and ", About me\n" in told and "note:" not in told
    assert "0161" not in told, "the phone of a plumber is theirs"


def test_what_was_said_by_hand_is_taken_back(shell: Shell) -> None:
    shell.pal("me", "set", "name", "Nadia Okafor")
    shell.pal("me", "set", "blood type", "A-")
    assert [one["key"] for one in shell.pal("me", "--json").json["profile"]["entries"]] == ["blood type"]
    assert shell.pal("me", "rm", "blood type").code == 0
    found = shell.pal("me", "--json").json["profile"]
    assert (found["names"], found["named_by"], found["entries"]) == (["Nadia Okafor"], ["note:me/name"], [])
    gone = shell.pal("me", "rm", "blood type")
    assert gone.code == 4 and "You have not stated your blood type here." in gone.err
    assert "is no name of a thing" in shell.pal("me", "set", "a:b", "x").err


def test_what_is_said_twice_by_hand_takes_the_place_of_what_was_said_first(shell: Shell) -> None:
    shell.pal("me", "set", "phone", "0161 1")
    said = shell.pal("me", "set", "phone", "0161 2")
    assert said.code == 0 and "Your phone is 0161 2." in said.err
    told = shell.pal("me").out
    assert "phone: 0161 2" in told and "before: 0161 1" in told
