"""Whether notes get the day on which they were written: `python -m benchmarks.dating --data DIR [--json]`.

Reads the files of each persona, with their times kept and with their times lost, and compares the day that the readers
give with that of the manifest. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import command, data, lifelog, metrics
from memory.nouns import Document
from plugins import manager
from plugins.manager import Plugins

DAYS_OFF = 1  # by which a written day may differ: who writes after midnight, or in another zone


def find_newest_day(documents: Sequence[Document]) -> date | None:
    """The newest day on which something in a file was written; None if nothing says when."""
    times = [
        at
        for document in documents
        for at in (document.at, *(at for _, at in document.parts), *(turn.at for turn in document.turns))
    ]
    return max((at.date() for at in times if at is not None), default=None)


def compare(persona: Path, times: str, plugins: Plugins) -> list[dict[str, Any]]:
    """Each file of a persona with the day of the manifest and the day that was found."""
    days = {row["path"]: row["date"] for row in data.read_rows(persona / lifelog.MANIFEST, {"path": str, "date": str})}
    files, _ = lifelog.load(persona, times)
    rows = []
    for file in files:
        if documents := lifelog.read(plugins, file):
            path = file.path.relative_to(persona).as_posix()
            day = find_newest_day(documents)
            rows.append({"path": path, "day": days[path], "found": day.isoformat() if day else None})
    return rows


def score(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Percent of the files whose day is right, missing and wrong."""
    off = [
        abs((date.fromisoformat(row["found"]) - date.fromisoformat(row["day"])).days) if row["found"] else None
        for row in rows
    ]
    return {
        "right": metrics.percent([float(days is not None and days <= DAYS_OFF) for days in off]),
        "undated": metrics.percent([float(days is None) for days in off]),
        "wrong": metrics.percent([float(days is not None and days > DAYS_OFF) for days in off]),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dating", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    parser.add_argument("--json", action="store_true", help="one JSON object per persona and line instead of a table")
    parser.add_argument("--misses", action="store_true", help="also list the files whose day is missing or wrong")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    results: list[dict[str, Any]] = []
    all_rows: dict[str, list[dict[str, Any]]] = {"manifest": [], "lost": []}
    for persona in lifelog.find_personas(options.data):
        result: dict[str, Any] = {"set": persona.name}
        for times, rows in all_rows.items():
            compared = compare(persona, times, plugins)
            rows += compared
            result |= {"files": len(compared), times: score(compared)}
            for row in compared if options.misses else ():
                if score([row])["right"] < 100:
                    command.note(f"{persona.name}, times {times}: {row['path']}: {row['day']}, found {row['found']}")
        results.append(result)
    total = {times: score(rows) for times, rows in all_rows.items()}
    results.append({"set": "all", "files": len(all_rows["lost"]), **total})
    if options.json:
        for result in results:
            print(json.dumps(result))
        return
    columns = {"persona": "set", "files": "files"}
    for times, name in (("manifest", "kept"), ("lost", "lost")):
        columns |= {f"{name}: {key}": f"{times}.{key}" for key in ("right", "undated", "wrong")}
    command.show_table("Files whose written day agrees with the manifest, in percent", results, columns)


if __name__ == "__main__":
    sys.exit(main())
