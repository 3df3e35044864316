"""The distribution's name and version, and the command that installs an extra."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "palimpsest-memory"


def read_version() -> str:
    """Returns the installed version; "0" in a checkout that is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"


def install_command(
    extra: str, prefix: Path | None = None, origin: dict[str, Any] | None = None, again: bool = False
) -> str:
    """Returns the command that installs an extra for the running Python: by pipx, uv or pip, from the package index or
    the folder it was installed from; `again` reinstalls damaged files. `prefix`: the environment (default: this one).
    `origin`: the content of its direct_url.json (PEP 610)."""
    prefix = prefix or Path(sys.prefix)
    origin = _read_origin() if origin is None else origin
    url = urlsplit(str(origin.get("url", "")))
    folder = unquote(url.path) if url.scheme == "file" and "dir_info" in origin else ""
    extras = {extra}
    if (receipt := prefix / "uv-receipt.toml").is_file():
        extras |= _read_extras(receipt)
    wanted = shlex.quote(f"{folder or DISTRIBUTION}[{','.join(sorted(extras))}]")
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {'--force ' if again else ''}{shlex.quote(prefix.name)} {wanted}"
    if receipt.is_file():
        return f"uv tool install {'--reinstall ' if again else ''}{wanted}"
    options = "--force-reinstall " if again else ""
    options += "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"{shlex.quote(sys.executable)} -m pip install {options}{wanted}"


def _read_origin() -> dict[str, Any]:
    with suppress(PackageNotFoundError, ValueError):
        return dict(json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"))
    return {}


def _read_extras(receipt: Path) -> set[str]:
    """Returns the extras in a uv receipt: reinstalling keeps only the extras in the command."""
    with suppress(OSError, tomllib.TOMLDecodeError, AttributeError, KeyError, TypeError):
        for requirement in tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]:
            if requirement.get("name") == DISTRIBUTION:
                return set(requirement.get("extras", ()))
    return set()
