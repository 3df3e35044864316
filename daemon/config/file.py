"""Writes one setting into config.toml, keeping comments and other settings; checks whether others can read a key in
it."""

from __future__ import annotations

import json
import re
import shlex
import stat
import tomllib
from pathlib import Path
from typing import Any

from daemon.config.settings import Settings, SettingsError, entries, entries_for, parse, render
from daemon.paths import private_folder, write_private


def write_setting(file: Path, key: str, value: str) -> Any:
    """Writes `value`, as typed, for the setting `key`; returns it as read back from the file. SettingsError for an
    invalid value, and NotTomlError for an unreadable file; the file is then unchanged. Other errors in the file do not
    matter: the same call can correct them."""
    _, default, _ = entries_for(key)[key]
    section, _, name = key.rpartition(".")
    toml = _make_toml(value, default)
    try:
        settings, others = parse(f"[{section}]\n{name} = {toml}", file)
        if others:
            raise SettingsError(f"{key} must be one value.")
    except SettingsError as error:  # its line number is not of the file
        what = re.sub(rf"^{re.escape(str(file))}(, line \d+:)?", "", str(error)).strip()
        raise SettingsError(f"{what} {file} was not changed.") from error
    text = _replace(read_or_make(file), section, name, toml)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotTomlError(f"{file} is not TOML: {error}. Correct it: pal config edit") from error
    write_private(file, text)
    return entries(settings)[key][0]


class NotTomlError(SettingsError):
    """The file is not valid TOML, whatever is written into it."""


def read_or_make(file: Path) -> str:
    """Returns config.toml's text; writes all defaults if the file is missing."""
    if not file.exists():
        private_folder(file.parent)
        write_private(file, render(Settings()))
    return file.read_text("utf-8")


def _make_toml(value: str, default: Any) -> str:
    """Converts the user's input to TOML: a text needs no quotes, a list may be words between commas."""
    if isinstance(default, str):
        return json.dumps(value.strip("\"'"))
    if isinstance(default, tuple) and not value.lstrip().startswith("["):
        return json.dumps([item.strip() for item in value.split(",") if item.strip()])
    return value


def _replace(text: str, section: str, name: str, value: str) -> str:
    """Returns the text with `name = value` in [section], replacing an older value or at the section's end."""
    lines = text.splitlines()
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


def describe_exposure(config: Path) -> str:
    """Returns the problem, with the command that repairs it, if others can read a config.toml with a key or password in
    it; "" if not. The text does not contain the key."""
    try:
        if not config.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            return ""
        text = config.read_text("utf-8", "replace")
    except OSError:
        return ""
    from memory.text.secrets import find_secrets  # 35 ms, which only a file that others can read should cost

    usual = {*render(Settings()).splitlines()}  # names of files that hold passwords are among the defaults
    text = "\n".join("" if line in usual else line for line in text.splitlines())
    secrets = find_secrets(text)
    if not secrets:
        return ""
    line = text.count("\n", 0, secrets[0].start) + 1
    kind = secrets[0].kind.replace("-", " ")
    return (
        f"Others can read {config}, and line {line} looks like it holds your {kind}. To fix that:"
        f" chmod 600 {shlex.quote(str(config))}"
    )
