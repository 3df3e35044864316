"""Completions of a half-typed command, path, name or limit; those from the daemon are requested elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from daemon import wire
from daemon.terminal import count
from tui.actions import Completes, commands, find_command, find_commands
from tui.fuzzy import rank
from tui.session import Limit, parse_day
from tui.wording import day, short_path

MEANINGS = {  # of the services that `daemon.setup` can connect
    "ollama": "On this machine: private and free. Get it at ollama.com.",
    "openai": "llama.cpp, LM Studio, vLLM and others, here or elsewhere.",
    "anthropic": "Elsewhere, paid by the token, with a key of your account.",
}
_LIMIT = re.compile(r"(?:^|(?<=\s))([@#])([^\s@#]*)$")


class Typing(NamedTuple):
    """The word before the cursor: `query`, which begins at `start` on its line. `command` is the usage of the command
    whose argument it is."""

    kind: Completes | Literal["command", "limit", "tag", "usage"]
    query: str
    row: int
    start: int
    command: str = ""


class Suggestion(NamedTuple):
    """A completion: `text` to insert, or a `limit` of the questions; neither for a mere hint. With `is_whole` nothing
    needs to follow."""

    label: str
    detail: str = ""
    text: str | None = None
    limit: Limit | None = None
    is_whole: bool = True

    @property
    def can_be_taken(self) -> bool:
        return self.text is not None or self.limit is not None


def find_typing(text: str, row: int, column: int) -> Typing | None:
    """Returns the word at the cursor that can be completed; None for plain words."""
    line = text.split("\n")[row][:column]
    if text.startswith("/") and "\n" not in text:
        head, space, argument = line.partition(" ")
        if not space:
            return Typing("command", head[1:], 0, 0) if head[1:].isalpha() or head == "/" else None
        action = find_command(head[1:])
        if action is None or not action.argument:
            return None
        start = len(line) - len(argument.lstrip())
        return Typing(action.completes or "usage", line[start:], 0, start, action.usage)
    match = _LIMIT.search(line)
    return match and Typing("limit" if match[1] == "@" else "tag", match[2], row, match.start())


def suggest_now(typing: Typing) -> list[Suggestion] | None:
    """Returns the completions without the daemon; None if it is needed."""
    match typing.kind:
        case "command":
            return [
                Suggestion(
                    action.usage,
                    action.sentence,
                    f"/{action.slash}{' ' if action.argument else ''}",
                    is_whole=not action.needs_argument,
                )
                for action in find_commands(typing.query)
            ]
        case "usage":
            return suggest_usage(typing)
        case "service":
            return suggest_words(typing.query, MEANINGS.items())
        case "path":
            return [Suggestion(path, "", path) for path in _list_paths(typing.query)] or suggest_usage(typing)
        case _:
            return None


def suggest_usage(typing: Typing) -> list[Suggestion]:
    """Returns the usage of the command, if there are no completions."""
    return [Suggestion(action.usage, action.sentence) for action in commands() if action.usage == typing.command]


def suggest_words(query: str, words: Iterable[tuple[str, str]]) -> list[Suggestion]:
    """Returns the words that match, with their meanings."""
    return [Suggestion(word, meaning, word) for word, meaning in rank(query, words, lambda entry: (entry[0],))]


def describe_model(row: wire.ModelRow) -> str:
    """Says where a model is, and how fast."""
    speed = f" · {row.grades.tokens_per_s:,.0f} tokens/s" if row.grades else ""
    return f"{'on this machine' if row.is_local else 'elsewhere'}{speed}"


def suggest_tags(query: str, tags: Iterable[wire.Tag]) -> list[Suggestion]:
    return [
        Suggestion(f"#{tag.name}", count(tag.sources, "note"), limit=Limit("tag", tag.name, tag.name))
        for tag in rank(query, tags, lambda tag: (tag.name,))
    ]


def suggest_notes(typing: Typing, sources: Iterable[wire.ListedSource], folders: Sequence[str]) -> list[Suggestion]:
    """Returns notes by title and path: as limits, or as the argument of a command. For limits also days and folders."""
    suggestions = []
    sources = list(sources)
    if typing.kind == "limit":
        if parse_day(typing.query):
            limit = Limit("day", typing.query, typing.query)
            suggestions.append(Suggestion(f"@{typing.query}", "answers as of its end", limit=limit))
        candidates = [*folders, *(_list_subfolders(sources, folders) if typing.query else ())]
        for folder in rank(typing.query, candidates, lambda path: (PurePath(path).name,)):
            name = f"{PurePath(folder).name}/"
            limit = Limit("folder", folder.rstrip("/"), name)
            suggestions.append(Suggestion(f"@{name}", f"all notes in {short_path(folder)}", limit=limit))
    for source in rank(typing.query, sources, lambda note: (note.title, PurePath(note.uri).name, note.uri)):
        name = source.title or PurePath(source.uri).name
        detail = " · ".join(filter(None, (short_path(source.uri, folders), day(source.at))))
        if typing.kind == "limit":
            suggestions.append(Suggestion(f"@{name}", detail, limit=Limit("note", source.uri, name)))
        else:
            suggestions.append(Suggestion(name, detail, source.uri))
    return suggestions


def _list_subfolders(sources: Iterable[wire.ListedSource], folders: Sequence[str]) -> list[str]:
    """Returns the folders of the files among the sources: those within a watched one, else the parent."""
    parents: dict[str, None] = {}
    for path in (PurePath(source.uri) for source in sources if source.uri.startswith("/")):
        within = [parent for parent in path.parents if any(parent.is_relative_to(folder) for folder in folders)]
        parents |= dict.fromkeys(str(parent) for parent in within or [path.parent])
    return [folder for folder in parents if folder not in folders]


def complete_path(typed: str) -> str:
    """Completes a path as far as all matches agree, as a shell does it."""
    paths = _list_paths(typed)
    return os.path.commonprefix(paths) if paths else typed  # noqa: RUF071  of the characters


def _list_paths(typed: str) -> list[str]:
    folder, _, begun = typed.rpartition("/")
    try:
        directory = Path(folder or ("/" if typed.startswith("/") else ".")).expanduser()
        names = sorted(
            entry.name + "/" * entry.is_dir() for entry in directory.iterdir() if entry.name.startswith(begun)
        )
    except (OSError, RuntimeError):  # not to be read; or a `~name` that nobody has
        return []
    visible_names = [name for name in names if begun or not name.startswith(".")]
    return [typed[: len(typed) - len(begun)] + name for name in visible_names]
