"""Parts that families of readers share. A library of the extra `readers` is imported when a file needs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plugins.installing import install_command
from plugins.readers import Unreadable

NOT_INSTALLED = "is not installed:"  # in the reason of a file that needs a library of the extra


def import_library(name: str, package: str) -> Any:
    """Returns the module of that name. Raises Unreadable with the install command for its `package`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Unreadable(f"{package} {NOT_INSTALLED} {install_command('readers')}") from error
