"""Every test that docs/trust.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

TRUST = Path(__file__).parents[2] / "docs" / "trust.md"


def test_the_matrix_names_tests_that_exist() -> None:
    rows = re.findall(r"^\| [A-Z]\d+ \|.*$", TRUST.read_text("utf-8"), re.MULTILINE)
    named = [re.findall(r"`([\w/]+)(?:::(\w+))?`", row) for row in rows]
    assert all(bool(names) != ("not tried" in row) for row, names in zip(rows, named, strict=True))
    for module, test in (name for names in named for name in names):
        source = TRUST.parent.parent / "tests" / f"{module}.py"
        assert source.exists() and (not test or f"def {test}(" in source.read_text("utf-8")), (module, test)
    assert len(rows) == 92 and sum("not tried" in row for row in rows) == 2
