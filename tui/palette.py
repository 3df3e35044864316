"""The command palette: what is used most stands first."""

from __future__ import annotations

from textual.command import CommandPalette, DiscoveryHit, Hits
from textual.system_commands import SystemCommandsProvider

from tui.screens.dialog import Window


class Palette(CommandPalette, Window[None]):
    """Textual's own, closed once."""


class ActionsProvider(SystemCommandsProvider):
    """The app's commands in the order in which it gives them, which Textual's own provider would sort by name."""

    async def discover(self) -> Hits:
        for name, sentence, callback, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(name, callback, help=sentence)
