"""What is asked end to end, and what is right: question sets and personas as one kind of thing.

A world is read into a memory; each of its problems has a question, answers, and gold: ids of passages, of turns or of
files. A set, a persona: shapes only, none has a case of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import command, data, judge, lifelog
from memory import Memory
from memory.nouns import Document, Episode, Scope
from memory.store import arrays, episodes
from plugins.manager import Plugins
from tests.fakes.truth import Gold, Known, plain

YES_NO = ("yes", "no")
BATCH = 256  # documents per transaction
UNANSWERABLE = "no_answer"  # the type of a persona's question that nothing answers


@dataclass(frozen=True, slots=True)
class Problem:
    """One question. `kind`: its type or category; `answers`: the answer first, then other forms of it; `row`: what a
    persona's question is judged by. Without `answerable` it is right to refuse."""

    id: str
    text: str
    kind: str
    gold: tuple[str, ...]
    answers: tuple[str, ...]
    answerable: bool = True
    as_of: datetime | None = None
    conversation: str | None = None
    row: Mapping[str, Any] | None = None

    @property
    def within(self) -> Scope | None:
        return Scope(conversation=self.conversation) if self.conversation else None

    def is_right(self, answer: str) -> bool:
        """By containment; yes and no must come first."""
        if self.row is not None:
            return judge.is_right(self.row, answer)
        return any(_contains(answer, form) for form in self.answers)

    def is_accepted(self, answer: str) -> bool:
        """The same, whatever else it holds."""
        return judge.is_accepted(self.row, answer) if self.row is not None else self.is_right(answer)

    def is_stale(self, answer: str) -> bool | None:
        """Whether it gives the value of another time; None where nobody asked for a value that has others."""
        if self.row is None or self.row["type"] not in judge.VALUED:
            return None
        return judge.is_stale(self.row, answer)

    @property
    def parts(self) -> tuple[str, ...]:
        """The values that the answer to a history is made of."""
        return tuple(self.row["require"]) if self.row is not None and self.kind == "history" else ()

    @property
    def is_in_a_line(self) -> bool:
        """Whether a line of a gold passage has the answer: it is not worked out of several."""
        return self.answerable and bool(self.gold) and not (self.row or {}).get("computed")

    def is_exact(self, answer: str) -> bool:
        return any(judge.is_exact(answer, form) for form in self.answers)

    def overlap(self, answer: str) -> float:
        return max((judge.overlap(answer, form) for form in self.answers), default=0.0)


def _contains(answer: str, form: str) -> bool:
    if form.lower() in YES_NO:
        return judge.words(answer)[:1] == [form.lower()]
    return judge.contains(answer, form)


@dataclass(frozen=True, slots=True)
class World:
    """`batches`: what is remembered, in this order. `turns`: the words of each gold id, where that is a part of an
    episode; `root`: what the uris of files begin with, where gold ids are files."""

    name: str
    batches: tuple[tuple[Document, ...], ...]
    problems: tuple[Problem, ...]
    turns: Mapping[str, str] = field(default_factory=dict)
    root: str = ""


def find(folder: Path, names: Sequence[str] | None) -> list[Path]:
    """The question sets and personas in a folder, or the folder itself; of those only `names`, or what lies in folders
    of these names. DataError if there are none."""
    if not folder.is_dir():
        raise command.DataError(f"{folder} is not a folder. Give --data a folder of question sets and personas.")
    queries = {path.parent for path in folder.rglob(data.QUERIES) if (path.parent / data.CORPUS).is_file()}
    personas = {path.parent for path in folder.rglob(lifelog.QUESTIONS) if (path.parent / lifelog.MANIFEST).is_file()}
    found = sorted(queries | personas)
    if names:
        kept = [path for path in found if {path.name, *path.relative_to(folder).parts} & set(names)]
        for name in names:
            if not any(name in (path.name, *path.relative_to(folder).parts) for path in kept):
                there = ", ".join(path.relative_to(folder).as_posix() for path in found) or "none"
                raise command.DataError(f"There is no set {name} in {folder}. There are: {there}.")
        found = kept
    if not found:
        raise command.DataError(
            f"Nothing in {folder} holds {data.CORPUS} and {data.QUERIES}, or {lifelog.QUESTIONS} and"
            f" {lifelog.MANIFEST}."
        )
    return found


def load(folder: Path, plugins: Plugins, limit: int | None) -> World:
    """A question set or a persona; `limit` keeps that many questions, spread over the file. DataError."""
    if (folder / data.QUERIES).is_file():
        return _of_set(folder, limit)
    return _of_persona(folder, plugins, limit)


def _spread(found: Sequence[Problem], limit: int | None) -> tuple[Problem, ...]:
    """So many of them at equal distances: files have their questions by kind."""
    if limit is None or limit >= len(found):
        return tuple(found)
    return tuple(found[n * len(found) // limit] for n in range(limit))


def _of_set(folder: Path, limit: int | None) -> World:
    questions = data.load(folder)
    problems = [
        Problem(
            id=one.id,
            text=one.text,
            kind=one.category or "",
            gold=tuple(id for id in one.gold if id in questions.texts),
            answers=one.answers,
            answerable=not one.apart,
            conversation=one.conversation,
        )
        for one in questions.questions
    ]
    unanswered = next((one for one in problems if not one.answers), None)
    if unanswered is not None:
        raise command.DataError(f'{folder / data.QUERIES}: the question {unanswered.id} needs an "answer".')
    documents = [_open(document) for document in questions.documents]
    batches = tuple(tuple(documents[start : start + BATCH]) for start in range(0, len(documents), BATCH))
    return World(questions.name, batches, _spread(problems, limit), questions.texts if questions.turns else {})


def _of_persona(folder: Path, plugins: Plugins, limit: int | None) -> World:
    files, questions = lifelog.load(folder)
    problems = [
        Problem(
            id=row["id"],
            text=row["question"],
            kind=row["type"],
            gold=tuple(row["evidence"]),
            answers=tuple(dict.fromkeys(filter(None, [row.get("answer"), *_accepted(row)]))),
            answerable=row["type"] != UNANSWERABLE,
            as_of=_end_of(row.get("as_of")),
            row=row,
        )
        for row in questions
    ]
    batches = tuple(tuple(map(_open, lifelog.read(plugins, file))) for file in files)
    return World(folder.name, batches, _spread(problems, limit), root=lifelog.root_of(folder))


def _end_of(day: str | None) -> datetime | None:
    """What was written on a day is known."""
    return datetime.fromisoformat(day).replace(hour=23, minute=59, second=59, tzinfo=UTC) if day else None


def _accepted(row: Mapping[str, Any]) -> list[str]:
    """Forms that are right alone; a history needs all that are required."""
    return ["; ".join(row["require"])] if row["type"] == "history" else [*row["accept"], *row.get("accept_also", [])]


def _open(document: Document) -> Document:
    """Nobody's secret: a model elsewhere may read it."""
    return replace(document, policy="any")


@dataclass(frozen=True, slots=True)
class Library:
    """The episodes of a memory that was filled with a world, in the order of its documents, and which gold ids each
    holds."""

    episodes: tuple[Episode, ...]
    holds: Mapping[int, tuple[str, ...]]
    turns: Mapping[str, str]
    _of: Mapping[str, tuple[Episode, ...]]

    @classmethod
    def of(cls, memory: Memory, world: World) -> Library:
        with memory.store.reading() as conn:
            rows = episodes.get_many(conn, arrays.live_episodes(conn)["episode_ids"].tolist())
        holds = {one.id: _gold_of(one, world.root) for one in rows}
        of: dict[str, list[Episode]] = {}
        for one in rows:
            for id in holds[one.id]:
                of.setdefault(id, []).append(one)
        return cls(tuple(rows), holds, world.turns, {id: tuple(found) for id, found in of.items()})

    def known(self, problem: Problem) -> Known:
        """What the oracle is told of a problem."""
        if not problem.answerable:
            return Known()
        return Known(problem.answers[0], problem.answers[1:], self.golds(problem), problem.parts)

    def golds(self, problem: Problem) -> tuple[Gold, ...]:
        """The passages of its gold ids, in their order."""
        return tuple(self._gold(id, (*problem.answers, *problem.parts)) for id in problem.gold)

    def _gold(self, id: str, forms: Sequence[str]) -> Gold:
        """A turn is its words; a passage or a file those of its episodes in which the answer stands, or all."""
        found = self._of.get(id, ())
        title = found[0].title if found else ""
        if id in self.turns:
            return Gold((self.turns[id],), title, tuple(one.text for one in found))
        telling = [one for one in found if any(judge.contains(one.text, form) for form in forms)]
        return Gold(tuple(one.text for one in telling or found), title)

    def tells(self, problem: Problem, line: str) -> bool:
        """Whether a line of a gold passage has the answer, or of a history one of its values."""
        wanted = problem.parts or problem.answers
        if not any(judge.contains(line, value) for value in wanted):
            return False
        return any(plain(line) in plain(one.text) for id in problem.gold for one in self._of.get(id, ()))

    def within(self, problem: Problem) -> list[Episode]:
        """The episodes that a question may be answered from."""
        return [
            one
            for one in self.episodes
            if (problem.conversation is None or one.source.conversation == problem.conversation)
            and (problem.as_of is None or one.at is None or one.at <= problem.as_of)
        ]


def _gold_of(episode: Episode, root: str) -> tuple[str, ...]:
    if root:
        return (episode.source.uri.partition("#")[0].removeprefix(root),)
    return episode.refs
