"""pal train: from the command to the memory and back, with a real daemon."""

from __future__ import annotations

from pathlib import Path

from memory.store import queries
from memory.store.store import Store
from plugins import manager
from plugins.rankers.features import WIDTH
from plugins.rankers.scorer import HIDDEN
from plugins.settings import TrainedSettings, ranker_kind
from tests.cli.test_traces import HARBOUR, ask
from tests.cli.vault import Shell


def promoted(home: Path) -> None:
    """Puts a scorer into use, as a night would."""
    with Store.open(home / "memory.db") as store, store.writing() as conn:
        name = ranker_kind(manager.load().embedder("static").name)
        id = queries.store_model(conn, name, 1, bytes(4 * (WIDTH + WIDTH * HIDDEN + 2 * HIDDEN)), {})
        queries.promote(conn, id)


def test_few_questions_are_too_few_and_it_says_so(town: Shell) -> None:
    said = town.pal("train")
    assert said.code == 0
    assert "0 with 0 labels" in said.out
    assert f"not used. Training needs {TrainedSettings().questions} questions; so far: 0." in said.out


def test_a_good_answer_is_a_question_to_learn_from(town: Shell) -> None:
    id = ask(town, HARBOUR)
    town.pal("good", str(id))
    said = town.pal("train")
    assert "Questions  1 with" in said.out and "so far: 1." in said.out
    events = town.pal("train", "--json").lines
    assert events[-1]["type"] == "TrainingReport" and events[-1]["questions"] == 1
    assert {event["type"] for event in events[:-1]} == {"Progress"}


def test_what_was_learnt_can_be_taken_back(town: Shell) -> None:
    assert town.pal("train", "--undo").out == "Nothing that was trained is in use.\n"
    town.pal("daemon", "stop")
    promoted(town.home)
    assert town.pal("train", "--undo", "--json").json == {"used": "none"}
    assert town.pal("train", "--undo").out == "Nothing that was trained is in use.\n"
