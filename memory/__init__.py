"""A person's memory in one SQLite file: episodes, theses and objects as one hypergraph.

`Memory` is loaded when it is first asked for: a client process that only needs the nouns or the settings
must not pay for numpy and the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.memory import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    if name == "Memory":
        from memory.memory import Memory

        return Memory
    raise AttributeError(f"module 'memory' has no attribute {name!r}")
