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
    yield "It counts from the daemon's next start: pal daemon restart"
    section, _, name = key.rpartition(".")[0].partition(".")
    walks = strategy not in ("spread", "none") if name == "walk" else name in strategy.split("+")
    if section == "traversers" and not walks:
        yield f"It changes nothing yet, for memory.recall.strategy is {strategy}. For one question: pal ask --strategy"


def write_setting(file: Path, key: str, value: str) -> Any:
    """Writes `value` for `key` into config.toml; returns it as it is read from there. BadParameter. What else is wrong
    in the file stands in nobody's way: it is mended by the same command."""
    import re
    import tomllib

    from daemon.settings import Settings, SettingsError, entries, parse
    from memory.errors import InvalidInputError

    rows = entries(Settings())
    _, default, _ = rows[_known(key, rows)]
    section, _, name = key.rpartition(".")
    toml = _toml(value, default)
    try:
        settings = parse(f"[{section}]\n{name} = {toml}", file)
        text = _written(file, section, name, toml)
        tomllib.loads(text)
        if key == "memory.recall.strategy":
            from plugins.manager import load as load_plugins

            load_plugins().check_strategy(settings.memory.recall.strategy)
    except SettingsError as error:  # its line is none of the file
        what = re.sub(rf"^{re.escape(str(file))}(, line \d+:)?", "", str(error)).strip()
        raise click.BadParameter(f"{what} {file} stays as it was.", param_hint="VALUE") from error
    except InvalidInputError as error:
        raise click.BadParameter(str(error), param_hint="VALUE") from error
    except tomllib.TOMLDecodeError as error:
        raise click.ClickException(f"{file} is not TOML: {error}. Correct it: pal config edit") from error
    trial = file.with_name(f".{file.name}.new")
    trial.write_text(text, "utf-8")
    trial.replace(file)
    return entries(settings)[key][0]


@config.command()
@pass_session
def edit(session: Session) -> None:
    """Open config.toml in your editor ($VISUAL, $EDITOR), and check it afterwards."""
    from daemon.settings import load

    _ensure(session.paths.config)
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


def _toml(value: str, default: Any) -> str:
    """What the user typed -> TOML: a text needs no quotes, a list may be given as words between commas."""
    import json

    if isinstance(default, str):
        return json.dumps(value.strip("\"'"))
    if isinstance(default, tuple) and not value.lstrip().startswith("["):
        return json.dumps([item.strip() for item in value.split(",") if item.strip()])
    return value


def _ensure(file: Path) -> str:
    """config.toml's text; without the file, all defaults are written."""
    from daemon.paths import private_folder
    from daemon.settings import Settings, render

    if not file.exists():
        private_folder(file.parent)
        file.write_text(render(Settings()), "utf-8")
    return file.read_text("utf-8")


def _written(file: Path, section: str, name: str, value: str) -> str:
    """The file's text with `name = value` in [section], in the place of an older value or at the section's end."""
    import re
    import tomllib

    lines = _ensure(file).splitlines()
    header = re.compile(rf"\s*\[\s*{re.escape(section)}\s*\]")
    at = next((number for number, line in enumerate(lines) if header.match(line)), None)
    if at is None:
        return "\n".join([*lines, "", f"[{section}]", f"{name} = {value}", ""])
    end = next((number for number in range(at + 1, len(lines)) if re.match(r"\s*\[", lines[number])), len(lines))
    for first in range(at + 1, end):
        if re.match(rf"\s*{re.escape(name)}\s*=", lines[first]):
            for last in range(first + 1, len(lines) + 1):  # a list may take several lines
                try:
                    tomllib.loads("\n".join(lines[first:last]))
                except tomllib.TOMLDecodeError:
                    continue
                lines[first:last] = [f"{name} = {value}"]
                break
            return "\n".join([*lines, ""])
    lines.insert(at + 1, f"{name} = {value}")
    return "\n".join([*lines, ""])


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
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
