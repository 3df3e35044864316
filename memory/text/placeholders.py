"""Placeholders: what stands in a text where a secret stood, as in "wifi password: ‹password-kdfqrw›".

One says what kind of secret it stands for, in words, so that the line is still found, and which one, in letters that
depend on the secret and on a key that only this memory has: the same secret has the same one everywhere, another
has another, so that a password that changes is a fact that changes. Standard library only: clients fill them in.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

LETTERS = "bcdfghjklmnpqrstvwxz"  # without vowels, so that they are never a word
LENGTH = 6
PLACEHOLDER = re.compile(rf"‹[a-z]+(?:-[a-z]+)?-[{LETTERS}]{{{LENGTH}}}›")


@dataclass(frozen=True, slots=True)
class MaskedSecret:
    """A secret that a placeholder stands for; `line` is its first one in its source, where that has lines."""

    placeholder: str
    kind: str
    value: str = field(repr=False)
    line: int | None = None


def drop_letters(text: str) -> str:
    """The text with the kinds of secrets alone, as an embedder should see it: the letters mean nothing."""
    return PLACEHOLDER.sub(lambda match: match[0][1 : -LENGTH - 2], text) if "‹" in text else text


def find_placeholders(text: str) -> Iterator[str]:
    """The placeholders of a text, in order, each as often as it stands there."""
    return (match[0] for match in PLACEHOLDER.finditer(text))


def fill_placeholders(text: str, secrets: Mapping[str, str]) -> str:
    """The text with the secrets that its placeholders stand for; a placeholder of an unknown one stays."""
    return PLACEHOLDER.sub(lambda match: secrets.get(match[0], match[0]), text)
