"""Files that moved keep what is known of them: the system tells of it, or their content does."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from daemon import wire
from daemon.jobs.writer import Writer
from daemon.watch import files
from daemon.watch.files import Found
from daemon.watch.survey import Sources, Survey
from memory import Memory
from memory.errors import PalimpsestError
from memory.nouns import Policy

log = logging.getLogger(__name__)


class Moves:
    """Follows files. `file_of` says in which file a source is, by its uri."""

    def __init__(
        self,
        memory: Memory,
        writer: Writer,
        publish: Callable[[wire.Event], None],
        file_of: Callable[[str, Survey], str],
    ) -> None:
        self.is_away: Callable[[Path], bool] = lambda path: False  # whether it lies in a folder that is not there
        self._memory = memory
        self._writer = writer
        self._publish = publish
        self._file_of = file_of

    def follow(self, disk: Survey, known: Sources, gone: Sources, moved: Mapping[str, str]) -> None:
        """Gives the sources of files that moved their new uri; they leave `gone` and enter `known`."""
        new = {uri: found for uri, found in disk.files.items() if uri not in known and found.size}
        lost = self._left_behind(disk, known, new.values()) | gone
        pairs = {uri: moved[uri] for uri in new if moved.get(uri) in lost}
        content: dict[tuple[int | None, str | None], list[str]] = defaultdict(list)
        for uri, there in lost.items():
            if uri not in pairs.values():
                content[there[0].size, there[0].sha256].append(uri)
        sizes = {size for size, _ in content}
        for uri, found in new.items():
            if uri in pairs or found.size not in sizes:
                continue
            try:
                with files.open_whole(found.path, found.size, disk.looks[uri].ignore.root) as (file, status):
                    digest = files.hash_content(file)
            except files.Unread:
                continue
            if same := content.get((status.st_size, digest)):
                name = found.path.name
                old = next((uri for uri in same if uri.endswith("/" + name)), same[0])
                same.remove(old)
                pairs[uri] = old
        for uri, old in pairs.items():
            renamed = {source.uri: uri + source.uri[len(old) :] for source in lost[old]}
            try:
                self._writer.submit(partial(self._move, renamed, disk.looks[uri].policy)).result()
            except PalimpsestError as error:
                log.warning("a moved file was not followed: %s", error)
                continue
            known[uri] = [replace(source, uri=renamed[source.uri]) for source in lost[old]]
            gone.pop(old, None)
            self._publish(wire.SourceChanged(uri, "moved"))

    def _left_behind(self, disk: Survey, known: Sources, new: Collection[Found]) -> Sources:
        """The sources of files that were read elsewhere, are not there any more, and are as large as a new one."""
        sizes = {found.size for found in new}
        left: Sources = defaultdict(list)
        for source in self._memory.sources.list_of_size(sizes) if sizes else ():
            uri = self._file_of(source.uri, disk)
            path = Path(uri)
            if uri not in known and path.is_absolute() and files.is_gone(path) and not self.is_away(path):
                left[uri].append(source)
        return left

    def _move(self, renamed: Mapping[str, str], policy: Policy) -> None:
        """Into a folder whose text stays on this machine, its own text stays, too."""
        for old, new in renamed.items():
            self._memory.ingest.move(old, new)
            if policy == "local":
                self._memory.sources.set_policy({new: policy})
