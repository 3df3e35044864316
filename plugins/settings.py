"""The settings of plug-ins of others. Standard library only: every client process reads them."""

from dataclasses import dataclass

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Plug-ins of others, which run in the daemon itself."""

    disabled: tuple[str, ...] = setting((), "Names of plug-ins that are not loaded; `pal plugins off NAME` adds one.")
