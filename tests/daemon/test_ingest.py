"""What one batch does when something in it, or under it, fails."""

from __future__ import annotations

import io
import json
import os
import queue
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import pytest

from daemon import wire
from daemon.config.settings import WatchSettings
from daemon.jobs.workers import Task, Tasks, Writer
from daemon.reading import FileDrafts, OpenFile
from daemon.reading.child import read_file
from daemon.reading.frames import Contents, ReadRequest, unpack_reply
from daemon.reading.process import ReadAhead, Readers
from daemon.watch import ingest as ingest_module
from daemon.watch.add_jobs import AddJobs
from daemon.watch.attempts import TRIES, Attempts
from daemon.watch.ingest import Ingest
from daemon.watch.scan import Scan, ScanTarget
from daemon.watch.walking import Ignore
from memory import Memory
from memory.errors import StoreFullError
from memory.ingest.ingest import PreparedBatch
from memory.nouns import Document, Policy, Receipt
from memory.services import ingest
from memory.settings import ChunkSettings
from memory.store import sources
from plugins import manager
from plugins.readers.common import parts
from tests.daemon.reading import READERS


class ReadersHere(Readers):
    """Reads in this process, which a test can change."""

    def __init__(self, plugins: manager.Plugins) -> None:
        super().__init__(ChunkSettings())
        self._plugins = plugins

    def read_ahead(self) -> ReadAhead:
        return ReadAheadHere(self)

    def read(self, file: OpenFile) -> FileDrafts:
        request = ReadRequest(os.fsencode(file.path), file.reader.name, file.size, 60, 1 << 30, ChunkSettings())
        replies = (
            unpack_reply(io.BytesIO(frame).read)[0]
            for frame in read_file(request, file.reader, file.path, file.descriptor)
        )
        contents = next(replies)
        assert isinstance(contents, Contents)
        return FileDrafts(contents, replies)


class ReadAheadHere(ReadAhead):
    def hand(self, file: OpenFile) -> None:
        self._waiting.append(file)

    def take(self) -> FileDrafts:
        return self._readers.read(self._waiting.popleft())


class FailingIngest(ingest.Ingest):
    """Keeps everything but what says `poison`, and nothing at all while the disk is full."""

    full = False

    def remember_many(self, documents: Iterable[Document] | PreparedBatch) -> list[Receipt]:
        ready = documents if isinstance(documents, PreparedBatch) else self.prepare(documents)
        if self.full:
            raise StoreFullError("The disk is full. Make room.")
        if any("poison" in one.text for draft in ready.documents for one in draft.episodes):
            raise ZeroDivisionError("poison")
        return super().remember_many(ready)


class Failing(Memory):
    @cached_property
    def ingest(self) -> FailingIngest:
        return FailingIngest(self.state)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Failing]:
    memory = Failing.open(tmp_path / "memory.db", embedder=manager.load().embedder("static"))
    assert isinstance(memory, Failing)
    yield memory
    memory.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.md").write_text(f"Sail {number} is mended.")
    return folder


def take(
    memory: Memory,
    *folders: Path,
    policy: Policy = "local",
    plugins: manager.Plugins | None = None,
    readers: Readers = READERS,
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[wire.Added, list[wire.Event]]:
    writer = Writer()
    writer.start()
    published: list[wire.Event] = []
    tasks, settings = Tasks(published.append), WatchSettings()
    attempts = Attempts(memory, writer, memory.store.path.with_name("reading"))
    ingest = Ingest(memory, plugins or manager.load(), writer, tasks, published.append, settings, (), readers, attempts)
    tally = Task("reading")
    try:
        targets = [ScanTarget(folder, Ignore(folder, [], []), folder, policy) for folder in folders]
        steps = ingest.take(targets, tally)
        next(steps, None)
        meanwhile()
        for _ in steps:
            pass
    finally:
        writer.close(60)
    return tally.result(), published


def kept(memory: Memory, folder: Path) -> tuple[list[str], dict[str, str]]:
    with memory.store.reading() as conn:
        names = [Path(source.uri).stem for source in sources.list_under(conn, f"{folder}/")]
        return names, {Path(skip.uri).stem: skip.reason for skip in sources.list_skipped(conn)}


def test_one_that_cannot_be_kept_takes_no_other_with_it(memory: Failing, notes: Path) -> None:
    (notes / "3.md").write_text("This is poison.")
    (notes / "5.md").write_text("---\n\n***\n")
    done, published = take(memory, notes)
    names, skipped = kept(memory, notes)
    assert names == ["0", "1", "2", "4", "6", "7", "8", "9"]
    assert set(skipped) == {"3", "5"} and "ZeroDivisionError" in skipped["3"] and "words" in skipped["5"]
    assert (done.sources, done.skipped) == (8, 2)
    assert {event.uri for event in published if isinstance(event, wire.Skipped)} == {
        str(notes / "3.md"),
        str(notes / "5.md"),
    }

    again, published = take(memory, notes)
    assert (again.unchanged, again.skipped) == (8, 2)
    assert not [event for event in published if isinstance(event, wire.Skipped)]  # it was told already

    (notes / "3.md").write_text("This is cured.")
    (notes / "5.md").unlink()
    assert take(memory, notes)[0].sources == 1
    assert kept(memory, notes)[1] == {}


def test_what_is_moved_into_a_local_folder_becomes_local(memory: Failing, notes: Path, tmp_path: Path) -> None:
    take(memory, notes, policy="any")
    take(memory, notes)
    private = tmp_path / "private"
    private.mkdir()
    (notes / "1.md").rename(private / "1.md")
    assert take(memory, notes, private)[0].sources == 0, "it kept its identity"
    with memory.store.reading() as conn:
        of = {Path(source.uri).stem: source.policy for source in sources.list_under(conn, str(tmp_path))}
    assert of == {str(number): "local" if number == 1 else "any" for number in range(10)}


def test_a_full_disk_is_no_files_fault(memory: Failing, notes: Path) -> None:
    memory.ingest.full = True
    with pytest.raises(StoreFullError):
        take(memory, notes)
    assert kept(memory, notes) == ([], {})
    memory.ingest.full = False
    assert take(memory, notes)[0].sources == 10


def test_what_a_full_disk_broke_off_goes_on_when_there_is_room(memory: Failing, notes: Path) -> None:
    writer, told = Writer(), queue.Queue[wire.Event]()
    tasks = Tasks(told.put)
    attempts = Attempts(memory, writer, memory.store.path.with_name("reading"))
    ingest = Ingest(memory, manager.load(), writer, tasks, told.put, WatchSettings(), (), READERS, attempts)
    adds = AddJobs(ingest, lambda paths: None)
    writer.start()
    tasks.start()
    try:
        writer.refuse_background("The disk is nearly full.")
        adds.add([notes], told.put)
        while not isinstance(said := told.get(timeout=60), wire.Failed):
            pass
        assert said.remedy == "It goes on by itself when there is room." and kept(memory, notes)[0] == []
        writer.refuse_background("")
        adds.go_on()
        while not (isinstance(said := told.get(timeout=60), wire.SourceChanged) and len(kept(memory, notes)[0]) == 10):
            pass
    finally:
        tasks.close(60)
        writer.close(60)


def test_an_emptied_file_says_nothing_any_more(memory: Failing, notes: Path) -> None:
    take(memory, notes)
    (notes / "1.md").write_text("")
    done, _ = take(memory, notes)
    assert (done.removed, done.skipped) == (1, 1)
    names, skipped = kept(memory, notes)
    assert "1" not in names and "empty" in skipped["1"]


def test_a_file_that_another_task_reads_during_a_scan_stays(
    memory: Failing, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "STEP_SECONDS", 0)
    take(memory, notes)
    (notes / "1.md").unlink()
    new = notes / "new.md"
    done, _ = take(memory, notes, meanwhile=lambda: (new.write_text("The new anchor is dry."), take(memory, new)))
    assert done.removed == 1 and "new" in kept(memory, notes)[0]


def test_a_file_that_cannot_be_read_for_a_while_is_not_lost(memory: Failing, notes: Path) -> None:
    take(memory, notes)
    (notes / "1.md").unlink()
    (notes / "1.md").symlink_to(notes / "2.md")
    (notes / "2.md").write_bytes(b"\x00" * 100)
    done, _ = take(memory, notes)
    assert (done.removed, done.skipped) == (0, 2)
    assert len(kept(memory, notes)[0]) == 10


def test_a_folder_is_scanned_again_and_only_what_differs_is_held(
    memory: Failing, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is as it was is only counted: of names with a "#", beside files of several documents, below a folder inside
    another, and page by page."""
    monkeypatch.setattr(ingest_module, "PAGE", 3)
    held: list[tuple[set[str], set[str]]] = []
    leave_kept = Scan.leave_kept

    def look(disk: Scan, skipped: Mapping[str, str]) -> None:
        held.append(({Path(uri).name for uri in disk.files}, {Path(uri).name for uri in disk.unread}))
        leave_kept(disk, skipped)

    monkeypatch.setattr(Scan, "leave_kept", look)
    sub = notes / "sub#1"
    sub.mkdir()
    for name in ("a.md", "b#2.md"):
        (sub / name).write_text(f"Rope {name} is wet.")
    (notes / "sub").write_text("A file that has no suffix.\n")
    chats = [{"title": name, "messages": [{"role": "user", "content": f"Mast {name}"}]} for name in ("x", "y")]
    (notes / "chats.json").write_text(json.dumps(chats))
    (notes / "below").mkdir()
    (notes / "below" / "c.md").write_text("Cable c is dry.")
    (notes / "below" / "void.md").write_text("***")
    first, _ = take(memory, notes)
    assert (first.sources, first.skipped) == (16, 1)

    (notes / "1.md").write_text("Sail 1 is torn by now.")
    (notes / "2.md").unlink()
    (notes / "3.md").rename(notes / "below" / "3.md")
    again, published = take(memory, notes, notes / "below")
    assert held[-1] == ({"1.md", "3.md", "void.md", "chats.json", "b#2.md", "a.md"}, set())
    assert (again.sources, again.removed, again.unchanged) == (1, 1, 13)
    changed = {(Path(event.uri).name, event.change) for event in published if isinstance(event, wire.SourceChanged)}
    assert changed == {("1.md", "changed"), ("2.md", "removed"), ("3.md", "moved")}
    assert take(memory, notes, notes / "below")[0].unchanged == 14
    assert take(memory, notes / "below")[0].unchanged == 2
    assert not memory.maintenance.check().problems


def test_what_an_older_version_of_a_reader_has_read_is_read_again_once(
    memory: Failing, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "kitchen.md").write_text("# Kitchen\nDeadline: 30 April\n## 2026-03-02\nDeadline: 14 May\n")
    (notes / "tax.csv").write_text("year,sum\n2024,12\n2025,13\n")
    older = manager.load()
    older.versions = dict.fromkeys(older.versions, 1)
    monkeypatch.setattr(parts, "dated_parts", lambda *_: ())
    assert take(memory, notes, plugins=older, readers=ReadersHere(older))[0].sources == 12
    monkeypatch.undo()

    def days() -> list[str]:
        with memory.store.reading() as conn:
            rows = conn.execute(
                "SELECT strftime('%F', e.event_from / 1000, 'unixepoch', 'localtime') FROM episode e JOIN node n"
                " ON n.id = e.node_id JOIN source s ON s.id = e.source_id"
                " WHERE s.uri LIKE '%kitchen.md' AND n.t_expired IS NULL ORDER BY e.seq"
            )
            return [day for (day,) in rows]

    assert len(days()) == 1
    again, published = take(memory, notes)
    assert days() == [None, "2026-03-02"]
    assert (again.sources, again.unchanged) == (1, 11)
    assert [event.uri for event in published if isinstance(event, wire.SourceChanged)] == [str(notes / "kitchen.md")]
    with memory.store.reading() as conn:
        assert all(source.sha256 and source.size for source in sources.list_under(conn, f"{notes}/"))
    assert take(memory, notes)[0].sources == 0
    assert not memory.maintenance.check().problems


def test_a_file_is_set_aside_for_a_day_or_until_it_changes(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer()
    writer.start()
    try:
        attempts = Attempts(memory, writer, memory.store.path.with_name("reading"))
        attempts.recover()
        assert [attempts.fail("a.pdf", 10, 20, "it crashed") for _ in range(TRIES - 1)] == [None] * (TRIES - 1)
        assert attempts.refusal("a.pdf", 10, 20, again=False) is None and attempts.is_doubted("a.pdf")
        assert "it crashed" in (attempts.fail("a.pdf", 10, 20, "it crashed") or "")
        attempts.close()
        again = Attempts(memory, writer, memory.store.path.with_name("reading"))
        again.recover()
        assert "set aside after 3 tries" in (again.refusal("a.pdf", 10, 20, again=False) or "")
        monkeypatch.setattr("daemon.watch.attempts.ASIDE_SECONDS", -1.0)
        assert again.refusal("a.pdf", 10, 20, again=False) is None
        again.close()
    finally:
        writer.close(60)
