"""pal export, import: what is in the memory as files, and a memory of such a file.

An export is one private file, written completely or not at all; or a folder with a page of Markdown for each person,
place and thing: its facts, their history, and the notes that mention it. An ignore file keeps the memory from reading
its own export. Text of notes is escaped: nothing in it links, tags or embeds anything.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import quote

import click

from daemon.cli import output
from daemon.cli.options import json_command, refuse_watched
from daemon.cli.output import NOTHING_READ, progress_bar
from daemon.cli.session import Session
from daemon.lock import hold
from daemon.paths import Paths, name_replaced, private_folder
from daemon.terminal import count, escape_unsafe, size

STDOUT = "-"
SUFFIXES = (".jsonl", ".ndjson")
HOLDS_NOTES = "It holds words of your notes."
STDIN = "-"
PACKED = ".gz"  # what the name of a file ends in that is packed on the way
IGNORED = ".palimpsestignore"
MAX_NAME_BYTES = 120
UNSEEN = ("Cf", "Co", "Cs")  # categories of invisible and invalid characters
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]%]+')  # by some file system, or in a link
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MARKS = re.compile(r"([\\`*_\[\]<>#|$]|(?<=~)~|(?<==)=|(?<=%)%|^[-+](?= )|^\d+(?=[.)] ))")


@click.command()
@click.argument("to", metavar="FILE|FOLDER|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--markdown", is_flag=True, help="Write a folder with a page for each person, place and thing.")
@click.option("--secrets", is_flag=True, help="Include passwords, keys and card numbers, which are masked by default.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_command
def export(session: Session, to: Path, markdown: bool, secrets: bool, force: bool) -> None:
    """Write the whole memory to a file or folder.

    \b
    pal export memory.jsonl          the whole memory; pal import creates the same one
    pal export memory.jsonl.gz       the same, compressed
    pal export - | jq .              the same, to standard output
    pal export FOLDER --markdown     pages to read, as Markdown

    Only you can read it, and it is written whole or not at all. FOLDER must be new or empty.
    """
    if markdown and secrets:
        raise click.UsageError("Pages have no secrets: leave out --secrets or --markdown.")
    if str(to) == STDOUT:
        if markdown:
            raise click.BadParameter("Pages are a folder of files. Name one.", param_hint="FOLDER")
        _write_out(_read_lines(session, secrets=secrets, hidden=sys.stdout.isatty()))
        return
    to = _check_place(session, to.expanduser(), markdown, force)

    try:
        if markdown:
            done = {"files": write_folder(to, write_pages(_read_lines(session, pages=True)))}
        else:
            with open_new(to) as file:
                file.writelines(_read_lines(session, secrets=secrets))
            done = {"bytes": to.stat().st_size}
    except OSError as error:
        raise click.BadParameter(f"It cannot be written: {error.strerror or error}.", param_hint="TO") from error
    amount = count(done["files"], "page") if markdown else size(done["bytes"])
    session.show({"path": str(to), "secrets": secrets} | done, f"Written: {to}, {amount}. {HOLDS_NOTES}")
    if not session.as_json and session.reader.status().stats.episodes == 0:
        output.say(NOTHING_READ)


def _check_place(session: Session, to: Path, markdown: bool, force: bool) -> Path:
    """Returns the absolute path of the export. BadParameter if it is not allowed."""
    to = to.absolute()
    if markdown:
        if to.exists() and not to.is_dir():
            raise click.BadParameter("It is a file; pages are written into a folder.", param_hint="FOLDER")
        return to
    if to.is_dir():
        raise click.BadParameter("It is a folder. Give the file a name in it, or add --markdown.", param_hint="FILE")
    if not to.name.lower().removesuffix(".gz").endswith(SUFFIXES):
        raise click.BadParameter(
            "Its name must end in .jsonl or .jsonl.gz; for pages, add --markdown.", param_hint="FILE"
        )
    if not to.parent.is_dir():
        raise click.BadParameter(f"There is no folder {str(to.parent)!r}.", param_hint="FILE")
    if to.exists() and not force:
        raise click.BadParameter("It exists already. Choose another name, or add --force.", param_hint="FILE")
    refuse_watched(session, to)
    return to


def _read_lines(
    session: Session, *, pages: bool = False, secrets: bool = False, hidden: bool = False
) -> Iterator[bytes]:
    """Yields the lines of an export, with a bar on a terminal that shows how far it is."""
    export = session.reader.export_with_secrets() if secrets else session.reader.export(pages)
    with export as lines, progress_bar("Writing", hidden or session.as_json) as bar:
        step = 1000
        for number, line in enumerate(lines):
            if number == 0:
                bar.length = sum(json.loads(line)["counts"].values()) + 1
            elif number % step == 0:
                bar.update(step)
            yield line
        bar.update(max(0, (bar.length or 0) - bar.pos))


def _write_out(lines: Iterable[bytes]) -> None:
    """Writes to standard output; on a terminal escape sequences in notes are disabled."""
    to_terminal = sys.stdout.isatty()
    try:
        for line in lines:
            if to_terminal:
                click.echo(escape_unsafe(line.decode()), nl=False)
            else:
                sys.stdout.buffer.write(line)
        sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who read it has enough
        sys.exit(1)


@click.command("import")
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_command
def import_(session: Session, file: Path, yes: bool) -> None:
    """Create a memory from an export.

    FILE is a .jsonl, compressed or not; "-" is standard input. It is checked first: nothing is imported from a damaged
    or incomplete export, or one by a newer Palimpsest. An existing memory is replaced, and kept with the backups. The
    daemon must not run: pal daemon stop

    To read chats, notes and tables of other programs: pal add
    """
    if file.expanduser().is_dir():
        raise click.BadParameter(
            "It is a folder. To read its notes, tables and chats: pal add FOLDER", param_hint="FILE"
        )
    if str(file) != STDIN and not file.expanduser().is_file():
        raise click.BadParameter(f"There is no file {str(file)!r}.", param_hint="FILE")
    paths = session.paths
    if not yes and not _is_empty(paths):
        question = f"There is a memory. Replace it by the contents of {file}? The old one is kept with the backups."
        output.confirm(question, "replace it", "Nothing was changed.")
    private_folder(paths.data)
    kept = name_replaced(paths.backups)
    with hold(paths.lock):
        counts = _load(file, paths, kept, session.as_json)
        vectors = _make_views(paths, session.as_json)
    parts = [count(counts["source"], "note"), count(counts["episode"], "passage"), count(counts["trace"], "question")]
    text = f"Imported: {', '.join(parts)}, with all that is known of them."
    if kept.exists():
        text += f"\nThe replaced memory is kept; you may delete it: {kept}"
    kept_path = str(kept) if kept.exists() else None
    session.show({"imported": str(file), "counts": counts, "vectors": vectors, "kept": kept_path}, text)


def _is_empty(paths: Paths) -> bool:
    """Whether there is no memory, or none in which anything is kept. One that cannot be looked into is not empty."""
    if not paths.memory.exists():
        return True
    from daemon.cli.offline import open_stored
    from memory.errors import PalimpsestError

    try:
        with hold(paths.lock), open_stored(paths, read_only=True) as memory:
            return not memory.browsing.stats().sources and not memory.conversations.latest(1)
    except PalimpsestError:
        return False


def _load(file: Path, paths: Paths, kept: Path, as_json: bool) -> dict[str, int]:
    from memory import Memory

    with progress_bar("Reading", as_json) as bar:
        if str(file) == STDIN:
            return Memory.load(sys.stdin.buffer, paths.memory, kept, _show_progress(bar))
        with open_packed(file.expanduser()) as stream:
            return Memory.load(stream, paths.memory, kept, _show_progress(bar))


def _make_views(paths: Paths, as_json: bool) -> int:
    """Makes what follows from the rest, vectors above all; how many passages have one. A daemon that starts does it,
    too: nothing is lost if this is broken off."""
    from daemon.cli.offline import open_stored
    from memory.errors import NotAvailableError

    done = 0
    try:
        with open_stored(paths) as memory, progress_bar("Making vectors", as_json) as bar:
            for done, total in memory.maintenance.switch_embedder(memory.embedder):
                _show_progress(bar)(done, total)
    except NotAvailableError as error:
        output.say(f"The vectors are still to be made: {error}")
    except KeyboardInterrupt:
        output.say("\nIt is imported; the daemon makes the vectors that are missing when it starts.")
        raise
    return done


def _show_progress(bar: Any) -> Callable[[int, int], None]:
    def show(done: int, total: int) -> None:
        bar.length = total
        bar.update(done - bar.pos)

    return show


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
    """Returns `phone: 0161 496 07, since 2026-03-09 ([Ozzie](...), line 4)`."""
    when = f", since {fact['since']}" if fact["since"] else f", until {fact['until']}" if fact["until"] else ""
    return f"{_describe_value(fact, thing)}{when} ({_link_note(fact)})"


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
        yield f"- {_find_begin(fact)}{until}: {_describe_value(fact, thing)} ({_link_note(fact)}{why})\n"


def _find_begin(fact: dict[str, Any]) -> str:
    return str(fact["since"] or (fact["valid_from"] or fact["recorded"])[:10])


def _describe_mention(note: dict[str, Any]) -> str:
    day = f", {note['at'][:10]}" if note["at"] else ""
    text = _escape(note["quote"]) if note["quote"].strip() else "…"
    return f"\n> {text}\n> — {_link_note(note)}{day}\n"


def _link_note(item: dict[str, Any]) -> str:
    """Returns a link to the note of a fact or mention, if it is a file."""
    uri, line = item["uri"], item["line"]
    file, _, _ = uri.partition("#")
    label = _escape(item["title"] or PurePosixPath(uri).name or uri)
    place = f"[{label}](<file://{quote(file)}>)" if PurePosixPath(file).is_absolute() else label
    return f"{place}, line {line}" if line is not None and "#" not in uri else place


def _escape(text: str) -> str:
    """Escapes text for Markdown, on one line."""
    return _MARKS.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", " ".join(text.split()))
