"""Heads: the edge scorers there are, which of them learns, and how what they learnt is kept and used.

    compact   33 numbers an edge, numpy
    full      4 d + 20 numbers, trained with PyTorch (the extra `local`)

Both are kept as models of one kind, so one of them is in use at a time, whichever gained more, and taking it back goes
on to the one before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memory.protocols import Embedder
from memory.ranker.examples import Revisit
from memory.ranker.full import FullScorer, Shelf, can_train, train_full, triples
from memory.ranker.scorer import Fit, Scorer, train
from memory.retrieval.edge_features import EdgeScorer, HeadName, features
from memory.store import training
from memory.store.connect import Connection
from memory.store.training import Model

KIND = "edge scorer"  # in the table of models
NO_TORCH = "The full scorer learns with PyTorch: pip install 'palimpsest[local]'. Without it the compact one learns."


@dataclass(frozen=True, slots=True)
class Head:
    """What of the edges near a question a head reads, and how it learns (as `scorer.train`)."""

    name: HeadName
    see: Callable[[Revisit], Any]
    train: Callable[..., Fit[Any]]


def heads(dimension: int) -> dict[HeadName, Head]:
    """All of them, for one night and vectors of that many dimensions."""
    shelf = Shelf(dimension)
    return {
        "compact": Head("compact", lambda again: features(again.near, again.walk, again.asked), train),
        "full": Head("full", lambda again: triples(again.near, again.asked, shelf), train_full),
    }


def chosen(wanted: HeadName) -> tuple[HeadName, str]:
    """Which head can learn here, and a sentence why it is another one than `wanted`, if so."""
    return ("compact", NO_TORCH) if wanted == "full" and not can_train() else (wanted, "")


def kind(embedder: str) -> str:
    """What the models are kept as: vectors of one embedder mean nothing to another."""
    return f"{KIND}, {embedder}"


def unpacked(model: Model | None, dimension: int) -> EdgeScorer | None:
    """The scorer that was kept, of whichever head it is; None if it is of another version, or of other vectors."""
    return None if model is None else FullScorer.unpacked(model.params, dimension) or Scorer.unpacked(model.params)


def load(conn: Connection, embedder: Embedder) -> EdgeScorer | None:
    """The scorer in use with this embedder."""
    return unpacked(training.active(conn, kind(embedder.name)), embedder.dimension)


def undo(conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
    """Takes the scorer in use back; what is used now, if there was one before it. None if none was used."""
    return training.undo(conn, kind(embedder))
