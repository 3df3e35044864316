"""Options that several commands share, and the checks of their values."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.session import Session, pass_session
from daemon.cli.show import list_tags
from daemon.client.client import DaemonDownError
from daemon.paths import name_received
from daemon.terminal import count, display_safe, size

Command = TypeVar("Command", bound=Callable[..., Any])
SETTING = "models.policy"
MANY = 5_000  # files
READING_SECONDS = 5.0  # that pal watch add waits for the notes of a folder


def as_date(edge: Literal["start", "end"]) -> Callable[[str], datetime]:
    """Returns the type of a date as people write it: a time with its offset. A day, week, month or year means its
    `edge`."""

    def parse(text: str) -> datetime:
        try:
            moment = _parse_date(text.strip().lower(), edge)
        except (ValueError, OverflowError) as error:
            raise click.BadParameter(
                f"{text!r} is no date. Write it like 2026-03-09, 2026-03, 2026-03-09T18:30, 9 March or last week."
            ) from error
        try:
            return moment.astimezone()
        except (ValueError, OverflowError):  # the first or the last day of all
            return moment.replace(tzinfo=moment.tzinfo or UTC)

    return parse


def _parse_date(text: str, edge: str) -> datetime:
    if text == "now":
        return datetime.now()
    from memory.time.expressions import parse_span  # only who names a time waits for the grammar

    span = parse_span(text, datetime.now())
    if span is None:
        return datetime.fromisoformat(text.upper())
    return span[0] if edge == "start" else span[1] - timedelta(microseconds=1)


def choose_word(kind: Any) -> click.Choice[str]:
    """Returns the type of an option whose words a call declares."""
    return click.Choice(get_args(kind.__metadata__[0]))


as_of_option = click.option("--as-of", metavar="DATE", type=as_date("end"), help="Answer as of this date.")
strategy_option = click.option(
    "--strategy", metavar="NAME", default="", help="Use another search strategy: docs/strategies.md lists them."
)
policy_option = click.option(
    "--policy",
    type=click.Choice(["local", "any"]),
    help="local: this text stays on this machine. any: models elsewhere may get it.",
)


def json_option(command: Command) -> Command:
    """Adds --json: one JSON object, or one a line for a stream; errors of the daemon are JSON, too.

    The session notes it: a command prints with `Session.show`, `show_rows` or `shows_json`."""

    def note(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
        ctx.ensure_object(Session).as_json = value
        return value

    return click.option("--json", is_flag=True, callback=note, expose_value=False, help="Print JSON instead of text.")(
        command
    )


def json_command(command: Command) -> Command:
    """Returns a command that gets its Session, and has --json."""
    return cast(Command, json_option(pass_session(command)))


def scope_options(command: Command) -> Command:
    """Adds --within, --chat, --tag, --since, --until: limit a question to a part of the memory.

    The command gets `within`."""

    @functools.wraps(command)
    def scoped_command(
        *args: Any,
        places: tuple[str, ...],
        chat: str | None,
        tags: tuple[str, ...],
        since: datetime | None,
        until: datetime | None,
        **others: Any,
    ) -> Any:
        return command(*args, within=make_scope(places, tags, since, until, chat), **others)

    for option in (
        click.option("--until", metavar="DATE", type=as_date("end"), help="Search only notes up to this date."),
        click.option("--since", metavar="DATE", type=as_date("start"), help="Search only notes from this date on."),
        click.option(
            "--tag", "tags", metavar="TAG", multiple=True, help="Search only notes with this tag; repeatable."
        ),
        click.option("--chat", metavar="NAME", help="Search only in this chat."),
        click.option(
            "--within", "places", metavar="PLACE", multiple=True,
            help="Search only in this folder, file or note; repeatable.",
        ),
    ):  # fmt: skip
        scoped_command = option(scoped_command)
    return cast(Command, scoped_command)


def make_scope(
    named: tuple[str, ...],
    tags: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    chat: str | None = None,
) -> wire.Scope:
    """Returns the values of `scope_options`, checked, as the daemon takes them. It is asked for a place that is on no
    disk."""
    on_disk = [name for name in named if os.path.lexists(Path(name).expanduser())]
    places = [require_path(Path(name), "--within") for name in on_disk]
    uris = [_find_source(name) for name in named if name not in on_disk]
    if since and until and since > until:
        raise click.BadParameter("It lies after --until, so nothing can be found.", param_hint="--since")
    # a watched folder is known by where its links lead, an added file by the path it was given
    places = [*dict.fromkeys(way for path in places for way in (path, path.resolve()))]
    return wire.Scope(
        sources=(*(str(path) for path in places if not path.is_dir()), *uris),
        # a prefix of what lies in the folder; "#" begins the names of several sources in one file
        folders=(*(f"{path}{'/' if path.is_dir() else '#'}" for path in places), *(f"{uri}#" for uri in uris)),
        tags=tuple(tag.lstrip("#") for tag in tags),
        conversation=chat,
        since=since,
        until=until,
    )


def _find_source(name: str) -> str:
    """Returns the uri of a source that is on no disk: a note by its name, one chat of a file, a file that has gone.

    Raises BadParameter if the memory does not hold it."""
    from memory.text.words import replace_surrogates  # its character classes take a tenth of most commands' time

    client = click.get_current_context().ensure_object(Session).client
    path = Path(name).expanduser()
    for uri in map(replace_surrogates, dict.fromkeys([name, str(path.absolute()), str(path.resolve())])):
        rows = [row for query in (uri, f"{uri}#") for row in client.sources(query, 1).sources]
        if any(row.uri == uri or row.uri.startswith(f"{uri}#") for row in rows):
            return uri
    return str(require_path(path, "--within"))  # which tells that there is none


def require_path(path: Path, hint: str) -> Path:
    """Returns `path`, absolute. Raises BadParameter, with a name that is nearly the same where there is one."""
    path = path.expanduser()
    if os.path.lexists(path):
        return path.absolute()
    if path.parts[:1] in (("http:",), ("https:",)):
        raise click.BadParameter(
            "Pages are not fetched from the web. Save it as a file, and give that.", param_hint=hint
        )
    parent = path.absolute().parent
    if not parent.is_dir():
        hint_text = f" There is no {str(parent)!r} either."
    else:
        import difflib

        names: list[str] = []
        with contextlib.suppress(OSError):  # a folder that may be entered but not listed
            names = [child.name for child in parent.iterdir()]
        close = difflib.get_close_matches(path.name, names, 1)
        hint_text = f" Did you mean {close[0]!r}?" if close else ""
    raise click.BadParameter(display_safe(f"There is no {str(path)!r}.{hint_text}", line=True), param_hint=hint)


def require_folder(path: Path) -> Path:
    """Returns `path`, absolute. Raises BadParameter if it is missing or a file."""
    folder = require_path(path, "FOLDER")
    if not folder.is_dir():
        raise click.BadParameter(f"{str(path)!r} is a file. To read it once: pal add", param_hint="FOLDER")
    return folder


def check_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Returns an agent's name, as config.toml takes it. BadParameter."""
    from daemon.config.settings import CLIENT_NAME

    if value is not None and not CLIENT_NAME.fullmatch(value):
        raise click.BadParameter("small letters, digits and dashes, 40 at most.")
    return value


def refuse_watched(session: Session, file: Path) -> None:
    """Raises BadParameter for a file that the memory would read, and so itself."""
    reader = session.reader
    with contextlib.suppress(DaemonDownError):  # without a daemon nothing is read
        for row in reader.folders():
            if file.resolve().is_relative_to(row.path):
                message = f"The folder {row.path} is watched, so the memory would read itself. Choose another place."
                raise click.BadParameter(display_safe(message, line=True), param_hint="FILE")


def write_setting(file: Path, key: str, value: str) -> Any:
    """Does what `daemon.config.file.write_setting` does, with the errors of a command. BadParameter for an unknown key,
    too."""
    from daemon.config import file as config_file
    from daemon.config.settings import SettingsError, entries_for
    from memory.errors import InvalidInputError, NotFoundError

    require_key(key, entries_for(key))
    try:
        if key in ("memory.recall.strategy", "embedder.name"):
            from daemon.config.settings import load
            from plugins import manager

            known = manager.load(load(file))
            check = known.check_embedder if key == "embedder.name" else known.check_strategy
            check(value.strip("\"'"))
        return config_file.write_setting(file, key, value)
    except config_file.NotTomlError as error:
        raise click.ClickException(str(error)) from error
    except (SettingsError, InvalidInputError, NotFoundError) as error:
        raise click.BadParameter(str(error.args[0]), param_hint="VALUE") from error


def require_key(key: str, rows: dict[str, Any]) -> str:
    if key in rows:
        return key
    import difflib

    close = difflib.get_close_matches(key, rows, 1) or [name for name in rows if name.endswith(f".{key}")]
    hint = f" Did you mean {close[0]}?" if close else " `pal config show` lists them."
    raise click.BadParameter(display_safe(f"{key} is not a setting.{hint}", line=True), param_hint="KEY")


def ask(session: Session, model: str) -> None:
    """Asks, the first time that a model elsewhere is named, whether it may be given text; writes the policy of new
    folders into config.toml and gives it to those that are watched.

    Only on a terminal; elsewhere it stays open, which means local.
    """
    from daemon.setup import asks_policy, keep_policy

    if not (sys.stdin.isatty() and sys.stderr.isatty()) or not asks_policy(session.paths.config):
        return
    named = display_safe(model, line=True)
    output.say(f"{named} is not on this machine. Asked once, for your folders and those to come:")
    chosen, other = "local", "any"
    if click.confirm("May their text be given to it?", err=True):
        chosen, other = other, chosen
    keep_policy(session.client, session.paths.config, chosen)
    output.say(f"Kept: {SETTING} = {chosen}. To change it: pal config set {SETTING} {other}; for one folder: --policy")


def confirm_much(session: Session, folders: Sequence[Path]) -> None:
    """Tells how much there is, before anything is read, and asks whether that is meant: of a whole disk or home always,
    of another folder on a terminal and if it is much. Exits with 1 if not."""
    whole = any(Path.home().is_relative_to(folder.resolve()) for folder in folders)
    if not folders or not (whole or (sys.stdin.isatty() and sys.stderr.isatty())):
        return
    counted = session.client.count(folders)
    if whole or counted.files > MANY or not counted.complete:
        more = "" if counted.complete else "more than "
        question = f"That is {more}{count(counted.files, 'file')}, {more}{size(counted.bytes)}. Read all of it?"
        output.confirm(question, "read all of it", "Nothing was read.")


def list_unwatched(session: Session, folders: list[Path]) -> list[Path]:
    """Returns those of the folders that are not watched yet."""
    known = {row.path for row in session.client.folders()}
    return [folder for folder in folders if str(folder.resolve()) not in known]


def watch_folder(session: Session, folder: Path, policy: str | None = None, tags: Sequence[str] | None = None) -> None:
    """Watches a folder, and prints it."""
    known = {row.path: row.policy for row in session.client.folders()}
    row = session.client.watch(folder, policy, tags=tags)
    place = name_received(row.path)
    if session.as_json:
        output.print_json(row)
    elif row.path in known:
        changed = f". Its policy is {row.policy} now." if row.policy != known[row.path] else ""
        tagged = f". Its tags: {list_tags(row)}." if row.tags and not changed else ""
        output.print_text(f"Already watched: {place}{changed}{tagged}")
    else:
        output.print_text(f"Watching {place}{_describe_reading(session, row.path)}")


def _describe_reading(session: Session, path: str) -> str:
    """Describes how much of a newly watched folder is read, which is all of it unless that takes READING_SECONDS."""
    until = time.monotonic() + READING_SECONDS
    while time.monotonic() < until:
        row = next((row for row in session.client.folders() if row.path == path), None)
        if row is not None and row.state != "scanning":
            return f": {count(row.sources, 'note')}."
        time.sleep(0.05)
    return ". It is being read; `pal status` shows how far."
