"""What a machine can hold of words. Docstrings are plain English: the number with an idiom of the list may only fall.
Names are field terms, verbs for what acts, and one class for one name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
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


@cache
def modules(package: str) -> dict[Path, ast.Module]:
    paths = sorted((ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in paths}


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The module and all its statements, without the expressions in them."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, part, ())


def docstrings() -> Iterator[tuple[str, str]]:
    """(place, docstring) of every module, class and function of the product."""
    for path, tree in (item for package in PACKAGES for item in modules(package).items()):
        for node in statements(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
                text := ast.get_docstring(node)
            ):
                line = getattr(node, "lineno", 1)
                yield f"{path}:{line}", " ".join(text.split())


def test_docstrings_with_an_idiom_become_fewer() -> None:
    places = [f"{place}: {match[0]}" for place, text in docstrings() if (match := IDIOM.search(text))]
    assert len(places) <= MOST_DOCSTRINGS, "\n".join(places)


def test_an_idiom_is_recognized() -> None:
    assert IDIOM.search("Mend what stands beside it.")
    assert not IDIOM.search("Repair the neighbouring lines. A standard stands for a term.")


PARTICIPLES = frozenset(
    """begun born bound bought brought built caught chosen cut done drawn driven drunk eaten fallen felt forgotten found
    given gone grown heard held hidden hit kept known laid learnt led left lent let lost made meant met paid put read
    risen said seen sent set shown shut spent split spoken sold stood stolen struck taken taught thought thrown told
    understood won worn woven written""".split()
) - frozenset("cut hit let put read set shut split".split())  # these are verbs as well
PREPOSITIONS = frozenset(
    """about above across after against along amid among around as at before behind below beneath beside between beyond
    by despite down during except for from in inside into like near of off on onto onward out outside over past per
    since than through throughout till to toward towards under until up upon via with within without""".split()
)
ADVERBS = frozenset(
    """again ago ahead alone already also altogether always anew apart aside away back beforehand else enough ever
    everywhere forth further hence here however instead later maybe meanwhile moreover much nearby never newly next now
    often once only otherwise perhaps quite rather soon still then there thereby together too twice very well whence
    whole yet""".split()
) - frozenset(["next"])
NOT_PARTICIPLES = frozenset("embed feed need proceed seed speed exceed succeed bed red".split())
NOUNS_IN_ING = frozenset("ring string thing wording building meeting reading writing setting heading".split())


def is_bare(name: str) -> bool:
    """Whether a function's name is one word that neither acts nor names a thing: told, behind, again, switching."""
    return (
        name in PARTICIPLES | PREPOSITIONS | ADVERBS
        or ("_" not in name and name.endswith("ed") and name not in NOT_PARTICIPLES)
        or ("_" not in name and name.endswith("ing") and len(name) > 5 and name not in NOUNS_IN_ING)
    )


def public_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions of the module and methods of its classes that are called by name: neither properties, which may be
    adjectives, nor commands, which are named for who types them."""
    waiting: list[ast.stmt] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.If | ast.Try | ast.With):
            waiting += node.body
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            decorators = [ast.unparse(one) for one in node.decorator_list]
            if not any(one.endswith(("property", ".setter")) or ".command(" in one for one in decorators):
                yield node


def test_no_public_function_is_a_bare_participle_preposition_or_adverb() -> None:
    bare = [
        f"{path}:{node.lineno} {node.name}"
        for package in PACKAGES
        for path, tree in modules(package).items()
        for node in public_functions(tree)
        if is_bare(node.name)
    ]
    assert bare == []


def test_a_name_of_a_class_stands_for_one_class() -> None:
    names = Counter(
        node.name
        for tree in modules("memory").values()
        for node in statements(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_the_words_for_bare_names_tell_them_from_verbs_and_nouns() -> None:
    assert all(map(is_bare, ("told", "found", "behind", "again", "left", "asked", "switching", "of")))
    assert not any(map(is_bare, ("embed", "seed", "top_k", "retrieve", "read", "string", "assert_facts", "by_id")))
