"""Docstrings are plain English: the number with an idiom of the list may only fall."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import memory

ROOT = Path(memory.__file__).parent.parent
PACKAGES = ("memory", "plugins", "daemon", "tui")

# Lower it with the count; never raise it.
MOST_DOCSTRINGS = 8

# Each has a plainer way: "told" -> given, shown; "stands" -> is; "beside" -> next to; "behind" -> after;
# "that is none" -> otherwise; "as it is" -> unchanged; "so many" -> the number; "of which" -> a new sentence.
IDIOMS = (
    r"told",
    r"(?:tells?|speaks?|spoken|says?|said) of",
    r"says? (?:so|nothing)",
    r"stands?(?! for)",
    r"stood",
    r"beside",
    r"behind",
    r"anew",
    r"mend(?:s|ed|ing)?",
    r"held",
    r"but for",
    r"for want of",
    r"that (?:is|are|was|were|has|have|had|holds?|says?) none",
    r"(?<!there )(?:is|are|was|were|has|have|had) (?-i:none)",
    r"there (?:is|are|was|were) nothing",
    r"(?:some|any)body else's",
    r"of (?:his|her|its|our|their|one's) own",
    r"as (?:it|they) (?:is|are|was|were|stands?)",
    r"what (?:there )?(?:is|was) (?:there|to be)",
    r"what (?:is|are|was|were) \w+(?:ed|en|id)",
    r"so (?:many|much|few)(?! (?:that|as))",
    r"(?:of|for|to|by|from|with|in) (?:whom|whose)",
    r"of which",
    r"one's",
    r"nobody's",
    r"(?:goes?|comes?) (?:by|of|with|without)",
    r"(?:where|here|there)(?:of|in|by|upon|with)",
)
IDIOM = re.compile(rf"\b(?:{'|'.join(IDIOMS)})\b", re.IGNORECASE)


def docstrings() -> Iterator[tuple[str, str]]:
    """(place, docstring) of every module, class and function of the product."""
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
                text := ast.get_docstring(node)
            ):
                line = getattr(node, "lineno", 1)
                yield f"{path.relative_to(ROOT)}:{line}", " ".join(text.split())


def test_docstrings_with_an_idiom_become_fewer() -> None:
    places = [f"{place}: {match[0]}" for place, text in docstrings() if (match := IDIOM.search(text))]
    assert len(places) <= MOST_DOCSTRINGS, "\n".join(places)


def test_an_idiom_is_recognized() -> None:
    assert IDIOM.search("Mend what stands beside it.")
    assert not IDIOM.search("Repair the neighbouring lines. A standard stands for a term.")
