"""pal doctor: what is wrong, and the command that fixes it."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent, wrap

import click

from daemon import health, wire
from daemon.cli import output
from daemon.cli.options import json_command
from daemon.cli.session import WITHOUT_OFFLINE, Session
from daemon.cli.show import print_suspects
from daemon.client.client import DaemonDownError, DaemonError
from daemon.client.starting import explain_failure
from daemon.health import FIXES, HealthCheck, check_place
from daemon.terminal import count

WIDTH = 100
NOTHING_ASKED = 'No question has been asked yet, so there is little to tell. Ask some: pal ask "where is my passport"'
QUESTION = "trace "  # prefix of the number of a question among places


@click.command()
@click.option("--fix", is_flag=True, help="Fix what needs no decision, and check again.")
@click.option("--memory", is_flag=True, help="Show how well earlier questions were served.")
@click.option(
    "--secrets", is_flag=True, help="List the places of passwords and keys in your notes, without their values."
)
@json_command
def doctor(session: Session, fix: bool, memory: bool, secrets: bool) -> None:
    """Show what is wrong, and the command that fixes it.

    Checks the daemon, the file, its disk, the backups, the watched folders, the embedder and nightly work. Exits with 1
    if something is wrong. --memory shows how well earlier questions were served, and what fixes those that failed.
    --secrets lists file, line and kind of each masked secret and of each unmasked one, with the command that masks it;
    exits with 1 if there are unmasked ones.
    """
    if secrets:
        print_places(session)
        return
    if memory:
        diagnosis = session.client.diagnosis()
        session.show(diagnosis, _print_diagnosis)
        return
    checks = list(examine(session))
    if fix and (fixes := dict.fromkeys(check.fix for check in checks if check.fix)):
        for command in fixes:  # these remove nothing and can be repeated
            FIXES[command](session.client)
            if not session.as_json:
                output.say(f"Done: {command}")
        checks = list(examine(session))
    problems = [check.problem for check in checks if check.problem]
    places = ", ".join(dict.fromkeys(check.place for check in checks))
    text = (
        "\n".join(f"Problem: {problem}" for problem in problems)
        or f"All is well. Checked: {places}. How well questions are served: pal doctor --memory"
    )
    session.show({"problems": problems, "checks": checks}, text)
    if not fix and not session.as_json and any(check.fix for check in checks):
        output.say("Some of it can be fixed now: pal doctor --fix")
    if problems:
        sys.exit(1)


def _print_diagnosis(diagnosis: wire.Diagnosis) -> None:
    """Prints what failed, with the remedies."""
    if not diagnosis.questions:
        output.say(NOTHING_ASKED)
    for failure in diagnosis.failures:
        _print_failure(failure)
    print_suspects(diagnosis.alias_suspects)
    if diagnosis.questions and not diagnosis.failures:
        output.say(f"The last {count(diagnosis.questions, 'question')} were served well.")


def _print_failure(failure: wire.FailureClass) -> None:
    unanswered = f"{failure.unanswered:,} of them without an answer" if failure.unanswered else "answered all the same"
    click.echo(f"\n{failure.name.capitalize()}: {count(failure.questions, 'question')}, {unanswered}")
    output.print_text(f"  for example: {' '.join(failure.example.split())}  (pal why {failure.trace_id})")
    advice, *commands = failure.repair.splitlines()
    whole = re.sub("`[^`]*`", lambda quoted: quoted[0].replace(" ", "\xa0"), advice)  # commands are not broken
    lines = wrap(whole, WIDTH, break_long_words=False, break_on_hyphens=False)
    output.print_text(indent("\n".join(lines).replace("\xa0", " "), "  "))
    for command in commands:
        output.print_text(f"    {command}")


def examine(session: Session) -> Iterator[HealthCheck]:
    """Yields every look; where the daemon cannot start, or has lost its file, those that can be made without."""
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
    """Prints the places of secrets; exits with 1 if any is not masked."""
    places = session.client.secret_places()
    unmasked = [place for place in places if not place.is_masked]
    if not session.shows_json({"places": places}):
        for place in places:
            output.print_text(f"{'masked' if place.is_masked else 'Not masked'}: {_describe(place)}")
        if not places:
            output.say("No secrets were found in your notes.")
        for remedy in _list_remedies(unmasked):
            output.say(remedy)
    if unmasked:
        sys.exit(1)


def _describe(place: wire.SecretPlace) -> str:
    return f"{output.locate(place.uri, place.line, place.uri)}: {place.kind.replace('-', ' ')}"


def _list_remedies(unmasked: Sequence[wire.SecretPlace]) -> Iterator[str]:
    """Yields the commands that mask secrets: each source is forgotten, with its earlier versions and the answers from
    it, and read again."""
    uris = dict.fromkeys(place.uri for place in unmasked)
    questions = [uri for uri in uris if uri.startswith(QUESTION)]
    files = list(dict.fromkeys(uri.partition("#")[0] for uri in uris if Path(uri.partition("#")[0]).is_file()))
    if files or len(uris) > len(questions):
        yield "They were read before secrets were masked, or with memory.mask_secrets = false."
    for file in files:
        yield f"To mask: pal forget --yes --source {shlex.quote(file)} && pal add --again {shlex.quote(file)}"
    for uri in uris:
        if uri.partition("#")[0] not in files and uri not in questions:
            yield f"To have it gone: pal forget --source {shlex.quote(uri)}; save again what is still true."
    if questions:
        yield "Questions go with what they were answered from, when that is forgotten."
