"""Diagnosis: every figure against what a hand computes on five episodes, and whole memories."""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.cli import main
from daemon.config.settings import Settings, entries
from memory import Memory
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link, ThesisVertex
from memory.graph.walk import Walk
from memory.insight.diagnosis import MANY_SHOWN, MOST_CALLS, MOST_MS, diagnose, repair
from memory.nouns import Document
from memory.protocols import Embedder
from memory.retrieval.pipeline import rows_of_text_only
from memory.settings import MemorySettings, RecallSettings
from memory.store.traces import Outcome
from memory.trace import Diagnosis, FailureName
from tests.examples import examples
from tests.memory.retrieval.walking import rng_graph

ONE, TWO, THREE, FOUR, FIVE, DAY = range(1, 7)
FIRST, SECOND, THIRD, STATED, ORPHAN = ALL = range(100, 105)


def episode(node: int, *mentions: int) -> EpisodeVertex:
    edges = {one: 10 * node + one for one in mentions}
    return EpisodeVertex(node, 1, node, None, False, 50, dict.fromkeys(mentions, 1), frozenset(), edges)


# one - FIRST - two - SECOND - three - THIRD - four;  five - thesis - STATED;  ORPHAN mentions a date in the big one
GRAPH = Graph.empty().with_episodes(
    [episode(FIRST, ONE, TWO), episode(SECOND, TWO, THREE), episode(THIRD, THREE, FOUR), episode(STATED),
     episode(ORPHAN)],
    [(node, False) for node in (ONE, TWO, THREE, FOUR, FIVE)] + [(DAY, True)],
    [ThesisVertex(200, STATED, 5000, {FIVE: 5001})],
)  # fmt: skip

NEAR = Outcome(1, "near?", False, 5.0, 0, (ONE,), (FIRST, SECOND, THIRD, STATED), (FIRST, SECOND), (SECOND,))
BY_THESIS = Outcome(2, "by a thesis?", False, 5.0, 2, (FIVE,), (STATED, FIRST, SECOND), (STATED,), ())
APART = Outcome(3, "apart?", False, 5.0, 0, (ONE,), tuple(ALL), (THIRD,), None)
NAMELESS = Outcome(4, "nameless?", True, 5.0, 0, (), tuple(ALL), (), None)
NO_PROOF = Outcome(5, "no proof?", True, 5.0, 0, (TWO,), tuple(ALL), (), None)
SLOW = Outcome(6, "slow?", False, MOST_MS + 1, 0, (), (ORPHAN, FIRST), (ORPHAN, FIRST), None)
OUTCOMES = [NEAR, BY_THESIS, APART, NAMELESS, NO_PROOF, SLOW]


def names(ids: Sequence[int]) -> dict[int, str]:
    return {id: f"Name {id}" for id in ids}


def of(*outcomes: Outcome, graph: Graph = GRAPH) -> Diagnosis:
    return diagnose(outcomes, graph, names)


def test_every_figure_is_what_a_hand_computes() -> None:
    found = diagnose(OUTCOMES, GRAPH, names)
    assert found.questions == 6
    assert found.no_answer_rate == 2 / 6
    assert found.seed_hit_rate == 2 / 4  # NEAR mentions, BY_THESIS asserts; APART and SLOW do neither
    assert found.reachability == (1 / 4, 2 / 4, 3 / 4)  # of NEAR 1 and 3 hops, of BY_THESIS 2, of APART 5
    assert found.cited_per_call == 1 / 2
    assert found.neighbourhood_noise == 2.5  # of 4 / 2, 3 / 1, 5 / 1, 2 / 2
    assert found.backfill_reliance == 1 / 3  # the traces of NEAR and BY_THESIS tell
    assert found.evidence_redundancy == pytest.approx((1 / 3 + 0) / 2)  # {1, 2} and {2, 3}; {} and {1, 2}


def test_every_failure_has_its_class_and_its_repair() -> None:
    classes = {failure.name: failure for failure in diagnose(OUTCOMES, GRAPH, names).failures}
    assert {name: (one.questions, one.unanswered, one.example) for name, one in classes.items()} == {
        "coverage": (2, 1, "nameless?"),  # rather than the newer one, which was answered all the same
        "connectivity": (1, 0, "apart?"),
        "provenance": (1, 1, "no proof?"),
        "queryability": (1, 0, "slow?"),
    }
    assert [one.repair for one in classes.values()] == [
        repair("coverage", "nameless?", 4),
        repair("connectivity", "apart?", 3, known=["Name 1"]),
        repair("provenance", "no proof?", 5),
        repair("queryability", "slow?", 6),
    ]
    assert classes["provenance"].trace_id == 5


@pytest.mark.parametrize(
    ("outcome", "fails"),
    [
        (NO_PROOF._replace(shown=tuple(ALL[: MANY_SHOWN - 1])), []),
        (SLOW._replace(seeds=(ONE,), cited=(FIRST,), ms=MOST_MS), []),
        (NEAR._replace(ms=60_000.0, calls=MOST_CALLS), []),  # a model takes its time
        (NEAR._replace(calls=MOST_CALLS + 1), ["queryability"]),
        (NEAR, []),
        (NEAR._replace(unknown=("Zorvath",)), []),  # answered all the same
        (NO_PROOF._replace(unknown=("Zorvath",)), ["coverage"]),
    ],
)
def test_the_edges_of_the_classes(outcome: Outcome, fails: list[str]) -> None:
    assert [failure.name for failure in of(outcome).failures] == fails


def test_what_was_mended_is_reported_no_more() -> None:
    again = NEAR._replace(id=9, question="No  PROOF?")
    assert of(again, NO_PROOF).failures == ()
    assert [failure.name for failure in of(NO_PROOF._replace(id=10), again).failures] == ["provenance"]
    assert of(again, NO_PROOF).questions == 2


def test_what_no_question_tells_is_not_stated() -> None:
    found = of()
    assert (found.questions, found.reachability, found.failures) == (0, (), ())
    assert [f.name for f in fields(found) if getattr(found, f.name) is None] == [
        "no_answer_rate", "seed_hit_rate", "cited_per_call", "neighbourhood_noise", "backfill_reliance",
        "evidence_redundancy",
    ]  # fmt: skip


def test_evidence_that_is_retired_says_nothing_of_the_graph() -> None:
    found = of(NEAR, graph=GRAPH.without_episodes([SECOND]))
    assert found.reachability == (1, 1, 1)
    assert found.backfill_reliance == 1 / 2, "what the trace itself tells stays"
    assert of(APART, graph=GRAPH.without_episodes([THIRD])).failures == ()


def test_links_between_passages_and_between_names_are_ways() -> None:
    linked = GRAPH.with_episodes([], [], (), [Link(9000, "next", STATED, ORPHAN), Link(9001, "rel", ONE, FOUR)])
    assert of(BY_THESIS._replace(cited=(ORPHAN,)), graph=linked).reachability == (0, 0, 1)
    assert of(APART, graph=linked).reachability == (0, 1, 1)


@examples(1)
@given(st.integers(0, 10**6), st.data())
def test_rates_are_rates_and_the_order_of_traces_does_not_matter(seed: int, data: st.DataObject) -> None:
    graph, _ = rng_graph(seed)
    episodes, objects = graph.episode_ids.tolist(), graph.object_ids.tolist()
    few = st.lists(st.sampled_from([*episodes, 999]), max_size=6, unique=True).map(tuple)
    outcome = st.builds(
        Outcome,
        id=st.integers(1, 10**6), question=st.text(max_size=5), no_answer=st.booleans(),
        ms=st.floats(0, 5000), calls=st.integers(0, 20),
        seeds=st.lists(st.sampled_from([*objects, 999]), max_size=3, unique=True).map(tuple),
        shown=few, cited=few, text_only=st.none() | few, unknown=st.lists(st.text(max_size=9), max_size=2).map(tuple),
    )  # fmt: skip
    outcomes = data.draw(st.lists(outcome, max_size=8, unique_by=lambda one: one.id))
    found = of(*outcomes, graph=graph)
    rates = [found.no_answer_rate, found.seed_hit_rate, found.backfill_reliance, found.evidence_redundancy]
    assert all(0 <= rate <= 1 for rate in [*rates, *found.reachability] if rate is not None)
    assert list(found.reachability) == sorted(found.reachability)
    assert sum(failure.questions for failure in found.failures if failure.name != "queryability") <= len(outcomes)
    shuffled = random.Random(seed).sample(outcomes, len(outcomes))
    assert of(*shuffled, graph=graph) == found


ASKED = "Who's  Zoë\n`Zorvath` -- #1, $HOME?"
MENDED = [repair(name, ASKED, 7, ("O'Zorvath\n--x",), ("Zoë #2",)) for name in get_args(FailureName)]


@pytest.mark.parametrize("text", MENDED)
def test_a_repair_is_a_sentence_and_commands_with_the_words_of_the_question(text: str) -> None:
    said, *lines = text.splitlines()
    assert said.endswith((".", ".)")) and len(lines) > 2 and all(line.startswith("pal ") for line in lines)
    words = {word for line in lines for word in shlex.split(line, comments=True)}
    assert "'\"'\"'" not in repair("provenance", "Who's Zoë?", 7)
    assert words & {"Who's Zoë `Zorvath` -- #1, $HOME?", "O'Zorvath --x", "Zoë #2"}


@pytest.mark.parametrize("text", MENDED)
def test_a_repair_names_commands_and_settings_that_exist(text: str) -> None:
    commands = [shlex.split(line, comments=True) for line in text.splitlines() if line.startswith("pal ")]
    assert commands
    for _, *words in commands:
        parses(words)
    keys = {command[3] for command in commands if command[1:3] == ["config", "set"]}
    assert keys <= entries(Settings()).keys()


def parses(words: list[str]) -> None:
    """Fails if `pal` would not take these words."""
    command: click.Command = main
    ctx = click.Context(main, **main.context_settings)  # a command keeps the help option that it is first asked for
    while isinstance(command, click.Group) and (words or not command.invoke_without_command):
        below = command.get_command(ctx, words[0])
        assert below is not None, words
        command, words = below, words[1:]
    command.make_context(command.name, words, parent=ctx)


def asked(memory: Memory, *questions: str) -> None:
    for question in questions:
        list(memory.questions.ask(question))


def test_a_memory_diagnoses_itself(fresh: Memory) -> None:
    assert fresh.maintenance.diagnose().questions == 0
    fresh.ingest.remember_many([
        Document("/light.md", "Nuria Solano keeps the key of Gannet Light.", title="Gannet Light"),
        Document("/boat.md", "Ozzie Penhale builds a dinghy of larch.", title="Second Opinion"),
    ])  # fmt: skip
    asked(fresh, "Where is the key that Nuria Solano keeps?", "Who painted the ceiling of the chapel?")
    found = fresh.maintenance.diagnose()
    assert (found.questions, found.no_answer_rate, found.seed_hit_rate) == (2, 0.5, 1)
    assert found.reachability[0] == 1
    assert [(failure.name, failure.example) for failure in found.failures if failure.name != "queryability"] == [
        ("coverage", "Who painted the ceiling of the chapel?")
    ]
    assert fresh.maintenance.diagnose(1).questions == 1, "the newest"
    assert fresh.maintenance.diagnose(1).no_answer_rate == 1


@pytest.mark.parametrize(("strategy", "reliance"), [("spread", 0), ("none", 1)])
def test_what_only_the_text_found_is_noted_with_the_question(
    tmp_path: Path, static: Embedder, strategy: str, reliance: float
) -> None:
    chosen = MemorySettings(recall=RecallSettings(strategy=strategy))
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=chosen) as memory:
        memory.ingest.remember("Nuria Solano keeps the key.", source="/light.md")
        asked(memory, "Who keeps the key?")
        assert memory.maintenance.diagnose().backfill_reliance == reliance


def test_the_graph_alone_would_have_shown_as_many_as_were_shown() -> None:
    mass = np.array([0.4, 0.0, 0.1, 0.3, 0.2], np.float32)
    walk, rows = Walk(mass, np.empty(0, np.float32)), np.array([1, 2, 3])
    assert rows_of_text_only(rows, walk, 3).tolist() == [1, 2]
    assert rows_of_text_only(rows, walk, 9).tolist() == [1], "where it never came"
    assert rows_of_text_only(rows, None, 3).tolist() == [1, 2, 3]


def test_the_diagnosis_does_not_tell_of_what_was_forgotten(fresh: Memory) -> None:
    card = "Phone: 0161 496 0355\nCity: Riga\n\n"
    owes, other = "Zacharias Quillfeather", "Zacharias Quillfeathers"
    fresh.ingest.remember(f"# {owes}\n{card}{owes} owes me a canoe.", title=owes, source="/canoe.md")
    fresh.ingest.remember(f"# {other}\n{card}{other} is another one.", title=other, source="/canoe.md#2")
    asked(fresh, "What does Zacharias Quillfeather owe me?", "What is Zacharias Quillfeather afraid of at night?")
    before = fresh.maintenance.diagnose()
    assert before.questions == 2 and before.alias_suspects
    fresh.forgetting.forget_sources(["/canoe.md", "/canoe.md#2"])
    after = fresh.maintenance.diagnose()
    assert (after.questions, after.alias_suspects, after.failures) == (0, (), ())
    assert "Quillfeather" not in repr(after)
