"""Moved files keep their identity: detected by events or by content."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.jobs.workers import Writer
from daemon.watch import files
from daemon.watch.files import Found, uri_of
from daemon.watch.survey import Sources, Survey
from memory import Memory
from memory.errors import PalimpsestError
from memory.nouns import FORGOTTEN, Policy

log = logging.getLogger(__name__)


class Moves:
    """Follows moved files. `file_of` returns the file of a source by uri."""

    def __init__(
        self,
        memory: Memory,
        writer: Writer,
        publish: Callable[[wire.Event], None],
        file_of: Callable[[str, Survey], str],
    ) -> None:
        self.is_away: Callable[[Path], bool] = lambda path: False  # whether it is in a missing folder
        self._memory = memory
        self._writer = writer
        self._publish = publish
        self._file_of = file_of

    def follow(self, disk: Survey, known: Sources, gone: Sources, moved: Mapping[str, str]) -> None:
        """Renames the sources of moved files, which move from `gone` to `known`."""
        new = {uri: file for uri, file in disk.files.items() if uri not in known and file.size}
        lost = self._find_left_behind(disk, known, new.values()) | gone
        pairs = {uri: moved[uri] for uri in new if moved.get(uri) in lost}
        content: dict[tuple[int | None, str | None], list[str]] = defaultdict(list)
        for uri, sources in lost.items():
            if uri not in pairs.values():
                content[sources[0].size, sources[0].sha256].append(uri)
        sizes = {size for size, _ in content}
        for uri, file in new.items():
            if uri in pairs or file.size not in sizes:
                continue
            try:
                with files.open_whole(file.path, file.size, disk.looks[uri].ignore.root) as (stream, status):
                    digest = files.hash_content(stream)
            except files.Unread:
                continue
            if same := content.get((status.st_size, digest)):
                name = file.path.name
                old = next((uri for uri in same if uri.endswith("/" + name)), same[0])
                same.remove(old)
                pairs[uri] = old
        for uri, old in pairs.items():
            renamed = {source.uri: uri + source.uri[len(old) :] for source in lost[old]}
            try:
                self._writer.write_later(partial(self._move, renamed, disk.looks[uri].policy))
            except PalimpsestError as error:
                log.warning("a moved file was not followed: %s", error)
                continue
            known[uri] = [replace(source, uri=renamed[source.uri]) for source in lost[old]]
            gone.pop(old, None)
            self._publish(wire.SourceChanged(uri, "moved"))

    def keep_forgotten(self, moved: Mapping[Path, Path]) -> None:
        """Moves the marks of forgotten files with them, before any task or scan can read them under the new name."""
        if not moved:
            return
        forgotten = {skip.uri for skip in self._memory.sources.list_skipped() if skip.reason == FORGOTTEN}
        marks = {uri_of(new): old for new, old in moved.items() if uri_of(old) in forgotten}
        if marks:
            ended = [uri_of(old) for old in marks.values() if files.is_gone(old)]
            reasons = dict.fromkeys(marks, FORGOTTEN)
            self._writer.write(partial(self._memory.sources.note_files, ended, reasons, ()))

    def _find_left_behind(self, disk: Survey, known: Sources, new: Collection[Found]) -> Sources:
        """The sources of missing files elsewhere with the size of a new one."""
        sizes = {file.size for file in new}
        missing: Sources = defaultdict(list)
        for source in self._memory.sources.list_of_size(sizes) if sizes else ():
            uri = self._file_of(source.uri, disk)
            path = Path(uri)
            if uri not in known and path.is_absolute() and files.is_gone(path) and not self.is_away(path):
                missing[uri].append(source)
        return missing

    def _move(self, renamed: Mapping[str, str], policy: Policy) -> None:
        """A file moved into a local-only folder becomes local-only."""
        for old, new in renamed.items():
            self._memory.ingest.move(old, new)
            if policy == "local":
                self._memory.sources.set_policy({new: policy})
