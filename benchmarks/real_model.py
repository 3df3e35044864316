"""What a real model does to a memory: `python -m benchmarks.real_model [--questions N] [--minutes N] [--json]`.

llama.cpp's own server with a model too small to be of use, a real daemon, examples/notes. The model reads, is asked, is
cancelled, is killed and is tried out. It need not help; it must spoil nothing. benchmarks/README.md says what each
figure means.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import command
from daemon import wire
from daemon.client.client import Client
from daemon.config.settings import EnrichmentSettings, ModelsSettings, Settings
from memory.store import episodes, facts
from memory.store.connect import connect
from plugins.settings import OpenAISettings
from tests.fakes.llamacpp import MISSING, LlamaServer, find_weights
from tests.running import run_daemon

NOTES = Path(__file__).parent.parent / "examples" / "notes"
NAME = "openai:smollm2"
FORMS = ("What is {0}?", "Where is {0}?", "Since when is there {0}?", "Who knows of {0}?")
POLL_S = 0.5
UNDER_WAY_S = 2.0  # after which a question is taken to be before the model
UNREAD = "could not read"  # what a person is told of a model that cannot
_WORD = re.compile(r"\d+|[^\W\d_]{4,}")


@dataclass
class Asked:
    """A question's end, and after how many seconds its first lines and its end came."""

    answer: wire.Answered
    lines_s: float | None
    seconds: float


@dataclass
class Bench:
    """One run: the server, the daemon's client, and what has been found so far."""

    server: LlamaServer
    client: Client
    limit_s: float
    found: dict[str, Any] = field(default_factory=dict)

    def probe(self) -> None:
        """Try the model out, as long as there is time."""
        command.note("try the model out")
        began, verdict = time.monotonic(), "not done"
        stream = self.client.probe_model(NAME)
        with _Timer(self.limit_s, stream.close):
            for event in stream:
                if isinstance(event, wire.Grades):
                    verdict = "; ".join(event.by_role)
        self.found |= {"probe": verdict, "probe_s": _since(began)}

    def read(self, paths_memory: Path) -> None:
        """Have it read until it has, or it is told that it cannot, or time is up."""
        command.note("read")
        began, told_s = time.monotonic(), None
        self.client.use_models("extract", (NAME,))
        self.client.enable_enrichment(True)
        while (left := self.limit_s - time.monotonic() + began) > 0:
            status = self.client.status().enrichment
            if status and UNREAD in status.detail:
                told_s = _since(began)
                break
            if status and status.read + status.failed_total >= status.total:
                break
            time.sleep(min(POLL_S, left))
        self.client.enable_enrichment(False)
        status = self.client.status().enrichment or wire.Enrichment("off")
        taken, poisoned = count_facts(paths_memory)
        self.found |= {"read": status.read, "of": status.total, "read_s": _since(began), "told_s": told_s,
                       "failed": status.failed_total, "facts": taken, "poisoned": poisoned}  # fmt: skip

    def ask(self, question: str) -> Asked:
        began, lines_s = time.monotonic(), None
        for event in self.client.ask(question, replay=False):
            if isinstance(event, wire.Preview) and lines_s is None:
                lines_s = _since(began)
            if isinstance(event, wire.Answered):
                return Asked(event, lines_s, _since(began))
        raise command.DataError(f"{question!r} has no end.")

    def compare(self, before: dict[str, str]) -> None:
        """Ask the same questions with the model. An answer is worse that has lost what stood in its first line."""
        command.note(f"ask {len(before)} questions with the model")
        self.client.use_models("answer", (NAME,))
        began, made, worse, waits = time.monotonic(), [], [], []
        for question, text in before.items():
            if time.monotonic() - began > self.limit_s:
                break
            made.append(asked := self.ask(question))
            if asked.lines_s is not None:
                waits.append(asked.lines_s)
            if asked.answer.text != text and text.splitlines()[0] not in asked.answer.text:
                worse.append({"question": question, "without": text, "with": asked.answer.text})
        self.found |= {
            "asked": len(made), "worse": len(worse), "by_model": sum(bool(one.answer.model) for one in made),
            "lines_s": round(max(waits), 2) if waits else None,
            "answer_s": max((one.seconds for one in made), default=0), "worse_answers": worse,
        }  # fmt: skip

    def interrupt(self, question: str) -> None:
        """Cancel a question, and kill the server under another."""
        command.note("cancel, then kill")
        stream = self.client.ask(question, replay=False)
        threading.Timer(UNDER_WAY_S, stream.close).start()
        for _ in stream:
            pass
        began = time.monotonic()
        while self.server.is_busy() and time.monotonic() - began < self.limit_s:
            time.sleep(0.1)
        self.found["cancelled_s"] = _since(began)
        threading.Timer(UNDER_WAY_S, self.server.kill).start()
        asked = self.ask(question)
        self.found |= {"killed_s": round(max(0.0, asked.seconds - UNDER_WAY_S), 1), "killed_note": asked.answer.note}
        self.server.start()


class _Timer(threading.Timer):
    """One that is cancelled at the end of a `with`."""

    def __enter__(self) -> _Timer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


def questions(most: int) -> list[str]:
    """About the notes, by their names."""
    names = sorted(path.stem for path in NOTES.rglob("*.md"))
    return [form.format(name) for form in FORMS for name in names][:most]


def count_facts(path: Path) -> tuple[int, int]:
    """The facts that the model brought, and those of which a word stands nowhere in their passage."""
    conn = connect(path)
    try:
        found = conn.execute(
            "SELECT item_id, episode_id FROM provenance WHERE extractor LIKE ?", (f"%{NAME}%",)
        ).fetchall()
        told = {one.id: one for one in facts.get_many(conn, [id for id, _ in found])}
        passages = {
            one.id: f"{one.title} {one.text}".lower() for one in episodes.get_many(conn, [id for _, id in found])
        }
    finally:
        conn.close()
    said = [(" ".join([told[id].text, *told[id].objects]).lower(), passages[at]) for id, at in found if id in told]
    return len(said), sum(
        any(word not in passage for word in _WORD.findall(text.replace("owner", ""))) for text, passage in said
    )


def measure(most: int, limit_s: float) -> dict[str, Any]:
    """All figures, as the JSON object of the README."""
    with LlamaServer(os.cpu_count() or 1) as server, tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as home:
        settings = Settings(
            models=ModelsSettings(extract=(), answer=(), agent=()),
            enrichment=EnrichmentSettings(enabled=False),
            openai=OpenAISettings(url=server.url),
        )
        with run_daemon(Path(home), settings) as daemon:
            bench = Bench(server, daemon.client, limit_s)
            for _ in bench.client.add([NOTES]):
                pass
            asked = questions(most)
            command.note(f"ask {len(asked)} questions without a model")
            before = {question: bench.ask(question).answer.text for question in asked}
            bench.read(daemon.paths.memory)
            bench.compare(before)
            bench.interrupt(asked[0])
            bench.probe()
            return bench.found


def _since(began: float) -> float:
    return round(time.monotonic() - began, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_model", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("--questions", type=command.positive, default=50, metavar="N", help="ask N (default: 50)")
    parser.add_argument("--minutes", type=command.positive, default=15, metavar="N", help="for each step (default: 15)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args(arguments)

    def run() -> None:
        if find_weights() is None:
            raise command.DataError(MISSING)
        found = measure(options.questions, 60.0 * options.minutes)
        if options.json:
            print(json.dumps(found, ensure_ascii=False))
            return
        rows = [{"figure": name, "value": str(value)} for name, value in found.items()]
        command.show_table("A real model", rows, {"figure": "figure", "": "value"})

    return command.run(run)


if __name__ == "__main__":
    sys.exit(main())
