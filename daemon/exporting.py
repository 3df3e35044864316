"""Exports to files: one private file, written atomically; or a folder of Markdown pages, one for each person, place and
thing with its facts, their history, and the notes that mention it.

An ignore file keeps the memory from reading its own export. Text of notes is escaped: nothing in it links, tags or
embeds anything."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import quote

PACKED = ".gz"  # what the name of a file ends in that is packed on the way
IGNORED = ".palimpsestignore"
MAX_NAME_BYTES = 120
UNSEEN = ("Cf", "Co", "Cs")  # categories of invisible and invalid characters
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]%]+')  # by some file system, or in a link
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MARKS = re.compile(r"([\\`*_\[\]<>#|$]|(?<=~)~|(?<==)=|(?<=%)%|^[-+](?= )|^\d+(?=[.)] ))")


@contextmanager
def open_new(path: Path) -> Iterator[BinaryIO]:
    """Yields a private file to write, which gets its name when the `with` ends well; otherwise it is deleted. It is
    compressed if the name ends in .gz; the same pieces give the same bytes. OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.unlink(missing_ok=True)
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file, ExitStack() as ends:
            packs = path.suffix.lower() == PACKED
            yield cast(BinaryIO, ends.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0)) if packs else file)
            ends.close()
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:  # also Ctrl-C
        temporary.unlink(missing_ok=True)
        raise


def open_packed(path: Path) -> BinaryIO:
    """Opens a file for reading, decompressed if it is compressed, whatever its name."""
    file = path.open("rb")
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file
    return cast(BinaryIO, gzip.open(file))


def write_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Writes files (name, content) into a new or empty folder, all or nothing; returns their number. OSError, also if
    the folder contains other files."""
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "there are files in it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        pages = Path(temporary, "pages")
        pages.mkdir(0o700)
        (pages / IGNORED).write_bytes(b"# written by pal export, so that the memory does not read itself\n*\n")
        for name, content in files:
            if not name or {"/", "\\", "\0"} & {*name}:
                raise ValueError(f"{name!r} is no name of a file.")
            (pages / name).write_bytes(content)
        count = len(list(pages.iterdir())) - 1
        pages.replace(folder)
    return count


def write_pages(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields (file name, content) of the page of each line of an export. Things with a common name share the first
    page."""
    titles: set[str] = set()
    names: set[str] = set()
    for thing in map(json.loads, lines):
        own = {fold_name(name) for name in (thing.get("name", ""), *thing.get("names", ()))}
        if thing["type"] != "page" or "name" not in thing or own & titles:
            continue
        titles |= own
        name = make_name(thing["name"]) or f"Object {thing['id']}"
        if fold_name(name) in names:
            name = f"{name} ({thing['id']})"
        names.add(fold_name(name))
        yield f"{name}.md", "".join(_write_page(thing)).encode("utf-8", "replace")


def make_name(title: str) -> str:
    """Returns a file name for a title, valid on every file system; "" if no character is usable."""
    visible = (char for char in unicodedata.normalize("NFC", title) if unicodedata.category(char) not in UNSEEN)
    name = " ".join(_FORBIDDEN.sub(" ", "".join(visible)).split())
    name = name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"{name}_" if _DEVICES.fullmatch(name) else name


def fold_name(name: str) -> str:
    """Folds a file name so that names which some file system cannot distinguish are equal."""
    return unicodedata.normalize("NFKD", " ".join(name.split())).casefold()


def _write_page(thing: dict[str, Any]) -> Iterator[str]:
    yield f"# {_escape(thing['name'])}\n"
    if aliases := [_escape(name) for name in thing["names"] if name != thing["name"]]:
        yield f"\nAlso: {', '.join(aliases)}\n"
    if thing["facts"]:
        yield "\n## Now\n\n"
        yield from (f"- {_describe_fact(fact, thing)}\n" for fact in thing["facts"])
    if timeline := list(_write_timeline(thing)):
        yield "\n## Timeline\n\n"
        yield from timeline
    if thing["notes"]:
        yield "\n## Sources\n"
        yield from map(_describe_mention, thing["notes"])
        if (more := thing["notes_total"] - len(thing["notes"])) > 0:
            yield f"\nand in {more:,} more.\n"


def _describe_fact(fact: dict[str, Any], thing: dict[str, Any]) -> str:
    """`phone: 0161 496 07, since 2026-03-09 ([Ozzie](...), line 4)`."""
    when = f", since {fact['since']}" if fact["since"] else f", until {fact['until']}" if fact["until"] else ""
    return f"{_describe_value(fact, thing)}{when} ({_place(fact)})"


def _describe_value(fact: dict[str, Any], thing: dict[str, Any]) -> str:
    if not fact["predicate"]:
        return _escape(fact["text"])
    called = {fold_name(name) for name in (thing["name"], *thing["names"])}
    subject, value = fact["objects"][0], fact["objects"][-1]
    about = "" if fold_name(subject) in called else f"{_escape(subject)} "
    modality = "" if fact["modality"] == "asserted" else f" ({fact['modality']})"
    return f"{about}**{_escape(fact['predicate'])}**: {_escape(value)}{modality}"


def _write_timeline(thing: dict[str, Any]) -> Iterator[str]:
    """Yields changed values in chronological order."""
    timelines = (timeline["values"] for timeline in thing["timelines"])
    values = [value for timeline in timelines if len(timeline) > 1 or timeline[0]["ended"] for value in timeline]
    for value in sorted(values, key=lambda value: (_find_begin(value["fact"]), value["fact"]["id"])):
        fact, ended = value["fact"], value["ended"]
        until = f" to {fact['until']}" if fact["until"] else ""
        why = f"; {_escape(ended['reason'])}" if ended and ended["reason"] else ""
        yield f"- {_find_begin(fact)}{until}: {_describe_value(fact, thing)} ({_place(fact)}{why})\n"


def _find_begin(fact: dict[str, Any]) -> str:
    return str(fact["since"] or (fact["valid_from"] or fact["recorded"])[:10])


def _describe_mention(note: dict[str, Any]) -> str:
    day = f", {note['at'][:10]}" if note["at"] else ""
    text = _escape(note["quote"]) if note["quote"].strip() else "…"
    return f"\n> {text}\n> — {_place(note)}{day}\n"


def _place(item: dict[str, Any]) -> str:
    """Returns a link to the note of a fact or mention, if it is a file."""
    uri, line = item["uri"], item["line"]
    file, _, _ = uri.partition("#")
    label = _escape(item["title"] or PurePosixPath(uri).name or uri)
    place = f"[{label}](<file://{quote(file)}>)" if PurePosixPath(file).is_absolute() else label
    return f"{place}, line {line}" if line is not None and "#" not in uri else place


def _escape(text: str) -> str:
    """Escapes text for Markdown, on one line."""
    return _MARKS.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", " ".join(text.split()))
