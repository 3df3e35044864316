"""How much of what a strong model read is thrown away: `python -m benchmarks.extraction --data DIR [--json]`.

Every item that was recorded is put into a reply about the passage that holds its quote, and the reply is taken as one
of any model is. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import command, lifelog
from benchmarks.updates import recording_of
from memory import Memory
from memory.facts.llm_requests import BY_MACHINE, parse_extractions
from memory.store import episodes
from plugins import manager
from plugins.manager import Plugins
from tests.fakes.recorded import Recording, as_reply


def losses(persona: Path, plugins: Plugins, recorded: Path | None) -> dict[str, Any]:
    """Of a persona how many recorded facts a passage has, and how many are dropped for which reason. What an assistant
    said is not meant to be learnt, and does not count."""
    recording = Recording(recording_of(persona, recorded))
    embedder = plugins.embedder("static")
    facts, reasons = 0, Counter[str]()
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        Memory.open(Path(temporary) / "memory.db", embedder=embedder, quick=embedder) as memory,
    ):
        for file in lifelog.load(persona)[0]:
            memory.ingest.remember_many(lifelog.read(plugins, file))
        with memory.store.reading() as conn:
            found = episodes.get_many(
                conn, [id for (id,) in conn.execute("SELECT node_id FROM episode ORDER BY node_id")]
            )
        names = memory.knowledge.owner_names(of_mails=True)
    for episode in found:
        read = recording.read(episode.text)
        _, dropped = parse_extractions({"episodes": [{"episode": 1} | as_reply(read)]}, [episode], names)
        machine = [one for one in dropped if one.reason == BY_MACHINE]
        facts += len(read["triples"]) + len(read["theses"]) - len(machine)
        reasons.update(f"{one.kind}: {one.reason}" for one in dropped if one not in machine and one.kind != "object")
    lost = sum(reasons.values())
    return {"set": persona.name, "facts": facts, "lost": lost, "share": round(100 * lost / facts, 2) if facts else 0.0,
            "reasons": dict(reasons.most_common())}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    parser.add_argument(
        "--recorded", type=Path, metavar="FOLDER", help="what was read (default: the nearest recorded/)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per persona and line instead of a table")
    arguments = parser.parse_args(argv)

    def run() -> None:
        plugins = manager.load()
        rows = []
        for persona in lifelog.find_personas(arguments.data):
            command.note(f"read {persona.name}")
            rows.append(losses(persona, plugins, arguments.recorded))
        reasons = Counter[str]()
        for row in rows:
            reasons.update(row["reasons"])
        facts, lost = sum(row["facts"] for row in rows), sum(row["lost"] for row in rows)
        rows.append({"set": "all", "facts": facts, "lost": lost, "share": round(100 * lost / max(1, facts), 2),
                     "reasons": dict(reasons.most_common())})  # fmt: skip
        if arguments.json:
            print("\n".join(json.dumps(row) for row in rows))
            return
        columns = {"persona": "set", "facts": "facts", "lost": "lost", "lost %": "share"}
        command.show_table("Recorded facts that are not taken", rows, columns)
        why = [{"reason": reason, "facts": count} for reason, count in reasons.most_common()]
        command.show_table("Why", why, {"reason": "reason", "facts": "facts"})

    return command.run(run)


if __name__ == "__main__":
    sys.exit(main())
