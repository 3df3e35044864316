"""What each part of answering is worth: `python -m benchmarks.worth --data DIR [--parts NAME ...] [--json]`.

Reads each persona once, retrieves for each question once, and answers all questions without one part after the other:
a part is a function or number of `memory.answering` that is replaced. benchmarks/README.md has the table.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import command, lifelog
from benchmarks.lifelog import Reply
from memory import Memory
from memory.answering import candidates, confidence, extractive, facts, features, owner, places, selection
from memory.answering.chains import NO_CHAINS
from memory.answering.exact_names import ExactNames
from memory.answering.extractive import Answering
from memory.answering.features import AnswerState
from memory.answering.options import AskOptions
from memory.answering.owner import OwnerQuestion
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.store.connect import Connection
from plugins import manager
from plugins.manager import Plugins

WORTH = 0.5  # points; a part that is worth less in every figure goes
FIGURES = ("first", "three", "shown", "stale", "all first", "all three", "found@5", "clear", "refused")


def _same(first: Any, *_: Any) -> Any:
    return first


def _same_list(_: AnswerState, lines: Sequence[Any], *__: Any) -> list[Any]:
    return list(lines)


def _nothing(*_: Any) -> list[Any]:
    return []


def _false(*_: Any) -> bool:
    return False


Change = tuple[Any, str, Any]  # what has the part, its name there, and what replaces it
MEASURED: dict[str, Change] = {  # parts of how sentences are measured: with these they are read again
    "features: newness": (features, "RECENCY", 0.0),
    "features: kind of value": (features, "EXPECTED", 0.0),
    "features: headings and the like": (features, "NO_ANSWER", 0.0),
    "features: late interaction": (features.QueryFeatures, "_interact", lambda *_: 0.0),
    "features: cosine": (AnswerState, "_compare", lambda *_: {}),
    "features: headings of a line": (candidates.AnswerCandidate, "context", ""),
    "places: units of sentences": (places, "_extend_unit", lambda number, *_: (number, number)),
    "places: lines that file": (places, "_is_filing", _false),
    "places: heads of tables": (places, "_is_head", _false),
}
PARTS: dict[str, Change] = {
    "exact names": (ExactNames, "select", lambda _, lines: list(lines)),
    "writer and time of lines": (extractive, "select_written", _same_list),
    "facts": (extractive, "find_fact_candidates", _nothing),
    "facts: supersession": (extractive, "supersede", _same_list),
    "facts: the fullest line": (extractive, "_show_fullest", lambda state, statement, line, replaced: statement),
    "facts: the current one leads": (extractive, "_lead_with_current", lambda lines, at: list(lines)),
    "facts: plain sentences": (facts, "_is_plain", _false),
    "owner": (OwnerQuestion, "from_state", classmethod(lambda *_: None)),
    "owner: other people's lines": (OwnerQuestion, "is_of_another", _false),
    "owner: words of others": (OwnerQuestion, "_is_word_of_another", lambda *_: None),
    "owner: notes about people": (OwnerQuestion, "_is_about_person", _false),
    "owner: examples in fences": (owner, "blank_fences", _same),
    "refusal: absent names": (extractive, "absent_names", lambda *_: ()),
    "refusal: namesakes": (confidence, "_has_namesake", _false),
    "refusal: kind of value": (confidence, "check_kind", lambda *_: 0.5),
    "refusal: title of a passage": (confidence, "name_passage", lambda *_: ""),
    "agreement of notes": (confidence, "AGREEMENT", 0.0),
    "chains": (extractive, "join_with_chains", lambda *_: NO_CHAINS),
    "form: briefing": (selection, "write_briefing", _nothing),
    "form: dates": (selection, "add_date", _same),
    "form: fold": (extractive, "fold", _same_list),
    "form: values": (extractive, "find_value", lambda *_: ""),
    "form: before an edit": (extractive, "show_edited", _same_list),
    "selection: newest value first": (selection, "_sort_values", list),
    "selection: nothing twice": (selection, "_cut_to_addition", _same),
    "lists and digests": (extractive, "_list", lambda *_: ((), ())),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its retrieval, and the files that were found."""

    question: Mapping[str, Any]
    options: AskOptions
    result: RetrievalResult
    found: tuple[str, ...]


class Persona:
    """A persona whose memory is open. Of a question sentences are measured once, unless `is_fresh`."""

    def __init__(self, folder: Path, memory: Memory, questions: Sequence[Mapping[str, Any]]) -> None:
        self.name, self._folder, self._memory = folder.name, folder, memory
        self._asked = [self._retrieve(question) for question in questions]
        self._states: dict[tuple[str, tuple[int, ...]], AnswerState] = {}

    def _retrieve(self, question: Mapping[str, Any]) -> Asked:
        as_of, text = lifelog.day_of(question, self._folder), question["question"]
        most = self._memory.state.settings.answer.episodes
        result = self._memory.questions.retrieve(text, most, as_of)
        hits = self._memory.questions.retrieve(text, k=lifelog.DEPTH, as_of=as_of).recall.hits
        found = lifelog.paths_of([hit.episode.source.uri for hit in hits], self._folder)
        return Asked(question, AskOptions(as_of=as_of), result, found)

    def answer(self, is_fresh: bool = False) -> list[Reply]:
        """The replies to all questions, as answering is now."""
        with patch.object(extractive, "AnswerState", AnswerState if is_fresh else self._find_state):
            return [self._answer(asked) for asked in self._asked]

    def _find_state(self, conn: Connection, found: RetrievalResult, embedder: Embedder) -> AnswerState:
        key = found.question.text, tuple(hit.episode.id for hit in found.recall.hits)
        if key not in self._states:
            self._states[key] = AnswerState(conn, found, embedder)
        self._states[key].conn = conn
        return self._states[key]

    def _answer(self, asked: Asked) -> Reply:
        memory, state = self._memory, self._memory.state
        run = Answering(
            memory.store.reading, asked.result, state.sentence_embedder, state.settings.answer, asked.options
        ).run()
        while True:
            try:
                next(run)
            except StopIteration as end:
                return lifelog.make_reply(asked.question, end.value.answer, asked.found, self._folder)


@contextmanager
def open_personas(data: Path, limit: int | None, plugins: Plugins) -> Iterator[list[Persona]]:
    """The personas below a folder, read and asked as far as retrieval goes."""
    with ExitStack() as stack:
        personas = []
        for folder in lifelog.find_personas(data):
            files, questions = lifelog.load(folder)
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="palimpsest-bench-"))
            memory = stack.enter_context(Memory.open(Path(place) / "memory.db", embedder=plugins.embedder("static")))
            command.note(f"{folder.name}: read {len(files)} files, retrieve for {len(questions[:limit])} questions")
            for file in files:
                memory.ingest.remember_many(lifelog.read(plugins, file))
            personas.append(Persona(folder, memory, questions[:limit]))
        yield personas


def measure(personas: Sequence[Persona], is_fresh: bool = False) -> tuple[dict[str, float], list[str]]:
    """The figures (percent, means of the personas) and all answers."""
    if is_fresh:
        places.find_places.cache_clear()  # else the places that were read with all parts remain
    replies = [persona.answer(is_fresh) for persona in personas]
    if is_fresh:
        places.find_places.cache_clear()
    figures = [_figures(lifelog.score(of_persona)) for of_persona in replies]
    answers = [reply.text for of_persona in replies for reply in of_persona]
    return {name: sum(figure[name] for figure in figures) / len(figures) for name in FIGURES}, answers


def _figures(score: Mapping[str, Any]) -> dict[str, float]:
    held = score["held"]
    values = (
        held["accepted_first"], held["accepted_first_three"], held["shown"], held["stale"], score["accuracy"],
        score["accuracy_first_three"], score["evidence_found"]["5"], 100 - score["false_refusals"],
        score["right_refusals"],
    )  # fmt: skip
    return dict(zip(FIGURES, values, strict=True))


def compare(personas: Sequence[Persona], parts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for all parts together, then one for each of `parts` (patterns): what is lost without it, in points."""
    whole, answers = measure(personas)
    yield {"part": "all", "changed": 0, **{name: round(value, 1) for name, value in whole.items()}}
    for name, (owner_of_part, attribute, instead) in {**MEASURED, **PARTS}.items():
        if not any(fnmatchcase(name, pattern) for pattern in parts):
            continue
        with patch.object(owner_of_part, attribute, instead):
            without, others = measure(personas, is_fresh=name in MEASURED)
        changed = sum(one != other for one, other in zip(answers, others, strict=True))
        yield {"part": name, "changed": changed, **{key: round(without[key] - whole[key], 1) for key in FIGURES}}


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a row for each part."""
    columns = {"without": "part", "answers changed": "changed"} | {name: name for name in FIGURES}
    command.show_table("What answers lose without a part, in points", rows, columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worth", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    parser.add_argument("--parts", nargs="+", default=["*"], metavar="NAME", help="only these parts ('lists*')")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    parser.add_argument("--json", action="store_true", help="one JSON object per part and line instead of a table")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    with open_personas(options.data, options.limit, manager.load()) as personas:
        rows = []
        for row in compare(personas, options.parts):
            if options.json:
                print(json.dumps(row), flush=True)
            rows.append(row)
    if not options.json:
        show(rows)


if __name__ == "__main__":
    sys.exit(main())
