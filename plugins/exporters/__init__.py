"""The built-in exporters. Importing this imports no writer."""

from collections.abc import Callable, Iterator

from plugins.exporters.contract import Exporter, Line, Part
from plugins.hookspecs import hookimpl, import_late

DESCRIPTIONS = {
    "csv": "Tables for a spreadsheet: facts, objects, sources, episodes.",
    "vault": "Markdown that Obsidian opens: a page for each person, place and thing.",
}
KINDS = {"csv": ("fact", "thing", "note", "passage"), "vault": ("thing", "page")}


@hookimpl
def register_exporters(register: Callable[[Exporter], None]) -> None:
    everything = "JSON lines from which `pal import` recreates the memory."
    register(Exporter("jsonl", everything, write_lines, suffixes=(".jsonl", ".ndjson")))
    for name, sentence in DESCRIPTIONS.items():
        write = import_late(f"plugins.exporters.{name}", "write")
        register(Exporter(name, sentence, write, KINDS[name]))


def write_lines(lines: Iterator[Line]) -> Iterator[Part]:
    return (Part("", line.text) for line in lines)
