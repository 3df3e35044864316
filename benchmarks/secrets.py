"""Which secrets are noticed, by kind, and what is masked that is none: `python -m benchmarks.secrets [--data DIR]`.

Secrets and ordinary lines are made up (`benchmarks/canaries.py`). Of the files of `--data` all text is looked through
as it is; what is found there is counted, not judged, for a person to look at with `--show`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import command
from benchmarks.canaries import KINDS, make_canaries, make_ordinary
from memory.ingest.draft import Masker
from memory.text.secrets import find_secrets

MAX_BYTES = 20 << 20
ALL = "all kinds"


def measure_recall(count: int) -> list[dict[str, Any]]:
    """For each kind of canary how many there were, and which share of them is masked, in percent."""
    masker, made, masked = Masker(b"benchmark"), Counter[str](), Counter[str]()
    for one in make_canaries(count):
        text = masker.mask(one.line)
        for kind in (one.kind, ALL):
            made[kind] += 1
            masked[kind] += not any(line in text for line in one.value.split("\n"))
    return [
        {"set": kind, "lines": made[kind], "masked": round(100 * masked[kind] / max(1, made[kind]), 2)}
        for kind in (*KINDS, ALL)
    ]


def measure_ordinary(count: int) -> dict[str, Any]:
    """Of made-up lines without a secret the share that is masked, in percent."""
    lines = make_ordinary(count)
    return {"set": "ordinary lines", **_look_through(lines)}


def measure_files(folder: Path, show: bool) -> dict[str, Any]:
    """Of the lines of all text files below a folder the share in which something is masked, in percent."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            try:
                texts.append(path.read_text("utf-8"))
            except UnicodeDecodeError:
                continue
            for start, _, kind in find_secrets(texts[-1]) if show else ():
                command.note(f"{path}:{texts[-1].count(chr(10), 0, start) + 1}: {kind}")
    return {"set": folder.name, **_look_through(texts)}


def _look_through(texts: Sequence[str]) -> dict[str, Any]:
    start = process_time()
    found = sum(len({text.count("\n", 0, one.start) for one in find_secrets(text)}) for text in texts)
    seconds = process_time() - start
    lines = sum(bool(line.strip()) for text in texts for line in text.split("\n"))
    size = sum(map(len, texts))
    return {
        "lines": lines, "found": found, "masked": round(100 * found / max(1, lines), 3),
        "mb_per_s": round(size / 1e6 / seconds, 1) if seconds else 0.0,
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object per row instead of a table")
    parser.add_argument(
        "--data", type=Path, action="append", default=[], metavar="DIR", help="text to look through, too"
    )
    parser.add_argument("--show", action="store_true", help="say where something is masked in DIR")
    parser.add_argument("--count", type=command.positive, default=2_700, metavar="N", help="lines of each sort")
    args = parser.parse_args(arguments)

    def work() -> None:
        rows = [*measure_recall(args.count), measure_ordinary(args.count)]
        rows += [measure_files(folder, args.show) for folder in args.data]
        if args.json:
            print("\n".join(json.dumps(row) for row in rows))
            return
        command.show_table(
            "secrets", rows, {"": "set", "lines": "lines", "found": "found", "masked %": "masked", "MB/s": "mb_per_s"}
        )

    return command.run(work)


if __name__ == "__main__":
    raise SystemExit(main())
