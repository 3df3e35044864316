"""Labels: which edges a question needed, by what its answer cited (after ReG's weak supervision)."""

import numpy as np

from memory.store.training import Label, Lesson
from plugins.traversers.subgraph import Subgraph

CITED, SAID_RIGHT, SHOWN, RANDOM = 1.5, 3.0, 0.5, 0.2  # what a label counts
NEGATIVES = 64  # random edges of a question that count as not needed


def label_from_trace(lesson: Lesson, near: Subgraph) -> list[Label]:
    """Labels from the trace alone. Needed: edges that led to a citation, with a higher weight if a person called the
    answer right. Not needed: edges shown with them, and a random sample of other near edges, the same each time."""
    by_person = lesson.feedback == 1
    weight, origin = (SAID_RIGHT, "feedback") if by_person else (CITED, "citation")
    labels_found = [Label(lesson.trace_id, edge, 1.0, weight, origin) for edge in lesson.needed]  # type: ignore[arg-type]
    labels_found += [Label(lesson.trace_id, edge, 0.0, SHOWN, "shown") for edge in lesson.shown]
    unused = near.edges[~np.isin(near.edges, [*lesson.needed, *lesson.shown])]
    draw = np.random.default_rng(lesson.trace_id)
    sample = np.sort(draw.permutation(unused)[:NEGATIVES]).tolist()
    return labels_found + [Label(lesson.trace_id, edge, 0.0, RANDOM, "random") for edge in sample]
