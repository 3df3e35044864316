"""Libraries of the extra `readers`: imported with the first file that needs one, in the reading process."""

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
