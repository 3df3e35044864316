"""What a machine can hold of the names: field terms, verbs for what acts, one class for one name."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import memory

ROOT = Path(memory.__file__).parent.parent
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


def modules(*packages: str) -> Iterator[tuple[Path, ast.Module]]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


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
        for path, tree in modules("memory", "plugins", "daemon", "tui")
        for node in public_functions(tree)
        if is_bare(node.name)
    ]
    assert bare == []


def test_a_name_of_a_class_stands_for_one_class() -> None:
    names = Counter(
        node.name
        for _, tree in modules("memory")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_the_words_for_bare_names_tell_them_from_verbs_and_nouns() -> None:
    assert all(map(is_bare, ("told", "found", "behind", "again", "left", "asked", "switching", "of")))
    assert not any(map(is_bare, ("embed", "seed", "top_k", "retrieve", "read", "string", "assert_facts", "by_id")))
