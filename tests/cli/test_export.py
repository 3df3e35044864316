"""export, import: what is in the memory as files, and a memory of such a file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.cli.export import IGNORED, open_new, write_folder
from tests.cli.conftest import Pal
from tests.cli.vault import Shell


@pytest.fixture
def here(vault: Shell, tmp_path: Path) -> Shell:
    """The example notes, and an empty folder to stand in."""
    return Shell(tmp_path, vault.home)


def away(shell: Shell, name: str) -> Shell:
    """Another home, of the same person in the same folder."""
    return Shell(shell.folder, shell.folder / name)


def test_all_of_it_goes_to_another_home_and_answers_the_same(here: Shell) -> None:
    here.pal("ask", "Where is the harbour office?")
    said = here.pal("export", "all.jsonl")
    assert (said.code, said.err) == (0, "") and said.out.startswith("Written: ./all.jsonl, ")
    file = here.folder / "all.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    other = away(here, "other")
    said = other.pal("import", "all.jsonl")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Imported: 20 notes, 23 passages, ")
    try:
        assert other.pal("export", "again.jsonl").code == 0
        assert (here.folder / "again.jsonl").read_bytes() == file.read_bytes()
        question = "Where is the harbour office?"
        assert other.pal("ask", question).out == here.pal("ask", question).out
        assert other.pal("check").code == 0
        running = other.pal("import", "--yes", "all.jsonl")
        assert running.code == 1 and "Stop it first: pal daemon stop" in running.err
    finally:
        other.pal("daemon", "stop")
    full = other.pal("import", "all.jsonl")
    assert full.code == 2 and "Add --yes to replace it" in full.err
    replaced = other.pal("import", "--yes", "--json", "all.jsonl").json
    assert replaced["counts"]["source"] == 20 and (here.folder / replaced["kept"]).exists()


def test_what_is_packed_and_what_comes_through_a_pipe_is_the_same(here: Shell) -> None:
    plain = here.pal("export", "-").out
    assert here.pal("export", "packed.jsonl.gz", "--json").json["secrets"] is False
    packed = (here.folder / "packed.jsonl.gz").read_bytes()
    assert gzip.decompress(packed).decode() == plain
    assert here.pal("export", "packed.jsonl.gz", "--force").code == 0
    assert (here.folder / "packed.jsonl.gz").read_bytes() == packed
    other = away(here, "unpacked")
    assert other.pal("import", "packed.jsonl.gz").code == 0
    assert other.pal("import", "--yes", "-", input=plain).code == 0
    assert json.loads(plain.splitlines()[-1])["type"] == "end"


def test_an_export_that_is_not_whole_changes_nothing(here: Shell) -> None:
    export = here.pal("export", "-").out
    (here.folder / "cut.jsonl").write_text(export[:-2000])
    (here.folder / "note.md").write_text("# A note\n")
    other = away(here, "refusing")
    said = other.pal("import", "cut.jsonl")
    assert said.code == 2 and "was cut off at line" in said.err
    assert "pal add FILE" in other.pal("import", "note.md").err
    assert other.pal("import", "nothing.jsonl").code == 2
    assert not (other.home / "memory.db").exists()


def test_secrets_are_masked_unless_they_are_asked_for(shell: Shell) -> None:
    shell.pal("remember", "The wifi password: tulip-Harbour-77")
    assert "tulip-Harbour-77" not in shell.pal("export", "-").out
    assert "tulip-Harbour-77" in shell.pal("export", "--secrets", "-").out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "Missing argument"),
        (("all.xyz",), "Its name must end in .jsonl or .jsonl.gz; for pages, add --markdown."),
        (("all", "--markdown", "--secrets"), "Pages have no secrets"),
        (("-", "--markdown"), "Pages are a folder of files."),
        (("there.jsonl", "--markdown"), "It is a file; pages are written into a folder."),
        (("gone/all.jsonl",), "There is no folder"),
        (("folder.jsonl",), "It is a folder."),
        (("there.jsonl",), "It exists already. Choose another name, or add --force."),
    ],
)
def test_where_it_cannot_be_written(
    pal: Pal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], words: str
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "there.jsonl").write_text("mine")
    monkeypatch.chdir(tmp_path)
    result = pal("export", *args)
    assert result.exit_code == 2 and words in " ".join(result.stderr.split())
    assert (tmp_path / "there.jsonl").read_text() == "mine"


def test_a_file_in_a_watched_folder_is_refused(shell: Shell) -> None:
    (shell.folder / "notes").mkdir()
    shell.pal("watch", "add", "notes")
    said = shell.pal("export", "notes/all.jsonl")
    assert said.code == 2 and "is watched, so the memory would read itself" in " ".join(said.err.split())
    assert not [*(shell.folder / "notes").iterdir()]


def test_pages_in_a_watched_folder_are_not_read(shell: Shell) -> None:
    notes = shell.folder / "notes"
    notes.mkdir()
    for name in ("a", "b"):
        (notes / f"{name}.md").write_text(f"[[Ana Ruiz]] met [[Bo Lind]] at the {name}.")
    shell.pal("watch", "add", "notes")
    shell.pal("add", "notes")
    assert shell.pal("export", "notes/pages", "--markdown").code == 0
    assert (notes / "pages" / "Ana Ruiz.md").exists()
    shell.pal("add", "notes")
    assert shell.pal("status", "--json").json["stats"]["sources"] == 2


def test_ctrl_c_leaves_no_file(here: Shell) -> None:
    code = (
        "import signal, time, daemon.cli.export as export\n"
        "class Tidied:\n"
        "    def __del__(self):\n"
        "        signal.raise_signal(signal.SIGINT)\n"  # where Python drops it
        "lines = export._read_lines\n"
        "def slow(*args, **options):\n"
        "    for line in lines(*args, **options):\n"
        "        yield line\n"
        "        Tidied()\n"
        "        time.sleep(30)\n"
        "export._read_lines = slow\n"
        "from daemon.cli import main; main(prog_name='pal')"
    )
    process = here.process("export", "slow.jsonl", code=code)
    assert process.wait(60) == 130
    assert process.stderr.read() == "\nStopped.\n"
    assert not [*here.folder.iterdir()]


def test_who_reads_only_the_beginning_ends_it(here: Shell) -> None:
    process = here.process("export", "-")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 1 and process.stderr.read() == ""


# Files and folders ------------------------------------------------------------------------------------------------


def test_a_file_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), open_new(tmp_path / "a.csv") as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"before"


def files(**texts: str) -> Iterator[tuple[str, bytes]]:
    for name, text in texts.items():
        yield f"{name}.md", text.encode()


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "pages"

    def broken() -> Iterator[tuple[str, bytes]]:
        yield "a.md", b"one"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_folder(folder, broken())
    assert not list(tmp_path.iterdir())
    folder.mkdir()
    assert write_folder(folder, files(a="one", b="two")) == 2
    assert (folder / "a.md").read_text() == "one" and (folder / IGNORED).read_text().endswith("\n*\n")
    assert folder.stat().st_mode & 0o777 == 0o700 and [*tmp_path.iterdir()] == [folder]


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(FileExistsError, match="there are files in it"):
        write_folder(tmp_path, files(a="one"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.md"]


@pytest.mark.parametrize("name", ["../a.md", "/etc/a.md", "a/../../b.md", "", "a\\b.md", "a\0b"])
def test_no_file_is_written_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError):
        write_folder(tmp_path / "pages", [(name, b"one")])
    assert not list(tmp_path.iterdir())
