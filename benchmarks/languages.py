"""What other scripts cost beside English: `python -m benchmarks.languages [--json] [--episodes N]`.

The texts are made up: words of each script with the frequencies of words in any language (Zipf's law), the same number
of characters for each. The figures are worth something beside those of English in the same run only.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from benchmarks import command
from memory import Memory
from memory.nouns import Document
from plugins.manager import load

CHARACTERS = 1_200  # of a text
WORDS = 8_000  # different ones
SENTENCE = 60  # characters
QUESTIONS = 100
ASKED = 4  # words of a question
ENGLISH = "english"
# Characters, characters of a word, what stands between words, what ends a sentence.
SCRIPTS: dict[str, tuple[str, tuple[int, int], str, str]] = {
    ENGLISH: ("eeetaoinshrdlucmfwypvbgk", (2, 9), " ", ". "),
    "german": ("eeenisratdhulcgmobwfküäöß", (3, 12), " ", ". "),
    "russian": ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщё", (2, 10), " ", ". "),
    "arabic": ("اليمونرتبعدسفكحقةجأهشصخإطىضزغ", (3, 6), " ", ". "),
    "chinese": ("".join(chr(0x4E00 + 7 * n) for n in range(2_500)), (1, 3), "", "。"),
    "japanese": ("".join(map(chr, (*range(0x3042, 0x3090), *range(0x4E00, 0x7E00, 9)))), (1, 4), "", "。"),
    "korean": ("".join(chr(0xAC00 + 28 * n) for n in range(380)), (1, 4), " ", ". "),
    "thai": ("กขคงจชดตทนบปพมยรลวสหอะาเแโ", (2, 7), "", " "),
}


def measure(script: str, episodes: int, seed: int = 7) -> dict[str, Any]:
    """The figures of one script, for each 1,000 of its texts."""
    chance = random.Random(seed)
    letters, (short, long), space, stop = SCRIPTS[script]
    vocabulary = ["".join(chance.choices(letters, k=chance.randint(short, long))) for _ in range(WORDS)]
    weights = [1 / rank for rank in range(1, WORDS + 1)]

    def text() -> str:
        parts: list[str] = []
        length = sentence = 0
        for word in chance.choices(vocabulary, weights, k=CHARACTERS):
            between = stop if sentence >= SENTENCE else space
            sentence = 0 if between is stop and sentence >= SENTENCE else sentence + len(word)
            parts += [word, between]
            length += len(word) + len(between)
            if length >= CHARACTERS:
                break
        return "".join(parts)[:CHARACTERS]

    documents = [Document(f"/{n}.md", text(), title=f"{n}") for n in range(episodes)]
    questions = [space.join(chance.choices(vocabulary[50:2_000], k=ASKED)) for _ in range(QUESTIONS)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Memory.open(path, embedder=load().embedder("static")) as memory:
            start = process_time()
            memory.ingest.remember_many(documents)
            ingest = process_time() - start
            for question in questions[:5]:
                memory.questions.retrieve(question)
            times, full_text = [], []
            for question in questions:
                start = perf_counter()
                trace = memory.questions.retrieve(question).recall.trace
                times.append((perf_counter() - start) * 1000)
                full_text += [step.ms for step in trace.steps if step.name == "text"]
            count = memory.browsing.stats().episodes
            with memory.store.reading() as conn:
                index, reading = (conn.execute(query).fetchone()[0] or 0 for query in (_INDEX, _READING))
        size = command.file_bytes(path)
    per = 1_000 / episodes / 1e6
    return {
        "set": script, "episodes": count, "characters": CHARACTERS,
        "index_mb_per_1000": round(index * per, 2), "reading_mb_per_1000": round(reading * per, 2),
        "mb_per_1000": round(size * per, 2), "text_p50_ms": round(median(full_text), 2),
        "p50_ms": round(median(times), 2), "ingest_cpu_s": round(ingest, 2),
    }  # fmt: skip


_INDEX = "SELECT sum(length(block)) FROM episode_text_data"
_READING = "SELECT sum(length(CAST(title || body AS BLOB))) FROM reading"
_COMPARED = ("index_mb_per_1000", "mb_per_1000", "text_p50_ms", "p50_ms", "ingest_cpu_s")


def compared(row: dict[str, Any], english: dict[str, Any]) -> dict[str, Any]:
    """The row with its figures as multiples of English."""
    return row | {"times_english": {key: round(row[key] / english[key], 2) for key in _COMPARED if english[key]}}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.languages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object per script instead of a table")
    parser.add_argument("--episodes", type=command.positive, default=1_000, metavar="N", help="texts of each script")
    args = parser.parse_args(arguments)

    def work() -> None:
        rows: list[dict[str, Any]] = []
        for script in SCRIPTS:
            command.note(script)
            row = measure(script, args.episodes)
            rows.append(compared(row, rows[0] if rows else row))
        if args.json:
            print("\n".join(json.dumps(row) for row in rows))
            return
        columns = {"script": "set", "episodes": "episodes"}
        columns |= {key: key for key in (*_COMPARED, "reading_mb_per_1000")}
        columns |= {f"x {key}": f"times_english.{key}" for key in _COMPARED}
        command.show_table(f"{CHARACTERS:,} characters a text", rows, columns)

    return command.run(work)


if __name__ == "__main__":
    raise SystemExit(main())
