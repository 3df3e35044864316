"""What a watched folder costs: `python -m benchmarks.watching [--files N] [--json]`.

Writes short notes into a folder, has a daemon of its own watch it, and measures the first reading, and what others wait
for the daemon meanwhile; then starts it again and measures the scan that finds nothing new. benchmarks/README.md says
what each figure means.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import command, metrics
from benchmarks.others import call_meanwhile
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.client.starting import connect
from daemon.config.settings import NightSettings, Settings, UpkeepSettings, render
from daemon.paths import Paths, private_folder

IN_A_FOLDER = 200  # notes
PAUSE_S = 0.2  # between two looks at how far it is, two hellos, and two questions
QUIET = Settings(night=NightSettings(enabled=False), upkeep=UpkeepSettings(backup_days=0, check_days=0, scrub_nights=0))
"""Nothing is done that is due once a day."""


def write_notes(folder: Path, files: int) -> None:
    """So many notes of one sentence, all different."""
    for number in range(files):
        place = folder / f"{number // IN_A_FOLDER:05}"
        if number % IN_A_FOLDER == 0:
            place.mkdir(parents=True)
        text = f"Crate {number} came from harbour {number % 37} for Person{number % 91} in {2010 + number % 15}.\n"
        (place / f"note{number:06}.md").write_text(text)


def measure(files: int, place: Path) -> dict[str, Any]:
    """The figures, as the JSON object of the README. Everything lies in `place`."""
    paths = Paths.in_folder(place / "home")
    private_folder(paths.data)
    paths.config.write_text(render(QUIET), "utf-8")
    command.note(f"write {files:,} notes")
    write_notes(place / "notes", files)
    try:
        client = connect(paths)
        command.note("read them")
        started = time.perf_counter()
        with call_meanwhile(client, "harbour of Crate 77", PAUSE_S) as waited:
            client.watch(place / "notes")
            wait_until_read(client, files)
        read_s = time.perf_counter() - started
        read = _process(client.hello().pid)
        client.stop()
        _gone(paths)
        command.note("scan them again")
        client = connect(paths)
        started = time.perf_counter()
        wait_until_read(client, files)
        return {
            "files": files,
            "read_s": round(read_s, 1),
            "read_rss_mb": read["VmRSS"],
            "read_peak_mb": read["VmHWM"],
            "hello_p95_ms": metrics.percentile(waited["hello"], 95),
            "recall_p95_ms": metrics.percentile(waited["recall"], 95),
            "scan_s": round(time.perf_counter() - started, 1),
            **_scan_figures(_process(client.hello().pid)),
        }
    finally:
        with contextlib.suppress(DaemonDownError):
            connect(paths, start=False).stop()


def _scan_figures(found: dict[str, float]) -> dict[str, float]:
    return {"scan_cpu_s": found["cpu_s"], "scan_rss_mb": found["VmRSS"], "scan_peak_mb": found["VmHWM"]}


def wait_until_read(client: Client, files: int) -> None:
    """Until the folder is watched and everything in it is read."""
    while True:
        (folder,) = client.folders()
        if folder.state == "watching" and folder.sources == files:
            return
        time.sleep(PAUSE_S)


def _gone(paths: Paths) -> None:
    while True:
        try:
            connect(paths, start=False)
        except DaemonDownError:
            return
        time.sleep(PAUSE_S)


def _process(pid: int) -> dict[str, float]:
    """Processor seconds of a process since its start, resident MB now and at most. Raises DataError without /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError as error:
        raise command.DataError("This is measured on Linux only: there is no /proc here.") from error
    lines = (line.split() for line in status.splitlines())
    memory = {line[0][:-1]: round(int(line[1]) * 1024 / 1e6, 1) for line in lines if line[0] in ("VmRSS:", "VmHWM:")}
    return {"cpu_s": (int(fields[11]) + int(fields[12])) / 100, **memory}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watching", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--files", type=command.positive, default=100_000, metavar="N", help="notes (100,000)")
    parser.add_argument("--json", action="store_true", help="a JSON object instead of a table")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as place:
        try:
            result = measure(int(options.files), Path(place))
        except (DaemonError, DaemonDownError) as error:
            raise command.DataError(str(error)) from error
    if options.json:
        print(json.dumps(result), flush=True)
    else:
        columns = {name.replace("_", " "): name for name in result}
        command.show_table("A watched folder", [result], columns)


if __name__ == "__main__":
    sys.exit(main())
