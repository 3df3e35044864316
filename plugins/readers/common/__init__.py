"""Parts that families of readers share. A library of the extra `readers` is imported when a file needs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plugins.readers import Unreadable

INSTALL = "pip install 'palimpsest[readers]'"


def import_library(name: str, package: str) -> Any:
    """The module of that name. Raises Unreadable with the install command for its `package`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Unreadable(f"it needs {package}: {INSTALL}") from error
