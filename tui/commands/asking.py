"""How a question is asked: how far it may go, and how the graph is walked."""

from __future__ import annotations

from tui.commands.part import Part
from tui.link import EFFORTS
from tui.widgets.plain import Plain

SIGN = "›"  # before the prompt


class AskingCommands(Part):
    """/effort, /strategy"""

    async def action_choose_effort(self, name: str = "") -> None:
        if name in EFFORTS:
            self.link.effort = self.shared.preferences.effort = name
            self.shared.preferences.save()
            self.query_one("#sign", Plain).update(prompt_sign(name))
        elif name:
            await self.conversation.say(f"There is no effort {name}. There are: {', '.join(EFFORTS)}.", "warning")
        else:
            await self.conversation.say(f"Effort: {self.link.effort}. /effort {'|'.join(EFFORTS)} changes it.")

    async def action_choose_strategy(self, name: str = "") -> None:
        if name:
            self.link.strategy = "" if name == "default" else name
        chosen = self.link.strategy or "that of the settings"
        await self.conversation.say(f"Strategy: {chosen}. /strategy NAME changes it, /strategy default takes it back.")


def prompt_sign(effort: str) -> str:
    """What stands before the prompt: how far a question goes, unless it is as far as usual."""
    return SIGN if effort == EFFORTS[1] else f"{effort} {SIGN}"
