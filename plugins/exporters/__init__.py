"""The exporters that come with the program. Importing this imports none of what writes."""

from collections.abc import Callable, Iterator

from plugins.exporters.contract import Exporter, Line, Part
from plugins.hookspecs import hookimpl


@hookimpl
def register_exporters(register: Callable[[Exporter], None]) -> None:
    register(
        Exporter("jsonl", "All that is true, line by line: `pal import` makes the same memory of it.", write_lines,
                 suffixes=(".jsonl", ".ndjson"))
    )  # fmt: skip


def write_lines(lines: Iterator[Line]) -> Iterator[Part]:
    """The lines as they are."""
    return (Part("", line.text) for line in lines)
