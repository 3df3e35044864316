"""How a question is asked: effort and search strategy."""

from __future__ import annotations

from textual import work

from tui.commands.part import Part
from tui.link import EFFORTS
from tui.widgets.plain import Plain

SIGN = "›"  # before the prompt
USUAL = "normal"


class SearchCommands(Part):
    """/effort, /strategy"""

    async def action_choose_effort(self, name: str = "") -> None:
        if name and name not in EFFORTS:
            await self.conversation.say(f"There is no effort {name}. There are:\n{_meanings()}", "warning")
            return
        if name:
            self.link.effort = self.shared.preferences.effort = name
            self.shared.preferences.save()
            self.query_one("#sign", Plain).update(prompt_sign(name))
            await self.conversation.say(f"Effort: {name}, {EFFORTS[name]}.")
        else:
            await self.conversation.say(f"Effort: {self.link.effort}. /effort NAME changes it:\n{_meanings()}")

    @work
    async def action_choose_strategy(self, name: str = "") -> None:
        with self.tell_failures():
            strategies = await self.link.call(lambda client: client.strategies())
            parts = [part for part in name.partition("@")[0].split("+") if part]
            unknown = [part for part in parts if part not in (*strategies, "default")]
            if unknown:
                names = ", ".join(strategies)
                text = f"There is no strategy {', '.join(unknown)}. Known: {names}; join several by +."
                await self.conversation.say(text, "warning")
                return
            if name:
                self.link.strategy = "" if name == "default" else name
            chosen = self.link.strategy.partition("@")[0].split("+")
            meanings = [f"    {strategies[part]}" for part in chosen if part]
            head = f"Strategy: {self.link.strategy or 'that of the settings'}. It decides how to search the memory."
            how = "/strategy NAME changes it, NAME@EO limits it to episodes and objects, /strategy default resets it."
            await self.conversation.say("\n".join([head, *meanings, how]))


def _meanings() -> str:
    return "\n".join(f"    {name:<8}{meaning}" for name, meaning in EFFORTS.items())


def prompt_sign(effort: str) -> str:
    """The sign before the prompt: the effort, unless it is the usual one."""
    return SIGN if effort == USUAL else f"{effort} {SIGN}"
