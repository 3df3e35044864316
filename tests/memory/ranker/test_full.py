"""The head over the vectors: what it reads, that it learns, and that numpy says what PyTorch says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from memory.graph.arrays import Floats
from memory.graph.subgraph import nearby
from memory.ranker.full import ENCODED, FullScorer, Shelf, Triples, encoding, torch_logits, train_full, triples, width
from memory.ranker.heads import heads, unpacked
from memory.ranker.scorer import Case, Example, Scorer, compare
from memory.retrieval.edge_embeddings import Told, Wording
from memory.retrieval.edge_features import Asked, sigma
from memory.store.schema_first import FIRST_EDGE
from memory.store.training import Model
from tests.memory.ranker.trials import scorer_of
from tests.memory.retrieval.walking import fits, related

needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="the extra `local` is not installed")
D = 8
ENDS, EDGES = 12, 40


def scorer(seed: int, dimension: int = D) -> FullScorer:
    draw = np.random.default_rng(seed)
    shapes = [(width(dimension), dimension), (dimension,), (dimension,)]
    return FullScorer(*(draw.normal(size=shape).astype(np.float32) for shape in shapes))


def question(draw: np.random.Generator, shelf: Shelf) -> tuple[Example[Triples], Case[Triples]]:
    """The edges of one question, of four relations; needed are those of the first, which only its vector tells."""
    said = draw.integers(0, 4, EDGES)
    seen = Triples(
        shelf,
        draw.normal(size=D).astype(np.float32),
        shelf.put([draw.integers(2**62) for _ in range(ENDS)], draw.normal(size=(ENDS, D)).astype(np.float32)),
        draw.random((ENDS, ENCODED)).astype(np.float32),
        shelf.put(["needed", "one", "two", "three"], np.eye(D, dtype=np.float32)[:4]),
        draw.integers(0, ENDS, EDGES),
        draw.integers(0, ENDS, EDGES),
        said,
    )
    needed = said == 0
    rows = np.sort(draw.permutation(EDGES)[:30])
    weights = np.where(needed, 1.0, 0.2).astype(np.float32)[rows]
    example = Example(seen[rows.tolist()], needed[rows].astype(np.float32), weights)
    return example, Case(seen, draw.random(EDGES).astype(np.float32), needed, int(needed.sum()))


def world(seed: int, questions: int) -> list[tuple[Example[Triples], Case[Triples]]]:
    draw, shelf = np.random.default_rng(seed), Shelf(D)
    return [question(draw, shelf) for _ in range(questions)]


@needs_torch
def test_it_learns_what_only_vectors_tell() -> None:
    asked = world(1, 60)
    fit = train_full([example for example, _ in asked[:40]], [case for _, case in asked[40:50]], rank=8)
    gain = compare(fit.scorer, [case for _, case in asked[50:]], 8)
    assert fit.epoch > 0
    assert gain.scorer > 0.7 > 0.4 > gain.sigma


@needs_torch
def test_training_is_the_same_each_time_and_another_with_another_seed() -> None:
    examples, held = [example for example, _ in world(2, 8)], [case for _, case in world(3, 4)]
    one, again, other = (train_full(examples, held, seed, epochs=3, rank=8).scorer for seed in (1, 1, 2))
    assert one.packed() == again.packed() != other.packed()


@needs_torch
def test_numpy_says_what_pytorch_says() -> None:
    import torch

    one = scorer(4, 64)
    draw, shelf = np.random.default_rng(5), Shelf(64)
    seen = Triples(
        shelf, _unit(draw, 1, 64)[0], shelf.put(range(50), _unit(draw, 50, 64)),
        draw.random((50, ENCODED)).astype(np.float32), shelf.put(["a", "b"], _unit(draw, 2, 64)),
        draw.integers(0, 50, 300), draw.integers(0, 50, 300), draw.integers(0, 2, 300),
    )  # fmt: skip
    with torch.no_grad():
        found = torch_logits([torch.from_numpy(part) for part in (one.into, one.bias, one.out)], seen).numpy()
    assert np.abs(found).max() > 1
    assert one.logits(seen) == pytest.approx(found, rel=1e-5, abs=1e-5)


def _unit(draw: np.random.Generator, rows: int, dimension: int) -> Floats:
    found = draw.normal(size=(rows, dimension))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_some_of_the_edges_read_as_they_did_among_all() -> None:
    _, case = world(6, 1)[0]
    rows = [3, 3, 17, 20]
    few = case.features[rows]
    assert len(few.ends) <= 6
    assert np.array_equal(few.dense(), case.features.dense()[rows])
    assert scorer(1).logits(few) == pytest.approx(scorer(1).logits(case.features)[rows], rel=1e-4)


def test_a_shelf_keeps_each_vector_once() -> None:
    shelf = Shelf(2)
    rows = shelf.put(["a", "b", "a"], np.array([[1, 0], [0, 1], [5, 5]], np.float32))
    assert rows.tolist() == [0, 1, 0] and shelf[rows].tolist() == [[1, 0], [0, 1], [1, 0]]
    many = shelf.put(range(1000), np.repeat(np.arange(1000, dtype=np.float32)[:, None], 2, 1))
    assert shelf[many][:, 0].tolist() == list(range(1000)) and shelf[rows][1].tolist() == [0, 1]


def test_an_edge_is_read_as_question_head_relation_and_tail() -> None:
    edges = {FIRST_EDGE + 101: (1, 2), FIRST_EDGE + 102: (2, 3), FIRST_EDGE + 103: (4, 2)}
    walk = related(edges)
    near = nearby(walk, [1, 3, 4], fits())
    words = {"Ana": [1.0, 0.0], "knows": [0.0, 1.0], "rel": [0.5, 0.5]}

    def embed(texts: Sequence[str]) -> Floats:
        return np.array([words[text] for text in texts], np.float32)

    wording = Wording(
        walk.graph, None, 2, embed, lambda nodes: dict.fromkeys(nodes, "Ana"),
        lambda asked: {edge: Told("knows") for edge in asked if edge == FIRST_EDGE + 101},
        lambda: np.array([0.25, 0.75], np.float32),
    )  # fmt: skip
    asked = Asked([1], fits(), wording, {}, 0)
    seen = triples(near, asked)
    assert seen is not None
    found = seen.dense()
    assert found.shape == (3, width(2)) == (3, 4 * 2 + 20)
    of_start, of_next = encoding(near, [1])[[0, 1]].tolist()
    assert found[0].tolist() == [0.25, 0.75, 1, 0, *of_start, 0, 1, 1, 0, *of_next]
    assert found[1, 14:16].tolist() == [0.5, 0.5], "nobody knows its predicate, so it is called as its kind is"
    assert triples(near, replace(asked, wording=None)) is None
    plain = scorer(1, 2).near(near, walk, replace(asked, wording=None))
    assert np.array_equal(plain, sigma(near, fits())), "relevance, where nobody knows what edges say"


def test_distances_tell_starts_from_others_and_nothing_from_either() -> None:
    walk = related({FIRST_EDGE + 101: (1, 2), FIRST_EDGE + 102: (2, 3), FIRST_EDGE + 103: (4, 2)})
    near = nearby(walk, [1, 3, 4], fits())
    found = encoding(near, [1])
    assert found.shape == (4, ENCODED)
    assert found[:, :2].tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]
    assert found[:, 2:4].tolist() == [[0, 0], [0.5, 0.5], [0, 1], [0, 0]], "where nothing arrives it is neither"
    assert found[:, 4:6].tolist() == [[0, 0], [0, 0], [0.5, 0.5], [0, 0]]
    assert found[:, 6:8].tolist() == [[0, 1], [0, 1], [0, 0], [0, 1]]


def test_one_head_does_not_read_what_another_wrote() -> None:
    compact, full = scorer_of(1), scorer(1)
    assert Scorer.unpacked(full.packed()) is None and FullScorer.unpacked(compact.packed(), D) is None
    assert FullScorer.unpacked(full.packed(), D + 1) is None, "it is of other vectors"
    assert FullScorer.unpacked(full.packed()[:-4], D) is None
    for dimension in range(1, 40):
        assert Scorer.unpacked(scorer(1, dimension).packed()) is None
    for one in (compact, full):
        again = unpacked(Model(1, "edge scorer", 1, one.packed(), {}, True), D)
        assert again is not None and (again.head, again.packed()) == (one.head, one.packed())
    assert unpacked(Model(1, "edge scorer", 1, b"something else", {}, True), D) is None
    assert set(heads(D)) == {"compact", "full"}
