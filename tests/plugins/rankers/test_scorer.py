from __future__ import annotations

import numpy as np
import pytest

from plugins.rankers.features import SIGMA, WIDTH
from plugins.rankers.scorer import HIDDEN, PATIENCE, Example, Scorer, compare, recall, train
from tests.plugins.rankers.trials import RANK, scorer_of, trial

TRIALS = 24  # a hundred are counted by benchmarks.learning


def test_promotion_never_lowers_what_is_found_later() -> None:
    done = [trial(seed) for seed in range(TRIALS)]
    assert [one.kind for one in done if one.promoted] == ["signal"] * (TRIALS // 3)
    assert all(one.later.scorer > one.later.sigma for one in done if one.promoted)


def test_an_untrained_scorer_ranks_as_sigma_does() -> None:
    draw = np.random.default_rng(1)
    features = draw.random((50, WIDTH)).astype(np.float32)
    needed = features[:, SIGMA] > 0.9
    example = Example(features, np.eye(50, dtype=np.float32)[0], np.ones(50, np.float32), needed, 5)
    scorer, _ = train([example], [], epochs=0)
    assert np.array_equal(np.argsort(scorer.logits(features)), np.argsort(features[:, SIGMA]))
    assert compare(scorer, [example]).points == 0


def test_training_is_the_same_each_time_and_another_with_another_seed() -> None:
    assert scorer_of(1).pack() == scorer_of(1).pack()
    assert scorer_of(1).pack() != scorer_of(5).pack()


def test_a_scorer_is_what_it_was_after_it_was_packed() -> None:
    scorer = scorer_of(1)
    again = Scorer.unpack(scorer.pack())
    features = np.random.default_rng(2).random((20, WIDTH)).astype(np.float32)
    assert again is not None and again.pack() == scorer.pack()
    assert again.score(features) == pytest.approx(scorer.score(features), abs=1e-4)
    assert ((scorer.score(features) > 0) & (scorer.score(features) < 1)).all()
    assert scorer.into.shape == (WIDTH, HIDDEN) == (28, 32)
    assert Scorer.unpack(scorer.pack()[:-4]) is None, "it is of another version"


def test_recall_counts_what_is_needed_among_the_first() -> None:
    features, labels = np.zeros((4, WIDTH), np.float32), np.zeros(4, np.float32)
    case = Example(features, labels, labels, np.array([True, False, True, False]), 4)
    assert recall(case, np.array([0.9, 0.8, 0.1, 0.0]), 2) == 0.25
    assert recall(case, np.array([0.9, 0.0, 0.8, 0.0]), 2) == 0.5
    assert recall(case, np.zeros(4), 1) == 0.25, "of equals the first"


def test_the_loss_falls() -> None:
    draw = np.random.default_rng(0)
    features = draw.random((RANK * 4, WIDTH)).astype(np.float32)
    needed = np.zeros(len(features), np.bool_)
    needed[:3] = True
    features[:, 0] = needed
    example = Example(features, needed.astype(np.float32), np.ones(len(features), np.float32), needed, 3)
    scorer, epoch = train([example] * 20, [example], rank=3)
    assert recall(example, scorer.logits(features), 3) == 1.0 and epoch > 0


def test_training_ends_when_recall_has_not_risen_for_long_enough() -> None:
    features = np.random.default_rng(1).random((20, WIDTH)).astype(np.float32)
    needed = np.ones(20, np.bool_)
    example = Example(features, needed.astype(np.float32), needed.astype(np.float32), needed, 20)
    epochs: list[int] = []
    _, best = train([example], [example], tick=epochs.append)  # all are found at once
    assert (best, epochs) == (0, [*range(1, PATIENCE + 1)])
