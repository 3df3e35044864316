"""The model of refusals as it is fitted, on examples whose answer is known."""

from __future__ import annotations

import numpy as np

from benchmarks import refusals
from benchmarks.refusals import NAMES, Example, fit, score

THRESHOLD = 0.34
CHANCE = np.random.default_rng(7)


def persona(name: str, telling: str) -> list[Example]:
    """Questions of which those that can be answered have more of one feature; all others are chance."""
    found = []
    for number in range(60):
        kind = number % 3  # answerable, hidden, unanswerable
        features = CHANCE.uniform(0.4, 0.6, len(NAMES))
        features[NAMES.index(telling)] += 0.3 if kind == 0 else -0.3
        found.append(Example(name, tuple(features), kind == 0, right=kind == 0, hidden=kind == 1))
    return found


def test_the_feature_that_tells_them_apart_counts_most_and_few_right_lines_are_lost() -> None:
    worlds = [one for name in ("a", "b", "c") for one in persona(name, "kind")]
    weights, bias = fit(worlds, THRESHOLD)
    assert (weights >= 0).all() and int(np.argmax(weights)) == NAMES.index("kind")
    said = score(persona("d", "kind"), weights, bias, THRESHOLD)
    assert said["lost"] <= 100 * refusals.LOST + 15 and said["unanswerable"] < 10
    assert said["answerable"] >= 75 and said["right"] == 100


def test_what_names_something_that_is_not_there_is_no_answer_whatever_it_is_like() -> None:
    sure = Example("a", tuple(1.0 for _ in NAMES), answerable=False, absent=True)
    hidden = Example("a", tuple(0.0 for _ in NAMES), answerable=False, hidden=True)
    known = Example("a", tuple(1.0 for _ in NAMES), answerable=True, right=True)
    said = score([sure, hidden, known], np.ones(len(NAMES), np.float32), 0.0, THRESHOLD)
    assert said == {"answerable": 100.0, "unanswerable": 0.0, "right": 100.0, "lost": 0.0}, (
        "the hidden one is not counted"
    )
