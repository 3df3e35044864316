"""pal doctor: what is wrong, and the command that fixes it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from daemon import health, wire
from daemon.cli import output
from daemon.cli.options import json_command
from daemon.cli.session import WITHOUT_OFFLINE, Session
from daemon.client.client import DaemonDownError, DaemonError
from daemon.client.starting import explain_failure
from daemon.health import FIXES, HealthCheck, check_place

QUESTION = "trace "  # prefix of the number of a question among places


@click.command()
@click.option("--fix", is_flag=True, help="Fix what needs no decision, and check again.")
@click.option(
    "--secrets", is_flag=True, help="List the places of passwords and keys in your notes, without their values."
)
@json_command
def doctor(session: Session, fix: bool, secrets: bool) -> None:
    """Show what is wrong, and the command that fixes it.

    Checks the daemon, the file, its disk, the backups, the watched folders, the embedder and nightly work. Exits with 1
    if something is wrong. --secrets lists file, line and kind of each masked secret and of each unmasked one, with the
    command that masks it; exits with 1 if there are unmasked ones.
    """
    if secrets:
        print_places(session)
        return
    checks = list(examine(session))
    if fix and list(_run_fixes(session, checks)):
        checks = list(examine(session))
    problems = [check.problem for check in checks if check.problem]
    places = ", ".join(dict.fromkeys(check.place for check in checks))
    text = "\n".join(f"Problem: {problem}" for problem in problems) or f"All is well. Checked: {places}."
    session.show({"problems": problems, "checks": checks}, text)
    if not fix and not session.as_json and any(check.fix for check in checks):
        output.say("Some of it can be fixed now: pal doctor --fix")
    if problems:
        sys.exit(1)


def _run_fixes(session: Session, checks: list[HealthCheck]) -> Iterator[str]:
    """Runs the repairs that need no confirmation, and prints them: they remove nothing and can be repeated."""
    for fix in dict.fromkeys(check.fix for check in checks if check.fix):
        FIXES[fix](session.client)
        if not session.as_json:
            output.say(f"Done: {fix}")
        yield fix


def examine(session: Session) -> Iterator[HealthCheck]:
    """Every look; where the daemon cannot start, or has lost its file, those that can be made without."""
    try:
        client = session.client
        client.status()
    except DaemonError as error:
        yield HealthCheck("file", str(error))
        return
    except DaemonDownError as error:
        if error.code is None:
            raise
        yield HealthCheck("daemon", f"The daemon cannot start: {explain_failure(error)}")
        if error.code not in WITHOUT_OFFLINE:
            yield from check_place("file", _check_offline(session))
        return
    try:
        yield from health.examine(client, session.paths)
    except DaemonError as error:
        yield HealthCheck("file", str(error))


def _check_offline(session: Session) -> Iterator[str]:
    try:
        yield from session.reader.check().problems
    except DaemonDownError as error:  # nor can it be read
        yield str(error)


def print_places(session: Session) -> None:
    """Where secrets lie; exits with 1 if the memory holds any that are not masked."""
    places = session.client.secret_places()
    if not session.shows_json(places):
        for place in places.masked:
            output.print_text(f"masked: {_describe(place)}")
        for place in places.unmasked:
            output.print_text(f"Not masked: {_describe(place)}")
        if not places.masked and not places.unmasked:
            output.say("No secrets were found in your notes.")
        for remedy in _remedies(places.unmasked):
            output.say(remedy)
    if places.unmasked:
        sys.exit(1)


def _describe(place: wire.SecretPlace) -> str:
    return f"{output.place(place.uri, place.line, place.uri)}: {place.kind.replace('-', ' ')}"


def _remedies(unmasked: Sequence[wire.SecretPlace]) -> Iterator[str]:
    """The commands that mask secrets: each source is forgotten, with its earlier versions and the answers from it, and
    read again."""
    uris = dict.fromkeys(place.uri for place in unmasked)
    questions = [uri for uri in uris if uri.startswith(QUESTION)]
    files = list(dict.fromkeys(uri.partition("#")[0] for uri in uris if Path(uri.partition("#")[0]).is_file()))
    if files or len(uris) > len(questions):
        yield "They were read before secrets were masked, or with memory.secrets.mask = false."
    for file in files:
        yield f"To mask: pal forget --yes --source {shlex.quote(file)} && pal add --again {shlex.quote(file)}"
    for uri in uris:
        if uri.partition("#")[0] not in files and uri not in questions:
            yield f"To have it gone: pal forget --source {shlex.quote(uri)}; save again what is still true."
    if questions:
        yield "Questions go with what they were answered from, when that is forgotten."
