"""The diagnosis over the socket."""

from __future__ import annotations

from daemon import wire
from daemon.client.client import Client
from memory.trace import Diagnosis
from tests.daemon.conftest import answer


def test_it_is_computed_from_what_was_asked(client: Client) -> None:
    assert client.diagnosis().questions == 0
    client.remember("Marta Ferraz moved to Porto in March. She keeps a bakery.", title="Marta")
    assert not answer(client, "Where did Marta Ferraz move to in March?").no_answer
    assert answer(client, "What is the boiling point of tungsten hexafluoride?").no_answer
    found = client.diagnosis()
    assert (found.questions, found.no_answer_rate, found.seed_hit_rate) == (2, 0.5, 1)
    assert found.reachability == (1, 1, 1)
    coverage = next(failure for failure in found.failures if failure.name == "coverage")
    assert (coverage.questions, coverage.unanswered) == (1, 1)
    assert coverage.example == "What is the boiling point of tungsten hexafluoride?"
    assert "pal add PATH" in coverage.repair


def test_the_wire_has_the_noun_itself() -> None:
    assert wire.Diagnosis is Diagnosis
