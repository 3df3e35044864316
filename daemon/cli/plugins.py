"""pal plugins: what is installed beside the program itself."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session

NONE = "No plug-in is installed. How to write one: docs/plugins.md"
DISABLED = "plugins.disabled"


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def plugins(ctx: click.Context, as_json: bool) -> None:
    """List the plug-ins, what each adds, and which were left out.

    A plug-in is a package that was installed beside this one. It adds readers, embedders,
    models, strategies or rankers. It is code that you install, like any other: it can do
    what you can. One that fails when it is loaded is left out, with the reason; everything
    else goes on. A plug-in that was just installed or taken away counts from the next start
    on: pal daemon restart.
    """
    if ctx.invoked_subcommand is not None:
        return
    found = ctx.ensure_object(Session).client.plugins()
    if as_json:
        output.print_json(found)
        return
    output.print_table(row for one in (found.built_in, *found.plugins) for row in _rows(one))
    if not found.plugins:
        output.say(NONE)


def _rows(plugin: wire.Plugin) -> Iterator[tuple[str, str]]:
    """A plug-in with its package, and a line for each kind of what it adds."""
    yield plugin.name, plugin.package
    if plugin.is_off:
        yield "", f"off: pal plugins on {plugin.name}"
    if plugin.problem:
        yield "", f"left out: {plugin.problem}"
    for one in plugin.adds:
        yield "", f"{one.kind}: {', '.join(one.names)}"


@plugins.command()
@click.argument("name")
@json_option
@pass_session
def off(session: Session, name: str, as_json: bool) -> None:
    """Do not load the plug-in NAME any more.

    It works without the daemon, too, where that does not start because of the plug-in.
    """
    from plugins import manager

    installed = manager.find_names()
    if name not in installed:
        known = f"Installed: {', '.join(installed)}." if installed else NONE
        raise NothingFound(f"No plug-in {name!r} is installed. {known}")
    _write(session, as_json, name, is_off=True)


@plugins.command()
@click.argument("name")
@json_option
@pass_session
def on(session: Session, name: str, as_json: bool) -> None:
    """Load the plug-in NAME again."""
    _write(session, as_json, name, is_off=False)


def _write(session: Session, as_json: bool, name: str, is_off: bool) -> None:
    from daemon.cli.config import write_setting
    from daemon.settings import load

    others = [one for one in load(session.paths.config).plugins.disabled if one != name]
    disabled = write_setting(session.paths.config, DISABLED, json.dumps([*others, *[name] * is_off]))
    if as_json:
        output.print_json({DISABLED: disabled})
        return
    output.print_text(f"{name} is {'off' if is_off else 'on'}.")
    output.say("It counts from the daemon's next start: pal daemon restart")
