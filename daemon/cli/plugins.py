"""pal plugins: what is installed beside the program itself."""

from __future__ import annotations

from collections.abc import Iterator

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session

NONE = "No plug-in is installed. How to write one: docs/plugins.md"


@click.command()
@json_option
@pass_session
def plugins(session: Session, as_json: bool) -> None:
    """List the plug-ins, what each adds, and which were left out.

    A plug-in is a package that was installed beside this one. It adds readers, embedders,
    models, strategies or rankers. One that fails when it is loaded is left out, with the
    reason; everything else goes on. A plug-in that was just installed or taken away counts
    from the next start on: pal daemon restart.
    """
    found = session.client.plugins()
    if as_json:
        output.print_json(found)
        return
    output.print_table(row for one in (found.built_in, *found.plugins) for row in _rows(one))
    if not found.plugins:
        output.say(NONE)


def _rows(plugin: wire.Plugin) -> Iterator[tuple[str, str]]:
    """A plug-in with its package, and a line for each kind of what it adds."""
    yield plugin.name, plugin.package
    if plugin.problem:
        yield "", f"left out: {plugin.problem}"
    if plugin.outside:
        yield "", f"left outside: {plugin.outside}"
    for one in plugin.adds:
        yield "", f"{one.kind}: {', '.join(one.names)}"
