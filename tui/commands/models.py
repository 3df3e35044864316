"""The model that writes answers, and connecting models."""

from __future__ import annotations

from dataclasses import replace

from textual import work

from daemon import wire
from daemon.connecting import ConnectError, describe_tried, use_models
from tui.commands.part import Part
from tui.screens.models import CONNECT, NONE, ModelsScreen, ask_policy, describe_model

ROLE = "answer"


class ModelCommands(Part):
    """/model, /connect"""

    @work
    async def action_choose_model(self, name: str = "") -> None:
        with self.tell_failures():
            if not name:
                await self._choose(await self.link.call(lambda client: client.models()))
            else:
                await self._use(name)

    @work
    async def action_connect(self) -> None:
        await self._connect()

    async def _choose(self, models: wire.ModelsReply, offered: str = "") -> None:
        chosen = await self.app.push_screen_wait(ModelsScreen(models, offered))
        if chosen == CONNECT:
            await self._connect()
        elif chosen is not None:
            await self._use(chosen)
        self.prompt.focus()

    async def _connect(self) -> None:
        from tui.screens.connect import ConnectScreen  # which few need

        tried = await self.app.push_screen_wait(ConnectScreen(self.link))
        self.prompt.focus()
        if tried is None:
            return
        await self.conversation.say(describe_tried(tried))
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.models())
            connected = {row.name for row in reply.models}
            new_rows = (wire.ModelRow(name, tried.is_local) for name in tried.models if name not in connected)
            await self._choose(replace(reply, models=(*reply.models, *new_rows)), tried.name)

    async def _use(self, name: str) -> None:
        names = () if name == NONE else (name,)
        try:
            reply = await self.link.call(lambda client: use_models(client, client.paths.config, ROLE, names))
            await ask_policy(self.app, self.link, reply, name)
        except ConnectError as error:
            await self.conversation.say(str(error), "error")
            return
        await self.conversation.say("\n".join(_report(reply, name)))


def _report(reply: wire.ModelsReply, name: str) -> list[str]:
    """What follows from the choice."""
    used = next((role.used for role in reply.roles if role.role == ROLE), "")
    row = next((row for row in reply.models if row.name == used), None)
    if name == NONE:
        lines = ["Answers are now the lines of your notes, without a model."]
    elif row is None:
        lines = [f"{name} is selected, but cannot be reached now."]
    else:
        lines = [f"{used} now writes answers: {'; '.join(describe_model(row))}."]
    return [*lines, *reply.warnings]
