"""The chat's reports about the memory, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from daemon import wire
from daemon.terminal import count, quote_short
from tui.wording import short_path

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
