"""Question sets on disk -> documents to remember and questions to ask. Shapes only, no set has a case of its own.

A set is a folder with two files of JSON lines:

* `corpus.jsonl`   passages `{"id","title","text"}`, one document each,
                   or turns `{"id","conversation","session","time","speaker","text"}`, one chat per session
* `queries.jsonl`  `{"id","question","gold":[ids of the corpus]}`, for turns also `"conversation"` and `"category"`;
                   `"answer"` and `"aliases"` where answers are judged

Other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.command import DataError
from memory.nouns import Document, Turn
from plugins import manager
from plugins.readers import documents

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
PASSAGE: dict[str, type] = {"id": str, "title": str, "text": str}
TURN: dict[str, type] = {"id": str, "conversation": str, "session": int, "time": str, "speaker": str, "text": str}
APART = "5"  # the category of questions that cannot be answered as asked
SPOKEN_TIME = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    gold: tuple[str, ...]
    conversation: str | None = None
    category: str | None = None
    answers: tuple[str, ...] = ()

    @property
    def apart(self) -> bool:
        """Whether it cannot be answered as asked: such questions are in no figure but their own."""
        return self.category == APART


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """`texts` maps a corpus id to its words. `turns` tells the two shapes apart."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    texts: dict[str, str]
    turns: bool

    def paused_documents(self) -> list[Document]:
        """The same chats with a second between two turns: where no pause is too short, each turn is an episode."""
        return [
            replace(document, turns=tuple(_later(turn, second) for second, turn in enumerate(document.turns)))
            for document in self.documents
        ]


def find_sets(data: Path, names: Sequence[str] | None = None) -> list[Path]:
    """`data` itself if it is a set, else the sets right below it, by name; of those only `names`, if given.

    Raises DataError if there are none.
    """
    if not data.is_dir():
        raise DataError(f"{data} is not a folder. Give --data a folder with {CORPUS} and {QUERIES}.")
    if _is_set(data):
        return [data]
    for name in names or ():
        if not _is_set(data / name):
            raise DataError(f"There is no set {name} in {data}: a folder with {CORPUS} and {QUERIES}.")
    found = sorted(folder for folder in data.iterdir() if _is_set(folder) and (not names or folder.name in names))
    if not found:
        raise DataError(f"Neither {data} nor a folder in it holds both {CORPUS} and {QUERIES}.")
    return found


def _is_set(folder: Path) -> bool:
    return (folder / CORPUS).is_file() and (folder / QUERIES).is_file()


def load(folder: Path, limit: int | None = None) -> QuestionSet:
    """Read a set; `limit` keeps the first questions only. Raises DataError with file and line."""
    name = folder.resolve().name
    path = folder / CORPUS
    first = next(read_rows(path, {"id": str}), None)
    if first is None:
        raise DataError(f"{path} is empty.")
    turns = "session" in first
    rows = list(read_rows(path, TURN if turns else PASSAGE))
    texts = {row["id"]: row["text"] for row in rows}
    if len(texts) < len(rows):
        raise DataError(f"{path}: an id occurs twice; ids must be unique.")
    made = _sessions(name, rows, path) if turns else _passages(name, rows)
    questions = _questions(folder / QUERIES, turns)
    if not questions:
        raise DataError(f"{folder / QUERIES} is empty.")
    return QuestionSet(name, made, tuple(questions[:limit]), texts, turns)


def read_rows(path: Path, needed: dict[str, type]) -> Iterator[dict[str, Any]]:
    """The objects of a JSON lines file, each checked for its needed keys and their types. Raises DataError."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _checked(json.loads(line), needed, f"{path}:{number}")
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{number} is not JSON: {error.msg}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _checked(row: Any, needed: dict[str, type], where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise DataError(f"{where} is not a JSON object.")
    for key, kind in needed.items():
        if not isinstance(row.get(key), kind):
            raise DataError(f'{where} needs "{key}" as {kind.__name__}.')
    return row


def _passages(name: str, rows: list[dict[str, Any]]) -> tuple[Document, ...]:
    return tuple(
        Document(
            uri=f"{name}/{row['id']}",
            text=row["text"],
            title=row["title"],
            kind="import",
            reader="benchmark",
            ref=row["id"],
        )
        for row in rows
    )


def _later(turn: Turn, seconds: int) -> Turn:
    return replace(turn, at=turn.at + timedelta(seconds=seconds)) if turn.at else turn


def _sessions(name: str, rows: list[dict[str, Any]], path: Path) -> tuple[Document, ...]:
    """One document per session, in the order of the file: as if each lay in a folder of its conversation as a chat
    in JSON, called by its number, and was read from there. To the reader each is a chat of its own; here all
    sessions of a conversation are one."""
    sessions: dict[tuple[str, int], list[dict[str, str]]] = {}
    for row in rows:
        at = parse_time(row["time"], path).isoformat()
        message = {"id": row["id"], "role": row["speaker"], "content": row["text"], "time": at}
        sessions.setdefault((row["conversation"], row["session"]), []).append(message)
    reader = manager.load().reader_for(Path("chat.json"), path.stat().st_size)
    read = []
    for (conversation, session), messages in sessions.items():
        file = Path(conversation, f"{session}.json")
        (document,) = documents(reader, file, json.dumps({"messages": messages}).encode(), path.stat())
        read.append(replace(document, uri=f"{name}/{conversation}/{session}", conversation=conversation))
    return tuple(read)


def parse_time(text: str, path: Path) -> datetime:
    """`1:56 pm on 8 May, 2023` or ISO 8601 -> a time in UTC unless it names its zone. Raises DataError."""
    for parse in (datetime.fromisoformat, lambda spoken: datetime.strptime(spoken, SPOKEN_TIME)):
        try:
            moment = parse(text)
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    raise DataError(f'{path}: the time "{text}" is neither ISO 8601 nor like "1:56 pm on 8 May, 2023".')


def _questions(path: Path, turns: bool) -> list[Question]:
    needed: dict[str, type] = {"id": str, "question": str, "gold": list}
    if turns:
        needed["conversation"] = str
    return [
        Question(
            id=row["id"],
            text=row["question"],
            gold=tuple(map(str, row["gold"])),
            conversation=row["conversation"] if turns else None,
            category=str(row["category"]) if turns and "category" in row else None,
            answers=_answers(row),
        )
        for row in read_rows(path, needed)
    ]


def _answers(row: dict[str, Any]) -> tuple[str, ...]:
    """The answer and its other forms, as texts."""
    forms = [row.get("answer"), *(row.get("aliases") or ())]
    return tuple(dict.fromkeys(str(form).strip() for form in forms if form is not None and str(form).strip()))
