"""Words for a terminal: text from files, chats and models made safe; counts and sizes for people.

A note may hold escape sequences that move the cursor, write the clipboard or hide text. Whatever a client shows goes
through `display_safe`; nothing else in the project writes such text to a screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daemon import wire

_CHANNELS = {"lexical": "full text", "vector": "meaning", "text": "both", "graph": "graph", "links": "links"}
_WAYS = {"lexical": "words", "vector": "meaning", "graph": "mentions", "links": "links"}
ABOUT_STATEMENTS = "Statements about yourself can be kept as notes in your words, with their time; answers never are."
IN_THE_WORDS_OF = "In the words of {}, not quoted."  # of the model that wrote an answer
TITLE_LENGTH, QUOTE_LENGTH = 60, 120  # characters
_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f"  # C0 without tab and newline: ESC, BEL, CR, backspace
    "\x7f-\x9f"  # DEL and C1: 0x9B alone begins a control sequence
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # marks, embeddings, overrides: they reorder the text around them
    "\ud800-\udfff"  # half a character: cannot be encoded, and would end the program that prints it
    "\ufff9-\ufffb"
    "\U000e0000-\U000e007f"  # the invisible "tag" alphabet
    "]"
)
_FILE_LINK = re.compile(r"file:///[A-Za-z0-9%/._~!$&'()*+,;=:@-]*")


def display_safe(text: str, *, line: bool = False) -> str:
    """Returns `text` without what a terminal would obey: control characters (newline and tab stay), bidi controls,
    surrogates. With `line` newlines and tabs become spaces: for paths, titles and table cells."""
    if line:
        text = text.replace("\n", " ").replace("\t", " ")
    return _UNSAFE.sub("", text)


def flatten(text: str) -> str:
    """Makes untrusted text one line."""
    return " ".join(display_safe(text, line=True).split())


def escape_unsafe(text: str) -> str:
    r"""Replaces unsafe characters by `\uXXXX`, for an encoded JSON document, which must lose nothing."""
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def file_link(path: str) -> str | None:
    """Returns the address of a local file as a terminal link (OSC 8): printable ASCII, the rest percent-encoded.
    None for other paths, and for a path that `display_safe` would change, because the link's text and target would
    differ."""
    if display_safe(path, line=True) != path or path.startswith(("//", "\\\\")) or not PurePath(path).is_absolute():
        return None
    link = PurePath(path).as_uri()
    return link if is_file_link(link) else None


def cited_link(cited: wire.Citation) -> str | None:
    """Returns the link of a citation's path; None if it is no file of this machine."""
    from daemon import wire  # whoever has a citation has imported it

    return file_link(wire.file_of(cited.uri)) if cited.line is not None else None


def is_file_link(link: str) -> bool:
    """Whether `file_link` could have returned this address."""
    return _FILE_LINK.fullmatch(link) is not None


def describe_statement(note: wire.SavedStatement) -> str:
    """Returns `Kept in your own words: “I moved to Bergen”. From now on: you live in Bergen; before: in Oslo.`"""
    text = " ".join(note.text.split())
    end = "" if text.endswith((".", "!", "…")) else "."
    changes = [f" From now on: {change.new.statement}; before: {change.old.statement}." for change in note.changes]
    return display_safe("".join([f"Kept in your own words: “{text}”{end}", *changes]))


def count(number: int, noun: str) -> str:
    """Returns `1,204 episodes`, `1 episode`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def size(number: int) -> str:
    """Formats a number of bytes: `3.2 MB`."""
    if number < 1000:
        return count(number, "byte")
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if number >= unit:
            return f"{number / unit:,.1f} {name}"
    return f"{number / 1e3:.1f} kB"


def describe_sync(state: wire.SyncState) -> str:
    """Describes the shared folder in a line."""
    others = [computer for computer in state.computers if computer.name != state.machine]
    at = f", last {state.at.astimezone():%H:%M}" if state.at else ""
    waiting = f"; {count(state.waiting, 'item')} about notes that are not here yet" if state.waiting else ""
    return f"{state.folder}, with {count(len(others), 'other computer')}{at}{waiting}"


def list_sync_problems(state: wire.SyncState) -> Iterator[str]:
    """Yields what keeps the computers of a shared folder from synchronising."""
    if state.problem:
        yield f"Not synchronised: {state.problem}"
    for name, why in state.skipped:
        yield f"{state.folder}/{name} is left out: {why}."
    for computer in state.computers:
        if computer.has_forgotten:
            yield (
                f"The files of {computer.name} may still have text that was forgotten, until it synchronises (last"
                f" {computer.at.astimezone():%Y-%m-%d}). If it is gone for good: pal sync forget {computer.name}"
            )


def describe_replica(state: wire.Replica) -> str:
    """Describes the replica in a line."""
    at = f"complete at {state.at.astimezone():%Y-%m-%d %H:%M:%S}" if state.at else "not complete yet"
    return f"{state.address}, {at}"


def list_replica_problems(state: wire.Replica) -> Iterator[str]:
    """Yields what keeps the replica from being written, and what forgotten text it still contains."""
    if state.problem:
        yield f"Not replicated: {state.problem}. To end the replica: pal replicate stop"
    if state.forgotten_until:
        until = state.forgotten_until.astimezone()
        yield (
            f"{state.address} has text that was forgotten since, until {until:%Y-%m-%d}. To remove it there now:"
            " pal replicate renew"
        )


def quote_short(text: str) -> str:
    """Returns a quote on one line, cut if it is long."""
    words = " ".join(text.split())
    return f"“{words}”" if len(words) <= QUOTE_LENGTH else f"“{words[:QUOTE_LENGTH].rstrip()}…”"


def name_note(line: wire.AnswerLine, citations: Iterable[wire.Citation]) -> str:
    """Returns the name of the note that a line is from; "" if the line has it."""
    cited = next((cited for cited in citations if cited.n in line.citations), None)
    name = flatten(cited.title.partition(" › ")[0]) if cited else ""
    return "" if name.casefold() in line.text.casefold() else name


def describe_evidence(reply: wire.Why, label: Callable[[wire.Citation], str]) -> Iterator[str]:
    """Yields the evidence of an answer, a few lines for each citation that is shown by its `label`, and the effort it
    took; the scores are in `pal why`."""
    for used in reply.used:
        if used.cited.folded:
            continue
        yield f"[{used.cited.n}] {label(used.cited)}: {quote_short(used.cited.quote)}"
        if used.place is not None:
            place = "the best" if used.place == 1 else f"number {used.place}"
            ways = [way for channel, way in _WAYS.items() if used.channels.get(channel)]
            yield f"    {place} of {count(reply.shown, 'passage')}{' by ' * bool(ways)}{', '.join(ways)}"
        if len(used.path) > 1:
            yield f"    reached by {path_words(used.path)}"
        yield from (f"    fact: {' '.join(fact.text.split())}" for fact in used.facts)
    if not reply.used:
        yield "No line of your notes was used."
    for head, sentences in (("Chain", reply.chain), ("Against it", reply.gaps), ("Effort", reply.reasons)):
        yield from (f"{head}: {sentence}" for sentence in sentences)
    asked = reply.asked
    if asked.calls:
        tokens = f"{asked.read + asked.written:,} of {reply.allowed_tokens:,} tokens"
        yield f"It took {asked.calls} of {count(reply.allowed_calls, 'call')}, {tokens}."


def describe_verdict(judged: wire.VerdictReply) -> str:
    """Returns the verdict on an answer that was noted, and its effect."""
    verdict, before = judged.asked.verdict, judged.before
    if verdict == before:
        return f"The verdict was {before}." if before else "There was no verdict."
    if verdict is None:
        return f"Removed: it is no longer marked {before}."
    effect = "Its sources come first next time."
    if not judged.passages:
        effect = "It cites nothing, so nothing can be learned from it."
    elif verdict == "bad":
        effect = "Its sources are not reused for similar questions."
    return f"Noted as {verdict}. {effect}"


def describe_forgotten(gone: wire.Forgotten, name: Callable[[str], str] = str) -> Iterator[str]:
    """Describes forgotten items, and the other places that still contain them, by the `name` of each path."""
    names = gone.objects if gone.episodes else 0  # of forgotten text; else the objects themselves were named
    parts = ((gone.sources, "note"), (gone.episodes, "passage"), (gone.objects - names, "object"), (gone.facts, "fact"))
    counts = ", ".join(count(number, noun) for number, noun in parts if number)
    counts += f" and {count(names, 'name')} that only it mentioned" if names else ""
    yield f"Forgotten for good: {counts}." if counts else "Nothing of it is in the memory."
    if gone.pending:
        yield f"Not yet erased from the disk: {gone.pending}. It is tried again until it is; pal status shows it."
    for uri in gone.also_in:
        yield f'The same text is also in {name(uri)}. To forget that, too: pal forget --source "{name(uri)}"'
    if gone.copies:
        yield "Still in these copies of the memory, which are yours to delete:"
    for copy in gone.copies:
        yield f"  {name(copy.path)}  {copy.at.astimezone():%Y-%m-%d %H:%M}"
    if any("://" in copy.path for copy in gone.copies):
        yield "To remove it from the replica now: pal replicate renew"


def title_of(question: str) -> str:
    """Returns a session's title: the first line of its first question, cut at a word."""
    line = question.strip().partition("\n")[0].strip()
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0] + "…"


def path_words(path: Sequence[wire.Hop]) -> str:
    """Writes the path from a question to a passage in one line: `Beatrice → sounded for → the mayor → passage "Fog
    signal"`. A mention is an arrow without words; `←` is read from right to left."""
    parts: list[str] = []
    for place, hop in enumerate(path):
        if hop.relation:
            parts += ["←" if hop.inverse else "→", hop.relation, "←" if hop.inverse else "→"]
        elif place:
            parts.append("→")
        parts.append(f"passage “{hop.label}”" if hop.kind == "episode" else hop.label)
    return " ".join(" ".join(parts).split())


def describe_scores(scores: Mapping[str, float]) -> str:
    """Writes the scores of a ranking: `full text 5.02, meaning 0.54`."""
    return ", ".join(f"{_CHANNELS.get(name, name)} {score:.2f}" for name, score in scores.items())
