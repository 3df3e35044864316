"""Removes secrets from a document before anything of it is stored, leaving placeholders.

All derived data (episodes, full text, vectors, facts, prompts, traces) comes from the masked text. Line numbers stay
the same for citations. The secrets are stored in their own table."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory.nouns import Document
from memory.text.placeholders import LENGTH, LETTERS, MaskedSecret
from memory.text.secret_lines import SecretKind

MIN_NAMED_CHARS = 6  # of a secret that is looked for in a name; a shorter one may be a part of a date or number


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks texts of one memory. `key`: the key of its placeholders."""

    key: bytes = field(repr=False)

    def make_placeholder(self, kind: SecretKind, value: str) -> str:
        """Returns the placeholder of a secret."""
        digest = int.from_bytes(hmac.digest(self.key, f"{kind}\0{value}".encode("utf-8", "surrogatepass"), "sha256"))
        letters = (LETTERS[digest // len(LETTERS) ** place % len(LETTERS)] for place in range(LENGTH))
        return f"‹{kind}-{''.join(letters)}›"

    def mask(self, text: str) -> str:
        """Returns the text with placeholders for its secrets."""
        return self._split(text)[0]

    def mask_document(self, document: Document) -> tuple[Document, tuple[MaskedSecret, ...]]:
        """Returns (document without its secrets, the secrets)."""
        collected: list[MaskedSecret] = []
        text, secrets = self._split(document.text)
        collected += [replace(secret, line=_map_line(secret.line, document.lines)) for secret in secrets]
        turns = tuple(
            replace(turn, text=self._mask_text(turn.text, collected), speaker=self._mask_text(turn.speaker, collected))
            for turn in document.turns
        )
        title, speaker, conversation = (
            name and self._mask_text(name, collected)
            for name in (document.title, document.speaker, document.conversation)
        )
        path, mark, part = document.uri.partition("#") if document.kind in ("file", "chat") else ("", "", document.uri)
        name = self._mask_text(part, collected)  # of a part of a file (a subject, a heading) or of a note
        properties = {key: self._mask_value(key, value, collected) for key, value in document.properties.items()}
        tags, aliases = (
            tuple(self._mask_text(name, collected) for name in names) for names in (document.tags, document.aliases)
        )
        if not collected:
            return document, ()
        for secret in collected:  # where its reader replaced characters around it, or the text has them escaped
            if len(secret.value) >= MIN_NAMED_CHARS:
                name = name.replace(secret.value, secret.placeholder)
                text = text.replace(secret.value, secret.placeholder) if secret.line is None else text
        masked = replace(
            document, uri=f"{path}{mark}{name}", text=text, turns=turns, title=title, speaker=speaker,
            conversation=conversation, properties=properties, tags=tags, aliases=aliases,
        )  # fmt: skip
        return masked, tuple({secret.placeholder: secret for secret in reversed(collected)}.values())

    def _mask_text(self, text: str, collected: list[MaskedSecret]) -> str:
        """Masks a text without line numbers."""
        masked, secrets = self._split(text)
        collected += [replace(secret, line=None) for secret in secrets]
        return masked

    def _mask_value(self, key: str, value: Any, collected: list[MaskedSecret]) -> Any:
        """Masks the value of a property, whose name is its label."""
        if isinstance(value, Mapping):
            return {name: self._mask_value(name, item, collected) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._mask_value(key, item, collected) for item in value)
        label = f"{key}: "
        written = label + (str(value) if isinstance(value, int | str) and not isinstance(value, bool) else "")
        masked = self._mask_text(written, collected)
        return masked.removeprefix(label) if masked != written else value

    def _split(self, text: str) -> tuple[str, list[MaskedSecret]]:
        pieces: list[str] = []
        secrets: list[MaskedSecret] = []
        done, line = 0, 1
        from memory.text.secrets import find_secrets  # 35 ms, too slow for the start of the daemon

        for start, end, kind in find_secrets(text):
            value = text[start:end]
            placeholder = self.make_placeholder(kind, value)
            line += text.count("\n", done, start)
            pieces += [text[done:start], placeholder, "\n" * value.count("\n")]
            secrets.append(MaskedSecret(placeholder, kind, value, line))
            line += value.count("\n")
            done = end
        return "".join([*pieces, text[done:]]), secrets


def _map_line(line: int | None, lines: Sequence[int] | None) -> int | None:
    return lines[min(line, len(lines)) - 1] if lines and line is not None else line
