"""How programs write files, one after the other and all at once: what is known in the end is what stands there."""

from __future__ import annotations

import collections
import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client
from tests.daemon.conftest import listening, uris, wait_for, wait_for_state
from tests.examples import rounds
from tests.running import RunningDaemon

ROUNDS = rounds(2)  # saves in each way
STORM = rounds(800)  # notes, and twice as many files that are ignored

Save = Callable[[Path, str], None]


def save_in_place(file: Path, text: str) -> None:
    """nano, Obsidian, VS Code: truncate and write."""
    file.write_text(text)


def save_bit_by_bit(file: Path, text: str) -> None:
    with file.open("w") as stream:
        for start in range(0, len(text), 8):
            stream.write(text[start : start + 8])
            stream.flush()
            time.sleep(0.02)


def save_like_vim(file: Path, text: str) -> None:
    """Try the folder, keep the old one aside, write anew, let the old one go."""
    (file.parent / "4913").touch()
    (file.parent / "4913").unlink()
    file.rename(f"{file}~")
    file.write_text(text)
    Path(f"{file}~").unlink()


def save_like_emacs(file: Path, text: str) -> None:
    """A lock that is a link to nowhere, an autosave, a backup, then in place."""
    lock, auto = file.with_name(f".#{file.name}"), file.with_name(f"#{file.name}#")
    lock.symlink_to("ana@host.1234:1700000000")
    auto.write_text(text)
    shutil.copyfile(file, f"{file}~")
    file.write_text(text)
    auto.unlink()
    lock.unlink()


def save_beside(name: str) -> Save:
    """Write beside under a name, and rename over."""

    def save(file: Path, text: str) -> None:
        beside = file.with_name(name.format(file.name))
        beside.write_text(text)
        beside.replace(file)

    return save


def save_like_libreoffice(file: Path, text: str) -> None:
    lock = file.with_name(f".~lock.{file.name}#")
    lock.write_text(",ana,host,24.11.2026 10:00,file:///home/ana;")
    save_beside("lu12345abc.tmp")(file, text)
    lock.unlink()


def save_like_git(file: Path, text: str) -> None:
    """A checkout removes what it replaces."""
    file.unlink()
    file.write_text(text)


def save_like_rsync(file: Path, text: str) -> None:
    """Beside, with the time that the file had elsewhere, and over."""
    beside = file.with_name(f".{file.name}.Xa3Bq9")
    beside.write_text(text)
    os.utime(beside, (1_600_000_000, 1_600_000_000))
    beside.replace(file)


def save_like_cp_p(file: Path, text: str) -> None:
    """In place, with the very time that it had: size and time are as they were."""
    before = file.stat()
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


SAVES: dict[str, Save] = {
    "nano": save_in_place,
    "slow": save_bit_by_bit,
    "vim": save_like_vim,
    "emacs": save_like_emacs,
    "vscode": save_beside(".{}.tmp-1234"),
    "gedit": save_beside(".goutputstream-X1Y2Z3"),
    "sed": save_beside("sedAbCdE"),
    "libreoffice": save_like_libreoffice,
    "git": save_like_git,
    "rsync": save_like_rsync,
    "cp": save_like_cp_p,
}


def read_rows(running: RunningDaemon, query: str, *values: object) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(f"file:{running.paths.memory}?mode=ro", uri=True)) as conn:
        return conn.execute(query, values).fetchall()


def known(running: RunningDaemon, folder: Path) -> dict[str, tuple[object, ...]]:
    """What is live of a folder: name -> source and text."""
    rows = read_rows(
        running,
        "SELECT s.uri, s.id, e.text FROM source s JOIN episode e ON e.source_id = s.id JOIN node n ON n.id = e.node_id"
        " WHERE s.t_deleted IS NULL AND n.t_expired IS NULL AND s.uri LIKE ?",
        f"{folder}/%",
    )
    return {Path(str(uri)).name: (id, text) for uri, id, text in rows}


@pytest.mark.soak
def test_each_way_to_save_is_seen_once_and_no_temporary_file_is(
    running: RunningDaemon, client: Client, folder: Path
) -> None:
    with listening(client) as listener:
        for name in SAVES:
            (folder / f"{name}.md").write_text(f"Version 0 of the list by {name}.")
        listener.until(lambda event: client.sources(str(folder)).total == len(SAVES))
    first = {name: source for name, (source, _) in known(running, folder).items()}
    for number in range(1, ROUNDS + 1):
        with listening(client) as listener:
            waiting = {str(folder / f"{name}.md") for name in SAVES}
            for name, save in SAVES.items():
                save(folder / f"{name}.md", f"Version {number} of the list by {name}.")

            def all_seen(event: wire.Event, waiting: set[str] = waiting) -> bool:
                if isinstance(event, wire.SourceChanged):
                    waiting.discard(event.uri)
                return not waiting

            listener.until(all_seen)
        after = known(running, folder)
        assert {name: text for name, (_, text) in after.items()} == {
            f"{name}.md": f"Version {number} of the list by {name}." for name in SAVES
        }
        assert {name: source for name, (source, _) in after.items()} == first
    seen = read_rows(running, "SELECT text FROM episode WHERE text LIKE 'Version % of the list by %'")
    assert max(collections.Counter(seen).values()) == 1 and len(seen) == len(SAVES) * (ROUNDS + 1)


def test_a_storm_of_saves_is_read_a_few_times(running: RunningDaemon, client: Client, folder: Path) -> None:
    file = folder / "restless.md"
    with listening(client) as listener:
        for number in range(100):
            (save_in_place, save_like_vim, SAVES["vscode"])[number % 3 if number else 0](file, f"Save number {number}.")
            time.sleep(0.01)
        listener.until(lambda event: known(running, folder).get(file.name, ("", ""))[1] == "Save number 99.")
        changes = [event for event in listener.heard if isinstance(event, wire.SourceChanged)]
    assert len(changes) <= 5 and {event.uri for event in changes} == {str(file)}


@pytest.mark.soak
def test_a_storm_of_new_files_is_read_as_a_whole(running: RunningDaemon, client: Client, folder: Path) -> None:
    """As a clone or an unpacked archive brings them: each note once, nothing that is ignored, in few looks."""
    looks = running.paths.log.read_text("utf-8").count("a task is done")
    for number in range(STORM):
        for place in (f"src/{number % 20}", "node_modules/x", ".git/objects"):
            (folder / place).mkdir(parents=True, exist_ok=True)
            (folder / place / f"{number}.md").write_text(f"Rope {number} is {number % 50} metres long.")
    wait_for(client, folder, lambda found: found.sources == STORM, 60 + STORM / 20)
    wait_for_state(client, folder, "watching")
    assert not [uri for uri in uris(client, str(folder)) if "node_modules" in uri or ".git" in uri]
    assert running.paths.log.read_text("utf-8").count("a task is done") - looks < STORM / 12
    shutil.rmtree(folder / "src" / "0")  # 5 %: believed
    wait_for(client, folder, lambda found: found.sources == STORM - len(range(0, STORM, 20)), 60 + STORM / 20)


def test_a_saved_note_does_not_wait_for_a_new_folder(client: Client, folder: Path) -> None:
    notes = [folder / "a new folder" / f"{number}.md" for number in range(300)]
    with listening(client) as listener:
        for note in [*notes, folder / "saved.md"]:
            note.parent.mkdir(exist_ok=True)
            note.write_text(f"Rope {note.stem} is wet.")
        read: list[str] = []

        def is_last(event: wire.Event) -> bool:
            read.extend([event.uri] if isinstance(event, wire.SourceChanged) else [])
            return len(set(read)) == 301

        listener.until(is_last, 60)
    assert read.index(str(folder / "saved.md")) < 300


def test_nothing_is_ever_written_into_a_folder(running: RunningDaemon, client: Client, folder: Path) -> None:
    """Whatever is done with it: its files and folders are as they were, to the inode, mode and time of change."""

    def snapshot() -> dict[str, tuple[object, ...]]:
        found = {}
        for path in (folder, *folder.rglob("*")):
            status = path.lstat()
            found[str(path)] = (
                status.st_ino, status.st_mode, status.st_nlink, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
            )  # fmt: skip
        return found

    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "a.md").write_text("The flag is blue.")
    (folder / "b.csv").write_text("year,sum\n2024,12\n")
    (folder / "broken.json").write_text("{")
    (folder / ".palimpsestignore").write_text("*.tmp\n")
    (folder / "link.md").symlink_to("deep/a.md")
    (folder / "deep" / "a.md").chmod(0o400)
    wait_for(client, folder, lambda found: found.sources == 2)
    before = snapshot()
    client.backup()
    assert list(client.add([folder]))[-1]
    client.count([folder])
    client.forget(source=str(folder / "b.csv"))
    running.stop()
    running.start()
    wait_for_state(client, folder, "watching")
    client.unwatch(folder, forget=True)
    client.watch(folder, "any")
    wait_for_state(client, folder, "watching")
    assert snapshot() == before
