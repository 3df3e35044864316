"""How many examples a property is tried with, and how many rounds a fault is provoked in."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings


def examples(share: float, **others: Any) -> settings:
    """So many times the examples of the profile (see conftest.py): a slow property takes half of them, a quick one a
    few times as many. `others`: further settings of hypothesis.
    """
    return settings(max_examples=round(settings.default.max_examples * share), **others)


def rounds(count: int) -> int:
    """So many of them, and under `make soak` so many times more as it says. Tests that ask are marked "soak"."""
    return count * int(os.environ.get("SOAK_TIMES", "1"))
