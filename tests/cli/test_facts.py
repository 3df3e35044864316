"""facts, history, review, undo: what is known of something, how it changed, and what a person says of it."""

from __future__ import annotations

import os
import re

import pytest

from tests.cli.taught import moved, teach
from tests.cli.vault import Said, Shell

HOW = "To decide: pal review ID keep (the new one is right), both (both are true), old (the old one is right), undo"


@pytest.fixture
def marta(shell: Shell) -> Shell:
    moved(shell)
    return shell


def told(said: Said) -> str:
    """What it printed, without the numbers of facts."""
    assert said.code == 0, said
    return re.sub(r"fact \d+", "fact N", said.out)


def test_facts_show_how_each_is_meant_and_where_it_stands(marta: Shell) -> None:
    assert told(marta.pal("facts", "Marta")) == (
        "Marta owns a boat (no longer)\n   fact N  since 2026-03-12  2026-03-12.md:1\n"
        "Marta, rent: 650 euros\n   fact N  since 2026-03-11  2026-03-11b.md:1\n"
        "Marta, rent: 640 euros\n   fact N  since 2026-03-11  2026-03-11.md:1\n"
        "Marta lives in Faro (planned)\n   fact N  since 2026-03-10  2026-03-10.md:1\n"
        "Marta lives in Porto\n   fact N  since 2026-03-09  2026-03-09.md:1\n"
        'Two notes disagree: "Marta, rent: 640 euros" (2026-03-11, 2026-03-11.md:1); '
        '"Marta, rent: 650 euros" (2026-03-11, 2026-03-11b.md:1)\n   to decide: pal review 2\n'
    )
    assert "Marta lives in Lisbon\n   fact N  2024-05-01 to 2026-03-09  2024-05-01.md:1\n" in told(
        marta.pal("facts", "Marta", "--history")
    )


def test_facts_show_the_names_of_links_and_the_titles_of_notes_without_a_file(shell: Shell) -> None:
    shell.pal("remember", "Keys\n\nThe key of Nora Lind is with [[people/wagner|Herr Wagner]].\n")
    told = shell.pal("facts", "Nora Lind").out
    assert "The key of Nora Lind is with Herr Wagner.\n" in told and told.endswith("  Keys\n") and "note:" not in told


def test_facts_say_which_sentences_only_mention_a_name(shell: Shell) -> None:
    shell.pal("remember", "Log\n\nNora Lind called.\n")
    assert shell.pal("facts", "Nora Lind").out.startswith("Sentences that mention Nora Lind\nNora Lind called.\n")


def test_facts_leave_out_what_only_names_and_tell_an_event_whole(shell: Shell) -> None:
    (shell.home.parent / "notes").mkdir()
    event = "SUMMARY:Nora Lind plays\nDTSTART;VALUE=DATE:20260903\nLOCATION:Musikhaus Ost"
    event += "\nDESCRIPTION:Teacher: Mr Lindner"
    files = {
        "nora.md": "# Nora Lind\n\n| name | shoe size |\n|---|---|\n| Nora Lind | 36 |\n| Bo | 40 |\n",
        "a.eml": "From: Bo <bo@x.example>\nTo: Nora Lind <n@x.example>\nSubject: Hall\n\nNora Lind has the key.\n",
        "kalender.ics": f"BEGIN:VCALENDAR\nBEGIN:VEVENT\n{event}\nEND:VEVENT\nEND:VCALENDAR\n",
        "keller.md": "# Keller\n",
    }
    for name, text in files.items():
        (shell.home.parent / "notes" / name).write_text(text)
    shell.pal("add", str(shell.home.parent / "notes"))
    facts, mentions = shell.pal("facts", "Nora Lind").out.split("\nSentences that mention Nora Lind\n")
    assert facts.splitlines()[::2] == ["Nora Lind, shoe size: 36"]
    assert sorted(mentions.splitlines()[::2]) == [
        "Nora Lind has the key.",
        "Nora Lind plays; When: 2026-09-03 (all day); Where: Musikhaus Ost; Teacher: Mr Lindner",
    ]
    assert shell.pal("facts", "Nora Lind plays").out.startswith("Nora Lind plays, teacher: Mr Lindner\n")
    empty = shell.pal("facts", "Keller")
    assert (empty.code, empty.out) == (4, "") and "Nothing is known of 'Keller' but its name." in empty.err


def test_without_a_name_those_with_most_facts_are_listed(marta: Shell) -> None:
    said = marta.pal("facts")
    assert said.code == 0 and said.out.startswith("Marta") and " facts  " in said.out.splitlines()[0]
    assert said.err.endswith("For one: pal facts NAME\n")
    assert marta.pal("facts", "--json").json["objects"][0]["name"] == "Marta"


def test_facts_of_another_time(marta: Shell) -> None:
    assert told(marta.pal("facts", "Marta", "--as-of", "2025")) == (
        "Marta lives in Lisbon\n   fact N  2024-05-01 to 2026-03-09  2024-05-01.md:1\n"
    )
    early = marta.pal("facts", "Marta", "--as-of", "2020")
    assert (early.code, early.out, early.err) == (4, "", "Nothing was valid at that time of 'Marta'.\n")
    unread = marta.pal("facts", "Marta", "--as-known-on", "2020")
    assert (unread.code, unread.err) == (4, "Nothing was known then of 'Marta'.\n")
    assert marta.pal("facts", "Marta", "--as-known-on", "someday").code == 2
    assert len(marta.pal("facts", "Marta", "--as-known-on", "today", "--json").json["facts"]) == 5


def test_history(marta: Shell) -> None:
    assert told(marta.pal("history", "Marta")) == (
        "Marta owns\n   since 2026-03-12  a boat (no longer)\n      2026-03-12.md:1, fact N\n"
        "Marta, rent\n   since 2026-03-11  640 euros\n      2026-03-11.md:1, fact N\n"
        "   since 2026-03-11  650 euros\n      2026-03-11b.md:1, fact N\n"
        "Marta lives in\n   2024-05-01 to 2026-03-09  Lisbon\n      2024-05-01.md:1, fact N\n"
        "      replaced by a rule: You stated it later. (revision 1)\n"
        "   since 2026-03-09  Porto\n      2026-03-09.md:1, fact N\n"
        "   since 2026-03-10  Faro (planned)\n      2026-03-10.md:1, fact N\n"
    )
    timelines = marta.pal("history", "marta", "--json").json["timelines"]
    assert [len(timeline["values"]) for timeline in timelines] == [1, 2, 3]
    nobody = marta.pal("history", "Nobody")
    assert (nobody.code, nobody.err) == (4, "Error: Nothing is known about 'Nobody'.\n")


def test_history_of_what_only_sentences_speak_of(vault: Shell) -> None:
    said = vault.pal("history", "Bosun")
    if said.code == 4:
        assert said.err == "No facts about 'Bosun' yet, only sentences that mention it: pal facts Bosun\n"
        assert vault.pal("facts", "Bosun").code == 0
    else:
        assert said.out


def test_review_lists_what_waits(marta: Shell) -> None:
    said = marta.pal("review")
    assert said.out.splitlines() == [
        "Revision 2: two notes disagree",
        "   One says: Marta, rent: 640 euros",
        "      since 2026-03-11  2026-03-11.md:1",
        '      "Marta\'s rent is 640 euros."',
        "   Another says: Marta, rent: 650 euros",
        "      since 2026-03-11  2026-03-11b.md:1",
        '      "Marta\'s rent is 650 euros."',
        "   Why: Both have the same time. (a rule)",
        "Revision 1: replaced",
        "   Before: Marta lives in Lisbon",
        "      2024-05-01 to 2026-03-09  2024-05-01.md:1",
        '      "Marta lives in Lisbon."',
        "   Now: Marta lives in Porto",
        "      since 2026-03-09  2026-03-09.md:1",
        '      "Marta lives in Porto now."',
        "   Why: You stated it later. (a rule)",
    ]
    assert said.err.startswith(HOW)
    assert "Review  2 changed facts to look at: pal review\n" in marta.pal("status").out
    reply = marta.pal("review", "--json").json
    assert (reply["open"], [one["id"] for one in reply["revisions"]]) == (2, [2, 1])
    assert [one["id"] for one in marta.pal("review", "--about", "Lisbon", "--json").json["revisions"]] == [1]
    some = marta.pal("review", "--limit", "1")
    assert "1 of 2 are shown; --limit shows more." in some.err


def test_a_verdict_counts_at_once_and_can_be_changed(marta: Shell) -> None:
    assert marta.pal("review", "1", "old").out == "Revision 1: the old one is right; the new one was never true.\n"
    assert "Lisbon" in marta.pal("facts", "Marta").out and "Porto" not in marta.pal("facts", "Marta").out
    assert marta.pal("review", "1", "both").out == "Revision 1: both are true.\n"
    both = marta.pal("facts", "Marta").out
    assert "Lisbon" in both and "Porto" in both
    assert marta.pal("review", "1", "keep", "--json").json["state"] == "kept"
    assert marta.pal("review", "1", "keep").out == "Revision 1 already has this verdict: the new one is right.\n"
    assert marta.pal("review", "1").out.startswith("Revision 1: replaced, the new one is right.\n")
    assert marta.pal("undo", "1").out == "Revision 1: undone; both facts are restored.\n"
    assert marta.pal("undo", "1").out == "Revision 1 already has this verdict: undone; both facts are restored.\n"
    assert marta.pal("review", "2", "undo", "--json").json["state"] == "undone"
    empty = marta.pal("review")
    assert (empty.code, empty.out) == (0, "")
    assert (
        empty.err
        == "Nothing waits for your decision. Facts that an edit replaced, and notes that disagree, are listed here.\n"
    )
    assert "Review" not in marta.pal("status").out
    assert marta.pal("review", "--state", "all").out.count("\n   Why: ") == 2
    assert marta.pal("review", "--state", "kept").err == "There is no such revision.\n"


def test_wrong_ids_and_verdicts(marta: Shell) -> None:
    for words in (["review", "99"], ["review", "99", "keep"], ["undo", "99"]):
        said = marta.pal(*words)
        assert (said.code, said.err.split(".")[0]) == (4, "Error: There is no revision 99")
    assert marta.pal("undo", "99", "--json").json["code"] == "not_found"
    assert marta.pal("review", "1", "maybe").code == 2
    assert marta.pal("undo", "porto").code == 2
    assert marta.pal("review", "--about", "Nobody").code == 4
    assert marta.pal("review", "9" * 30).code != 0


def test_notes_are_never_obeyed(shell: Shell) -> None:
    hostile = "Porto\x1b[31m\u202e [bold]x[/bold]"
    teach(
        shell,
        ("2024-05-01.md", "Marta lives in Lisbon.", ("Marta", "lives in", "Lisbon"), "asserted"),
        ("2026-03-09.md", f"Marta lives in {hostile}.", ("Marta", "lives in", hostile), "asserted"),
    )
    for words in (["facts", "Marta"], ["history", "Marta"], ["review"], ["review", "1"]):
        said = shell.pal(*words)
        assert "[bold]x[/bold]" in said.out and not {"\x1b", "\u202e"} & set(said.out), words


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_review_in_a_terminal_goes_one_by_one(marta: Shell) -> None:
    from tests.cli.terminal import at_terminal

    prompt = "[s]kip, [q]uit: "
    said = at_terminal(marta, "review", keys=[(prompt, "x"), (prompt, "b"), (prompt, "s")])
    assert said.code == 0
    assert "Revision 2: two notes disagree  (1 of 2)" in said.out and "both are true." in said.out
    assert "Left for later." in said.out and "Decided: 1. Waiting: 1." in said.out
    said = at_terminal(marta, "review", keys=[(prompt, "q")])
    assert "Decided: 0. Waiting: 1." in said.out
    said = at_terminal(marta, "review", keys=[(prompt, "u")])
    assert "undone; both facts are restored." in said.out and "Nothing is left to decide." in said.out
    assert "Nothing waits for your decision." in at_terminal(marta, "review", keys=[]).out


def test_the_lines_of_a_note_are_facts_about_its_title(shell: Shell) -> None:
    (shell.home.parent / "notes").mkdir()
    (shell.home.parent / "notes/tom.md").write_text("# Tom\n\nborn in Faro\n\n- allergic to hazelnuts\n")
    shell.pal("add", str(shell.home.parent / "notes"))
    assert shell.pal("facts", "Tom").out.splitlines()[::2] == ["born in Faro", "allergic to hazelnuts"]
