"""A chat session as a file: Markdown to read, JSON for programs.

Standard library only: the command line and the chat write it, each where the person says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from daemon import wire
from daemon.terminal import IN_THE_WORDS_OF, escape_unsafe

SUFFIXES = {".md": "markdown", ".json": "json"}
BROKEN_OFF = "The answer was interrupted here."


def render_markdown(session: wire.MessagesReply) -> str:
    """The session as Markdown: each question a heading, each answer with its sources, and the changes since."""
    title = " ".join(session.conversation.title.split()) or "Untitled"
    lines = [f"# {title}", "", f"Asked on {_format_day(session.conversation.created)}."]
    for message in session.messages:
        if message.role == "user":
            lines += ["", f"## {' '.join(message.text.split())}", ""]
        else:
            lines += [message.text.strip(), *_list_below(message)]
    return "\n".join(lines).rstrip() + "\n"


def render_json(session: wire.MessagesReply) -> str:
    """The session as JSON, as the daemon has it."""
    return escape_unsafe(json.dumps(wire.encode(session), ensure_ascii=False, indent=2)) + "\n"


def write_session(session: wire.MessagesReply, path: Path) -> None:
    """Writes a session to a new private file: JSON if its name ends in .json, else Markdown. OSError; FileExistsError
    if it exists."""
    text = render_json(session) if SUFFIXES.get(path.suffix.lower()) == "json" else render_markdown(session)
    place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(place, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def describe_source(cited: wire.Citation) -> str:
    """Where a citation is from, and when that was: `notes/rent.md:4, 2026-03-09`."""
    return cited.label if cited.label.endswith(cited.moment) else f"{cited.label}, {cited.moment}"


def describe_change(change: wire.AnswerChange) -> str:
    """What changed in the evidence of an answer."""
    old, new = (" ".join(words.split()) for words in (change.old, change.new))
    became = f"now: “{new}”" if new else "its source no longer states it"
    return f"[{change.n}] changed on {_format_day(change.at)}: “{old}”; {became}"


def _list_below(message: wire.ChatMessage) -> Iterator[str]:
    if message.state != "complete":
        yield from ("", f"*{BROKEN_OFF}*")
    if message.model and not message.no_answer:
        yield from ("", f"*{IN_THE_WORDS_OF.format(' '.join(message.model.split()))}*")
    if limits := ", ".join(_describe_limits(message)):
        yield from ("", f"*Asked {limits}.*")
    if message.citations:
        yield ""
        yield from (f"- [{cited.n}] {_describe_source(cited)}" for cited in message.citations)
    if message.changes:
        yield ""
        yield from (f"> {describe_change(change)}" for change in message.changes)


def _describe_limits(message: wire.ChatMessage) -> Iterator[str]:
    within = message.within or wire.Scope()
    if places := [" ".join(place.split()) for place in (*within.sources, *within.folders) if not place.endswith("#")]:
        yield f"within {', '.join(places)}"
    if within.tags:
        yield f"with the tag {', '.join(within.tags)}"
    if message.as_of is not None:
        yield f"as of {_format_day(message.as_of)}"


def _describe_source(cited: wire.Citation) -> str:
    return " ".join(f"{describe_source(cited)}{' (earlier)' * cited.earlier}".split())


def _format_day(time: datetime) -> str:
    return time.astimezone().date().isoformat()
