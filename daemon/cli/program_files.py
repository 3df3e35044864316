"""The files of other programs into which an entry is written, once a person has seen it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import click

from daemon.cli import output


def find_pal() -> str:
    """The command by which another program starts this one."""
    return shutil.which("pal") or str(Path(sys.executable).with_name("pal"))


def find_codex_settings() -> Path:
    """Where Codex keeps its settings."""
    return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser() / "config.toml"


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one if it is not there. ClickException."""
    try:
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{file} is no JSON ({error}): mend it first, nothing was changed.") from error
    if not isinstance(kept, dict):
        raise click.ClickException(f"{file} holds no JSON object: mend it first, nothing was changed.")
    return kept


def inner_object(file: Path, kept: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key of that one, made if it is not there. ClickException."""
    inner = kept.setdefault(key, {})
    if not isinstance(inner, dict):
        raise click.ClickException(f'"{key}" in {file} is no object: mend it first, nothing was changed.')
    return inner


def read_toml(file: Path) -> tuple[str, dict[str, Any]]:
    """What a file of TOML says, as it stands there and as values; nothing if it is not there. ClickException."""
    try:
        text = file.read_text("utf-8") if file.exists() else ""
        return text, tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{file} is no TOML ({error}): mend it first, nothing was changed.") from error


def write_text(file: Path, text: str) -> None:
    """Puts another text into a file, which is kept beside it as it was; its rights stay."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file = file.resolve()  # a file of settings may be a link to where its owner keeps them
    if file.exists():
        shutil.copy2(file, file.with_name(f"{file.name}.before-palimpsest"))
    new = file.with_name(f".{file.name}.palimpsest")
    new.unlink(missing_ok=True)
    new.touch(0o600)
    new.write_text(text, "utf-8")
    if file.exists():
        shutil.copymode(file, new)
    new.replace(file)


def write_object(file: Path, kept: dict[str, Any]) -> None:
    """The same with a JSON object."""
    write_text(file, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")


def confirm_writing(question: str) -> None:
    """Asks before the settings of another program are written. click's Abort if they are not to be, its UsageError
    where nobody is there to answer."""
    try:
        is_meant = click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.UsageError("Nobody is there to confirm. Add --yes to write it without being asked.") from None
    if not is_meant:
        output.say("Nothing was written.")
        raise click.Abort
