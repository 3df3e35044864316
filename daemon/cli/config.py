"""pal config, completion, embedder, plugins: settings and plugins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.errors import NothingFound
from daemon.cli.options import json_option, known_key, write_setting
from daemon.cli.session import Session, pass_session

NONE = "No plug-in is installed. How to write one: docs/plugins.md"
DISABLED = "plugins.disabled"


@click.group(invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show and change the settings.

    Changes take effect after: pal daemon restart
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(show)


@config.command()
@json_option
@pass_session
def show(session: Session) -> None:
    """List all settings with their values; a star marks changed ones."""
    from daemon.config.settings import describe_ignored, entries, load

    rows = entries(load(session.paths.config))
    session.show_rows(
        {key: value for key, (value, _, _) in rows.items()},
        (("*" if value != default else " ", key, _short(value)) for key, (value, default, _) in rows.items()),
    )
    if ignored := describe_ignored(session.paths.config):
        output.say(ignored)


@config.command()
@json_option
@pass_session
def path(session: Session) -> None:
    """Print where config.toml and everything else lives."""
    paths = session.paths
    places = {"config": paths.config, "memory": paths.memory, "backups": paths.backups, "log": paths.log}
    session.show({name: str(place) for name, place in places.items()}, str(paths.config))


def _complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from daemon.config.settings import Settings, entries

    return [key for key in entries(Settings()) if key.startswith(incomplete)]


@config.command("get")
@click.argument("key", shell_complete=_complete_key)
@json_option
@pass_session
def get_(session: Session, key: str) -> None:
    """Print the value of KEY, for example memory.answer.lines."""
    from daemon.config.settings import entries, load

    rows = entries(load(session.paths.config))
    value, _, _ = rows[known_key(key, rows)]
    session.show({key: value}, "\n".join(value) if isinstance(value, tuple) else _short(value))


@config.command("set")
@click.argument("key", shell_complete=_complete_key)
@click.argument("value")
@json_option
@pass_session
def set_(session: Session, key: str, value: str) -> None:
    """Write VALUE for KEY into config.toml, and keep its comments."""
    written = write_setting(session.paths.config, key, value)
    if not session.shows_json({key: written}):
        output.print_text(f"{key} = {value}")
        for sentence in _tell_when_it_counts(session.paths.config, key):
            output.say(sentence)


def _tell_when_it_counts(file: Path, key: str) -> Iterator[str]:
    """From when on a setting counts, and that the daemon cannot start with the rest of the file, if so."""
    from daemon.config.settings import SettingsError, load

    try:
        load(file)
    except SettingsError as error:
        yield f"The daemon cannot start yet. {error}"
        return
    if key in ("chat.remember", "memory.at"):
        yield "It counts at once."
        return
    yield "It counts from the daemon's next start: pal daemon restart"


@config.command()
@pass_session
def edit(session: Session) -> None:
    """Open config.toml in your editor ($VISUAL, $EDITOR), and check it afterwards."""
    from daemon.config.file import read_or_make
    from daemon.config.settings import describe_ignored

    read_or_make(session.paths.config)
    click.edit(filename=str(session.paths.config))
    if ignored := describe_ignored(session.paths.config):
        output.say(ignored)
    output.say("The settings are good. They count from the daemon's next start: pal daemon restart")


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


@click.command()
@click.argument("name", required=False)
@json_option
@pass_session
def embedder(session: Session, name: str | None) -> None:
    """Show or change the embedder.

    With NAME, all passages get new vectors in the background; questions and reading continue. NAME is "auto", the best
    one that is installed: "minilm-int8", else "static"; "ollama:MODEL" or "openai:MODEL" for a server on this machine;
    with the extra onnx "minilm-int8" or "onnx:FOLDER"; with the extra local "minilm", or "st:MODEL" with a model's name
    on the hub or the path of its folder. "st:MODEL@256" keeps the first 256 dimensions.
    """
    if name is None:
        state = session.client.embedder()
    else:
        from daemon.cli.options import write_setting

        name = _with_whole_path(name)
        state = session.client.set_embedder(name)
        write_setting(session.paths.config, "embedder.name", name)
    if session.as_json:
        output.print_json(state)
    elif name is None:
        _print(state)
    else:
        output.print_text(f"Embedder: {name}")
        output.say("Passages get their vectors in the background; `pal embedder` shows how far.")


def _with_whole_path(name: str) -> str:
    """A name with the absolute path of its folder or file: the daemon has another working directory."""
    family, colon, rest = name.partition(":")
    path = Path(rest).expanduser()
    return f"{family}:{path.absolute()}" if colon and (path.exists() or rest.startswith((".", "~"))) else name


def _print(state: wire.EmbedderReply) -> None:
    rows = [("Embedder", f"{state.name} ({state.chosen})" if state.chosen else state.name), ("In use", state.used)]
    if state.building:
        rows.append(("Embedding", f"{state.done:,} of {state.total:,} passages" if state.total else "about to begin"))
    if state.problem:
        rows.append(("Problem", f"{state.problem} Then try again: pal embedder {state.name}"))
    known = (f"{name}MODEL" if name.endswith(":") else name for name in state.known)
    rows.append(("Known", ", ".join(known)))
    output.print_table(rows)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def plugins(ctx: click.Context) -> None:
    """List the plug-ins, what each adds, and which were left out.

    A plug-in is a package in the same Python environment. It adds readers, embedders, models, strategies or rankers. It
    is code and can do whatever you can. One that fails to load is left out, with the reason. A new plug-in is loaded
    after: pal daemon restart.
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    reply = session.client.plugins()
    session.show_rows(reply, (row for plugin in (reply.built_in, *reply.plugins) for row in _rows(plugin)))
    if not reply.plugins and not session.as_json:
        output.say(NONE)


def _rows(plugin: wire.Plugin) -> Iterator[tuple[str, str]]:
    """A plug-in with its package, and a line for each kind of what it adds."""
    yield plugin.name, plugin.package
    if plugin.is_off:
        yield "", f"off: pal plugins on {plugin.name}"
    if plugin.problem:
        yield "", f"left out: {plugin.problem}"
    for kind, names in plugin.adds.items():
        yield "", f"{kind}: {', '.join(names)}"


@plugins.command()
@click.argument("name")
@json_option
@pass_session
def off(session: Session, name: str) -> None:
    """Stop loading the plug-in NAME.

    Works without the daemon, in case the plug-in keeps it from starting.
    """
    from plugins import manager

    installed = manager.find_names()
    if not installed:
        raise NothingFound(NONE)
    if name not in installed:
        raise NothingFound(f"No plug-in {name!r} is installed. Installed: {', '.join(installed)}.")
    _write(session, name, is_off=True)


@plugins.command()
@click.argument("name")
@json_option
@pass_session
def on(session: Session, name: str) -> None:
    """Load the plug-in NAME again."""
    _write(session, name, is_off=False)


def _write(session: Session, name: str, is_off: bool) -> None:
    from daemon.cli.options import write_setting
    from daemon.config.settings import load

    others = [other for other in load(session.paths.config).plugins.disabled if other != name]
    disabled = write_setting(session.paths.config, DISABLED, json.dumps([*others, *[name] * is_off]))
    if session.shows_json({DISABLED: disabled}):
        return
    output.print_text(f"{name} is {'off' if is_off else 'on'}.")
    output.say("It counts from the daemon's next start: pal daemon restart")
