"""What is found on the disk, compared with what is known: where to look, what is not there, whom to ask about it."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from daemon.watch.files import Found, Ignore, uri_of
from memory.nouns import Policy, Source

KEPT = "it is gone; what it said is kept, as you said"  # the skip of a file that is not on the disk
NAMED = "its name says that it holds passwords or keys; to have it read all the same, masked: pal add FILE"

Sources = dict[str, list[Source]]  # by the uri of their file


@dataclass(frozen=True)
class Look:
    """Where to look: a folder or a file, what to leave out, and the root it belongs to. What is new there gets
    `policy`; what is known keeps its own. All that is read there gets `tags`."""

    path: Path
    ignore: Ignore
    root: Path
    policy: Policy = "local"
    tags: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all of the root is looked at."""
        return self.path == self.root


class Judge(Protocol):
    """Decides about the files of a root. A look at the `whole` of it tells more than one at what changed."""

    def accept(self, root: Path, there: int, gone: int, whole: bool) -> bool:
        """Whether it is the folder that is known, of whose files so many are there and so many are not. Else nothing of
        it is read or retired."""

    def believe(self, root: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        """Those of the files, by uri, that are gone for sure."""


class Trusting:
    """Believes that so many files of a root may be gone at once. `doubted` counts those of which it did not."""

    def __init__(self, most: float = float("inf")) -> None:
        self._most = most
        self.doubted = 0

    def accept(self, root: Path, there: int, gone: int, whole: bool) -> bool:
        return True

    def believe(self, root: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        if len(gone) <= self._most:
            return gone
        self.doubted += len(gone)
        return ()


@dataclass
class Survey:
    """What was found there, by uri. What is as it was is only counted (`same`), so that a large folder that is scanned
    again takes little memory."""

    files: dict[str, Found] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)  # of `files`
    unread: dict[str, str] = field(default_factory=dict)  # and will not be read, for this reason
    same: Counter[Path] = field(default_factory=Counter)  # files, by the path of their look
    blind: list[str] = field(default_factory=list)  # folders that could not be looked into
    again: bool = False  # what was forgotten is read, too
    forgotten_moved: bool = False  # a file that was forgotten is not where it was

    def has(self, uri: str) -> bool:
        """Whether the file is there, or may be there."""
        return uri in self.files or uri in self.unread or any(uri.startswith(folder + "/") for folder in self.blind)

    def leave_same(self, source: Source) -> bool:
        """Leaves the file of a source out, by its name, if it is the same as it was; whether it is. Of one that was
        looked at alone size and time need not tell that."""
        found, look = self.files.get(source.uri), self.looks.get(source.uri)
        if found is None or look is None or self.again or not found.size:
            return False
        if (source.size, source.mtime_ns) != (found.size, found.mtime_ns) or look.path == found.path:
            return False
        del self.files[source.uri], self.looks[source.uri]
        self.same[look.path] += 1
        return True

    def find_gone(self, known: Sources, skipped: Mapping[str, str]) -> Sources:
        """The sources whose file is not there, or holds nothing any more."""
        gone = {}
        for uri, sources in known.items():
            found = self.files.get(uri)
            is_gone = not found.size if found else not self.has(uri)
            if is_gone and skipped.get(uri) != KEPT:
                gone[uri] = sources
        return gone

    def leave_kept(self, skipped: Mapping[str, str]) -> None:
        """Files that were emptied, and that a person is not to be asked about again, are as they were."""
        for uri in [uri for uri, found in self.files.items() if not found.size and skipped.get(uri) == KEPT]:
            del self.files[uri]
            self.unread[uri] = KEPT

    def leave_key_files(self, names: Sequence[str], known: Sources) -> None:
        """Files with such names are read only where a person has named them, now or before."""
        wanted = re.compile("|".join(map(fnmatch.translate, names)) or "(?!)", re.IGNORECASE)
        named = [uri for uri, found in self.files.items() if wanted.match(found.path.name)]
        for uri in named:
            if uri not in known and self.files[uri].path != self.looks[uri].root:
                del self.files[uri]
                self.unread[uri] = NAMED

    def accept(
        self, looks: Sequence[Look], known: Sources, gone: Sources, skipped: dict[str, str], judge: Judge
    ) -> list[Look]:
        """The looks at folders that are what they were; of others nothing stays here, in `gone` or in `skipped`."""
        there = Counter(self.same)
        for uri, sources in known.items():
            found = self.files.get(uri)
            if uri not in gone and found and sources[0].size in (None, found.size):
                there[self.looks[uri].path] += 1
        missing = Counter(_look_of(uri, looks).path for uri in gone)
        accepted = [
            look for look in looks if judge.accept(look.root, there[look.path], missing[look.path], look.is_whole)
        ]
        if len(accepted) < len(looks):
            by_uri: tuple[dict[str, Any], ...] = (gone, skipped, self.files, self.unread)
            for some in by_uri:
                for uri in [uri for uri in some if _look_of(uri, looks) not in accepted]:
                    del some[uri]
        return accepted


def believe(looks: Sequence[Look], gone: Sources, judge: Judge) -> Sources:
    """The sources whose file is gone for sure."""
    whole = {look.root for look in looks if look.is_whole}
    uris: dict[Path, list[str]] = {root: [] for root in whole}
    for uri in gone:
        uris.setdefault(_look_of(uri, looks).root, []).append(uri)
    return {uri: gone[uri] for root, some in uris.items() for uri in judge.believe(root, some, root in whole)}


def _look_of(uri: str, looks: Sequence[Look]) -> Look:
    """The one that a known file belongs to."""
    for look in looks:
        here = uri_of(look.path)
        if uri == here or uri.startswith((here + "/", here + "#")):
            return look
    raise AssertionError(f"{uri} was not looked for")
