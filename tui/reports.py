"""What the chat says about the memory, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from daemon import wire
from tui.wording import count, short_path, size

SKIPPED_SHOWN = 3

_STATES = {
    "watching": "watched",
    "scanning": "being read",
    "missing": "missing",
    "polling": "watched by looking now and then",
}


def status_report(status: wire.Status) -> str:
    """What the memory holds, what it does, and what is wrong."""
    lines = [
        f"{count(status.sources, 'source')}, {count(status.episodes, 'episode')}, {count(status.objects, 'object')}, "
        f"{count(status.theses, 'statement')} · {size(status.bytes)}",
        f"{short_path(status.path)} · {status.embedder} · palimpsest {status.version}",
    ]
    if status.busy or status.queue:
        lines.append(f"Now: {status.busy or 'reading'}" + (f", {status.queue:,} to read" if status.queue else ""))
    for folder in status.folders:
        state = _STATES.get(folder.state, folder.state)
        detail = f": {folder.detail}" if folder.detail else ""
        lines.append(f"{short_path(folder.path)} is {state}{detail} · {count(folder.sources, 'source')}")
    if not status.folders:
        lines.append("No folder is watched. /watch PATH reads one and keeps up with it.")
    return "\n".join([*lines, *skipped_lines(status.skipped, status.skipped_total)])


def added_report(path: str, added: wire.Added, skipped: Sequence[wire.Skipped]) -> str:
    """What reading a file or a folder brought."""
    if not (added.sources or added.unchanged or added.skipped):
        return f"{path}: nothing to read there."
    parts = [f"{count(added.sources, 'source')} read, {count(added.episodes, 'episode')}"]
    if added.unchanged:
        parts.append(f"{added.unchanged:,} unchanged")
    if added.skipped:
        parts.append(f"{added.skipped:,} skipped")
    return "\n".join([f"{path}: {', '.join(parts)}.", *skipped_lines(skipped, added.skipped)])


def skipped_lines(skipped: Sequence[wire.Skipped], total: int) -> list[str]:
    """The first of what could not be read and why, and how many more there are."""
    lines = [f"  skipped {short_path(one.uri)}: {one.reason}" for one in skipped[:SKIPPED_SHOWN]]
    if total > len(lines):
        more = f"and {total - len(lines):,} more; `pal status` lists them"
        lines.append(f"  {more}" if lines else f"  {count(total, 'file')} skipped; `pal status` lists them")
    return lines


def failure(failed: wire.Failed) -> str:
    """What went wrong and what to do, in one line."""
    return " ".join(filter(None, (failed.message, failed.remedy)))
