"""What all benchmarks share at the command line.

stdout carries the figures, stderr the narration. Exit codes: 0 it ran, 2 the call or the data is wrong,
130 interrupted. A figure that is worse than hoped is a result, not an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from memory.errors import PalimpsestError

WIDTH = 160  # columns at least: a figure that is cut off is worse than a line that wraps


class DataError(Exception):
    """The data folder is not what a benchmark can read; the message says which file, which line and why."""


def note(text: str) -> None:
    """Tell the person who waits; never part of the result."""
    print(text, file=sys.stderr, flush=True)


def progress() -> Progress:
    """A progress bar on stderr that disappears when it is done; nothing where stderr is no terminal."""
    console = Console(stderr=True)
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def show_table(title: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Print rows as a table on stdout. `columns` maps a heading to the key it shows; "recall.5" is row["recall"]["5"].

    The first column is text, the others are figures; what a row does not have is shown as "-".
    """
    table = Table(box=None, pad_edge=False)
    for i, heading in enumerate(columns):
        table.add_column(Text(heading), justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*[Text(_cell(row, key)) for key in columns.values()])
    Console(width=max(Console().width, WIDTH)).print(Text(title, style="bold"), table, Text())


def markdown(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """The same as a table in Markdown."""
    lines = [[*columns], ["---"] * len(columns), *([_cell(row, key) for key in columns.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(row: Mapping[str, Any], key: str) -> str:
    value: Any = row
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def positive(text: str) -> int:
    """An argument that must be a whole number from 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def share(text: str) -> float:
    """An argument that must be a number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError(text)
    return number


def new_file(folder: Path, name: str) -> Path:
    """`folder/name`, which must not exist yet; makes the folder. Raises DataError."""
    path = folder / name
    if path.exists():
        raise DataError(f"{path} exists already. Give another folder, or remove it.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} cannot be made: {error.strerror}. Give another folder.") from error
    return path


@contextmanager
def output(path: Path | None) -> Iterator[TextIO]:
    """A file to write lines to, empty at first; without a path what is written goes nowhere. Raises DataError."""
    try:
        file = (path or Path(os.devnull)).open("w", encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Give another file.") from error
    with file:
        yield file


def folder_bytes(folder: Path) -> int:
    """The size of all files below `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def file_bytes(path: Path) -> int:
    """The size of a SQLite file together with its log, if one is left."""
    parts = [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]
    return sum(part.stat().st_size for part in parts if part.exists())


def peak_mb() -> float | None:
    """The largest resident size of this process so far, in MB; None where the system does not tell."""
    try:
        import resource  # POSIX only
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def resident_mb() -> float | None:
    """The size of this process in memory now, in MB; None where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    kib = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1]
    return round(int(kib) * 1024 / 1e6, 1)


def run(work: Callable[[], None]) -> int:
    """Do the work and turn what went wrong into a message and an exit code."""
    try:
        work()
    except (DataError, PalimpsestError) as error:
        note(f"Error: {error}")
        return 2
    except KeyboardInterrupt:
        note("Interrupted.")
        exec(  # noqa: S102
            ""
        )  # an interrupt that went through one, as in the making of a dataclass, would end `python -m` by a signal
        return 130
    return 0
