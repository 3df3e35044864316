"""The command palette, most used actions first."""

from __future__ import annotations

from textual.command import CommandPalette, DiscoveryHit, Hits
from textual.system_commands import SystemCommandsProvider
from textual.widgets import OptionList

from tui.screens.dialog import Window


class Palette(CommandPalette, Window[None]):
    """Textual's own, closed once."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command_list" and self.is_mounted:  # see `Options`
            return bool(self.query_one(OptionList).scrollable_content_region)
        return super().check_action(action, parameters)


class ActionsProvider(SystemCommandsProvider):
    """The app's commands in the given order, which Textual's own provider would sort by name."""

    async def discover(self) -> Hits:
        for name, sentence, callback, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(name, callback, help=sentence)
