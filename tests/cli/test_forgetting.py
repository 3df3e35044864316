"""forget says which copies of the memory still hold what is gone."""

from __future__ import annotations

import json

from tests.cli.taught import moved
from tests.cli.terminal import at_terminal
from tests.cli.vault import Shell


def test_copies_that_still_hold_it_are_named(shell: Shell) -> None:
    shell.pal("backup", "old.db")
    shell.pal("remember", "--source", "safe", "The combination of the safe is 17-4-33.")
    shell.pal("backup", "mine.db")
    shell.pal("backup")
    said = shell.pal("forget", "--source", "safe", "--yes")
    first, heading, *copies = said.out.splitlines()
    assert first.startswith("Forgotten for good: 1 note, 1 passage")
    assert heading == "Still in these copies of the memory, which are yours to delete:"
    places = sorted(line.split()[0] for line in copies)
    assert len(places) == 2 and places[0].startswith("./home/backups/memory-") and places[1] == "./mine.db"
    again = shell.pal("forget", "--source", "safe", "--yes")
    assert (again.code, again.out) == (4, "")
    shell.pal("remember", "The spare key is under the third pot.", "--source", "key")
    assert shell.pal("forget", "--source", "key", "--yes").out.count("\n") == 1
    for path in places:
        assert b"17-4-33" in (shell.folder / path).read_bytes()


def test_forgetting_a_replacement_opens_what_it_had_replaced(shell: Shell) -> None:
    moved(shell)
    revision = shell.pal("review", "1", "--json").json
    assert shell.pal("forget", "--fact", str(revision["new"]["id"]), "--yes").code == 0
    homes = [line for line in shell.pal("facts", "Marta").out.splitlines() if line.startswith("Marta lives in")]
    assert homes == ["Marta lives in Faro (planned)", "Marta lives in Lisbon", "Marta lives in Porto now."], (
        "the sentence stays as it was written"
    )
    assert [one["id"] for one in shell.pal("review", "--json").json["revisions"]] == [2]
    gone = shell.pal("review", "1")
    assert (gone.code, json.loads(shell.pal("undo", "1", "--json").out)["code"]) == (4, "not_found")


def test_another_note_with_the_same_text_is_named(shell: Shell) -> None:
    for name in ("diary.md", "copy.md"):
        (shell.folder / name).write_text("I hid the chocolate behind the globe.\n", "utf-8")
        shell.pal("add", name)
    said = shell.pal("forget", "--source", "diary.md", "--yes")
    assert 'The same text is also in ./copy.md. To forget that, too: pal forget --source "./copy.md"' in said.out
    assert "still known" not in shell.pal("forget", "--source", "copy.md", "--yes").out
    assert shell.pal("add", "copy.md").code == 1, "it is not read again"
    assert shell.pal("add", "--again", "copy.md").code == 0
    assert "globe" in shell.pal("ask", "where is the chocolate?").out


def test_a_source_is_found_by_its_name_before_anything_is_asked(shell: Shell) -> None:
    for path in ("a/reading list.md", "b/plan.md", "c/plan.md"):
        (shell.folder / path).parent.mkdir()
        (shell.folder / path).write_text(f"# To read {path[0]}\n\nEdda Quill lends {path} to Osric Vane.\n", "utf-8")
        shell.pal("add", path)
    unknown = shell.pal("forget", "--source", "no such thing")
    assert (unknown.code, unknown.out) == (4, "") and "There is no source no such thing." in unknown.err
    several = shell.pal("forget", "--source", "plan.md", "--yes")
    assert several.code == 2 and "./b/plan.md" in several.err and "./c/plan.md" in several.err
    said = at_terminal(shell, "forget", "--source", "Reading List.md", keys=[("for good?", "y\n")])
    assert "Forget “To read a” (a/reading list.md) for good? This cannot be undone." in said.out
    assert "Forgotten for good: 1 note, 1 passage" in said.out and "that only it mentioned." in " ".join(
        said.out.split()
    )
    assert shell.pal("forget", "--source", "to read b", "--yes").code == 0
    assert "Osric" in shell.pal("recall", "Osric Vane").out


def test_what_was_deleted_or_edited_away_is_listed_and_erased(shell: Shell) -> None:
    notes = shell.folder / "notes"
    notes.mkdir()
    (notes / "bank.md").write_text("The PIN of the account is 4711.\n", "utf-8")
    (notes / "old.md").write_text("The letter says that Ada is coming.\n", "utf-8")
    assert "Nothing is kept" in shell.pal("status", "--retired").err
    shell.pal("add", "notes")
    (notes / "bank.md").write_text("The PIN of the account is in the safe.\n", "utf-8")
    (notes / "old.md").unlink()
    shell.pal("add", "notes")
    listed = shell.pal("status", "--retired")
    rows = {line.split()[-1]: line.split()[1:4] for line in listed.out.splitlines()}
    assert rows == {"./notes/bank.md": ["1", "passage", "edited"], "./notes/old.md": ["1", "passage", "deleted"]}
    assert "pal forget --retired" in listed.err

    assert shell.pal("forget", "--retired", "--fact", "1", "--yes").code == 2
    said = shell.pal("forget", "--retired", "--source", "notes/old.md", "--yes")
    assert said.out.startswith("Forgotten for good: 1 note, 1 passage")
    assert [row["uri"] for row in shell.pal("status", "--retired", "--json").json["sources"]] == ["./notes/bank.md"]
    assert shell.pal("forget", "--retired", "--yes").out.startswith("Forgotten for good: 1 passage")
    assert shell.pal("status", "--retired", "--json").json == {"sources": [], "total": 0}
    assert "safe" in shell.pal("ask", "what is the PIN of the account?").out


def test_a_watched_folder_that_is_forgotten_names_copies_too(shell: Shell) -> None:
    (shell.folder / "notes").mkdir()
    (shell.folder / "notes" / "a.md").write_text("The combination of the safe is 17-4-33.\n", "utf-8")
    shell.pal("add", "notes")
    shell.pal("watch", "add", "notes")
    shell.pal("backup", "mine.db")
    said = shell.pal("watch", "rm", "notes", "--forget")
    assert said.out.splitlines()[1] == "Still in these copies of the memory, which are yours to delete:"
    assert said.out.splitlines()[2].split()[0] == "./mine.db"


def test_a_name_without_an_option_is_asked_what_it_is(shell: Shell) -> None:
    said = shell.pal("forget", "Nuria", "Solano", "--yes")
    assert said.code == 2 and "--source 'Nuria Solano'" in said.err and "--object 'Nuria Solano'" in said.err
