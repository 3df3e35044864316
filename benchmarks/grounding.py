"""How well answers are checked against what they cite: `python -m benchmarks.grounding --data DIR [--json]`.

Of every question whose answer stands in its evidence, right answers are made in several forms, and of each a wrong one
in which the answer is another question's, of the same kind, that does not stand there. Counted is which of both the
check refuses. No model and no memory takes part. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.judge import contains
from memory.answering.grounding import Proof, check_claim

PERSONA = "questions.jsonl"
WORDS = 240  # of a passage
FORMS = ("{answer} [1].", "It is {answer} [1].", "According to your notes, the answer is {answer} [1].")
SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
QUERY: dict[str, type] = {"question": str, "answer": str}


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its answer, and the passages in which that stands."""

    question: str
    answer: str
    evidence: str

    @property
    def kind(self) -> str:
        """Answers of one kind can be taken for each other."""
        if re.search(r"\d", self.answer):
            return "number"
        return "name" if self.answer[:1].isupper() else "word"


def cases(folder: Path) -> list[Case]:
    """Those of a question set, or of a persona, whose answer stands in the evidence. Raises DataError."""
    found = _of_persona(folder) if (folder / "files").is_dir() else _of_set(folder)
    return [case for case in found if contains(case.evidence, case.answer) and not contains(case.question, case.answer)]


def _of_set(folder: Path) -> Iterator[Case]:
    rows = data.read_rows(folder / data.CORPUS, {"id": str, "text": str})
    texts = {
        row["id"]: f"{row.get('title', row.get('speaker', ''))}\n{row.get('time', '')}\n{row['text']}" for row in rows
    }
    for row in data.read_rows(folder / data.QUERIES, {"question": str}):
        answer = row.get("answer")
        if isinstance(answer, str) and answer.strip() and answer.lower() not in ("yes", "no"):
            yield Case(row["question"], answer.strip(), "\n".join(texts[id] for id in row["gold"] if id in texts))


def _of_persona(folder: Path) -> Iterator[Case]:
    for row in data.read_rows(folder / PERSONA, QUERY | {"accept": list, "evidence": list, "type": str}):
        if row["type"] == "no_answer" or not row["evidence"]:
            continue
        words = " ".join((folder / path).read_text("utf-8", "replace") for path in row["evidence"]).split()
        passages = [" ".join(words[start : start + WORDS]) for start in range(0, len(words), WORDS)]
        for answer in row["accept"]:
            if passage := next((one for one in passages if contains(one, answer)), None):
                yield Case(row["question"], answer, passage)
                break


def judged(found: Sequence[Case], seed: int = 1) -> dict[str, Any]:
    """Percent of the right and of the wrong answers that are refused, of each form; and the time of one check."""
    rng = random.Random(seed)
    right: dict[str, list[float]] = {}
    wrong: dict[str, list[float]] = {}
    missed: list[str] = []
    refused: list[str] = []
    took = 0.0
    for case in found:
        others = [
            one.answer
            for one in found
            if one.kind == case.kind and not contains(f"{case.evidence} {case.question}", one.answer)
        ]
        proofs = {1: Proof(case.evidence)}
        for form, claim in _claims(case):
            began = time.perf_counter()
            problem = check_claim(claim.format(answer=case.answer), proofs, case.question)
            took += time.perf_counter() - began
            right.setdefault(form, []).append(float(problem is not None))
            if problem is not None:
                refused.append(f"{case.question} | {claim.format(answer=case.answer)} | {problem.describe()}")
            if others:
                said = claim.format(answer=rng.choice(others))
                caught = check_claim(said, proofs, case.question) is not None
                wrong.setdefault(form, []).append(float(caught))
                if not caught:
                    missed.append(f"{case.question} | {said}")
    every = [share for shares in right.values() for share in shares]
    caught_all = [share for shares in wrong.values() for share in shares]
    return {
        "questions": len(found),
        "right": len(every),
        "right_refused": metrics.percent(every),
        "wrong": len(caught_all),
        "wrong_refused": metrics.percent(caught_all),
        "forms": {form: [metrics.percent(right[form]), metrics.percent(wrong.get(form, []))] for form in right},
        "ms": round(1000 * took / max(1, len(every)), 3),
        "examples": {"right_refused": refused[:20], "wrong_passed": missed[:20]},
    }


def _claims(case: Case) -> Iterator[tuple[str, str]]:
    """(form, a claim with a place for the answer): short answers, and the sentence that holds it."""
    for form in FORMS:
        yield form, form
    sentences = (match[0].strip() for match in SENTENCE.finditer(case.evidence))
    said = next((one for one in sentences if contains(one, case.answer)), None)
    if said is not None and "{" not in said and "[" not in said:
        place = said.lower().find(case.answer.lower())
        if place >= 0:
            yield "sentence", f"{said[:place]}{{answer}}{said[place + len(case.answer) :]} [1]"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grounding", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder of question sets or personas")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--limit", type=int, help="questions of each set")
    arguments = parser.parse_args(argv)

    def run() -> None:
        files = [*arguments.data.rglob(PERSONA), *arguments.data.rglob(data.QUERIES)]
        folders = sorted({path.parent for path in files})
        if not folders:
            raise command.DataError(f"Nothing in {arguments.data} holds {PERSONA} or {data.QUERIES}.")
        results = {}
        for folder in folders:
            command.note(f"check answers of {folder.name}")
            if found := cases(folder)[: arguments.limit]:
                results[folder.name] = judged(found)
        if arguments.json:
            print(json.dumps(results, indent=2, ensure_ascii=False))
            return
        columns = {"set": "set", "questions": "questions", "right refused %": "right_refused",
                   "wrong refused %": "wrong_refused", "ms a check": "ms"}  # fmt: skip
        command.show_table("Grounding", [{"set": name} | row for name, row in results.items()], columns)

    return command.run(run)


if __name__ == "__main__":
    sys.exit(main())
