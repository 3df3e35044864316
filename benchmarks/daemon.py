"""How the program feels: `python -m benchmarks.daemon --data DIR [--json]`.

Writes a question set into a fresh home, starts a real daemon on it and measures its start, the `pal` command against
it, and what it costs when nobody asks while it watches a folder. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.recall import build
from benchmarks.watching import QUIET, wait_until_read, write_notes
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.client.starting import connect
from daemon.config.settings import render
from daemon.paths import Paths, private_folder
from plugins import manager

ASKED = 20  # calls of `pal ask`
HELPED = 10  # calls of `pal --help`
NOTES = 1000  # in the folder that it watches while it is idle
SETTLE_S = 3.0  # after the last note, before the idle clock starts
READER_IDLE_S = 45.0  # at most, in which the process that reads files waits for the next one
READER_S = 90.0  # in which it has ended
ANSWERED = (0, 4, 5)  # exit codes of `pal ask`: an answer, that there is none, or none that is plain


def measure(questions: data.QuestionSet, embedder: str, place: Path, idle_s: float) -> dict[str, Any]:
    """One set's figures, as the JSON object of the README. Everything lies in `place`."""
    paths = Paths.in_folder(place / "home")
    private_folder(paths.data)
    paths.config.write_text(render(QUIET), "utf-8")
    built = build(paths.memory, questions.documents, manager.load().embedder(embedder), questions.name)
    asked = [question.text for question in questions.questions]
    command.note(f"{questions.name}: start the daemon")
    started = time.perf_counter()
    try:
        client = connect(paths)
        up_s = time.perf_counter() - started
        _answer(client, asked[0])
        first_answer_s = time.perf_counter() - started
        command.note(f"{questions.name}: pal ask")
        times = [_wall_ms([_pal(), "ask", asked[i % len(asked)]], paths) for i in range(ASKED)]
        command.note(f"{questions.name}: watch {NOTES:,} notes")
        write_notes(place / "notes", NOTES)
        client.watch(place / "notes")
        wait_until_read(client, NOTES)
        command.note(f"{questions.name}: idle for {idle_s:.0f} s, twice")
        time.sleep(SETTLE_S)
        pid = client.hello().pid
        reading = _idle(pid, min(idle_s, READER_IDLE_S))
        _wait_until_alone(pid)
        idle = {f"reader_{name}": value for name, value in reading.items()} | _idle(pid, idle_s)
    finally:
        _stop(paths)
    return {
        "set": questions.name,
        "episodes": built.episodes,
        "start_s": round(up_s, 3),
        "first_answer_s": round(first_answer_s, 3),
        "ask_p50_ms": metrics.percentile(times, 50),
        "ask_p95_ms": metrics.percentile(times, 95),
        "help_cpu_ms": metrics.percentile([_cpu_ms([_pal(), "--help"], paths) for _ in range(HELPED)], 50),
        **idle,
    }


def _answer(client: Client, question: str) -> None:
    for _ in client.ask(question):
        pass


def _stop(paths: Paths) -> None:
    try:
        connect(paths, start=False).stop()
    except DaemonDownError:
        return


def _pal() -> str:
    """The installed command beside this Python. Raises DataError."""
    pal = Path(sys.executable).with_name("pal")
    if not pal.is_file():
        raise command.DataError(f"{pal} is not there. Install Palimpsest into this Python: pip install -e .")
    return str(pal)


def _wall_ms(call: Sequence[str], paths: Paths) -> float:
    """The wall time of a command. Raises DataError if it fails."""
    started = time.perf_counter()
    done = subprocess.run(call, capture_output=True, text=True, env=os.environ | paths.environment())
    ms = 1000 * (time.perf_counter() - started)
    if done.returncode not in ANSWERED:
        raise command.DataError(f"`pal {call[1]}` ended with {done.returncode}: {done.stderr.strip()}")
    return ms


def _cpu_ms(call: Sequence[str], paths: Paths) -> float:
    """The processor time of a command, user and system."""
    before = os.times()
    _wall_ms(call, paths)
    after = os.times()
    return 1000 * (after.children_user + after.children_system - before.children_user - before.children_system)


def _idle(pid: int, seconds: float) -> dict[str, float | None]:
    """Of a process and those it started, while nothing is asked: processor share in percent, how often a second a
    thread of them runs, and resident MB; None without /proc."""
    if not Path(f"/proc/{pid}/stat").exists():
        return {"idle_cpu_percent": None, "idle_wakeups_s": None, "rss_mb": None}
    before, started = _used(pid), time.perf_counter()
    time.sleep(seconds)
    after, elapsed = _used(pid), time.perf_counter() - started
    ticks, wakeups = (sum(now[i] - before.get(thread, now)[i] for thread, now in after.items()) for i in (0, 1))
    status = [Path(f"/proc/{one}/status").read_text().splitlines() for one in (pid, *child_processes(pid))]
    resident = sum(int(line.split()[1]) for lines in status for line in lines if line.startswith("VmRSS"))
    return {
        "idle_cpu_percent": round(100 * ticks / os.sysconf("SC_CLK_TCK") / elapsed, 2),
        "idle_wakeups_s": round(wakeups / elapsed, 1),
        "rss_mb": round(resident * 1024 / 1e6, 1),
    }


def _used(pid: int) -> dict[str, tuple[int, int]]:
    """Of each thread of a process and of those it started: clock ticks, user and system, and context switches."""
    threads = [folder for one in (pid, *child_processes(pid)) for folder in Path(f"/proc/{one}/task").iterdir()]
    return {folder.name: (_ticks(folder / "stat"), _switches(folder / "status")) for folder in threads}


def child_processes(pid: int) -> list[int]:
    """The processes that a process has started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in lists for child in file.read_text().split()]


def _ticks(stat: Path) -> int:
    """User and system clock ticks: fields 14 and 15, counted behind the name in brackets."""
    fields = stat.read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _switches(status: Path) -> int:
    """How often it was given a processor: it woke up, or had been interrupted."""
    return sum(int(line.split()[1]) for line in status.read_text().splitlines() if "ctxt_switches" in line)


def _wait_until_alone(pid: int) -> None:
    """Until the process that reads files has ended."""
    deadline = time.monotonic() + READER_S
    while child_processes(pid) and time.monotonic() < deadline:
        time.sleep(1)


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the table: one row per set."""
    command.show_table(
        "A daemon on a fresh home",
        results,
        {
            "set": "set",
            "episodes": "episodes",
            "start s": "start_s",
            "first answer s": "first_answer_s",
            "ask p50 ms": "ask_p50_ms",
            "ask p95 ms": "ask_p95_ms",
            "help CPU ms": "help_cpu_ms",
            "idle CPU %": "idle_cpu_percent",
            "wakeups/s": "idle_wakeups_s",
            "RSS MB": "rss_mb",
            "with reader: CPU %": "reader_idle_cpu_percent",
            "its wakeups/s": "reader_idle_wakeups_s",
        },
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.daemon", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of a table")
    parser.add_argument("--idle", type=command.positive, default=60, metavar="S", help="idle seconds, twice (60)")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    results = []
    for folder in data.find_sets(options.data):
        questions = data.load(folder)
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as place:
            try:
                result = measure(questions, options.embedder, Path(place), options.idle)
            except (DaemonError, DaemonDownError) as error:
                raise command.DataError(str(error)) from error
        results.append(result)
        if options.json:
            print(json.dumps(result), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
