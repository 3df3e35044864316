"""The command that installs an extra: one that works in the environment of the reader of the message."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from plugins.installing import install_command

CHECKOUT = {"url": "file:///home/ana/my%20code/palimpsest", "dir_info": {"editable": True}}
FOLDER = {"url": "file:///home/ana/palimpsest", "dir_info": {}}
WHEEL = {"url": "file:///tmp/palimpsest_memory-0.1.0-py3-none-any.whl", "archive_info": {}}
PYTHON = shlex.quote(sys.executable)
RECEIPT = '[tool]\nrequirements = [{ name = "palimpsest-memory", extras = ["onnx"] }]\n'


@pytest.mark.parametrize(
    ("marker", "origin", "command"),
    [
        ({}, {}, f"{PYTHON} -m pip install 'palimpsest-memory[readers]'"),
        ({}, WHEEL, f"{PYTHON} -m pip install 'palimpsest-memory[readers]'"),
        ({}, FOLDER, f"{PYTHON} -m pip install '/home/ana/palimpsest[readers]'"),
        ({}, CHECKOUT, f"{PYTHON} -m pip install -e '/home/ana/my code/palimpsest[readers]'"),
        ({"pipx_metadata.json": "{}"}, {}, "pipx inject palimpsest-memory 'palimpsest-memory[readers]'"),
        ({"pipx_metadata.json": "{}"}, FOLDER, "pipx inject palimpsest-memory '/home/ana/palimpsest[readers]'"),
        ({"uv-receipt.toml": RECEIPT}, {}, "uv tool install 'palimpsest-memory[onnx,readers]'"),
        ({"uv-receipt.toml": "broken"}, {}, "uv tool install 'palimpsest-memory[readers]'"),
    ],
    ids=["venv", "wheel", "folder", "checkout", "pipx", "pipx from a folder", "uv keeps extras", "uv"],
)
def test_the_command_fits_the_installation(
    tmp_path: Path, marker: dict[str, str], origin: dict[str, Any], command: str
) -> None:
    prefix = tmp_path / "palimpsest-memory"
    prefix.mkdir()
    for name, text in marker.items():
        (prefix / name).write_text(text)
    assert install_command("readers", prefix, origin) == command


def test_damaged_files_are_installed_again(tmp_path: Path) -> None:
    assert install_command("onnx", tmp_path, {}, again=True).endswith(
        "pip install --force-reinstall 'palimpsest-memory[onnx]'"
    )
    (tmp_path / "uv-receipt.toml").touch()
    assert install_command("onnx", tmp_path, {}, again=True) == "uv tool install --reinstall 'palimpsest-memory[onnx]'"


def test_this_installation_has_a_command_for_its_own_python() -> None:
    command = install_command("onnx")
    assert command.startswith(PYTHON) and "[onnx]" in command
