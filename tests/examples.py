"""How many examples a property is tried with, and how many rounds a fault is provoked in."""

from __future__ import annotations

import math
import os
from typing import Any

from hypothesis import settings


def examples(share: float, **others: Any) -> settings:
    """So many times the examples of the profile (see conftest.py): a slow property takes half of them, a quick one a
    few times as many. `others`: further settings of hypothesis.
    """
    return settings(max_examples=math.ceil(settings.default.max_examples * share), **others)


def rounds(count: int) -> int:
    """Under `make soak` so many of them, as many times as it says; else a quarter. Tests that ask are marked "soak"."""
    return math.ceil(count * float(os.environ.get("SOAK_TIMES", "0.25")))
