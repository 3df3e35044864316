"""How questions are answered: the model and the effort."""

from __future__ import annotations

from dataclasses import replace

from daemon import wire
from daemon.connecting import ConnectError, describe_tried, use_models
from tui.chat.topic import Topic, background
from tui.link import EFFORTS
from tui.widgets.plain import Plain

ROLE = "answer"
SIGN = "›"  # before the prompt
USUAL = "normal"


class ModelTopic(Topic):
    """/model, /connect"""

    @background()
    async def action_choose_model(self, name: str = "") -> None:
        with self.tell_failures():
            if not name:
                await self._choose(await self.link.call(lambda client: client.models()))
            else:
                await self._use(name)

    @background()
    async def action_connect(self) -> None:
        await self._connect()

    async def _choose(self, models: wire.ModelsReply, offered: str = "") -> None:
        from tui.dialogs.models import CONNECT, ModelsScreen

        chosen = await self.page.app.push_screen_wait(ModelsScreen(models, offered))
        if chosen == CONNECT:
            await self._connect()
        elif chosen is not None:
            await self._use(chosen)
        self.prompt.focus()

    async def _connect(self) -> None:
        from tui.dialogs.models import ConnectScreen  # not before it is wanted

        tried = await self.page.app.push_screen_wait(ConnectScreen(self.link))
        self.prompt.focus()
        if tried is None:
            return
        await self.say(describe_tried(tried))
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.models())
            connected = {row.name for row in reply.models}
            new_rows = (wire.ModelRow(name, tried.is_local) for name in tried.models if name not in connected)
            await self._choose(replace(reply, models=(*reply.models, *new_rows)), tried.name)

    async def _use(self, name: str) -> None:
        from tui.dialogs.models import NONE, ask_policy

        names = () if name == NONE else (name,)
        try:
            reply = await self.link.call(lambda client: use_models(client, client.paths.config, ROLE, names))
            await ask_policy(self.page.app, self.link, reply, name)
        except ConnectError as error:
            await self.say(str(error), "error")
            return
        await self.say("\n".join(_report(reply, name)))


def _report(reply: wire.ModelsReply, name: str) -> list[str]:
    """What follows from the choice."""
    from tui.dialogs.models import NONE, describe_model

    used = next((role.used for role in reply.roles if role.role == ROLE), "")
    row = next((row for row in reply.models if row.name == used), None)
    if name == NONE:
        lines = ["Answers are now the lines of your notes, without a model."]
    elif row is None:
        lines = [f"{name} is selected, but cannot be reached now."]
    else:
        lines = [f"{used} now writes answers: {'; '.join(describe_model(row))}."]
    return [*lines, *reply.warnings]


class EffortTopic(Topic):
    """/effort"""

    async def action_choose_effort(self, name: str = "") -> None:
        if name and name not in EFFORTS:
            await self.say(f"There is no effort {name}. There are:\n{_meanings()}", "warning")
            return
        if name:
            self.link.effort = self.shared.preferences.effort = name
            self.shared.preferences.save()
            self.page.query_one("#sign", Plain).update(prompt_sign(name))
            await self.say(f"Effort: {name}, {EFFORTS[name]}.")
        else:
            await self.say(f"Effort: {self.link.effort}. /effort NAME changes it:\n{_meanings()}")


def _meanings() -> str:
    return "\n".join(f"    {name:<8}{meaning}" for name, meaning in EFFORTS.items())


def prompt_sign(effort: str) -> str:
    """The sign before the prompt: the effort, unless it is the usual one."""
    return SIGN if effort == USUAL else f"{effort} {SIGN}"
