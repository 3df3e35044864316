"""What the commands of `pal mcp` share: an agent's name, and what it may."""

from __future__ import annotations

from pathlib import Path

import click


def check_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """An agent's name, as config.toml takes it. BadParameter."""
    from daemon.settings import CLIENT_NAME

    if value is not None and not CLIENT_NAME.fullmatch(value):
        raise click.BadParameter("small letters, digits and dashes, 40 at most.")
    return value


def grants(command: click.decorators.FC) -> click.decorators.FC:
    """The options that say what an agent may do."""
    for option in (
        click.option("--write", "writes", is_flag=True, help="It may remember, judge, and forget what it wrote."),
        click.option("--all", "everything", is_flag=True, help="It sees all of the memory."),
        click.option(
            "--folder",
            "folders",
            type=click.Path(path_type=Path),
            multiple=True,
            help="It sees what was read from this folder. May be repeated.",
        ),
    ):
        command = option(command)
    return command
