"""How many examples a property is tried with."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(share: float, **others: Any) -> settings:
    """So many times the examples of the profile (see conftest.py): a slow property takes half of them, a quick one a
    few times as many. `others`: further settings of hypothesis.
    """
    return settings(max_examples=round(settings.default.max_examples * share), **others)
