"""What is in a folder and what a model would take to read it, before anything is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from daemon import wire
from daemon.jobs.models import Models
from daemon.reading.contents import OpenFile, ReaderDiedError
from daemon.reading.process import Readers
from daemon.settings import Settings
from daemon.watch import files
from daemon.watch.files import Found
from daemon.watch.walking import Ignore, walk
from memory.facts.llm_requests import EXTRACTION_PROMPT, EXTRACTION_SCHEMA
from memory.llm import about_tokens
from plugins.manager import Plugins
from plugins.readers import Unreadable

COUNT_SECONDS = 10.0
SAMPLE = 300  # files that are looked into; what the others hold is reckoned by their size
WRITTEN_PER_WORD = 9.0  # tokens of facts; measured on notes that are full of them
READ_PER_WORD = 1.6  # tokens


def count_files(plugins: Plugins, settings: Settings, own: Iterable[Path], paths: Iterable[Path]) -> wire.Counted:
    """Counts what would be read, for some seconds; no file is opened."""
    number = size = lacking = 0
    deadline = time.monotonic() + COUNT_SECONDS
    own = tuple(own)
    for entry, _ in _walk(paths, settings, own):
        if entry.unread is None and entry.size and plugins.reads(entry.path):
            number += 1
            size += entry.size
            lacking += plugins.lacks_library(entry.path)
        if time.monotonic() > deadline:
            return wire.Counted(number, size, complete=False, lacking=lacking)
    return wire.Counted(number, size, complete=True, lacking=lacking)


def _walk(paths: Iterable[Path], settings: Settings, own: tuple[Path, ...]) -> Iterator[tuple[Found, Path]]:
    """All files below the paths, each with the folder below which no link is followed."""
    for path in paths:
        ignore = Ignore(path if path.is_dir() else path.parent, settings.watch.ignore, own)
        for entry in walk(path, ignore):
            yield entry, ignore.root


def estimate_files(
    plugins: Plugins,
    readers: Readers,
    models: Models,
    settings: Settings,
    own: Iterable[Path],
    paths: Iterable[Path],
    policy: str | None,
) -> wire.Estimate:
    """Looks into some of the files."""
    readable: list[tuple[Found, Path]] = []
    skipped = 0
    for entry, root in _walk(paths, settings, tuple(own)):
        if entry.unread is None:
            readable.append((entry, root))
        else:
            skipped += 1
    sample = readable[:: math.ceil(len(readable) / SAMPLE)] if readable else []
    bytes = words = episodes = unreadable = 0
    for entry, root in sample:
        bytes += entry.size
        try:
            reader = plugins.reader_for(entry.path, entry.size)
            with files.open_whole(entry.path, reader.max_bytes, root) as (file, status):
                amount = readers.count(OpenFile(file, entry.path, status.st_size, reader))
        except (Unreadable, files.Unread, ReaderDiedError):
            unreadable += 1
            continue
        episodes += amount.episodes
        words += amount.words
    total = sum(entry.size for entry, _ in readable)
    more = total / bytes if bytes else 1.0
    return _read_by_model(
        models,
        wire.Estimate(
            files=len(readable),
            skipped=skipped + round(unreadable * len(readable) / max(1, len(sample))),
            sampled=len(sample),
            bytes=total,
            words=round(words * more),
            episodes=round(episodes * more),
        ),
        local_only=(policy or settings.models.policy) != "any",
    )


def _read_by_model(models: Models, known: wire.Estimate, *, local_only: bool) -> wire.Estimate:
    model = models.for_role("extract", local_only=local_only) if known.episodes else None
    if model is None:
        return known
    calls = math.ceil(known.episodes / models.batch(model.name))
    written = known.words * WRITTEN_PER_WORD
    read = (
        calls * (about_tokens(EXTRACTION_PROMPT) + about_tokens(str(EXTRACTION_SCHEMA))) + known.words * READ_PER_WORD
    )
    grades = models.grades_of(model.name)
    seconds = calls * grades.first_s + written / grades.tokens_per_s if grades and grades.tokens_per_s else None
    return replace(
        known,
        calls=calls,
        tokens=round(read + written),
        minutes=None if seconds is None else round(seconds / 60, 1),
        model=model.name,
        is_local=model.is_local,
    )
