"""Answers about an invented person's life, without a model: `python -m benchmarks.lifelog --data DIR [--json]`.

Reads a persona's files in the order of their dates through the readers, asks every question and judges the
answer by containment. Only `files/` is shown to the memory. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import command, data, judge, metrics
from benchmarks.ablations import CONFIGURATIONS
from memory import Memory
from memory.events import NOT_PLAIN
from memory.nouns import Answer, Document
from memory.protocols import Embedder
from plugins import manager
from plugins.manager import Plugins
from plugins.readers import Unreadable, documents

QUESTIONS, MANIFEST = "questions.jsonl", "manifest.jsonl"
FILES = (1, 3, 5, 10)  # of evidence
DEPTH = 30  # episodes recalled to get ten files
LINES = 3
SHOWN = 1200  # characters of an answer that a person sees without scrolling
HELD = ("single", "current")  # the types that ask for a value that holds
MARKS = re.compile(r"^- |\s*\[\d+\]$")  # of the list and of the citation
EARLIER = "earlier"  # how a line begins that shows an older value
QUESTION: dict[str, type] = {"id": str, "question": str, "type": str, "accept": list, "reject": list, "evidence": list}


class File(NamedTuple):
    """A file of a persona, and when it was last written (ns): on its day in the manifest, or today if that is lost, as
    of a file that `is_copied`."""

    path: Path
    mtime_ns: int
    is_copied: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one question: the answer's lines without the earlier values, the files it cites
    and those that recall finds for the same question, best first. `text`: what is not folded; `asserted`: how many
    lines it shows as the answer, none if it says that the memory does not say this, or not plainly."""

    question: Mapping[str, Any]
    lines: tuple[str, ...]
    cited: tuple[str, ...]
    found: tuple[str, ...]
    refused: bool
    ms: float
    text: str = ""
    asserted: int = 0

    def top(self, lines: int) -> str:
        """The first lines of the answer; a refusal is its whole text."""
        return "\n".join(self.lines[:lines])


def find_personas(folder: Path) -> list[Path]:
    """`folder` if it is a persona, else those below it, by path. Raises DataError if there are none."""
    if not folder.is_dir():
        raise command.DataError(
            f"{folder} is not a folder. Give --data a folder with {QUESTIONS}, {MANIFEST} and files/."
        )
    found = sorted(
        path.parent
        for path in folder.rglob(QUESTIONS)
        if (path.parent / MANIFEST).is_file() and (path.parent / "files").is_dir()
    )
    if not found:
        raise command.DataError(f"Nothing in {folder} holds {QUESTIONS}, {MANIFEST} and files/.")
    return found


def load(persona: Path, times: str = "manifest") -> tuple[list[File], list[dict[str, Any]]]:
    """The files of a persona by date, and its questions. A checkout loses the files' times: they are those of the
    manifest, or with `times` "lost" all now. Raises DataError with file and line."""
    manifest = sorted(data.read_rows(persona / MANIFEST, {"path": str, "date": str}), key=lambda row: row["date"])
    files = []
    for row in manifest:
        path, day = persona / row["path"], _day(row["date"], persona / MANIFEST)
        if not path.is_file():
            raise command.DataError(f"{persona / MANIFEST} names {path}, which is not there.")
        is_copied = times == "lost" or day is None
        files.append(File(path, time.time_ns() if times == "lost" or day is None else _noon_ns(day), is_copied))
    questions = list(data.read_rows(persona / QUESTIONS, QUESTION))
    for question in questions:
        _day(question.get("as_of"), persona / QUESTIONS)
    return files, questions


def _noon_ns(day: datetime) -> int:
    return int(day.replace(hour=12, minute=0, second=0).timestamp()) * 10**9


def add_times(parser: argparse.ArgumentParser) -> None:
    """The option by which the files' times are the manifest's or lost."""
    parser.add_argument(
        "--times", choices=("manifest", "lost"), default="manifest",
        help="when the files were last written: as the manifest says, or all today, as after a checkout",
    )  # fmt: skip


def day_of(question: Mapping[str, Any], persona: Path) -> datetime | None:
    """The time as of which a question is asked, if it has one."""
    return _day(question.get("as_of"), persona)


def _day(text: str | None, path: Path) -> datetime | None:
    """The end of the day that `text` names: what was written on it is known."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).replace(hour=23, minute=59, second=59, tzinfo=UTC)
    except ValueError as error:
        raise command.DataError(f'{path}: "as_of" must be a day like 2024-03-01, not "{text}".') from error


class Found(NamedTuple):
    """What recall finds for a question of a type: the gold files, and those that were found, best first."""

    type: str
    gold: Sequence[str]
    files: Sequence[str]


def answer_lines(text: str) -> tuple[str, ...]:
    """The lines of an answer that state what holds: without their marks, and without earlier values."""
    lines = (MARKS.sub("", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.lower().startswith(EARLIER))


def ask_all(
    persona: Path, files: Sequence[File], questions: Sequence[Mapping[str, Any]], plugins: Plugins, embedder: Embedder
) -> list[Reply]:
    """Read the files one after the other into a new memory, then ask every question."""
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        Memory.open(Path(temporary) / "memory.db", embedder=embedder, quick=plugins.embedder("static")) as memory,
        command.progress() as bar,
    ):
        command.note(f"{persona.name}: read {len(files)} files")
        for file in bar.track(files, description=""):
            memory.ingest.remember_many(read(plugins, file))
        command.note(f"{persona.name}: ask {len(questions)} questions")
        return [ask(memory, question, persona) for question in bar.track(questions, description="")]


def find_all(
    persona: Path, files: Sequence[File], questions: Sequence[Mapping[str, Any]], plugins: Plugins, embedder: Embedder
) -> dict[str, list[Found]]:
    """What each configuration of `benchmarks.ablations`, by its name, recalls for the questions with evidence."""
    asked = [question for question in questions if question["evidence"]]
    found: dict[str, list[Found]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        Memory.open(Path(temporary) / "memory.db", embedder=embedder, quick=plugins.embedder("static")) as memory,
    ):
        for file in files:
            memory.ingest.remember_many(read(plugins, file))
        for name, configuration in CONFIGURATIONS.items():
            command.note(f"{persona.name}: recall {len(asked)} questions, {name}")
            memory.state.settings = replace(memory.state.settings, recall=configuration.recall)
            for question in asked:
                as_of = day_of(question, persona)
                hits = memory.questions.retrieve(question["question"], k=DEPTH, as_of=as_of).recall.hits
                paths = paths_of([hit.episode.source.uri for hit in hits], persona)
                found.setdefault(name, []).append(Found(question["type"], question["evidence"], paths))
    return found


def read(plugins: Plugins, file: File) -> list[Document]:
    """What the readers make of a file; nothing, with a note, where they make nothing of it."""
    there = file.path.stat()
    written = os.stat_result((*there[:8], file.mtime_ns // 10**9, there[9]), {"st_mtime_ns": file.mtime_ns})
    try:
        reader = plugins.reader_for(file.path, there.st_size)
        found = documents(reader, file.path, file.path.read_bytes(), written, file.is_copied)
        location = file.path.as_posix().rpartition("/files/")[2]
        return [replace(document, location=location) for document in found]
    except Unreadable as error:
        command.note(f"{file.path} was skipped: {error.reason}")
        return []


def ask(memory: Memory, question: Mapping[str, Any], persona: Path) -> Reply:
    """Ask one question, as of its time if it has one, and recall the files for it."""
    as_of = day_of(question, persona)
    started = time.perf_counter()
    *_, answer = memory.questions.ask(question["question"], as_of=as_of)
    ms = 1000 * (time.perf_counter() - started)
    if not isinstance(answer, Answer):
        raise TypeError(f"ask ended with {answer!r}")
    found = [
        hit.episode.source.uri
        for hit in memory.questions.retrieve(question["question"], k=DEPTH, as_of=as_of).recall.hits
    ]
    return make_reply(question, answer, paths_of(found, persona), persona, ms)


def make_reply(
    question: Mapping[str, Any], answer: Answer, found: tuple[str, ...], persona: Path, ms: float = 0.0
) -> Reply:
    """What an answer shows; `found`: the files that recall finds, best first."""
    cited = [citation.uri for citation in answer.citations]
    lines = answer_lines(answer.text)
    if question["type"] != "no_answer" and any(line.kind == "answer" for line in answer.lines):
        lines = tuple(line.text for line in answer.lines if line.citations and line.kind != "earlier")
    is_sure = not answer.no_answer and not answer.text.startswith(NOT_PLAIN)
    return Reply(
        question, lines, paths_of(cited, persona), found, answer.no_answer, ms,
        "\n".join(line.text for line in answer.lines if line.kind != "folded"),
        sum(line.kind == "answer" for line in answer.lines) if is_sure else 0,
    )  # fmt: skip


def paths_of(uris: Sequence[str], persona: Path) -> tuple[str, ...]:
    """The manifest's names of the files that sources came from, each once."""
    root = root_of(persona)
    return tuple(dict.fromkeys(uri.partition("#")[0].removeprefix(root) for uri in uris))


def root_of(persona: Path) -> str:
    """What the uris of a persona's files begin with, before the manifest's names."""
    return f"{persona.absolute().as_posix()}/"


def score(replies: Sequence[Reply]) -> dict[str, Any]:
    """All figures but the name, in percent: of the first line, and of the first three taken together."""
    types: dict[str, list[Reply]] = defaultdict(list)
    for reply in replies:
        types[reply.question["type"]].append(reply)
    unanswerable = types.get("no_answer", [])
    answerable = [reply for reply in replies if reply.question["type"] != "no_answer"]
    valued = [reply for reply in answerable if reply.question["type"] in judge.VALUED]
    held = [reply for reply in replies if reply.question["type"] in HELD]
    evidenced = [reply for reply in replies if reply.question["evidence"]]
    return {
        "questions": len(replies),
        "accuracy": _accuracy(replies, 1),
        "accuracy_first_three": _accuracy(replies, LINES),
        "types": {
            name: {
                "questions": len(of),
                "accuracy": _accuracy(of, 1),
                "accuracy_first_three": _accuracy(of, LINES),
                "accepted_first": _accepted(of, 1),
                "accepted_first_three": _accepted(of, LINES),
            }
            for name, of in sorted(types.items())
        },
        "held": {
            "questions": len(held),
            "accepted_first": _accepted(held, 1),
            "accepted_first_three": _accepted(held, LINES),
            "shown": metrics.percent([float(judge.is_accepted(reply.question, reply.text[:SHOWN])) for reply in held]),
            "stale": metrics.percent([float(judge.is_stale(reply.question, reply.top(1))) for reply in held]),
        },
        "stale": metrics.percent([float(judge.is_stale(reply.question, reply.top(1))) for reply in valued]),
        "evidence": _evidence([(reply.question["evidence"], reply.cited) for reply in evidenced]),
        "evidence_found": _evidence([(reply.question["evidence"], reply.found) for reply in evidenced]),
        "false_refusals": metrics.percent([float(reply.refused) for reply in answerable]),
        "right_refusals": metrics.percent([float(reply.refused) for reply in unanswerable]),
        "one_or_none": metrics.percent([float(reply.asserted <= 1) for reply in replies]),
        "one_is_right": _accepted([reply for reply in answerable if reply.asserted == 1], 1),
        "p50_ms": metrics.percentile([reply.ms for reply in replies], 50),
        "p95_ms": metrics.percentile([reply.ms for reply in replies], 95),
    }


def _accuracy(replies: Sequence[Reply], lines: int) -> float:
    return metrics.percent([float(judge.is_right(reply.question, reply.top(lines))) for reply in replies])


def _accepted(replies: Sequence[Reply], lines: int) -> float:
    return metrics.percent([float(judge.is_accepted(reply.question, reply.top(lines))) for reply in replies])


def _evidence(files: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, float]:
    """Percent of the gold files among the first k files, for pairs of (gold, files best first)."""
    return {
        str(k): metrics.percent([metrics.recall_at(gold, [(path,) for path in given], k) for gold, given in files])
        for k in FILES
    }


def check(replies: Sequence[Reply], reference: Path) -> int:
    """How many answers another scorer's `judge(question, answer)`, a Python file, judges otherwise than we do."""
    spec = importlib.util.spec_from_file_location("reference", reference)
    if spec is None or spec.loader is None:
        raise command.DataError(f"{reference} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except OSError as error:
        raise command.DataError(f"{reference} cannot be read: {error.strerror}.") from error
    if not hasattr(module, "judge"):
        raise command.DataError(f"{reference} has no function judge(question, answer).")
    answers = [(reply.question, reply.top(lines)) for reply in replies for lines in (1, LINES)]
    return sum(bool(module.judge(asked, answer)) != judge.is_right(asked, answer) for asked, answer in answers)


def mean(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean of several personas' figures, key by key; what is no number is left out."""
    found: dict[str, Any] = {"set": "mean"}
    for key, value in results[0].items():
        values = [result[key] for result in results if key in result]
        if isinstance(value, dict):
            inner = mean(values)
            found[key] = {name: one for name, one in inner.items() if name != "set"}
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[key] = round(sum(values) / len(values), 2)
    return found


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables: one row per persona, then the types of all together."""
    command.show_table(
        "Answers without a model, in percent",
        results,
        {
            "persona": "set",
            "questions": "questions",
            "first line": "accuracy",
            "first three": "accuracy_first_three",
            "stale": "stale",
            "cited@1": "evidence.1",
            "cited@5": "evidence.5",
            "found@1": "evidence_found.1",
            "found@5": "evidence_found.5",
            "found@10": "evidence_found.10",
            "false refusals": "false_refusals",
            "right refusals": "right_refusals",
            "one or none": "one_or_none",
            "one is right": "one_is_right",
            "p50 ms": "p50_ms",
            "p95 ms": "p95_ms",
        },
    )
    for result in results:
        command.show_table(
            f"{result['set']}, by type of question",
            [{"type": name, **of} for name, of in result["types"].items()],
            {
                "type": "type",
                "questions": "questions",
                "first line": "accuracy",
                "first three": "accuracy_first_three",
                "accepted first": "accepted_first",
                "accepted in three": "accepted_first_three",
            },
        )
    command.show_table(
        "What holds: single facts and current ones together",
        [{"set": result["set"], **result["held"]} for result in results],
        {
            "set": "set",
            "questions": "questions",
            "accepted first": "accepted_first",
            "accepted in three": "accepted_first_three",
            "shown": "shown",
            "stale first": "stale",
        },
    )


def show_found(found: Mapping[str, Sequence[Found]]) -> None:
    """Print what each configuration finds, of all questions and by their type."""
    columns = {"configuration": "set", "type": "type", "questions": "questions"}
    rows = []
    for name, results in found.items():
        for type in ("all", *sorted({result.type for result in results})):
            files = [(result.gold, result.files) for result in results if type in ("all", result.type)]
            rows.append({"set": name, "type": type, "questions": len(files), **_evidence(files)})
    title = "Evidence among the first files that recall finds, in percent"
    command.show_table(title, rows, columns | {f"found@{k}": str(k) for k in FILES})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lifelog", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per persona and line instead of tables")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    add_times(parser)
    parser.add_argument("--replies", type=Path, metavar="FILE", help="also write what was answered, as JSON lines")
    parser.add_argument("--found", action="store_true", help="only what recall finds, with and without the graph walk")
    parser.add_argument("--reference", type=Path, metavar="FILE", help="run this scorer's judge() too and compare")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    embedder = plugins.embedder(options.embedder)
    results, rows = [], []
    if options.found:
        found: dict[str, list[Found]] = defaultdict(list)
        for persona in find_personas(options.data):
            files, questions = load(persona, options.times)
            for name, more in find_all(persona, files, questions[: options.limit], plugins, embedder).items():
                found[name] += more
        show_found(found)
        return
    for persona in find_personas(options.data):
        files, questions = load(persona, options.times)
        replies = ask_all(persona, files, questions[: options.limit], plugins, embedder)
        result = {"set": persona.name, **score(replies), "embedder": embedder.name}
        if options.reference:
            result["judged_otherwise"] = check(replies, options.reference)
            command.note(f"{persona.name}: {options.reference} judges {result['judged_otherwise']} answers otherwise")
        results.append(result)
        rows += [
            {"id": reply.question["id"], "answer": reply.top(1), "evidence": list(reply.cited)} for reply in replies
        ]
        if options.json:
            print(json.dumps(result), flush=True)
    if len(results) > 1:
        results.append(mean(results))
        if options.json:
            print(json.dumps(results[-1]), flush=True)
    if options.replies:
        options.replies.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
        )
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
