"""Figures over time: each against what a hand computes on a few questions, and on a file whose traces are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.insight import trend
from memory.insight.trend import HUNDRED, PERIODS, WEEK, figures
from memory.llm import Usage
from memory.nouns import Answer, Citation, Step, Trace
from memory.protocols import Embedder
from memory.settings import MemorySettings, RecallSettings
from memory.store import edge_memory, jobs, metrics, traces
from memory.store.connect import Connection
from memory.store.metrics import Outcome
from memory.time.timestamps import to_ms
from plugins.manager import load

MONDAY = to_ms(datetime(2026, 3, 2, tzinfo=UTC)) or 0
DAY = 24 * 60 * 60 * 1000


def course(id: int, **given: Any) -> Outcome:
    return Outcome(id, "", given.pop("no_answer", False), 1.0, t=MONDAY + id, **given)


def test_no_question_tells_nothing() -> None:
    assert figures([]) == {}


@pytest.mark.parametrize(
    ("name", "asked", "value"),
    [
        ("no_answer_rate", [course(1), course(2, no_answer=True), course(3), course(4)], 1 / 4),
        ("replay_rate", [course(1, tier="R0"), course(2), course(3)], 1 / 3),
        ("replay_precision", [course(1, fired=4, useful=3), course(2, fired=6, useful=1), course(3)], 4 / 10),
        ("bridge_yield", [course(1, calls=1, bridged=(5, 6), cited=(6, 7)), course(2, calls=1, bridged=(8,)),
                          course(3, bridged=(9,), cited=(9,))], 1 / 3),
        ("escalation_rate", [course(1, calls=1), course(2, calls=3, tier="R3"), course(3, tier="R3")], 1 / 2),
        ("escalation_gain", [course(n, calls=2, tier=tier, no_answer=n == 2) for n, tier in
                             enumerate(("R3", "R4", "R4", "R2"))], 2 / 3),
        ("cited_per_call", [course(1, calls=3, cited=(1, 2)), course(2, calls=1, cited=(1,)),
                            course(3, cited=(9,))], 3 / 4),
        ("cited_per_1k_tokens", [course(1, calls=1, tokens=500, cited=(1,)), course(2, calls=1, tokens=1500)], 1 / 2),
        ("tokens", [course(1, calls=1, tokens=500), course(2, calls=2, tokens=1500), course(3)], 1000),
        ("replay_saving", [course(1, tier="R0", tokens=200, first=1000)], 0.8),
        ("replay_saving", [course(1, tokens=600), course(2, tokens=1000), course(3, tier="R0", tokens=400)], 0.5),
        ("replay_saving", [course(1, tokens=600, tier="R0", first=500)], -0.2),
    ],
)  # fmt: skip
def test_a_figure_is_what_a_hand_computes(name: str, asked: list[Outcome], value: float) -> None:
    assert figures(asked)[name] == pytest.approx(value)
    assert figures(asked[::-1])[name] == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("replay_precision", [course(1)]),
        ("replay_saving", [course(1, tier="R0", tokens=100)]),  # nobody knows what it took before
        ("replay_saving", [course(1, tokens=100)]),
        ("bridge_yield", [course(1, calls=1, cited=(1,))]),
        ("escalation_rate", [course(1)]),
        ("escalation_gain", [course(1, calls=2)]),
    ],
)
def test_a_figure_that_no_question_speaks_of_is_left_out(name: str, asked: list[Outcome]) -> None:
    assert name not in figures(asked)


# On a file -------------------------------------------------------------------------------------

Keep = Callable[..., int]


@pytest.fixture
def held(fresh: Memory) -> Memory:
    """Three passages with names, so that there are edges."""
    for number in range(3):
        fresh.remember(f"[[Berit]] keeps key {number} of [[Gannet Light]].", source=f"/{number}.md")
    return fresh


def ask(
    conn: Connection, t: int, tier: str = "R2", tokens: int = 0, cited: tuple[int, ...] = (), **steps: dict[str, Any]
) -> int:
    answer = Answer("Yes.", tuple(_citation(n, id) for n, id in enumerate(cited, 1)), no_answer=not cited)
    trace = Trace("?", tuple(Step(stage, 1.0, detail) for stage, detail in steps.items()), ())
    return traces.store(conn, trace, answer, t, calls=int(bool(tokens)), usage=Usage(tokens, 0), tier=tier)


def _citation(n: int, episode: int) -> Citation:
    return Citation(n=n, episode_id=episode, uri="/a", title="A", quote="q", passage="q")


def test_a_question_is_read_with_its_edges_and_what_it_took_first(held: Memory) -> None:
    with held.store.writing() as conn:
        one, other = [id for (id,) in conn.execute("SELECT id FROM edge ORDER BY id LIMIT 2")]
        first = ask(conn, 1, "R3", 900, (1, 2))
        second = ask(
            conn, 2, "R0", 200, (1,), replay={"earlier": first}, graph={"bridged": [3]}, answer={"bridged": [1]}
        )
        edge_memory.note(conn, second, [(one, "replayed", 0.9), (other, "replayed", 0.7), (one, "cited", 4)])
        third = ask(conn, 3, "R0", 150, (1,), replay={"earlier": second})
        refused = ask(conn, 4, replay={"earlier": None})
    with held.store.reading() as conn:
        found = metrics.newest(conn, 9)
        assert metrics.newest(conn, 1) == [found[-1]] and metrics.newest(conn, 9, since=3) == [found[-1]]
    assert found == [
        Outcome(first, "?", False, 0, 1, 900, cited=(1, 2), t=1, tier="R3"),
        Outcome(second, "?", False, 3, 1, 200, (), (), (1,), None, (), 2, "R0", 2, 1, (1, 3), 900),
        Outcome(third, "?", False, 1, 1, 150, cited=(1,), t=3, tier="R0", first=900),
        Outcome(refused, "?", True, 1, t=4),
    ]


def test_how_things_stand(held: Memory) -> None:
    with held.store.writing() as conn:
        episodes = [id for (id,) in conn.execute("SELECT node_id FROM episode ORDER BY node_id")]
        conn.execute("INSERT INTO extraction(episode_id, model, t) VALUES (?, 'm', 0)", (episodes[0],))
        for _ in range(jobs.ATTEMPTS):
            jobs.enqueue(conn, "extract", "x", {"episodes": episodes}, 0)
            job = jobs.claim(conn, 10**15, "boot", ["extract"])
            assert job is not None
            jobs.fail(conn, job.id, "no", 0)
        assert metrics.count_dead_jobs(conn) == 1
        assert trend.measure_now(conn) == {
            "remembering": 0,
            "extraction_loss": 2 / 3,
            "conflicts": 0,
            "stale_memory": 0,
        }


def test_a_hundred_at_a_time_within_a_week(held: Memory) -> None:
    with held.store.writing() as conn:
        for number in range(250):
            ask(conn, MONDAY + number, cited=(1,) if number >= HUNDRED else ())
        found = trend.trend(conn)
    assert [one.questions for one in found] == [100, 100, 50]
    assert [one.figures["no_answer_rate"] for one in found] == [1, 0, 0]
    assert [to_ms(one.since) for one in found] == [MONDAY, MONDAY + 100, MONDAY + 200]
    assert "stale_memory" in found[-1].figures and "stale_memory" not in found[0].figures


def test_pieces_do_not_move_while_questions_come(held: Memory) -> None:
    with held.store.writing() as conn:
        for number in range(trend.QUESTIONS + 30):
            ask(conn, MONDAY + number)
        found = trend.trend(conn)
    assert [one.questions for one in found] == [HUNDRED] * (PERIODS - 1) + [30]
    assert to_ms(found[0].since) == MONDAY + HUNDRED


def test_week_by_week(held: Memory) -> None:
    with held.store.writing() as conn:
        for week in range(PERIODS + 2):
            for day in range(week + 1):
                ask(conn, MONDAY + week * WEEK + min(day, 6) * DAY, cited=(1,) if week % 2 else ())
        found = trend.trend(conn)
    assert [one.questions for one in found] == list(range(3, PERIODS + 3))
    assert [one.figures["no_answer_rate"] for one in found] == [1, 0] * (PERIODS // 2)
    assert {one.since.weekday() for one in found} == {0}


def test_a_night_records_what_was_asked_since_the_last_one(held: Memory) -> None:
    with held.store.writing() as conn:
        ask(conn, MONDAY + 1, tokens=400, cited=(1,))
        ask(conn, MONDAY + 2)
        first = trend.record(conn, MONDAY + DAY)
        second = trend.record(conn, MONDAY + 2 * DAY)
        ask(conn, MONDAY + 2 * DAY + 1)
        third = trend.record(conn, MONDAY + 3 * DAY)
        rows = conn.execute("SELECT t, metric, value FROM diag ORDER BY t").fetchall()
    assert (first["questions"], first["no_answer_rate"], first["tokens"]) == (2, 0.5, 400)
    assert second["questions"] == 0 and "no_answer_rate" not in second and second["stale_memory"] == 0
    assert (third["questions"], third["no_answer_rate"]) == (1, 1)
    assert {(t, metric): value for t, metric, value in rows} == {
        (MONDAY + DAY * night, metric): value
        for night, found in enumerate((first, second, third), 1)
        for metric, value in found.items()
    }


def test_what_was_forgotten_stays_counted(held: Memory) -> None:
    with held.store.writing() as conn:
        for number in range(4):
            ask(conn, MONDAY + number, tokens=100 * number, cited=(1,) if number else ())
        trend.record(conn, MONDAY + DAY)
        ask(conn, MONDAY + DAY + 1)
        trend.record(conn, MONDAY + 2 * DAY)
        ask(conn, MONDAY + WEEK)
        conn.execute("DELETE FROM trace WHERE t < ?", (MONDAY + WEEK,))
        before, after = trend.trend(conn)
    assert (before.questions, before.figures["no_answer_rate"]) == (5, pytest.approx(2 / 5))
    assert before.figures["stale_memory"] == 0
    assert after.questions == 1 and before.figures.keys() >= after.figures.keys() - {"conflicts", "remembering"}


def test_a_memory_tells_it_with_its_diagnosis(held: Memory) -> None:
    assert held.maintenance.diagnose().trend == () and held.maintenance.diagnose().figures["stale_memory"] == 0
    list(held.ask("Who keeps the key of Gannet Light?"))
    found = held.maintenance.diagnose()
    assert found.figures["no_answer_rate"] == found.no_answer_rate
    assert [(one.questions, one.figures["no_answer_rate"]) for one in found.trend] == [(1, found.no_answer_rate)]


def test_the_trace_knows_what_only_a_bridge_led_to(tmp_path: Path, static: Embedder) -> None:
    chosen, find = MemorySettings(recall=RecallSettings(strategy="beam+synergy")), load().strategies()
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=chosen, find_strategy=find) as memory:
        memory.remember("[[Shawn Levy]] directed [[Free Guy]].", source="/free-guy.md")
        memory.remember("[[Shawn Levy]] was born in [[Montreal]].", source="/levy.md")
        list(memory.ask("Where was the director of Free Guy born?"))
        with memory.store.reading() as conn:
            noted = dict(
                conn.execute(
                    "SELECT stage, detail -> '$.bridged' FROM trace_step WHERE detail -> '$.bridged' IS NOT NULL"
                ).fetchall()
            )
            (asked,) = metrics.newest(conn, 1)
    assert {"graph", "answer"} == noted.keys()
    assert set(asked.bridged) == {id for listed in noted.values() for id in json.loads(listed)}
