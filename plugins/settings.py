"""The settings of plug-ins of others. Standard library only: every client process reads them."""

from dataclasses import dataclass

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Plug-ins of others, each of which runs in a process of its own."""

    inside: tuple[str, ...] = setting(
        (), "Names of plug-ins whose strategies and rankers may run in the daemon itself, which they then can end."
    )
    call_s: float = setting(
        60.0, "Seconds that one may take for a call; a model those that it says itself.", least=0.1, most=3600
    )
    memory_mb: int = setting(
        2048, "Megabytes of memory that the process of one may take; a large model takes more.", least=128, most=1000000
    )
