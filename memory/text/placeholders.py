"""Placeholders: the text in place of a secret, as in "wifi password: ‹password-kdfqrw›".

A placeholder names the kind of the secret in words, so that its line can be found, and identifies the secret by letters
derived from it and a key of this memory: equal secrets get equal letters, so that a changed password is a changed fact.
Standard library only: clients fill placeholders in."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

LETTERS = "bcdfghjklmnpqrstvwxz"  # without vowels: never a word
LENGTH = 6
PLACEHOLDER = re.compile(rf"‹[a-z]+(?:-[a-z]+)?-[{LETTERS}]{{{LENGTH}}}›")


@dataclass(frozen=True, slots=True)
class MaskedSecret:
    """The secret of a placeholder; `line` is its first line in its source, if that has lines."""

    placeholder: str
    kind: str
    value: str = field(repr=False)
    line: int | None = None


def drop_letters(text: str) -> str:
    """Returns the text with the kinds of secrets only, for embedding: the letters carry no meaning."""
    return PLACEHOLDER.sub(lambda match: match[0][1 : -LENGTH - 2], text)


def find_placeholders(text: str) -> Iterator[str]:
    """Returns the placeholders of a text in order, with repetitions."""
    return (match[0] for match in PLACEHOLDER.finditer(text))


def fill_placeholders(text: str, secrets: Mapping[str, str]) -> str:
    """Returns the text with secrets in place of known placeholders."""
    return PLACEHOLDER.sub(lambda match: secrets.get(match[0], match[0]), text)
