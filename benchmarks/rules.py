"""Which rule extracts which fact, and how many of them the gold confirms: a table of `benchmarks.updates`.

The rules are the functions of `memory.facts.rules` that yield relations. While `observe` is open each of them is
replaced by one that notes what it yields; the innermost function is the rule.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from benchmarks import command, data, gold, lifelog
from memory.facts import rules
from memory.facts.extraction import OWNER, ExtractedRelation
from memory.ingest.draft import Drafting
from memory.nouns import Document
from memory.settings import ChunkSettings
from plugins.manager import Plugins

RULE = re.compile(r"(\w+)_facts|_(from_to|arrow)")  # what a function is called that is a rule
NAMES = {"line": "field", "from_to": "change by verb", "arrow": "change by arrow"}

Noted = dict[tuple[str, str, int, int], str]
Rule = Callable[..., Iterable[ExtractedRelation]]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A relation as a rule extracted it from the passage `text` of the source `uri`."""

    rule: str
    relation: ExtractedRelation
    uri: str
    text: str


def extract(documents: Iterable[Document]) -> Iterator[Extracted]:
    """What the rules extract from documents, passage by passage, as an import does."""
    with observe() as noted:
        for document in documents:
            for draft in Drafting(document, ChunkSettings(), None).episodes():
                for relation in draft.extraction.relations:
                    yield Extracted(noted.get(_key(relation), "other"), relation, document.uri, draft.text)
                noted.clear()


@contextmanager
def observe() -> Iterator[Noted]:
    """Notes the rule of each relation that is extracted meanwhile."""
    noted: Noted = {}
    modules = [importlib.import_module(f"{rules.__name__}.{one.name}") for one in pkgutil.iter_modules(rules.__path__)]
    replaced = []
    for module in modules:
        for name, value in [*vars(module).items()]:
            match = RULE.fullmatch(name)
            if match and callable(value):
                rule = match[1] or match[2]
                setattr(module, name, _observed(value, NAMES.get(rule, rule), noted))
                replaced.append((module, name, value))
    try:
        yield noted
    finally:
        for module, name, value in replaced:
            setattr(module, name, value)


def _observed(function: Rule, rule: str, noted: Noted) -> Rule:
    @wraps(function)
    def observed(*arguments: Any, **options: Any) -> Iterator[ExtractedRelation]:
        for relation in function(*arguments, **options):
            noted.setdefault(_key(relation), rule)
            yield relation

    return observed


def _key(relation: ExtractedRelation) -> tuple[str, str, int, int]:
    return relation.subject, relation.object, relation.start, relation.end


def score(plugins: Plugins, persona: Path, times: str = "manifest") -> dict[str, dict[str, int]]:
    """Of each rule: how many relations it `extracted` from a persona's files, how many of them the gold can judge
    (`judged`), and how many of those are `right`.

    A relation is right if a gold fact has its value and its subject or attribute. It is wrong if gold facts have its
    subject and attribute but never that value. Others are not judged.
    """
    files, _ = lifelog.load(persona, times)
    facts = [*data.read_rows(persona / gold.FACTS, gold.FACT)]
    owner = Counter(fact["subject"] for fact in facts).most_common(1)[0][0]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in extract(document for file in files for document in lifelog.read(plugins, file)):
        verdict = _judge(facts, one.relation, owner)
        counts[one.rule].update(extracted=1, judged=verdict is not None, right=verdict is True)
    return {rule: {**count} for rule, count in counts.items()}


def _judge(facts: Sequence[Mapping[str, str]], relation: ExtractedRelation, owner: str) -> bool | None:
    subject = owner if relation.subject == OWNER else relation.subject
    words, is_wrong = _words(f"{subject} {relation.predicate}"), False
    for fact in facts:
        has_subject, has_attribute = (not words.isdisjoint(_words(fact[key])) for key in ("subject", "attribute"))
        if (has_subject or has_attribute) and gold.same(fact["value"], relation.object):
            return True
        is_wrong |= has_subject and has_attribute
    return False if is_wrong else None


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.casefold()) if len(word) > 2)


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Prints a row for each rule, summed over the results, the most frequent first."""
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        for rule, counts in result["rules"].items():
            total[rule].update(counts)
    command.show_table(
        "Facts by the rule that extracts them, all personas",
        [{"rule": rule, **counts, "share": _share(counts)} for rule, counts in sorted(total.items(), key=_frequency)],
        {"rule": "rule", "extracted": "extracted", "judged by the gold": "judged", "right, %": "share"},
    )


def _frequency(row: tuple[str, Counter[str]]) -> int:
    return -row[1]["extracted"]


def _share(counts: Mapping[str, int]) -> float | None:
    return round(100 * counts["right"] / counts["judged"], 1) if counts["judged"] else None
