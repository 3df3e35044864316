"""pal embedder: what turns text into vectors."""

from __future__ import annotations

from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session


@click.command()
@click.argument("name", required=False)
@json_option
@pass_session
def embedder(session: Session, name: str | None, as_json: bool) -> None:
    """Show or change what turns text into vectors.

    With NAME, every passage gets a new vector in the background; questions and reading go
    on meanwhile. NAME is "auto", the best that is installed: "minilm-int8", else "static";
    "ollama:MODEL" or "openai:MODEL" for a server on this machine; with the extra onnx
    "minilm-int8" or "onnx:FOLDER"; with the extra local "minilm", or "st:MODEL" with a
    model's name on the hub or the path of its folder. "st:MODEL@256" keeps the first 256
    dimensions only.
    """
    if name is None:
        state = session.client.embedder()
    else:
        from daemon.cli.config import write_setting

        name = _with_whole_path(name)
        state = session.client.set_embedder(name)
        write_setting(session.paths.config, "embedder.name", name)
    if as_json:
        output.print_json(state)
    elif name is None:
        _print(state)
    else:
        output.print_text(f"Embedder: {name}")
        output.say("Passages get their vectors in the background; `pal embedder` shows how far.")


def _with_whole_path(name: str) -> str:
    """A folder or file as seen from here: the daemon stands in another one."""
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
