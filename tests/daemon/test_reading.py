"""Whatever a file makes its reader do, it is done in a process of its own, and the others are read."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.reading import FileDrafts, OpenFile, ReaderDiedError, process
from daemon.reading.child import NICENESS
from daemon.reading.process import Readers
from daemon.watch.attempts import LOOP, LOOP_SECONDS
from memory.settings import ChunkSettings
from plugins import manager
from plugins.readers import Unreadable
from tests import fork_server
from tests.daemon.conftest import QUICK, added, uris
from tests.plugins.pictures import SAID, install_program, make_drawing
from tests.running import run_daemon

PLUGIN = """
import os, signal, socket, subprocess, sys, time
from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader

def read(path, data):
    match data.decode().split()[0]:
        case "raise": raise KeyError("no")
        case "hang": time.sleep(600)
        case "spin":
            while True: pass
        case "exit": sys.exit(0)
        case "leave": os._exit(7)
        case "crash": os.kill(os.getpid(), signal.SIGSEGV)
        case "swell": bytearray(2 << 30)
        case "flood": return [Document(uri=str(number), text="word " * 200_000) for number in range(100)]
        case "call": socket.create_connection(("127.0.0.1", 9))
        case "start": subprocess.run(["true"])
        case "write": open(path, "w").write("gone")
        case "remove": os.remove(path)
        case "print": print("{}" * 100, flush=True); os.write(0, b"\\x00\\x00\\x00\\x02{}")
        case "nice": return [Document(uri="", text=f"It is {os.nice(0)} nice.")]
        case "key": return [Document(uri="", text=f"The key is {os.environ.get('ANTHROPIC_API_KEY')}")]
    return [Document(uri="", text=data.decode())]

@hookimpl
def register_readers(register):
    register(Reader("strange", (".odd",), "Does odd things", read, max_seconds=1, max_memory=256 * MIB))
"""


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A reader of somebody else's, installed."""
    folder = tmp_path_factory.mktemp("installed")
    info = folder / "palimpsest_strange-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: palimpsest-strange\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[palimpsest]\nstrange = palimpsest_strange\n")
    (folder / "palimpsest_strange.py").write_text(PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
        yield


@pytest.fixture(scope="module")
def shared_readers(strange: None) -> Iterator[Readers]:
    """Readers whose process goes on to the next test, unless it was ended. It is a new interpreter, as it is for
    everybody else: what it may do and how much it may take is tested with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "spawn", fork_server.spawn_cold_reader)
        readers = Readers(ChunkSettings())
        yield readers
        readers.close()


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Readers]:
    monkeypatch.setattr(process, "spawn", fork_server.spawn_reader)
    readers = Readers(ChunkSettings())
    yield readers
    readers.close()


def read(readers: Readers, path: Path) -> list[str]:
    """The passages in a file."""
    with path.open("rb") as stream:
        return passages(readers.read(opened(path, stream.fileno())))


def opened(path: Path, descriptor: int) -> OpenFile:
    size = path.stat().st_size
    return OpenFile(descriptor, path, size, manager.load().reader_for(path, size))


def passages(drafts: FileDrafts) -> list[str]:
    return [episode.text for piece in drafts.pieces() for episode in piece.episodes]


@pytest.mark.parametrize(
    ("what", "error", "reason"),
    [
        ("raise", Unreadable, "the strange reader failed: KeyError"),
        ("hang", Unreadable, "took longer than"),
        ("spin", Unreadable, "took longer than"),
        ("exit", ReaderDiedError, "with code 0"),
        ("leave", ReaderDiedError, "with code 7"),
        ("crash", ReaderDiedError, "SIGSEGV"),
        ("swell", Unreadable, "out of memory"),
        ("call", Unreadable, "must not do that: socket"),
        ("start", Unreadable, "must not do that: subprocess.Popen"),
        ("write", Unreadable, "must not do that: open"),
        ("remove", Unreadable, "must not do that: os.remove"),
        ("print", ReaderDiedError, "an invalid reply"),
    ],
)
def test_what_a_reader_does_stays_where_it_is(
    shared_readers: Readers, tmp_path: Path, what: str, error: type[Exception], reason: str
) -> None:
    odd, good = tmp_path / "a.odd", tmp_path / "b.md"
    odd.write_text(f"{what} it")
    good.write_text("The tea is in the blue box.")
    with pytest.raises(error, match=reason):
        read(shared_readers, odd)
    assert odd.read_text() == f"{what} it"
    assert read(shared_readers, good) == ["The tea is in the blue box."]


def test_who_types_or_waits_for_an_answer_goes_first(shared_readers: Readers, tmp_path: Path) -> None:
    odd = tmp_path / "a.odd"
    odd.write_text("nice it")
    assert read(shared_readers, odd) == [f"It is {os.nice(0) + NICENESS} nice."]


def test_a_reader_starts_the_program_that_it_names(
    readers: Readers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_program(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    bill = tmp_path / "bill.png"
    bill.write_bytes(make_drawing())
    assert read(readers, bill) == [f"> {SAID} (deu)"]


def test_what_a_reader_makes_has_a_limit(
    strange: None, readers: Readers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_REPLY_BYTES", 1 << 20)
    odd = tmp_path / "a.odd"
    odd.write_text("flood it")
    with pytest.raises(Unreadable, match=r"makes more than|took longer|memory"):
        read(readers, odd)


def test_a_reader_knows_no_key(strange: None, readers: Readers, tmp_path: Path) -> None:
    odd = tmp_path / "a.odd"
    odd.write_text("key please")
    assert read(readers, odd) == ["The key is None"]


def test_one_process_reads_many_files_and_ends_after_a_large_one(readers: Readers, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(f"Crate {number} is in Riga.")
    (tmp_path / "large.json").write_text(
        '{"messages": [{"role": "Ana", "content": "Hi"}], "more": "%s"}' % ("x" * 60_000_000)
    )

    def pid() -> int | None:
        (one,) = readers._idle
        return one._process and one._process.pid

    assert read(readers, tmp_path / "0.md") == ["Crate 0 is in Riga."]
    first = pid()
    assert [read(readers, tmp_path / f"{number}.md") for number in range(20)] and pid() == first is not None
    assert read(readers, tmp_path / "large.json") == ["Ana: Hi"]
    assert pid() is None, "what it took is given back"
    assert read(readers, tmp_path / "0.md") and pid() not in (None, first)


def test_two_files_are_read_at_a_time(readers: Readers, tmp_path: Path) -> None:
    """A task that gave way to a more urgent one has not taken all that is in its file."""
    paths = [tmp_path / "a.md", tmp_path / "b.md"]
    for path in paths:
        path.write_text(f"Crate {path.stem} is in Riga.")
    with paths[0].open("rb") as stream:
        first = readers.read(opened(paths[0], stream.fileno()))
        assert read(readers, paths[1]) == ["Crate b is in Riga."]
        assert passages(first) == ["Crate a is in Riga."]


def test_files_are_read_ahead_in_their_order_whatever_one_of_them_does(
    strange: None, readers: Readers, tmp_path: Path
) -> None:
    """One that ends the process takes none of those with it that were handed over behind it, and neither does a process
    that leaves because it has grown."""
    said = ["one", "crash it", "two", "raise it", "swell it", "three", "hang it", "print it", "four", "large", "five"]
    paths = [tmp_path / f"{number:02}.odd" for number in range(len(said))]
    for path, text in zip(paths, said, strict=True):
        path.write_text(text)
    paths[9] = paths[9].with_suffix(".json")
    paths[9].write_text('{"messages": [{"role": "Ana", "content": "large"}], "more": "%s"}' % ("x" * 60_000_000))
    ahead = readers.read_ahead()
    with contextlib.ExitStack() as streams:
        for path in paths:
            ahead.hand(opened(path, streams.enter_context(path.open("rb")).fileno()))
        found: list[list[str] | type[Exception]] = []
        for _ in said:
            try:
                found.append(passages(ahead.take()))
            except (Unreadable, ReaderDiedError) as error:
                found.append(type(error))
    died, unreadable = ReaderDiedError, Unreadable
    assert found == [
        ["one"], died, ["two"], unreadable, unreadable, ["three"], unreadable, died, ["four"], ["Ana: large"], ["five"]
    ]  # fmt: skip
    assert not readers._used, "given back when nothing waits"
    assert read(readers, paths[0]) == ["one"]


def test_what_was_read_ahead_and_is_not_wanted_is_in_nobodys_way(readers: Readers, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.md" for number in range(4)]
    for path in paths:
        path.write_text(f"Crate {path.stem} is in Riga.")
    ahead = readers.read_ahead()
    with contextlib.ExitStack() as streams:
        for path in paths[:3]:
            ahead.hand(opened(path, streams.enter_context(path.open("rb")).fileno()))
        left = ahead.take()  # of which nobody takes the passages
        assert passages(ahead.take()) == ["Crate 1 is in Riga."]
        with pytest.raises(StopIteration):
            next(left.pieces())
        ahead.close()
    assert not readers._used
    assert read(readers, paths[3]) == ["Crate 3 is in Riga."]


def test_a_file_that_ends_its_reader_is_set_aside_and_the_others_are_read(
    strange: None, tmp_path: Path, cold_daemons: None
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a", "c"):
        (notes / f"{name}.md").write_text(f"Crate {name} is in Riga.")
    poison = notes / "b.odd"
    poison.write_text("crash it")
    with run_daemon(tmp_path / "home", QUICK, PYTHONPATH=os.environ["PYTHONPATH"]) as running:
        result, _ = added(running.client, notes)
        assert (result.sources, result.skipped) == (2, 1)
        (skip,) = running.client.status().files.skipped
        assert skip.uri == str(poison)
        assert "set aside after 3 tries" in skip.reason and "SIGSEGV" in skip.reason and "pal retry" in skip.reason
        assert uris(running.client) == [str(notes / "a.md"), str(notes / "c.md")]

        poison.write_text("good now, and longer")
        assert running.client.retry() == 1
        deadline = time.monotonic() + 60
        while running.client.status().files.skipped and time.monotonic() < deadline:
            time.sleep(0.05)
        assert uris(running.client) == [str(notes / "a.md"), str(poison), str(notes / "c.md")]


def test_killing_the_daemon_sets_no_file_aside_and_a_loop_of_deaths_pauses_reading(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a", "b"):
        (notes / f"{name}.md").write_text(f"Crate {name} is in Riga.")
    with run_daemon(tmp_path / "home", QUICK) as running:
        begun = running.paths.reading

        def die_reading(*names: str) -> None:
            """Ends as a daemon does that a file takes with it."""
            deadline = time.monotonic() + 60
            while not (begun.exists() and begun.stat().st_size == 0) and time.monotonic() < deadline:
                time.sleep(0.02)
            running.kill()
            begun.write_text("".join(f"{notes / name}\0" for name in names))
            running.start()

        for _ in range(LOOP - 1):
            die_reading("a.md", "b.md")
        result, _ = added(running.client, notes)
        assert result.sources == 2 and running.client.status().files.skipped == ()
        assert running.client.status().files.safe_mode == "", "something was read"

        crashes = begun.with_name("crashes")
        crashes.write_text("\n".join([str(int(time.time()))] * (LOOP - 1)))
        die_reading("c.md")
        deadline = time.monotonic() + 60
        while not running.client.status().files.safe_mode and time.monotonic() < deadline:
            time.sleep(0.05)
        now = running.client.status()
        assert "pal daemon restart" in now.files.safe_mode and (now.files.queue, now.files.busy) == (0, "")
        assert uris(running.client, "a.md") == [str(notes / "a.md")], "it answers"

        assert running.stop() == 0
        running.start()
        result, _ = added(running.client, notes)
        assert (result.unchanged, running.client.status().files.safe_mode) == (2, "")

        running.client.watch(notes)
        crashes.write_text("\n".join([str(int(time.time() - LOOP_SECONDS + 8))] * (LOOP - 1)))
        die_reading("c.md")
        (notes / "c.md").write_text("Crate c is in Vell.")
        deadline = time.monotonic() + 60
        while not uris(running.client, "c.md") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert uris(running.client, "c.md") and running.client.status().files.safe_mode == "", (
            "the pause ends by itself"
        )
