"""How the program feels: `python -m benchmarks.daemon --data DIR [--json]`.

Writes a question set into a fresh home, starts a real daemon on it and measures its start, the `pal`
command against it, and what it costs when nobody asks. benchmarks/README.md says what each figure means.
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
from daemon.client import Client, DaemonDownError, DaemonError
from daemon.paths import Paths, private_folder
from daemon.starting import connect
from plugins import manager

ASKED = 20  # calls of `pal ask`
HELPED = 10  # calls of `pal --help`
SETTLE_S = 3.0  # after the last question, before the idle clock starts
ANSWERED = (0, 4)  # exit codes of `pal ask`: an answer, or that there is none


def measure(questions: data.QuestionSet, embedder: str, home: Path, idle_s: float) -> dict[str, Any]:
    """One set's figures, as the JSON object of the README. Everything lies in `home`."""
    paths = Paths.in_folder(home)
    private_folder(paths.data)
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
        command.note(f"{questions.name}: idle for {idle_s:.0f} s")
        time.sleep(SETTLE_S)
        idle = _idle(client.hello().pid, idle_s)
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
    """Processor share in percent and resident MB of a process while nothing is asked of it; None without /proc."""
    stat, status = Path(f"/proc/{pid}/stat"), Path(f"/proc/{pid}/status")
    if not stat.exists():
        return {"idle_cpu_percent": None, "rss_mb": None}
    before, started = _ticks(stat), time.perf_counter()
    time.sleep(seconds)
    ticks, elapsed = _ticks(stat) - before, time.perf_counter() - started
    resident = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return {
        "idle_cpu_percent": round(100 * ticks / os.sysconf("SC_CLK_TCK") / elapsed, 2),
        "rss_mb": round(int(resident.split()[1]) * 1024 / 1e6, 1),
    }


def _ticks(stat: Path) -> int:
    """User and system clock ticks of a process: fields 14 and 15, counted behind its name in brackets."""
    fields = stat.read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


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
            "RSS MB": "rss_mb",
        },
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.daemon", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of a table")
    parser.add_argument("--idle", type=command.positive, default=30, metavar="S", help="seconds to watch it idle (30)")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    results = []
    for folder in data.find_sets(options.data):
        questions = data.load(folder)
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as home:
            try:
                result = measure(questions, options.embedder, Path(home), options.idle)
            except (DaemonError, DaemonDownError) as error:
                raise command.DataError(str(error)) from error
        results.append(result)
        if options.json:
            print(json.dumps(result), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
