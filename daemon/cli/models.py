"""pal models, embedder, plugins: the models and plug-ins, and their uses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import ask, json_command, json_option, write_setting
from daemon.cli.output import NothingFound
from daemon.cli.session import Session
from daemon.setup import SERVICES
from daemon.terminal import size

ROLES = ("extract", "answer", "agent")
NONE = "none"
NO_PLUGIN = "No plug-in is installed. How to write one: docs/plugins.md"
DISABLED = "plugins.disabled"
WITHOUT = (
    "No language model can be reached. Everything works without one.\n"
    "A model writes whole answers, and finds facts that the rules do not."
)
GRADES = ("Reads", "Decides", "Answers", "Refuses", "Tools")
HEAD = ("Model", "Runs", "Context", *GRADES, "Tokens/s", "Tokens today", "Size")


@click.group(invoke_without_command=True)
@click.option("--elsewhere", is_flag=True, help="Also list models of services elsewhere, with your key.")
@json_option
@click.pass_context
def models(ctx: click.Context, elsewhere: bool) -> None:
    """Show the available language models and their uses.

    Models of Ollama on this machine are found automatically. A model elsewhere is used only if you name it (pal models
    use), and gets no text of folders with the policy local.
    """
    if ctx.invoked_subcommand is None:
        session = ctx.ensure_object(Session)
        session.show(session.client.models(elsewhere), _print)


@models.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@json_command
def probe(session: Session, names: tuple[str, ...]) -> None:
    """Grade a model: how well and how fast it reads, decides, answers, refuses and uses tools.

    It gets the same prompts as with your notes, about invented ones. Takes some minutes on this machine, or about
    35,000 tokens of a model elsewhere. Without NAME: all models on this machine without current grades.
    """
    if not names:
        rows = session.client.models().models
        names = tuple(
            row.name for row in rows if row.is_local and (not row.grades or row.outdated or row.grades.problem)
        )
        if not names:
            here = any(row.is_local for row in rows)
            raise NothingFound(
                "Every model on this machine has its grades: pal models" if here else f"{WITHOUT}\nSee: pal models"
            )
    for name in names:
        with session.client.probe_model(name) as events:  # Ctrl-C ends it
            graded = session.follow(events, wire.Grades, f"Grading {name}", _print_grades)
        if graded.problem:
            raise click.ClickException(f"{graded.problem} Finished grades are kept.")


@models.command()
@click.argument("service", metavar="SERVICE", type=click.Choice(list(SERVICES)))
@click.argument("address", default="")
@click.option("--key", is_flag=True, help="Ask for an API key and save it.")
@json_command
def connect(session: Session, service: str, address: str, key: bool) -> None:
    """Save the address of a model service, and try one of its models.

    SERVICE is ollama, openai (any server with its protocol) or anthropic; ADDRESS is needed only if it is not the usual
    one. A key is not shown while you type; it is saved in the system's keyring, or in a file that only you can read. If
    no model answers, nothing is saved.
    """
    from daemon import setup

    typed = click.prompt("API key", hide_input=True, err=True) if key else ""
    try:
        tried = setup.connect(session.client, session.paths.config, service, address, typed)
    except setup.ConnectError as error:
        raise click.ClickException(str(error)) from error
    if session.as_json:
        output.print_json(tried)
    if tried.problem:
        raise click.ClickException(tried.problem)
    if not session.as_json:
        output.print_text(setup.describe_model_test(tried))
        output.say(f"To let it write answers: pal models use answer {tried.name}")


@models.command()
@click.argument("role", type=click.Choice(ROLES))
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@json_command
def use(session: Session, role: str, names: tuple[str, ...]) -> None:
    """Choose the models for a ROLE: extract, answer or agent.

    Of several names the first that can be reached is used. "auto" is the best one on this machine that passed `pal
    models probe`, "none" no model.
    """
    if NONE in names and len(names) > 1:
        raise click.BadParameter("Say none alone.", param_hint="NAME")
    wanted = () if names == (NONE,) else tuple(dict.fromkeys(names))
    from daemon.setup import READING_GAIN, use_models

    reply = use_models(session.client, session.paths.config, role, wanted)
    if session.shows_json(reply):
        return
    elsewhere = [row.name for row in reply.models if row.name in wanted and not row.is_local]
    if elsewhere:
        ask(session, elsewhere[0])
    used = next(state.used for state in reply.roles if state.role == role)
    output.print_text(f"{role}: {', '.join(wanted) or NONE}")
    if role == "extract" and wanted:
        output.say(READING_GAIN)
    if wanted and not used:
        output.say("None of them can be used now; see: pal models")
    elif any(row.name == used and not row.is_local for row in reply.models):
        output.say(f"{used} is not on this machine. It gets no text of folders that are marked local.")
    _say(reply.warnings)


def _print_grades(graded: wire.Grades) -> None:
    rows = [
        ("Model", graded.name),
        *((label, _format_share(share)) for label, share in zip(GRADES, _list_grades(graded), strict=True)),
        ("Speed", f"{graded.tokens_per_s:,.0f} tokens/s, the first after {graded.first_s:.1f} s"),
        ("A question", f"about {graded.question_s:.0f} s" if graded.question_s else "not known"),
        ("Long texts", f"{graded.context:,} tokens at least" if graded.context else "none"),
        *(("For", sentence) for sentence in graded.by_role),
        ("Advice", graded.advice),
    ]
    output.print_table([*rows, *(("Note", note) for note in graded.notes)])


def _print(reply: wire.ModelsReply) -> None:
    if reply.models:
        output.print_table([HEAD, *map(_make_row, reply.models)], right=range(2, 11), spare=(10, 2, 8, 9))
        click.echo("")
        output.print_table(
            (role.role, role.used or NONE, f"wanted: {', '.join(role.names) or NONE}") for role in reply.roles
        )
    else:
        output.say(WITHOUT)
    if any(row.is_local and row.grades is None for row in reply.models):
        output.say("A model is used by itself when it has been graded: pal models probe")
    _say(reply.warnings)
    _say(reply.problems)
    if not reply.models:
        _say(reply.hints)


def _make_row(row: wire.ModelRow) -> tuple[str, ...]:
    known = row.grades if not row.outdated else None
    shares = _list_grades(known) if known else (None,) * len(GRADES)
    return (
        row.name,
        "here" if row.is_local else "elsewhere",
        f"{row.context:,}" if row.context else "-",
        *map(_format_share, shares),
        f"{known.tokens_per_s:,.0f}" if known else "-",
        f"{row.tokens:,}" if row.tokens else "-",
        size(row.bytes) if row.bytes else "-",
    )


def _list_grades(graded: wire.Grades) -> tuple[float | None, ...]:
    return graded.reads, graded.decides, graded.answers, graded.refuses, graded.tools


def _format_share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _say(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        output.say(sentence)


@click.command()
@click.argument("name", required=False)
@json_command
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
        name = _resolve_path(name)
        state = session.client.set_embedder(name)
        write_setting(session.paths.config, "embedder.name", name)
    if session.as_json:
        output.print_json(state)
    elif name is None:
        _print_embedder(state)
    else:
        output.print_text(f"Embedder: {name}")
        output.say("Passages get their vectors in the background; `pal embedder` shows how far.")


def _resolve_path(name: str) -> str:
    """Returns a name with the absolute path of its folder or file: the daemon has another working directory."""
    family, colon, rest = name.partition(":")
    path = Path(rest).expanduser()
    return f"{family}:{path.absolute()}" if colon and (path.exists() or rest.startswith((".", "~"))) else name


def _print_embedder(state: wire.EmbedderReply) -> None:
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
    session.show_rows(reply, (row for plugin in (reply.built_in, *reply.plugins) for row in _list_rows(plugin)))
    if not reply.plugins and not session.as_json:
        output.say(NO_PLUGIN)


def _list_rows(plugin: wire.Plugin) -> Iterator[tuple[str, str]]:
    """Yields a plug-in with its package, and a line for each kind of what it adds."""
    yield plugin.name, plugin.package
    if plugin.is_off:
        yield "", f"off: pal plugins on {plugin.name}"
    if plugin.problem:
        yield "", f"left out: {plugin.problem}"
    for kind, names in plugin.adds.items():
        yield "", f"{kind}: {', '.join(names)}"


@plugins.command()
@click.argument("name")
@json_command
def off(session: Session, name: str) -> None:
    """Stop loading the plug-in NAME.

    Works without the daemon, in case the plug-in keeps it from starting.
    """
    from plugins import manager

    installed = manager.find_names()
    if not installed:
        raise NothingFound(NO_PLUGIN)
    if name not in installed:
        raise NothingFound(f"No plug-in {name!r} is installed. Installed: {', '.join(installed)}.")
    _turn(session, name, is_off=True)


@plugins.command()
@click.argument("name")
@json_command
def on(session: Session, name: str) -> None:
    """Load the plug-in NAME again."""
    _turn(session, name, is_off=False)


def _turn(session: Session, name: str, is_off: bool) -> None:
    from daemon.config.settings import load

    others = [other for other in load(session.paths.config).plugins.disabled if other != name]
    disabled = write_setting(session.paths.config, DISABLED, json.dumps([*others, *[name] * is_off]))
    if session.shows_json({DISABLED: disabled}):
        return
    output.print_text(f"{name} is {'off' if is_off else 'on'}.")
    output.say("It counts from the daemon's next start: pal daemon restart")
