"""What one hostile file costs: `python -m benchmarks.hostile [--files 2000] [--only NAME] [--json]` (Linux).

Files within their reader's limit that are as bad as they can be, each read by a daemon of its own that knows 500 notes
already, while somebody says hello and asks. Then many small files. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import string
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import command, metrics
from benchmarks.others import call_meanwhile
from daemon import wire
from daemon.client.client import Client
from tests.running import RunningDaemon, run_daemon

MIB = 1 << 20
NOTES = 500
SETTLE_S = 5.0  # after reading, before memory is looked at
PAUSE_S = 0.02  # between two hellos, and between two questions
QUESTION = "harbour of Crate 77"


def _words(size: int) -> str:
    """Prose of about so many bytes, of 3,000 invented words."""
    chosen = random.Random(1)
    words = ["".join(chosen.choices(string.ascii_lowercase, k=chosen.randrange(2, 9))) for _ in range(3000)]
    sentences = []
    while size > 0:
        sentences.append(" ".join(chosen.choices(words, k=chosen.randrange(5, 18))).capitalize() + ". ")
        size -= len(sentences[-1])
    return "".join(sentences)


def _chat(messages: Sequence[str]) -> str:
    return json.dumps({"messages": [{"role": "user", "content": message} for message in messages]})


HOSTILE: dict[str, tuple[str, Callable[[], str]]] = {  # name -> the file's suffix and what is in it
    "headings": (".md", lambda: "".join(f"# Heading {n}\n" for n in range(300_000))),
    "dated headings": (".md", lambda: "".join(f"## {2000 + n % 24}-01-09\nrent is {n}\n" for n in range(300_000))),
    "dated lines": (".md", lambda: "- 2024-01-01 rent is 5\n" * (9 * MIB // 23)),
    "names": (".md", lambda: " ".join(f"Person{n} Smith{n} met Anna{n} Jones{n}." for n in range(200_000))),
    "prose": (".md", lambda: _words(int(9.9 * MIB))),
    "table": (".md", lambda: "| a | b |\n|---|---|\n" + "".join(f"| rent{n} | {n} euro |\n" for n in range(350_000))),
    "fields": (".md", lambda: "".join(f"key{n}: value {n}\n" for n in range(400_000))),
    "one word": (".md", lambda: "x" * (9 * MIB)),
    "html": (".html", lambda: "".join(f"<p>Para {n} says <b>hello {n}</b> to you.</p>\n" for n in range(180_000))),
    "rows": (".csv", lambda: "id,name,when\n" + "".join(f"{n},Name{n},2024-01-09\n" for n in range(1_400_000))),
    "one message": (".json", lambda: _chat([_words(60 * MIB)])),
    "messages": (".json", lambda: _chat([f"Message {n} about Anna{n % 100} and Berlin." for n in range(600_000)])),
}  # fmt: skip


def measure(name: str, home: Path) -> dict[str, Any]:
    """One file's figures, as the JSON object of the README. Everything lies in `home`."""
    suffix, content = HOSTILE[name]
    known, file = home / "known", home / "hostile" / f"file{suffix}"
    _write_notes(known, NOTES)
    file.parent.mkdir()
    file.write_text(content(), "utf-8")
    with run_daemon(home / "home") as daemon:
        client = daemon.client
        _add(client, known)
        with call_meanwhile(client, QUESTION, PAUSE_S), _children(daemon) as warm:
            time.sleep(SETTLE_S)
        before = _resident(daemon)
        with call_meanwhile(client, QUESTION, PAUSE_S) as waited, _children(daemon) as child:
            seconds, added = _add(client, file)
        time.sleep(SETTLE_S)
        after, peak = _resident(daemon), _status(_pid(daemon), "VmHWM")
        client.stop()
        assert daemon.process is not None
        daemon.process.wait(20)
        daemon.start()
        for _ in range(3):
            client.recall(QUESTION)
        fresh = _resident(daemon)
    return {
        "file": name,
        "mb": round(file.stat().st_size / 1e6, 1),
        "read_s": round(seconds, 1),
        "episodes": added.episodes,
        "child_mb": max([0.0, *child, *warm]),
        "before_mb": before,
        "peak_mb": peak,
        "after_mb": after,
        "fresh_mb": fresh,
        "hello_p99_ms": metrics.percentile(waited["hello"], 99),
        "recall_p95_ms": metrics.percentile(waited["recall"], 95),
    }


def measure_small(count: int, home: Path) -> dict[str, Any]:
    """What many small files take, the reading process included."""
    notes = home / "notes"
    _write_notes(notes, count)
    with run_daemon(home / "home") as daemon:
        _add(daemon.client, home / "notes" / "00000.md")
        before = _cpu_seconds(daemon)
        seconds, _ = _add(daemon.client, notes)
        spent = _cpu_seconds(daemon) - before
    return {"files": count, "files_per_s": round(count / seconds), "cpu_ms_per_file": round(1000 * spent / count, 2)}


def _write_notes(folder: Path, count: int) -> None:
    folder.mkdir()
    for n in range(count):
        body = " ".join(f"word{(n * 7 + i * 13) % 997}" for i in range(40))
        came = f"Crate {n} came from harbour {n % 37} for Person{n % 91} in March 20{10 + n % 15}."
        text = f"# Crate {n}\n\n{came}\n\n{body}\n"
        (folder / f"{n:05}.md").write_text(text)


def _add(client: Client, path: Path) -> tuple[float, wire.Added]:
    began = time.perf_counter()
    *_, last = client.add([path])
    if not isinstance(last, wire.Added):
        raise command.DataError(f"{path.name} was not read: {last}")
    return time.perf_counter() - began, last


@contextmanager
def _children(daemon: RunningDaemon) -> Iterator[list[float]]:
    """The most memory of each process that the daemon has started meanwhile, in MB."""
    peaks: dict[int, float] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            for pid in _child_pids(daemon):
                peaks[pid] = max(peaks.get(pid, 0.0), _status(pid, "VmHWM"))

    thread = threading.Thread(target=look)
    thread.start()
    found: list[float] = []
    try:
        yield found
    finally:
        ended.set()
        thread.join()
        found += peaks.values()


def _pid(daemon: RunningDaemon) -> int:
    return daemon.client.hello().pid


def _child_pids(daemon: RunningDaemon) -> list[int]:
    assert daemon.process is not None
    found = []
    for tasks in Path(f"/proc/{daemon.process.pid}/task").glob("*/children"):
        try:
            found += [int(pid) for pid in tasks.read_text().split()]
        except OSError:
            continue
    return found


def _resident(daemon: RunningDaemon) -> float:
    return _status(_pid(daemon), "VmRSS")


def _status(pid: int, name: str) -> float:
    """A size of /proc/PID/status in MB; 0 for a process that has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((round(int(line.split()[1]) * 1024 / 1e6, 1) for line in lines if line.startswith(name + ":")), 0.0)


def _cpu_seconds(daemon: RunningDaemon) -> float:
    """Of the daemon and what it started, ended or not."""
    total = 0
    for pid in (_pid(daemon), *_child_pids(daemon)):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(field) for field in fields[11:15])
    return total / os.sysconf("SC_CLK_TCK")


COLUMNS = {
    "file": "file", "MB": "mb", "read s": "read_s", "passages": "episodes", "child MB": "child_mb",
    "before MB": "before_mb", "peak MB": "peak_mb", "after MB": "after_mb", "fresh MB": "fresh_mb",
    "hello p99 ms": "hello_p99_ms", "recall p95 ms": "recall_p95_ms",
}  # fmt: skip
SMALL_COLUMNS = {"files": "files", "files/s": "files_per_s", "CPU ms a file": "cpu_ms_per_file"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--files", type=command.positive, default=2000, metavar="N", help="small files (2000)")
    parser.add_argument("--only", action="append", choices=[*HOSTILE, "small"], metavar="NAME", help="this one alone")
    parser.add_argument("--json", action="store_true", help="one JSON object per file and line instead of tables")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    results: list[Mapping[str, Any]] = []
    small: list[Mapping[str, Any]] = []
    for name in options.only or [*HOSTILE, "small"]:
        command.note(f"{name}: read")
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as home:
            if name == "small":
                small.append(measure_small(int(options.files), Path(home)))
            else:
                results.append(measure(name, Path(home)))
        if options.json:
            print(json.dumps((small if name == "small" else results)[-1]), flush=True)
    if not options.json:
        command.show_table("One hostile file", results, COLUMNS)
        command.show_table("Small files", small, SMALL_COLUMNS)


if __name__ == "__main__":
    sys.exit(main())
