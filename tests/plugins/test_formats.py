"""Every visible word of a document comes back, whatever its format, and no word that nobody sees."""

from __future__ import annotations

import pytest

from benchmarks.formats import FORMATS, measure
from plugins import manager


@pytest.mark.parametrize("name", FORMATS)
def test_visible_words_come_back_and_hidden_ones_do_not(name: str, plugins: manager.Plugins) -> None:
    row = measure(name, plugins)
    assert row["visible"] and (row["lost"], row["leaked"]) == ([], [])
