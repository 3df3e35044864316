"""Which sentences of a model are proved, unproved or contradicted? `python -m benchmarks.grounding --data DIR`.

A file has a sentence a line that cites one note of a persona, right, or wrong in a way that it names. Each is checked
against that note as an answer is. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import command, data, gold, lifelog
from memory import Memory
from memory.answering.grounding import Proof, judge_claim
from memory.nouns import Episode
from memory.store import episodes
from plugins import manager
from plugins.manager import Plugins

SENTENCES = Path(__file__).with_name("sentences.jsonl")
ROW: dict[str, type] = {"title": str, "question": str, "said": str}
VERDICTS = ("proved", "unproved", "contradicted")


def read(persona: Path, plugins: Plugins) -> dict[str, list[Episode]]:
    """The passages of a persona's notes, by the path of the file and by the title of the passage."""
    found: dict[str, list[Episode]] = {}
    embedder = plugins.embedder("static")
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        Memory.open(Path(temporary) / "memory.db", embedder=embedder, quick=embedder) as memory,
    ):
        for file in lifelog.load(persona)[0]:
            memory.ingest.remember_many(lifelog.read(plugins, file))
        with memory.store.reading() as conn:
            ids = [id for (id,) in conn.execute("SELECT node_id FROM episode ORDER BY node_id")]
            for one in episodes.get_many(conn, ids):
                found.setdefault(one.title, []).append(one)
                found.setdefault(gold.path_of(one.source.uri, lifelog.root_of(persona)), []).append(one)
    return found


def proof_of(passage: Episode) -> Proof:
    """What a person is shown of it: title, speaker, day and words."""
    topic = f"{passage.title}\n{passage.speaker or ''}"
    return Proof(f"{topic}\n{passage.at.date() if passage.at else ''}\n{passage.text}", passage.at, topic)


def judge(
    rows: Sequence[Mapping[str, Any]], notes: Mapping[str, Mapping[str, Sequence[Episode]]]
) -> list[dict[str, Any]]:
    """The verdict on each row, and the check that contradicts it. Raises DataError for a note that is not there."""
    judged = []
    for row in rows:
        persona = row.get("set") or next(iter(notes))
        if not (passages := notes.get(persona, {}).get(row["title"])):
            raise command.DataError(f"{persona} has no note called {row['title']!r}.")
        proofs = {number: proof_of(passage) for number, passage in enumerate(passages, 1)}
        cited = "".join(f"[{number}]" for number in proofs)
        verdict, problem, check = judge_claim(f"{row['said']} {cited}", proofs, row["question"])
        kind, half = row.get("wrong") or "right", row.get("half") or "all"
        judged.append({"half": half, "set": persona, "kind": kind, "said": row["said"],
                       "verdict": "contradicted" if problem else verdict, "check": check})  # fmt: skip
    return judged


def table(judged: Sequence[Mapping[str, Any]], by: str) -> list[dict[str, Any]]:
    """A row for each value of `by`: how many right and wrong sentences have each verdict."""
    rows = []
    for name in dict.fromkeys(one[by] for one in judged if one[by]):
        counts: dict[str, Any] = {by: name}
        for side in ("right", "wrong"):
            of = [one["verdict"] for one in judged if one[by] == name and (one["kind"] == "right") == (side == "right")]
            counts[side] = {"all": len(of)} | {verdict: of.count(verdict) for verdict in VERDICTS}
        rows.append(counts)
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grounding", description=__doc__.split("\n\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=SENTENCES, help="JSON lines; by default sentences.jsonl")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    parser.add_argument("--half", help="only sentences of this half: work or unseen")
    parser.add_argument("--json", action="store_true", help="one JSON object per sentence and line instead of tables")
    arguments = parser.parse_args(argv)

    def run() -> None:
        plugins = manager.load()
        rows = [row for row in data.read_rows(arguments.file, ROW)
                if arguments.half in (None, row.get("half"))]  # fmt: skip
        wanted = {row.get("set") for row in rows}
        personas = [one for one in lifelog.find_personas(arguments.data) if not any(wanted) or one.name in wanted]
        judged = judge(rows, {one.name: read(one, plugins) for one in personas})
        if arguments.json:
            print("\n".join(json.dumps(one, ensure_ascii=False) for one in judged))
            return
        columns = {f"{side} {verdict}": f"{side}.{verdict}" for side in ("right", "wrong") for verdict in VERDICTS}
        for by in ("half", "set", "kind", "check"):
            command.show_table(f"By {by}", table(judged, by), {by: by} | columns)

    return command.run(run)


if __name__ == "__main__":
    sys.exit(main())
