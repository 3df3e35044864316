from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STATEMENT = re.compile(r"\.execute(many|script)?\(")


def test_all_sql_is_in_the_store() -> None:
    elsewhere = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in ("memory", "plugins", "daemon", "tui")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.is_relative_to(ROOT / "memory" / "store")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if STATEMENT.search(line)
    ]
    assert elsewhere == []
