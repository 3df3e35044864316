"""How the chat words dates, counts and paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from textual.content import Content

from daemon import wire
from daemon.paths import name_received
from daemon.terminal import count, display_safe, quote_short


def day(time: datetime | None) -> str:
    """`3 May 2026`; "" for None."""
    return f"{time.day} {time:%b %Y}" if time else ""


def when(time: datetime, now: datetime) -> str:
    """`today 14:02`, `yesterday 09:10`, `3 May`, `3 May 2025`, seen from `now`."""
    moment = time.astimezone(now.tzinfo)
    days = (now.date() - moment.date()).days
    if days in (0, 1):
        return f"{'today' if days == 0 else 'yesterday'} {moment:%H:%M}"
    return f"{moment.day} {moment:%b}" if moment.year == now.year else f"{moment.day} {moment:%b %Y}"


def short_path(path: str, folders: Iterable[str] = ()) -> str:
    """Returns a path relative to its watched folder, else to `~`; `laptop:notes/x.md` for another computer's file."""
    if (received := name_received(path)) != path:
        return received
    for folder in folders:
        parent, _, name = folder.rstrip("/").rpartition("/")
        if name and path.startswith(f"{parent}/{name}/"):
            return path[len(parent) + 1 :]
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home + "/") else path


def is_file(path: Path) -> bool:
    """Whether the file exists; False for invalid paths."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def typed_path(typed: str) -> Path:
    """Parses a path as a person types or drops it: perhaps quoted, relative to `~` or the working folder."""
    home = os.path.expanduser(typed.strip("'\""))  # noqa: PTH111  keeps the `~name` of an unknown user
    return Path(os.path.normpath(Path(home).absolute()))


def cut_left(text: str, width: int) -> str:
    """Cuts `text` to `width` characters at its beginning, at a slash if possible: the end of a path says more."""
    if len(text) <= width:
        return text
    end = text[-max(1, width - 1) :]
    return "…" + end[max(0, end.find("/")) :]


def cited_label(cited: wire.Citation, folders: Iterable[str] = ()) -> str:
    """Returns a citation's `path:line`, or the daemon's label for one without a file."""
    is_note = cited.uri.startswith("note:")  # without a file, so by its title
    return cited.label if cited.line is None or is_note else wire.name_place(short_path(cited.uri, folders), cited.line)


def cited_day(cited: wire.Citation) -> str:
    """Returns the date of a citation: `3 May 2026`, for a message `3 May 2026 18:05`."""
    return cited.moment.replace(cited.at.date().isoformat(), day(cited.at), 1) if cited.at else cited.moment


def citation_text(cited: wire.Citation) -> str:
    """Returns a citation for the clipboard: its words, source and date."""
    source = cited.label if cited.line is None else f"{cited.label}, {cited_day(cited)}".rstrip(", ")
    return display_safe(f"“{cited.quote}” ({source})")


def source_label(cited: wire.Citation, folders: Iterable[str] = ()) -> str:
    """Returns a citation's source and date: `museum/fog.md:14, 9 Mar 2026`."""
    label = cited_label(cited, folders)
    return label if cited.line is None else ", ".join(filter(None, (label, cited_day(cited))))


def answer_markdown(text: str, citations: Sequence[wire.Citation]) -> str:
    """Returns an answer for the clipboard: its text, then a list of its sources."""
    sources = "\n".join(f"- [{cited.n}] {source_label(cited)}" for cited in citations)
    return display_safe("\n\n".join(filter(None, (text.strip(), sources))))


Span = tuple[int, int]


def news(revision: wire.Revision, folders: Iterable[str]) -> str:
    """Describes a change in one line, with the former value."""
    old, new = _strip_end(revision.old.statement), _strip_end(revision.new.statement)
    place = fact_label(revision.new, folders)
    if revision.relation == "contradicts":
        return f"Two notes disagree: {new} / {old}, from {place}"
    if revision.relation == "negates":
        return f"No longer true: {old}, from {place}"
    return f"Changed: {new} (was {describe_before(revision)}), from {place}"


def describe_before(revision: wire.Revision) -> str:
    """Returns the former value: the words that changed, or all."""
    old = revision.old.statement
    start, end = find_difference(old, revision.new.statement)[0]
    return _strip_end(old[start:end] or old)


def find_difference(old: str, new: str) -> tuple[Span, Span]:
    """Returns the spans of the words that differ between two texts, apart from their common beginning and end."""
    olds, news = ([(match.start(), match.end()) for match in re.finditer(r"\S+", text)] for text in (old, new))
    first = 0
    while first < min(len(olds), len(news)) and _word(old, olds[first]) == _word(new, news[first]):
        first += 1
    last = 0
    while last < min(len(olds), len(news)) - first and _word(old, olds[-1 - last]) == _word(new, news[-1 - last]):
        last += 1
    return _span(olds[first : len(olds) - last]), _span(news[first : len(news) - last])


def mark_difference(fact: wire.Fact, other: wire.Fact) -> Content:
    """Returns a fact's text with the words highlighted that differ from the other one."""
    text = display_safe(fact.statement)
    start, end = find_difference(text, display_safe(other.statement))[0]
    return Content.styled(text, "bold").stylize("$accent underline", start, end)


def fact_label(fact: wire.Fact, folders: Iterable[str] = ()) -> str:
    """Returns the place of a fact: `notes/a.md:12`, or the title of its note."""
    if fact.line is not None and not fact.uri.startswith("note:"):
        return wire.name_place(short_path(fact.uri, folders), fact.line)
    return "what you said" if fact.uri.startswith("note:me/") else fact.title or "a note"


def _strip_end(text: str) -> str:
    return text.rstrip(".,;")


def _word(text: str, span: Span) -> str:
    return text[slice(*span)].strip(".,;:!?").casefold()


def _span(words: list[Span]) -> Span:
    return (words[0][0], words[-1][1]) if words else (0, 0)


SKIPPED_SHOWN = 3

NOBODY = "I do not know who you are. Tell me: /me name YOUR NAME"


def profile_report(reply: wire.ProfileReply, key: str = "") -> str:
    """Reports the owner's profile, with sources and former values; only one entry with a `key`."""
    profile = reply.profile
    lines = [f"You are {', '.join(profile.names)}." if profile.names else NOBODY]
    for entry in profile.entries:
        if key and key.casefold() != entry.key:
            continue
        lines += [f"{entry.key}: {fact.objects[-1]} ({_source(fact)})" for fact in entry.facts]
        lines += [f"    before: {fact.objects[-1]} ({_source(fact)})" for fact in entry.before]
    lines += [f"To restore it: pal undo {revision.id}" for revision in reply.revisions]
    return "\n".join(lines)


def _source(fact: wire.Fact) -> str:
    since = f"since {fact.since}, " if fact.since else ""
    if fact.uri.startswith("note:"):
        return since + ("you said so" if fact.uri.startswith("note:me/") else fact.title)
    return since + short_path(fact.uri)


def added_report(path: str, added: wire.Added, skipped: Sequence[wire.Skipped]) -> str:
    """Reports what was read from a file or a folder."""
    if not (added.sources or added.unchanged or added.skipped):
        return f"{path}: nothing to read."
    parts = [f"{count(added.sources, 'note')} read, {count(added.episodes, 'passage')}"]
    if added.unchanged:
        parts.append(f"{added.unchanged:,} unchanged")
    if added.skipped:
        parts.append(f"{added.skipped:,} skipped")
    return "\n".join([f"{path}: {', '.join(parts)}.", *skipped_lines(skipped, added.skipped)])


def skipped_lines(skipped: Sequence[wire.Skipped], total: int) -> list[str]:
    """Returns the first skipped files with reasons, and the number of others."""
    lines = [f"  skipped {short_path(file.uri)}: {file.reason}" for file in skipped[:SKIPPED_SHOWN]]
    if total > len(lines):
        more = f"and {total - len(lines):,} more; `pal status` lists them"
        lines.append(f"  {more}" if lines else f"  {count(total, 'file')} skipped; `pal status` lists them")
    return lines


def whynot_report(reply: wire.WhyNot, folders: Sequence[str] = ()) -> str:
    """Explains at which stage the passages with the words were dropped."""
    lines = []
    for lost in reply.lost:
        passage = lost.passage
        place = wire.name_place(short_path(passage.uri, folders), lost.line) if lost.line is not None else passage.title
        lines += [f"{place or passage.uri}: {quote_short(lost.quote)}", f"    {lost.reason}"]
    if reply.missing or not lines:
        words = ", ".join(reply.missing) or reply.words
        lines.append(f"Nowhere in your memory: {words}. It was never read, or was forgotten.")
    return "\n".join(lines)


def secrets_report(placeholders: Sequence[str], secrets: Mapping[str, str]) -> str:
    lost = "is no longer stored: its source was changed or deleted."
    return "\n".join(
        f"{placeholder}: {secrets[placeholder]}" if placeholder in secrets else f"{placeholder} {lost}"
        for placeholder in placeholders
    )


def failure(failed: wire.Failed) -> str:
    """Returns an error and its remedy, in one line."""
    return " ".join(filter(None, (failed.message, failed.remedy)))


def describe_change(revision: wire.Revision) -> str:
    """Returns `“lives in Lyon” was replaced by “lives in Turin”`, or that two notes disagree."""
    joined = "and" if revision.relation == "contradicts" else "was replaced by"
    return f"“{revision.old.statement}” {joined} “{revision.new.statement}”"
