"""Libraries of the extra `readers`: imported with the first file that needs one, in the process that reads it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plugins.readers import Unreadable

INSTALL = "pip install 'palimpsest[readers]'"


def import_library(name: str, package: str) -> Any:
    """The module of that name. Unreadable says how to install its `package` if it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Unreadable(f"{package} reads it and is not installed: {INSTALL}") from error
