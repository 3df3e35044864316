"""Who writes the answers: which model, or none."""

from __future__ import annotations

from textual import work

from daemon import wire
from tui.commands.part import Part
from tui.screens.models import NONE, ModelsScreen, describe_model

ROLE = "answer"


class AnsweringCommands(Part):
    """/model"""

    @work
    async def action_choose_model(self, name: str = "") -> None:
        with self.tell_failures():
            if not name:
                known = await self.link.call(lambda client: client.models())
                chosen = await self.app.push_screen_wait(ModelsScreen(known))
                if chosen is None:
                    return
                name = chosen
            names = () if name == NONE else (name,)
            reply = await self.link.call(lambda client: client.use_models(ROLE, names))
            await self.conversation.say("\n".join(_report(reply, name)))


def _report(reply: wire.ModelsReply, name: str) -> list[str]:
    """What follows from the choice."""
    used = next((role.used for role in reply.roles if role.role == ROLE), "")
    row = next((row for row in reply.models if row.name == used), None)
    if name == NONE:
        lines = ["No model writes answers from now on: they are the lines of your notes."]
    elif row is None:
        lines = [f"{name} is chosen, but it cannot be reached now."]
    else:
        lines = [f"{used} writes answers from now on: {'; '.join(describe_model(row))}."]
    return [*lines, f"So it is until the daemon ends. To keep it: pal models use {ROLE} {name}", *reply.warnings]
