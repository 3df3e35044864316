"""What does a memory assert about unknown notes? `python -m benchmarks.foreign --data FOLDER [--sheet FILE] [--json]`.

Reads any folder as `pal add` does, without a model, and counts the facts that rules extract and what replaces what.
There is no gold: `--sheet FILE` writes a random sample of both, to be judged by eye. benchmarks/README.md says how.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

from benchmarks import command, rules
from benchmarks.lifelog import File, read
from daemon import wire
from daemon.config.settings import WatchSettings
from daemon.jobs.workers import Task, Tasks, Writer
from daemon.reading.process import Readers
from daemon.watch.attempts import Attempts
from daemon.watch.ingest import Ingest
from daemon.watch.scan import ScanTarget
from memory import Memory
from memory.nouns import Episode, Fact
from memory.revisions import Revision
from plugins import manager
from plugins.manager import Plugins

MOST = 1_000_000  # revisions of a memory
LINE_CHARS = 300  # of a line on the sheet
BY_RULES = "SELECT DISTINCT item_id FROM provenance WHERE item_kind = 'edge' AND extractor = 'rule' ORDER BY item_id"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was read: the facts of rules, all revisions, the rule of each fact, and its line and day."""

    sources: int
    passages: int
    skipped: int
    facts: Sequence[Fact]
    revisions: Sequence[Revision]
    rules: Mapping[int, str]
    lines: Mapping[int, str]
    days: Mapping[int, str]


def read_folder(folder: Path, plugins: Plugins) -> Finding:
    """Everything in a folder, read into a new memory."""
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as place,
        Memory.open(Path(place) / "memory.db", embedder=plugins.embedder("static")) as memory,
    ):
        added = _add(memory, plugins, folder, Path(place))
        command.note("find the rules")
        with memory.store.reading() as conn:
            ids = [id for (id,) in conn.execute(BY_RULES)]
        facts, revisions = memory.knowledge.facts_by_id(ids), memory.knowledge.revisions("all", limit=MOST)
        shown = {*facts, *(fact for one in revisions for fact in (one.old, one.new))}
        episodes = memory.sources.episodes(sorted({fact.episode_id for fact in shown}))
        passages = {one.id: one for one in episodes}
        return Finding(
            added.sources, memory.browsing.stats().episodes, added.skipped, facts, revisions, _rules_of(plugins, shown),
            lines={fact.id: _line(passages[fact.episode_id], fact) for fact in shown},
            days={one.id: f"{one.at:%Y-%m-%d}" if one.at else "undated" for one in episodes},
        )  # fmt: skip


def _add(memory: Memory, plugins: Plugins, folder: Path, place: Path) -> wire.Added:
    """Reads the files by the code of `pal add`."""
    writer, task, events = Writer(), Task("reading"), SimpleQueue[wire.Event]()
    readers = Readers(memory.state.settings.chunk, memory.state.settings.rules, memory.state.masker)
    attempts = Attempts(memory, writer, place / "reading")
    ingest = Ingest(memory, plugins, writer, Tasks(events.put), events.put, WatchSettings(), (), readers, attempts)
    writer.start()
    try:
        for _ in ingest.take([ScanTarget(folder, ingest.ignore_rules(folder), folder)], task):
            command.note(f"{task.sources:,} sources")
    finally:
        readers.close()
        writer.close(60)
    return task.result()


def _line(episode: Episode, fact: Fact) -> str:
    """The line that a fact stands in; its quote where the source has no lines."""
    texts = episode.text.split("\n")
    numbers = episode.lines or range(episode.line or 0, (episode.line or 0) + len(texts))
    return dict(zip(numbers, texts, strict=False)).get(fact.line or -1, fact.quote)


def _rules_of(plugins: Plugins, facts: Iterable[Fact]) -> dict[int, str]:
    """The rule of each fact: its file is read once more, and the relation with most in common is the fact."""
    by_file: dict[Path, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_file[Path(fact.uri.partition("#")[0])].append(fact)
    found: dict[int, str] = {}
    for path in filter(Path.is_file, by_file):
        extracted = [*rules.extract(read(plugins, File(path, path.stat().st_mtime_ns)))]
        found |= {fact.id: _rule_of(fact, extracted) for fact in by_file[path]}
    return found


def _rule_of(fact: Fact, extracted: Sequence[rules.Extracted]) -> str:
    known = (fact.objects[-1], fact.predicate or "", fact.objects[0])

    def likeness(one: rules.Extracted) -> tuple[bool, ...]:
        relation = one.relation
        return tuple(
            a == b for a, b in zip((relation.object, relation.predicate, relation.subject), known, strict=True)
        )

    best = max(extracted, key=likeness, default=None)
    return best.rule if best and any(likeness(best)) else "other"


def score(finding: Finding) -> dict[str, Any]:
    """The figures."""
    replaced = [one for one in finding.revisions if one.relation == "supersedes"]
    return {
        "sources": finding.sources,
        "passages": finding.passages,
        "skipped": finding.skipped,
        "facts": len(finding.facts),
        "replacements": len(replaced),
        "per_1000": round(1000 * len(replaced) / max(1, finding.sources), 1),
        "relations": dict(Counter(one.relation for one in finding.revisions)),
        "rules": dict(Counter(finding.rules.get(one.id, "other") for one in finding.facts)),
        "replaced_by": dict(Counter(finding.rules.get(one.new.id, "other") for one in replaced)),
        "reasons": dict(Counter(_reason(one) for one in replaced)),
    }


def _reason(revision: Revision) -> str:
    reason = revision.reason
    for name in sorted({*revision.old.objects, *revision.new.objects}, key=len, reverse=True):
        reason = reason.replace(name, "…")
    return reason if len(reason) < 70 else f"{reason[:60]} …"


def write_sheet(finding: Finding, folder: Path, revisions: int, facts: int, lot: random.Random, file: TextIO) -> None:
    """A random sample of replacements and of facts. A person puts y or n between the brackets."""
    replaced = [one for one in finding.revisions if one.relation == "supersedes"]
    for number, one in enumerate(lot.sample(replaced, min(revisions, len(replaced))), 1):
        file.write(f"[ ] replacement {number}: {_reason(one)} ({one.author})\n")
        file.write(f"    old {_told(finding, one.old, folder)}\n    new {_told(finding, one.new, folder)}\n\n")
    for number, fact in enumerate(lot.sample(finding.facts, min(facts, len(finding.facts))), 1):
        file.write(f"[ ] fact {number}: {_told(finding, fact, folder)}\n\n")


def _told(finding: Finding, fact: Fact, folder: Path) -> str:
    said = " | ".join((fact.objects[0], fact.predicate or "-", *fact.objects[1:])) if fact.predicate else fact.text
    times = (f"from {fact.since} " if fact.since else "") + (f"to {fact.until}" if fact.until else "")
    place = f"{fact.uri.removeprefix(f'{folder}/')}:{fact.line or ''}"
    day, rule = finding.days[fact.episode_id], finding.rules.get(fact.id, "other")
    line = " ".join(finding.lines[fact.id].split())[:LINE_CHARS]
    return f"{said} ({rule}, {fact.modality}) {times}\n        {place}, “{fact.title}”, {day}\n        {line}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.foreign", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="any folder of files")
    parser.add_argument("--sheet", type=Path, metavar="FILE", help="write the sample to this file")
    parser.add_argument("--replacements", type=command.positive, default=50, metavar="N", help="on the sheet (50)")
    parser.add_argument("--facts", type=command.positive, default=100, metavar="N", help="on the sheet (100)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the sample (42)")
    parser.add_argument("--json", action="store_true", help="a JSON object instead of tables")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    folder = options.data.absolute()
    if not folder.is_dir():
        raise command.DataError(f"{folder} is not a folder.")
    finding = read_folder(folder, manager.load())
    result = {"set": folder.name, **score(finding)}
    with command.output(options.sheet) as file:
        write_sheet(finding, folder, options.replacements, options.facts, random.Random(options.seed), file)
    if options.json:
        print(json.dumps(result, ensure_ascii=False), flush=True)
        return
    columns = ("set", "sources", "passages", "facts", "replacements", "per_1000")
    command.show_table("Unknown notes", [result], {name.replace("_", " "): name for name in columns})
    for key in ("rules", "replaced_by", "reasons", "relations"):
        counts = [{"name": name, "count": count} for name, count in Counter(result[key]).most_common()]
        command.show_table(key.replace("_", " "), counts, {"": "name", "count": "count"})


if __name__ == "__main__":
    sys.exit(main())
