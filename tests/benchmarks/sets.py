"""Small invented question sets, and how to write one to disk."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RIVER = [
    ("Weir Cottage", "Weir Cottage was built by Odo Tarn in 1811 above the weir of Lower Fenwick."),
    ("Odo Tarn", "Odo Tarn was a stonemason. He was born in the village of Quill."),
    ("Quill", "Quill is a village known for its yearly goose fair."),
    ("Lower Fenwick", "Lower Fenwick lies on the river Aske and has two bridges."),
    ("Aske", "The Aske is a slow river; barges carried lime along it."),
    ("Goose fair", "A goose fair is held when the geese come down from the hills."),
    ("Lime kiln", "The kiln at Brack burned lime day and night until the war."),
    ("Brack", "Brack is a hamlet with a chapel and a closed school."),
]
RIVER_QUESTIONS = [
    ("Who built Weir Cottage?", ["d0"], "Odo Tarn"),
    ("In which village was the builder of Weir Cottage born?", ["d0", "d1"], "Quill"),
    ("What did barges carry on the Aske?", ["d4"], "lime"),
    ("Where did a kiln burn lime until the war?", ["d6"], "Brack"),
]

TALKS = {
    ("one", 1): [
        ("Ana", "My sister keeps bees on the roof."),
        ("Bo", "How many hives?"),
        ("Ana", "Three hives, since May."),
    ],
    ("one", 2): [("Bo", "The train was late again."), ("Ana", "..."), ("Ana", "Take the tram instead.")],
    ("two", 1): [("Cy", "My uncle keeps bees in the garden."), ("Di", "Nice!"), ("Cy", "He has nine hives already.")],
    ("two", 2): [("Di", "I paint the fence on Sunday."), ("Cy", "Green?"), ("Di", "No, blue as before.")],
}
TALK_QUESTIONS = [
    ("one", "How many hives does the sister keep?", 4, ["one:1:2"], 3),
    ("two", "How many hives are there?", 1, ["two:1:2"], "nine hives"),
    ("one", "Who keeps bees in the garden?", 5, ["one:1:0"], "the uncle"),
    ("two", "What might the uncle sell?", 3, [], "honey"),
]


def write_set(folder: Path, corpus: Iterable[Any], queries: Iterable[Any]) -> Path:
    """A question set of these rows in a new folder."""
    folder.mkdir(parents=True)
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def river(folder: Path) -> Path:
    """Eight passages and four questions."""
    return write_set(
        folder,
        [{"id": f"d{i}", "title": title, "text": text} for i, (title, text) in enumerate(RIVER)],
        [
            {"id": f"q{i}", "question": text, "gold": gold, "answer": answer}
            for i, (text, gold, answer) in enumerate(RIVER_QUESTIONS)
        ],
    )


def talks(folder: Path) -> Path:
    """Two conversations of two sessions of three turns, and a question of each kind."""
    return write_set(
        folder,
        [
            {
                "id": f"{name}:{session}:{i}",
                "conversation": name,
                "session": session,
                "time": "9:05 am on 2 June, 2023",
                "speaker": speaker,
                "text": text,
            }
            for (name, session), turns in TALKS.items()
            for i, (speaker, text) in enumerate(turns)
        ],
        [
            {"id": f"q{i}", "conversation": name, "question": text, "category": category, "gold": gold,
             "answer": answer, "aliases": ["three"]}
            for i, (name, text, category, gold, answer) in enumerate(TALK_QUESTIONS)
        ],
    )  # fmt: skip
