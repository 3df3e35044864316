"""Does a memory notice what has changed? `python -m benchmarks.updates --data DIR [--recorded | --llm NAME] [--json]`.

Reads an invented person's files in the order of their dates, without a model, with one, or with what a strong model
has read there before (`--recorded`, also with `--noise`); then compares what was replaced with the gold timeline,
asks every question, and takes back every replacement. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import command, data, gold, lifelog, losses, metrics, rules, undone
from benchmarks.enrichment import Counted, Enriched, enrich
from benchmarks.gold import Timeline
from benchmarks.judge import is_right, is_stale
from benchmarks.lifelog import File, Reply
from daemon.jobs.enrichment import WAVE
from memory import Memory
from memory.nouns import Fact
from memory.protocols import LLM, Embedder
from memory.revisions import Revision
from memory.store import facts
from memory.store.connect import FIRST_EDGE
from plugins import manager
from plugins.llms.registry import Models
from plugins.manager import Plugins
from plugins.settings import OllamaSettings
from tests.fakes import FakeOllama, OllamaModel
from tests.fakes.manners import Manners
from tests.fakes.recorded import Decides, Noise, Recorded, Recording

ROW: dict[str, type] = {"path": str, "extraction": dict}
MOST = 100_000  # revisions of a memory
NO_EFFECT = ("nothing", "unrelated", "complements")  # decisions that change nothing
WORD = re.compile(r"\w+")
NEAREST = (5, 10, 20)  # facts among which the one that was replaced is looked for
BATCH = 3  # passages of a call of a model that passed its probe, more if they are short
DEEP = 10  # files that recall finds, among which the evidence must be for an answer to be what failed


@dataclass(slots=True)
class Life:
    """A persona that was read: what is in memory, and what it took."""

    revisions: list[Revision] = field(default_factory=list)
    told: list[losses.Told] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    enriched: Enriched = field(default_factory=Enriched)
    model: Counted | None = None
    ids: list[list[int]] = field(default_factory=list)  # of each file's episodes
    waiting: list[int] = field(default_factory=list)  # episodes to be read with others
    learnt: list[list[int]] = field(default_factory=list)  # the episodes of which facts were learnt behind each file
    read_ms: list[float] = field(default_factory=list)  # of each file
    nearest: dict[int, list[int]] = field(default_factory=dict)  # of each relation those nearest when it was read
    undone: undone.Undone = field(default_factory=undone.Undone)
    me: dict[str, int] = field(default_factory=dict)


def live(
    persona: Path,
    plugins: Plugins,
    embedder: Embedder,
    model: LLM | None,
    enriched: Enriched,
    limit: int | None,
    times: str = "manifest",
    batch: int = BATCH,
    wave: int = 0,
    gather: bool = False,
) -> Life:
    """Read a persona's files one after the other into a new memory, ask its questions, take everything back. A model
    reads `batch` episodes a call: of each file when it came, or when enough for `wave` calls have come; with `gather`
    it decides as if all files came within hours."""
    files, questions = lifelog.load(persona, times)
    life = Life(enriched=enriched, model=Counted(model) if model else None)
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        Memory.open(Path(temporary) / "memory.db", embedder=embedder, quick=plugins.embedder("static")) as memory,
        command.progress() as bar,
    ):
        command.note(f"{persona.name}: read {len(files)} files")
        for place, file in enumerate(bar.track(files, description=""), 1):
            is_last = place == len(files)
            _read(memory, plugins, file, life, batch, 0 if is_last else wave, gather and not is_last)
        command.note(f"{persona.name}: ask {len(questions[:limit])} questions")
        life.replies = [lifelog.ask(memory, one, persona) for one in bar.track(questions[:limit], description="")]
        life.revisions = memory.knowledge.revisions("all", limit=MOST)
        life.told = _told(memory, persona)
        life.me = _profile(memory, persona)
        command.note(f"{persona.name}: take {len(life.revisions)} revisions back")
        untouched = Path(temporary) / "untouched.db"
        with Memory.open(untouched, embedder=embedder, quick=plugins.embedder("static")) as other:
            same: dict[int, int] = {}
            for file, ids, learnt in zip(files, life.ids, life.learnt, strict=True):
                same |= zip(ids, _remember(other, plugins, file), strict=True)
                for id in learnt:
                    other.knowledge.assert_facts({same[id]: enriched.extractions[id]}, "the same")
                    undone.take_back(other)
                undone.take_back(other)
            life.undone = undone.compare(memory, other)
    return life


def _remember(memory: Memory, plugins: Plugins, file: File) -> list[int]:
    documents = [replace(document, policy="any") for document in lifelog.read(plugins, file)]  # nobody's secrets
    return [id for receipt in memory.ingest.remember_many(documents) for id in receipt.episode_ids]


def _read(memory: Memory, plugins: Plugins, file: File, life: Life, batch: int, wave: int, gather: bool) -> None:
    started = time.perf_counter()
    life.ids.append(_remember(memory, plugins, file))
    life.read_ms.append(1000 * (time.perf_counter() - started))
    if life.model is not None:
        unread = {episode.id: episode for episode in memory.knowledge.unread_episodes(MOST)}
        life.waiting += [id for id in life.ids[-1] if id in unread]
        if len(life.waiting) >= wave * batch:
            some, life.waiting = life.waiting, []
            enrich(memory, life.model, [unread[id] for id in some if id in unread], life.enriched, batch, gather=gather)
    life.learnt.append([*life.enriched.extractions][sum(map(len, life.learnt)) :])
    with memory.store.reading() as conn:
        known = [id for (id,) in conn.execute("SELECT id FROM vec_fact WHERE id >= ?", (FIRST_EDGE,))]
        life.nearest |= {id: facts.nearest(conn, id, NEAREST[-1]) for id in known if id not in life.nearest}


def _told(memory: Memory, persona: Path) -> list[losses.Told]:
    """All relations that were ever told."""
    root = lifelog.root_of(persona)
    with memory.store.reading() as conn:
        rows = conn.execute(
            "SELECT v.item_id, s.uri FROM provenance v JOIN edge r ON r.id = v.item_id AND r.kind = 'rel'"
            " JOIN episode e ON e.node_id = v.episode_id JOIN source s ON s.id = e.source_id"
            " WHERE v.item_kind = 'edge' ORDER BY v.item_id"
        ).fetchall()
    paths: dict[int, set[str]] = {}
    for id, uri in rows:
        paths.setdefault(id, set()).add(gold.path_of(uri, root))
    return [losses.Told(memory.knowledge.fact(id), frozenset(found)) for id, found in paths.items()]


def _profile(memory: Memory, persona: Path) -> dict[str, int]:
    """Of the values that `pal me` shows as current how many are, and how many were; and how many current ones the gold
    has of the owner."""
    known = memory.knowledge.profile()
    names = [name.split() for name in known.names]
    facts = [row for row in data.read_rows(persona / gold.FACTS, gold.FACT)
             if any(set(name) <= set(WORD.findall(row["subject"])) for name in names)]  # fmt: skip
    holding = [row["value"] for row in facts if not row.get("valid_to")]
    former = [row["value"] for row in facts if row.get("valid_to")]
    shown = [fact.objects[-1] for entry in known.entries for fact in entry.facts]
    right = [value for value in shown if any(gold.same(one, value) for one in holding)]
    old = [value for value in shown if value not in right and any(gold.same(one, value) for one in former)]
    return {"shown": len(shown), "right": len(right), "old": len(old), "gold": len(holding)}


def score(persona: Path, timeline: Timeline, life: Life) -> dict[str, Any]:
    """All figures of a persona but how it was read."""
    root = lifelog.root_of(persona)
    replaced = [one for one in life.revisions if one.relation == "supersedes"]
    found = [gold.pair(one.old, one.new, root) for one in replaced]
    proposed = _looked_at(life)
    lost = [losses.trace(change, found, life.told, proposed) for change in timeline.changes]
    wrong = [
        {
            "old": str(losses.Told(one.old, frozenset())),
            "new": str(losses.Told(one.new, frozenset())),
            "author": one.author,
            "old_path": pair.old_path,
            "new_path": pair.new_path,
            "only_another_file": any(gold.alike(change, pair) for change in timeline.changes),
        }
        for one, pair in zip(replaced, found, strict=True)
        if not any(gold.matches(change, pair) for change in timeline.changes)
    ]
    ranks = [losses.nearest_rank(change, life.told, life.nearest) for change in timeline.changes]
    told = [rank for rank in ranks if rank is not None]
    among = {str(k): metrics.percent([float(0 < rank <= k) for rank in told]) for k in NEAREST}
    model, episodes, pairs = life.model, sum(map(len, life.ids)), life.enriched.proposed
    return {
        "updates": gold.score(timeline, found),
        "lost_by": losses.table(lost),
        "nearest": {"told": len(told)} | among,
        "relations": dict(Counter(one.relation for one in life.revisions)),
        "authors": dict(Counter(one.author for one in replaced)),
        **lifelog.score(life.replies),
        "failed_by": _failed_by(life.replies),
        "episodes": episodes,
        "facts": len(life.told),
        "remember_ms": _per(life.read_ms, episodes),
        "own_ms": _per(life.enriched.own_ms, len(life.enriched.own_ms)),
        "own_cpu_ms": _per(life.enriched.own_cpu_ms, len(life.enriched.own_cpu_ms)),
        "own_p95_ms": metrics.percentile(life.enriched.own_ms, 95),
        "calls": model.calls if model else 0,
        "tokens_read": model.usage.read if model else 0,
        "tokens_written": model.usage.written if model else 0,
        "pairs": len(pairs),
        "useful": metrics.percent([float(said not in NO_EFFECT) for said in pairs.values()]),
        "dropped": life.enriched.dropped,
        "failed": len(life.enriched.failed),
        "undone": life.undone.figures(),
        "me": life.me,
        "missed": losses.rows(timeline.changes, lost),
        "wrong": wrong,
    }


def _looked_at(life: Life) -> dict[tuple[int, int], str]:
    """Pairs of facts, and what became of them: by a rule, or by the model's word."""
    ruled = {(one.old.id, one.new.id): f"{one.author}: {one.relation}" for one in life.revisions}
    return life.enriched.proposed | ruled


def _per(ms: Sequence[float], count: int) -> float:
    return round(sum(ms) / count, 2) if count else 0.0


def _failed_by(replies: Sequence[Reply]) -> dict[str, int]:
    """Of the wrong first lines of answerable questions: whether the evidence was not among the first files found, or
    was and the answer did not come from it."""
    failed = [reply for reply in replies if reply.question["evidence"] and not is_right(reply.question, reply.top(1))]
    retrieved = sum(bool(set(reply.question["evidence"]) & set(reply.found[:DEEP])) for reply in failed)
    return {"retrieval": len(failed) - retrieved, "answering": retrieved}


def question_rows(name: str, replies: Sequence[Reply]) -> Iterator[dict[str, Any]]:
    """What was answered to each question, judged."""
    for reply in replies:
        asked = reply.question
        yield {
            "set": name,
            **{key: asked.get(key) for key in ("id", "type", "question", "as_of", "accept", "reject", "evidence")},
            "right": is_right(asked, reply.top(1)),
            "right_first_three": is_right(asked, reply.top(lifelog.LINES)),
            "stale": is_stale(asked, reply.top(1)),
            "refused": reply.refused,
            "lines": reply.lines,
            "cited": reply.cited,
            "evidence_found": bool(set(asked["evidence"]) & set(reply.found[:DEEP])),
        }


def oracle(timeline: Timeline, known: Mapping[str, Fact]) -> Decides:
    """Decides by the timeline; `known` has the facts that are asked about, as they are shown."""

    def decides(old: str, new: str) -> str:
        one, other = known.get(old), known.get(new)
        return gold.judgement(timeline, one, other) if one and other else "unrelated"

    return decides


def recording_of(persona: Path, folder: Path | None) -> dict[str, Any]:
    """What a strong model read in each file of a persona. Raises DataError."""
    places = [folder] if folder else [above / "recorded" for above in persona.absolute().parents]
    path = next(
        (place / f"{persona.name}.jsonl" for place in places if (place / f"{persona.name}.jsonl").is_file()), None
    )
    if path is None:
        raise command.DataError(
            f"There is no recorded/{persona.name}.jsonl beside or above {persona}. Give its folder: --recorded FOLDER."
        )
    files = {row["path"]: row["extraction"] for row in data.read_rows(path, ROW)}
    for name, extraction in files.items():
        if any(not isinstance(extraction.get(kind), list) for kind in ("objects", "triples", "theses")):
            raise command.DataError(f"{path}: the extraction of {name} needs lists of objects, triples and theses.")
    return files


@contextmanager
def model_of(
    options: argparse.Namespace, plugins: Plugins, persona: Path, timeline: Timeline, known: Mapping[str, Fact]
) -> Iterator[LLM | None]:
    """The model to read with: none, a real one, or a recorded one behind a server that speaks Ollama's protocol."""
    if options.llm:
        models = Models(plugins.families)
        try:
            yield models.open(options.llm)
        finally:
            models.close()
    elif options.recorded is not None:
        noise = Noise(options.noise, options.seed)
        recording = Recording(recording_of(persona, options.recorded or None), noise)
        manners = Manners(options.seed) if options.manners else None
        talent = Recorded(recording, oracle(timeline, known), noise, manners)
        with FakeOllama(OllamaModel("recorded", context=1 << 20), answer=talent) as server:
            models = Models(plugins.families, {"ollama": OllamaSettings(host=server.url, context=1 << 20)})
            try:
                yield models.open("ollama:recorded")
            finally:
                models.close()
    else:
        yield None


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables, then what was missed and what was replaced wrongly."""
    command.show_table(
        f"Changes found, {results[0]['mode']}, noise {results[0]['noise']}, shares in percent",
        results,
        {
            "persona": "set",
            "gold": "updates.gold",
            "found": "updates.found",
            "recall": "updates.recall",
            "precision": "updates.precision",
            "precision, any file": "updates.precision_any_file",
            "non-updates": "updates.nonupdates",
            "violated": "updates.violated",
        },
    )
    stages = {stage: f"lost_by.{stage}" for stage in losses.STAGES}
    command.show_table("Changes of the gold, by the stage that lost them", results, {"persona": "set"} | stages)
    command.show_table(
        "The replaced fact among the nearest to the one that took its place, in percent of the changes with both told",
        results,
        {"persona": "set", "told": "nearest.told"} | {f"nearest {k}": f"nearest.{k}" for k in NEAREST},
    )
    undone_by = {"revisions": "undone.revisions", "facts": "undone.facts", "refused": "undone.refused"}
    command.show_table(
        "All revisions undone",
        results,
        {"persona": "set"} | undone_by | {"lost": "undone.lost", "closed": "undone.closed", "more": "undone.more"},
    )
    command.show_table(
        "What it took",
        results,
        {
            "persona": "set",
            "episodes": "episodes",
            "facts": "facts",
            "remember ms/episode": "remember_ms",
            "own ms/episode": "own_ms",
            "own p95": "own_p95_ms",
            "own CPU": "own_cpu_ms",
            "calls": "calls",
            "tokens read": "tokens_read",
            "written": "tokens_written",
            "pairs": "pairs",
            "useful": "useful",
            "items dropped": "dropped",
            "failed": "failed",
        },
    )
    me = {"shown": "me.shown", "right": "me.right", "old": "me.old", "gold": "me.gold"}
    command.show_table("Values that pal me shows as current", results, {"persona": "set"} | me)
    rules.show([result for result in results if "rules" in result])
    lifelog.show(results)
    for result in results:
        for row in result.get("missed", ()):
            print(f"{result['set']}, {row['date']}: {row['about']}: {row['old']} -> {row['new']} ({row['kind']})")
            print(f"    {row['lost_by']}: {row['detail']}")
        for row in result.get("wrong", ()):
            where = " of this file" if row["only_another_file"] else ""
            print(f"{result['set']}, not in the gold{where}, {row['author']}:")
            print(f"    {row['old']} -> {row['new']}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.updates", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--llm", metavar="NAME", help="read with this model: ollama:MODEL or anthropic:MODEL")
    how.add_argument(
        "--recorded",
        nargs="?",
        type=Path,
        const=False,
        metavar="FOLDER",
        help="read what a strong model has read before, PERSONA.jsonl (default: the nearest folder recorded/)",
    )
    parser.add_argument(
        "--noise", type=command.share, default=0.0, metavar="RATE", help="--recorded: go wrong that often"
    )
    parser.add_argument("--manners", action="store_true", help="--recorded: write JSON as chat models do")
    parser.add_argument("--batch", type=command.positive, default=BATCH, metavar="N", help="passages of a call")
    parser.add_argument(
        "--together", action="store_true", help="files come many at once: read when eight calls of them wait"
    )
    parser.add_argument(
        "--gather",
        action="store_true",
        help="files come within hours: decide when as many pairs wait as the daemon wants",
    )
    lifelog.add_times(parser)
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the noise (default: 42)")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per persona and line instead of tables")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="also write what each question got")
    parser.add_argument("--revisions", type=Path, metavar="FOLDER", help="also write what was replaced, PERSONA.jsonl")
    options = parser.parse_args(arguments)
    if (options.noise or options.manners) and options.recorded is None:
        parser.error("--noise and --manners go with --recorded")
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    embedder = plugins.embedder(options.embedder)
    personas = [(folder, gold.load(folder)) for folder in lifelog.find_personas(options.data)]
    mode = options.llm or ("recorded" if options.recorded is not None else "rules")
    results = []
    with command.output(options.questions) as questions:
        for persona, timeline in personas:
            enriched = Enriched()
            with model_of(options, plugins, persona, timeline, enriched.known) as model:
                life = live(persona, plugins, embedder, model, enriched, options.limit, options.times, options.batch,
                            WAVE if options.together else 0, options.gather)  # fmt: skip
            result = {"set": persona.name, "mode": mode, "noise": options.noise, "seed": options.seed,
                      "manners": options.manners}  # fmt: skip
            result |= score(persona, timeline, life) | {"embedder": embedder.name}
            result["rules"] = rules.score(plugins, persona, options.times)
            results.append(result)
            for row in question_rows(persona.name, life.replies):
                questions.write(json.dumps(row, ensure_ascii=False) + "\n")
            if options.revisions:
                _write(options.revisions, persona, life.revisions)
            if options.json:
                print(json.dumps(result, ensure_ascii=False), flush=True)
    mean = lifelog.mean(results) | {"mode": mode}
    del mean["rules"]  # which are summed
    results.append(mean)
    if options.json:
        print(json.dumps(results[-1]), flush=True)
    else:
        show(results)


def _write(folder: Path, persona: Path, revisions: Sequence[Revision]) -> None:
    """What was replaced, as the reference scorer reads it."""
    root = lifelog.root_of(persona)
    path = command.new_file(folder, f"{persona.name}.jsonl")
    rows = [gold.pair(one.old, one.new, root).row() for one in revisions if one.relation == "supersedes"]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
