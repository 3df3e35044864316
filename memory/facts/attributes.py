"""Attributes of the owner: what "my phone", "I live" and "my sister" ask for, in the words of each language. An
attribute is a slot of a profile; relatives are attributes whose value is a person."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from email.utils import getaddresses
from functools import cache
from typing import Any

from memory.text.languages import ENGLISH, tables, word_set
from memory.text.words import words

FAMILY = frozenset(
    "wife husband partner daughter son child mother father parent sister brother grandmother grandfather aunt uncle"
    " cousin niece nephew".split()
)
# Attributes that any person has; in a note about something they are not the writer's.
CONTACT = frozenset(("name", "birthday", "address", "phone", "email", "employer", "role", "bank"))
_FIELD = re.compile(
    r"^[ \t*_+•-]{0,8}(?P<key>[^\W\d_][^:\n]{0,30}?)[*_]{0,2}:[*_]{0,2}[ \t]+(?P<value>\S[^\n]{0,100})$", re.MULTILINE
)
MIN_MAILS = 2  # to tell whose mailbox it is
_ADDRESS_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_GROUPS = {"child": ("daughter", "son", "child"), "parent": ("mother", "father", "parent")}


@cache
def _keys(table: str) -> dict[str, str]:
    return {word: key for listed in tables("owner", table) for key, forms in listed.items() for word in forms.split()}


def attribute_of(label: str) -> str | None:
    """Returns the attribute that a label's last words name: "phone" of "mobile phone number"; None without one."""
    keys = _keys("attributes") | _keys("people")
    keyed = [keys[word] for word in words(label.replace("-", "")) if word in keys]
    return "email" if "email" in keyed[:-1] and keyed[-1] == "address" else keyed[-1] if keyed else None


@cache
def attribute_words(attribute: str, language: str | None = None) -> frozenset[str]:
    """Returns the words of a language, or of all, for an attribute and those it may stand for."""
    return frozenset(
        word
        for table in ("attributes", "people")
        for listed in tables("owner", table, language=language)
        for key in people_meant(attribute)
        for word in listed.get(key, "").split()
    )


def person_of(label: str) -> str | None:
    """Returns a person's relation to the owner by a word of any language: "mother" of "mum"; None for other words."""
    return _keys("people").get(label.casefold().strip())


def people_meant(key: str) -> tuple[str, ...]:
    """Returns the attributes that one may stand for: a child is a daughter or a son."""
    return _GROUPS.get(key, (key,))


def is_about_owner(title: str) -> bool:
    """Whether a note's title says that it is about its writer."""
    return title.split(" › ")[0].strip(" #*").casefold() in _titles()


@cache
def _titles() -> frozenset[str]:
    return frozenset(title for listed in tables("owner", "notes") for title in listed)


def title_spellings() -> list[str]:
    """Returns the possible titles of a note about its writer."""
    return sorted({form for title in _titles() for form in (title, title.capitalize(), title.title(), title.upper())})


def list_own_names(properties: Mapping[str, Any], text: str) -> list[str]:
    """Returns the writer's names in a note about them: from its properties or fields."""
    names = [str(value) for key, value in properties.items() if attribute_of(str(key)) == "name" and value]
    names += [match["value"] for match in _FIELD.finditer(text) if attribute_of(match["key"]) == "name"]
    return list(dict.fromkeys(name.strip(" *_") for name in names if any(c.isalpha() for c in name)))


@cache
def people_words(language: str) -> str:
    """Returns the words of a language for people, as alternatives of a regular expression."""
    [table] = tables("owner", "people", language=language) or tables("owner", "people", language=ENGLISH)
    listed = sorted({word for forms in table.values() for word in forms.split()}, key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, listed))


def owner_pattern(key: str, language: str) -> str:
    """Returns the regular expression under `key` of a language's words for the owner, or of English ones."""
    return str((tables("owner", key, language=language) or tables("owner", key, language=ENGLISH))[0])


def owner_words(key: str) -> frozenset[str]:
    """Returns the words under `key` in all languages."""
    return word_set("owner", key)


def mailbox_owner(mails: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Returns the names of the main addressee of a mailbox, given From and To of each mail; empty if unclear. More than
    half of the mails that they did not write, and at least MIN_MAILS, are addressed to them."""
    to, own, called = Counter[str](), Counter[str](), dict[str, Counter[str]]()
    for sender, receivers in mails:
        writers = {part for name, address in getaddresses([sender]) for part in (name.casefold(), address.casefold())}
        for name, address in {(name.strip(), address.casefold()) for name, address in getaddresses([receivers])}:
            if address:
                to[address] += 1
                called.setdefault(address, Counter())[name] += bool(name)
        own.update(writers - {""})
    best = to.most_common(2)
    if not best or best[0][1] < MIN_MAILS or (len(best) == 2 and best[1][1] == best[0][1]):
        return ()
    address, count = best[0]
    names = sorted((name for name, n in called[address].items() if n), key=lambda name: (-called[address][name], name))
    written = max(own[part] for part in (address, *(name.casefold() for name in names)))
    if 2 * count <= len(mails) - written:
        return ()
    words = _ADDRESS_WORD.findall(address.partition("@")[0])
    return tuple(names) or tuple(
        word.title() for word in words if len(word) > 2 and word not in word_set("analysis", "mailboxes")
    )
