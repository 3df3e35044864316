"""What the first start asks of the owner."""

from __future__ import annotations

import pytest

from daemon.setup import read_answer


@pytest.mark.parametrize(
    ("key", "answer", "statements"),
    [
        ("name", "  Ada Berg ", {"name": "Ada Berg"}),
        ("name", " ", {}),
        ("family", "", {}),
        ("family", "daughter Ife, Partner Jonas Ek,daughter Mia", {"daughter": "Ife and Mia", "partner": "Jonas Ek"}),
        ("family", "Jonas", {"family": "Jonas"}),
        ("family", "daughter ife", {"daughter": "ife"}),
        ("family", "Bo is my husband; Kim is my daughter", {"family": "Bo is my husband; Kim is my daughter"}),
    ],
)
def test_an_answer_is_statements(key: str, answer: str, statements: dict[str, str]) -> None:
    assert read_answer(key, answer) == statements
