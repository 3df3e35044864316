"""The traversers other than spread. Importing this imports none of the walk code.

What the papers ask of a language model before a walk, such as finding the question's objects, is done by rule.
"""

from collections.abc import Callable
from typing import Any

from plugins.hookspecs import hookimpl, import_late
from plugins.settings import TraverserSettings
from plugins.traversers.contract import Traversal

MODULES = {  # of each traverser
    "beam": "beam", "circles": "circles", "paths": "paths", "one_hop": "rlm", "heuristic": "rlm", "entities": "reg",
    "sketches": "reg", "synergy": "synergy",
}  # fmt: skip


@hookimpl
def register_traversers(register: Callable[[Traversal], None]) -> None:
    sketch_paths = import_late("plugins.traversers.reg", "sketch_paths")
    for name, module in MODULES.items():
        consult = (lambda: sketch_paths) if name == "sketches" else None
        register(Traversal(name, _bind(module, name), consult=consult))


def _bind(module: str, name: str) -> Callable[[TraverserSettings], Any]:
    """Makes what walks: a function of a module, which is imported then; it gets its settings last."""
    run = import_late(f"plugins.traversers.{module}", name)
    return lambda settings: lambda graph, seeds, allowed, _: run(graph, seeds, allowed, settings)
