"""The settings of plug-ins. Standard library only: every client process reads them."""

from dataclasses import dataclass

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Installed plug-ins, which run in the daemon."""

    disabled: tuple[str, ...] = setting((), "Plug-ins that are not loaded; `pal plugins off NAME` adds one.")
