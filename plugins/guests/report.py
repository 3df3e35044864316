"""What a plug-in registers, as the process tells in which it was tried."""

from __future__ import annotations

from typing import Any

import msgspec


class ReaderReport(msgspec.Struct, frozen=True):
    """The fields of a `plugins.readers.Reader` that the daemon needs; whether it reads in parts."""

    name: str
    suffixes: tuple[str, ...]
    description: str
    max_bytes: int
    dates_parts: bool
    version: int
    max_seconds: int
    max_memory: int
    programs: tuple[str, ...]
    streams: bool


class FamilyReport(msgspec.Struct, frozen=True):
    """The fields of a `plugins.llms.Family`."""

    prefix: str
    local: bool


class ExporterReport(msgspec.Struct, frozen=True):
    """The fields of a `plugins.exporters.contract.Exporter`."""

    name: str
    description: str
    kinds: tuple[str, ...]
    suffixes: tuple[str, ...]


class Report(msgspec.Struct, frozen=True):
    """What one plug-in registers, or the `problem` for which it must be left out. Embedders and rerankers come with
    their section of config.toml, "" if they have none; of what walks and ranks there are only names."""

    problem: str = ""
    readers: tuple[ReaderReport, ...] = ()
    embedders: tuple[tuple[str, str], ...] = ()
    rerankers: tuple[tuple[str, str], ...] = ()
    families: tuple[FamilyReport, ...] = ()
    exporters: tuple[ExporterReport, ...] = ()
    strategies: tuple[str, ...] = ()
    rankers: tuple[str, ...] = ()


def pack_report(registered: dict[str, list[Any]]) -> bytes:
    """The report as JSON. TypeError for what cannot be told."""
    readers = (_copy(ReaderReport, one, streams=one.stream is not None) for one in registered["register_readers"])
    report = Report(
        readers=tuple(readers),
        embedders=tuple(map(_name_section, registered["register_embedders"])),
        rerankers=tuple(map(_name_section, registered["register_rerankers"])),
        families=tuple(_copy(FamilyReport, one) for one in registered["register_llms"]),
        exporters=tuple(_copy(ExporterReport, one) for one in registered["register_exporters"]),
        strategies=tuple(one.name for one in registered["register_traversers"]),
        rankers=tuple(name for name, _ in registered["register_rankers"]),
    )
    return msgspec.json.encode(report)


def pack_problem(problem: str) -> bytes:
    """The report of one that must be left out."""
    return msgspec.json.encode(Report(problem))


def unpack_report(data: bytes) -> Report:
    """ValueError for what is none."""
    return msgspec.json.decode(data, type=Report)


def _copy(kind: Any, one: Any, **more: bool) -> Any:
    return kind(**{name: getattr(one, name) for name in kind.__struct_fields__ if name not in more}, **more)


def _name_section(registered: tuple[Any, ...]) -> tuple[str, str]:
    name, _, *section = registered
    return name, "".join(section)
