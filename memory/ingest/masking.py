"""Secrets are taken out of a document before anything of it is kept: where one stood there is a placeholder.

Everything that follows from a text (episodes, full text, vectors, facts, prompts, traces) follows from the masked one.
Lines stay lines, so that citations still point to theirs. The secrets themselves go into a table of their own.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory.nouns import Document, Turn
from memory.text.placeholders import LENGTH, LETTERS, MaskedSecret
from memory.text.vendor_tokens import SecretKind


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks texts of one memory. `key`: what placeholders depend on beside the secret."""

    key: bytes = field(repr=False)

    def make_placeholder(self, kind: SecretKind, value: str) -> str:
        """What stands for a secret."""
        digest = int.from_bytes(hmac.digest(self.key, f"{kind}\0{value}".encode("utf-8", "surrogatepass"), "sha256"))
        letters = (LETTERS[digest // len(LETTERS) ** place % len(LETTERS)] for place in range(LENGTH))
        return f"‹{kind}-{''.join(letters)}›"

    def mask(self, text: str) -> str:
        """The text with a placeholder for each secret."""
        return self._split(text)[0]

    def mask_document(self, document: Document) -> tuple[Document, tuple[MaskedSecret, ...]]:
        """The document without its secrets, and these."""
        found: list[MaskedSecret] = []
        text, secrets = self._split(document.text)
        found += [replace(one, line=_original(one.line, document.lines)) for one in secrets]
        turns = tuple(self._turn(turn, found) for turn in document.turns)
        title = document.title and self._bare(document.title, found)
        properties = {key: self._value(key, value, found) for key, value in document.properties.items()}
        tags, aliases = (tuple(self._bare(one, found) for one in some) for some in (document.tags, document.aliases))
        if not found:
            return document, ()
        masked = replace(
            document, text=text, turns=turns, title=title, properties=properties, tags=tags, aliases=aliases
        )
        return masked, tuple({one.placeholder: one for one in reversed(found)}.values())

    def _turn(self, turn: Turn, found: list[MaskedSecret]) -> Turn:
        return replace(turn, text=self._bare(turn.text, found))

    def _bare(self, text: str, found: list[MaskedSecret]) -> str:
        """A text that has no line."""
        masked, secrets = self._split(text)
        found += [replace(one, line=None) for one in secrets]
        return masked

    def _value(self, key: str, value: Any, found: list[MaskedSecret]) -> Any:
        """What a property holds: its name is its label."""
        if isinstance(value, Mapping):
            return {name: self._value(name, held, found) for name, held in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._value(key, held, found) for held in value)
        label = f"{key}: "
        written = label + (str(value) if isinstance(value, int | str) and not isinstance(value, bool) else "")
        masked = self._bare(written, found)
        return masked.removeprefix(label) if masked != written else value

    def _split(self, text: str) -> tuple[str, list[MaskedSecret]]:
        pieces: list[str] = []
        secrets: list[MaskedSecret] = []
        done, line = 0, 1
        from memory.text.secrets import find_secrets  # 35 ms, which a start should not pay

        for start, end, kind in find_secrets(text):
            value = text[start:end]
            placeholder = self.make_placeholder(kind, value)
            line += text.count("\n", done, start)
            pieces += [text[done:start], placeholder, "\n" * value.count("\n")]
            secrets.append(MaskedSecret(placeholder, kind, value, line))
            line += value.count("\n")
            done = end
        return "".join([*pieces, text[done:]]), secrets


def _original(line: int | None, lines: Sequence[int] | None) -> int | None:
    return lines[min(line, len(lines)) - 1] if lines and line is not None else line
