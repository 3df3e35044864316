"""The parts of the documentation that are made by the program.

Settings tables, the keys and commands of the chat, and the calls of the API are between `<!-- settings -->`,
`<!-- chat -->` or `<!-- calls -->` and `<!-- end -->`; the tour is the block of README that begins with "```console".
`python -m tests.docs.generated` rewrites them; a test fails while they differ.
"""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from daemon.calls import list_calls
from daemon.calls.process import DaemonCalls
from daemon.cli import main
from daemon.config.settings import Settings, entries, render
from tests.cli.vault import ROOT, Shell
from tui.actions import PLACES, actions_of
from tui.actions import commands as chat_commands
from tui.keys import key_names

README = ROOT / "README.md"
PAGES = tuple(ROOT / "docs" / f"{name}.md" for name in ("api", "chat", "configuration"))
PART = re.compile(r"<!-- (settings|chat|calls) -->\n.*?<!-- end -->", re.DOTALL)
TOUR = re.compile(r"(?<=```console\n).*?(?=\n```)", re.DOTALL)
LONG = 80  # characters of a default that still fits into a table


def regenerated(text: str) -> str:
    """A page with its parts as the code is now."""
    return PART.sub(lambda match: f"<!-- {match[1]} -->\n{_part(match[1])}\n<!-- end -->", text)


def toured(text: str, home: Path) -> str:
    """README with what its commands print now, in a memory that begins empty. Seconds are written as they were here."""
    shell = Shell(ROOT, home)

    def run(match: re.Match[str]) -> str:
        asked = re.findall(r"^\$ pal (.+)$", match[0], re.MULTILINE)
        said = [shell.pal(*shlex.split(line)) for line in asked]
        blocks = [f"$ pal {line}\n{one.out}{one.err}".rstrip() for line, one in zip(asked, said, strict=True)]
        return re.sub(r"\(\d+\.\d s\)", "(0.4 s)", "\n\n".join(blocks))

    try:
        return TOUR.sub(run, text)
    finally:
        shell.pal("daemon", "stop")


def commands(command: click.Command = main, name: str = "pal") -> list[tuple[str, click.Command]]:
    """Every command and group with its full name, `pal` first."""
    found = [(name, command)]
    if isinstance(command, click.Group):
        with click.Context(command, info_name=name) as ctx:
            for below in command.list_commands(ctx):
                inner = command.get_command(ctx, below)
                assert inner is not None
                found += commands(inner, f"{name} {below}")
    return found


def _part(what: str) -> str:
    return {"settings": _settings, "chat": _chat, "calls": _calls}[what]()


def _chat() -> str:
    parts = ["\n### Commands\n", "| command | what it does |\n|---|---|"]
    parts += [f"| `{action.usage}` | {action.sentence} |" for action in chat_commands()]
    for place, heading in PLACES.items():
        keyed = (action for action in actions_of(place) if action.key)
        rows = [f"| {key_names(action.key)} | {action.sentence} | `{action.id}` |" for action in keyed]
        if rows:
            parts += [f"\n### {heading}\n", "| key | what it does | name |\n|---|---|---|", *rows]
    return "\n".join(parts) + "\n"


def _calls() -> str:
    rows = ["", "| call | request | what it does |", "|---|---|---|"]
    for call in list_calls(DaemonCalls):
        asked = [name for name in call.parameters if not call.in_path(name)]
        request = call.path if call.has_body or not asked else f"{call.path}?{'&'.join(f'{name}=' for name in asked)}"
        sentence = " ".join((call.stub.__doc__ or "").split()).partition(". ")[0].rstrip(".").replace("|", "or")
        rows.append(f"| `{call.name}` | `{call.method} {request}` | {sentence}. |")
    return "\n".join([*rows, ""])


def _settings() -> str:
    parts = []
    headings = dict(re.findall(r"^\[(.+?)\]  # (.+)$", render(Settings()), re.MULTILINE))
    for section, rows in itertools.groupby(entries(Settings()).items(), lambda row: row[0].rpartition(".")[0]):
        parts += [f"\n## [{section}]\n\n{headings[section]}\n", "| setting | default | meaning |\n|---|---|---|"]
        for key, (_, default, sentence) in rows:
            value = _value(default)
            if len(value) > LONG:
                value = f"{len(default)} patterns, see `config.toml`"
            parts.append(f"| `{key.rpartition('.')[2]}` | {value} | {sentence} |")
    return "\n".join(parts) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value) or "none"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    (ROOT / "config.toml").write_text(render(Settings()), "utf-8")
    for page in PAGES:
        page.write_text(regenerated(page.read_text("utf-8")), "utf-8")
    with TemporaryDirectory() as folder:
        README.write_text(toured(README.read_text("utf-8"), Path(folder)), "utf-8")
