"""pal config, completion: the settings file, and the shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import display_safe


@click.group(invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show and change the settings.

    A change counts from the daemon's next start: pal daemon restart
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(show)


@config.command()
@json_option
@pass_session
def show(session: Session, as_json: bool = False) -> None:
    """List every setting with its value; a star marks what differs from the default."""
    from daemon.settings import entries, load

    rows = entries(load(session.paths.config))
    if as_json:
        output.print_json({key: value for key, (value, _, _) in rows.items()})
        return
    output.print_table(
        ("*" if value != default else " ", key, _short(value)) for key, (value, default, _) in rows.items()
    )


@config.command()
@json_option
@pass_session
def path(session: Session, as_json: bool) -> None:
    """Print where config.toml and everything else lives."""
    paths = session.paths
    if as_json:
        places = {"config": paths.config, "memory": paths.memory, "backups": paths.backups, "log": paths.log}
        output.print_json({name: str(place) for name, place in places.items()})
    else:
        output.print_text(str(paths.config))


def _complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from daemon.settings import Settings, entries

    return [key for key in entries(Settings()) if key.startswith(incomplete)]


@config.command("get")
@click.argument("key", shell_complete=_complete_key)
@json_option
@pass_session
def get_(session: Session, key: str, as_json: bool) -> None:
    """Print the value of KEY, for example memory.recall.k."""
    from daemon.settings import entries, load

    rows = entries(load(session.paths.config))
    value, _, _ = rows[_known(key, rows)]
    if as_json:
        output.print_json({key: value})
    elif isinstance(value, tuple):
        output.print_text("\n".join(value))
    else:
        output.print_text(_short(value))


@config.command("set")
@click.argument("key", shell_complete=_complete_key)
@click.argument("value")
@json_option
@pass_session
def set_(session: Session, key: str, value: str, as_json: bool) -> None:
    """Write VALUE for KEY into config.toml; its comments and everything else stay as they are."""
    written = write_setting(session.paths.config, key, value)
    if as_json:
        output.print_json({key: written})
    else:
        output.print_text(f"{key} = {value}")
        for sentence in _tell_when_it_counts(session.paths.config, key):
            output.say(sentence)


def _tell_when_it_counts(file: Path, key: str) -> Iterator[str]:
    """From when on a setting counts; that the daemon cannot start with the rest of the file, and that a setting of a
    traverser counts only where it is asked for by name, if so."""
    from daemon.settings import SettingsError, load

    try:
        strategy = load(file).memory.recall.strategy
    except SettingsError as error:
        yield f"The daemon cannot start yet. {error}"
        return
    if key == "chat.remember":
        yield "It counts at once."
        return
    yield "It counts from the daemon's next start: pal daemon restart"
    section, _, name = key.rpartition(".")[0].partition(".")
    walks = strategy not in ("spread", "none") if name == "walk" else name in strategy.split("+")
    if section == "traversers" and not walks:
        yield f"It changes nothing yet, for memory.recall.strategy is {strategy}. For one question: pal ask --strategy"


def write_setting(file: Path, key: str, value: str) -> Any:
    """`daemon.config_file.write_setting`, with the errors of a command. BadParameter for an unknown key, too."""
    from daemon import config_file
    from daemon.settings import SettingsError, entries_for
    from memory.errors import InvalidInputError

    _known(key, entries_for(key))
    try:
        if key == "memory.recall.strategy":
            from daemon.settings import load
            from plugins import manager

            manager.load(load(file)).check_strategy(value.strip("\"'"))
        return config_file.write_setting(file, key, value)
    except config_file.NotTomlError as error:
        raise click.ClickException(str(error)) from error
    except (SettingsError, InvalidInputError) as error:
        raise click.BadParameter(str(error), param_hint="VALUE") from error


@config.command()
@pass_session
def edit(session: Session) -> None:
    """Open config.toml in your editor ($VISUAL, $EDITOR), and check it afterwards."""
    from daemon.config_file import read_or_make
    from daemon.settings import load

    read_or_make(session.paths.config)
    click.edit(filename=str(session.paths.config))
    load(session.paths.config)
    output.say("The settings are good. They count from the daemon's next start: pal daemon restart")


def _known(key: str, rows: dict[str, Any]) -> str:
    if key in rows:
        return key
    import difflib

    close = difflib.get_close_matches(key, rows, 1) or [name for name in rows if name.endswith(f".{key}")]
    hint = f" Did you mean {close[0]}?" if close else " `pal config show` lists them."
    raise click.BadParameter(display_safe(f"{key} is not a setting.{hint}", line=True), param_hint="KEY")


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} entries"
    return str(value).lower() if isinstance(value, bool) else str(value)


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash   echo 'eval "$(pal completion bash)"' >> ~/.bashrc
    zsh    echo 'eval "$(pal completion zsh)"' >> ~/.zshrc
    fish   pal completion fish > ~/.config/fish/completions/pal.fish
    """
    from click.shell_completion import get_completion_class

    root = ctx.find_root()
    name = root.info_name or "pal"
    kind = get_completion_class(shell)
    assert kind is not None  # the choice above is click's own list
    click.echo(kind(root.command, {}, name, f"_{name}_COMPLETE".replace("-", "_").upper()).source())
