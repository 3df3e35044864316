from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.edge_memory import edges
from memory.edge_memory.edges import EdgeMemory, calibrate_threshold, delta, key, keys, penalise, reinforce, to_float16
from memory.store.edge_memory import Slots

DIMENSION = 16
EAST, NORTH = np.eye(DIMENSION)[0], np.eye(DIMENSION)[1]
NOTHING = Slots.none(DIMENSION)
ONCE, TWICE, THRICE = 2 / math.pi, 0.980587, 0.999997  # equation 1 on one question


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def towards(cosine: float) -> np.ndarray:
    """A direction at this cosine from EAST."""
    return cosine * EAST + math.sqrt(1 - cosine**2) * NORTH


def activation(slots: Slots, key: np.ndarray) -> float:
    """m(k, e): how strongly an edge with these slots activation."""
    return max(0.0, *(slots.vectors.astype(np.float64) @ key), 0.0)


def one_vector(values: np.ndarray) -> Slots:
    return NOTHING.plus(values, 0)


def test_the_same_question_fires_as_equation_1_says() -> None:
    held, fired = NOTHING, []
    for now in range(3):
        held = reinforce(held, EAST, now=now)
        fired.append(activation(held, EAST))
    assert fired == pytest.approx([ONCE, TWICE, THRICE], abs=1e-6)
    assert (held.positives.tolist(), held.negatives.tolist(), held.times.tolist()) == ([3], [0], [2])


def test_two_soft_penalties_leave_two_fifths_and_a_hard_one_nothing() -> None:
    held = reinforce(reinforce(reinforce(NOTHING, EAST), EAST), EAST)
    held = penalise(held, EAST)
    assert activation(held, EAST) == pytest.approx(0.65, abs=1e-5)
    held = penalise(held, EAST, now=7)
    assert activation(held, EAST) == pytest.approx(0.4225, abs=1e-5)
    assert (held.negatives.tolist(), held.times.tolist()) == ([2], [7])
    assert len(penalise(held, EAST, edges.REJECTED).vectors) == 0


def test_a_question_that_does_not_fire_is_not_held_against_an_edge() -> None:
    held = reinforce(NOTHING, EAST)
    assert penalise(held, NORTH, edges.REJECTED) is held
    assert penalise(held, towards(0.3), edges.REJECTED) is held  # 0.637 * 0.3 is below the gate


def test_another_intent_gets_a_slot_of_its_own_and_the_shortest_gives_way() -> None:
    directions = np.eye(DIMENSION)
    held = NOTHING
    for n in range(4):
        held = reinforce(held, directions[n])
    held = reinforce(held, directions[0])
    assert [activation(held, directions[n]) for n in range(5)] == pytest.approx([TWICE, ONCE, ONCE, ONCE, 0], abs=1e-6)
    full = reinforce(held, directions[4])
    assert len(full.vectors) == 4 and activation(full, directions[0]) == pytest.approx(TWICE, abs=1e-6)
    assert sorted(activation(full, directions[n]) for n in range(1, 5)) == pytest.approx([0, ONCE, ONCE, ONCE])
    assert len(reinforce(held, directions[4], most=8).vectors) == 5


def test_paraphrases_share_a_slot() -> None:
    held = reinforce(reinforce(NOTHING, EAST), towards(0.82))
    assert len(held.vectors) == 1
    assert activation(reinforce(NOTHING, EAST), towards(0.82)) > edges.LAMBDA  # one success replays a paraphrase
    assert activation(reinforce(NOTHING, EAST), towards(0.81)) < edges.LAMBDA


def test_beyond_norm_one_nothing_turns_round() -> None:
    long = one_vector(1.2 * NORTH)
    assert delta(1.2) == pytest.approx(0, abs=1e-12)
    assert activation(reinforce(long, EAST, most=1), EAST) == pytest.approx(0)


def test_a_second_question_has_room_of_its_own() -> None:
    assert activation(reinforce(reinforce(NOTHING, EAST), NORTH), NORTH) == pytest.approx(ONCE)


def test_a_key_has_no_length_and_nothing_in_common_with_all_questions() -> None:
    center = 0.6 * EAST
    found = key(5 * towards(0.6), center)
    assert found == pytest.approx(NORTH)
    assert key(np.zeros(DIMENSION), center) is None
    assert key(EAST, EAST) is None


def test_the_threshold_is_what_nearly_all_pairs_with_other_evidence_stay_below() -> None:
    rng = np.random.default_rng(3)
    keys = np.array([unit(rng.standard_normal(4)) for _ in range(40)])
    alone = [frozenset({n}) for n in range(40)]
    cosines = (keys @ keys.T)[np.tril_indices(40, -1)]
    assert calibrate_threshold(keys, alone) == edges.MOST_LAMBDA  # in four dimensions some are nearly the same
    low = np.eye(40)
    assert calibrate_threshold(low, alone) == edges.LEAST_LAMBDA
    mixed = np.array([unit(rng.standard_normal(24)) for _ in range(40)])
    cosines = (mixed @ mixed.T)[np.tril_indices(40, -1)]
    assert calibrate_threshold(mixed, alone) == pytest.approx(max(0.4, np.quantile(cosines, 0.99)))
    assert calibrate_threshold(mixed, [frozenset({1})] * 40) is None  # all have the same evidence
    assert calibrate_threshold(mixed[:15], alone[:15]) is None


STEPS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["enhance", 0.2, 0.35, 1.0])), min_size=1, max_size=40)


@given(STEPS, st.integers(1, 5), st.integers(0, 1000))
def test_whatever_is_learnt_stays_bounded_and_goes_the_right_way(
    steps: list[tuple[int, str | float]], most: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    intents = [unit(rng.standard_normal(DIMENSION)) for _ in range(6)]
    held = NOTHING
    for place, (intent, what) in enumerate(steps):
        question = unit(intents[intent] + 0.5 * unit(rng.standard_normal(DIMENSION)))
        before, full = activation(held, question), len(held.vectors) == most
        if what == "enhance":
            held = reinforce(held, question, most, place)
            assert activation(held, question) >= before - 1e-9 or full
        else:
            held = penalise(held, question, float(what), place)
            assert activation(held, question) <= before + 1e-9
        held = to_float16(held) if seed % 2 else held
        assert len({*map(len, held)}) == 1 and len(held.vectors) <= most
        assert all(np.linalg.norm(vector.astype(np.float64)) <= 1 + 1e-9 for vector in held.vectors)
        assert 0 <= activation(held, question) <= 1 + 1e-9


@given(st.integers(0, 10_000), st.floats(0.2, 1))
def test_in_half_precision_nothing_gets_longer(seed: int, length: float) -> None:
    vector = length * unit(np.random.default_rng(seed).standard_normal(256))
    stored = to_float16(Slots.none(256).plus(vector, 1))
    assert stored.vectors.dtype == np.float16
    assert np.all(np.abs(stored.vectors[0].astype(np.float64)) <= np.abs(vector))
    assert np.abs(stored.vectors[0] - vector).max() < 1e-3
    assert to_float16(stored).vectors.tobytes() == stored.vectors.tobytes()


@given(st.integers(0, 10_000), st.integers(0, 40), st.sampled_from([1, 7, 256]))
def test_many_keys_are_those_of_each_question_to_the_bit(seed: int, n: int, dimension: int) -> None:
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(n, dimension)).astype(np.float16).astype(np.float32)
    center = rng.normal(size=dimension) * rng.choice([0, 0.01, 1])
    queries[rng.random(n) < 0.2] = 0
    if n:
        queries[-1], center = 4 * np.eye(dimension)[0], np.eye(dimension)[0]
    found, known = keys(queries, center)
    for query, one, is_known in zip(queries, found, known, strict=True):
        wide = query.astype(np.float64)
        length = np.linalg.norm(wide)
        apart = wide / length - center if length >= edges.TINY else np.zeros(dimension)
        left = np.linalg.norm(apart)
        assert is_known == (left >= edges.TINY)
        if is_known:
            assert one.tobytes() == (apart / left).tobytes()
            alone = key(query, center)
            assert alone is not None and alone.tobytes() == one.tobytes()
        else:
            assert key(query, center) is None
    narrow, also = keys(queries, center, np.float32)
    assert narrow.tobytes() == found.astype(np.float32).tobytes() and np.array_equal(also, known)


def test_of_equally_similar_questions_the_newest_comes_first() -> None:
    asked = EdgeMemory.empty(DIMENSION).with_answer(1, EAST).with_answer(2, EAST).with_answer(3, NORTH)
    assert [trace for trace, _ in asked.nearest(EAST, 0.5)] == [2, 1]


def test_the_center_is_computed_at_fifty_questions_and_whenever_they_doubled() -> None:
    known = edges.UNKNOWN._replace(n=60)
    assert [edges.is_due(n, edges.UNKNOWN) for n in (49, 50)] == [False, True]
    assert [edges.is_due(n, known) for n in (119, 120)] == [False, True]
