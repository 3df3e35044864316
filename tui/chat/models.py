"""How questions are answered: the model and the effort."""

from __future__ import annotations

from daemon import wire
from daemon.setup import ConnectError, describe_model_test, use_models
from tui.chat.topic import Topic, background
from tui.dialogs.dialog import ConfirmScreen
from tui.link import EFFORTS
from tui.widgets.plain import Plain

ROLE = "answer"
SIGN = "›"  # before the prompt
USUAL = "normal"
LATER = "/model shows all models; /model none gives answers without one."


class ModelTopic(Topic):
    """/model, /connect"""

    @background()
    async def action_choose_model(self, name: str = "") -> None:
        if name:
            with self.tell_failures():
                await self._use(name)
        else:
            self.shared.wants_tab = "models"
            await self.page.run_action("app.open_page('folders')")

    @background()
    async def action_connect(self) -> None:
        from tui.dialogs.models import ConnectScreen  # not before it is wanted

        tried = await self.page.app.push_screen_wait(ConnectScreen(self.link))
        if tried is not None:
            await self.say(describe_model_test(tried))
            wanted = ConfirmScreen(f"Shall {tried.name} write answers?", LATER, "Yes, it shall")
            if await self.page.app.push_screen_wait(wanted):
                with self.tell_failures():
                    await self._use(tried.name)
        self.prompt.focus()

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
    """Lists the consequences of the choice."""
    from tui.dialogs.models import NONE

    used = next((role.used for role in reply.roles if role.role == ROLE), "")
    row = next((row for row in reply.models if row.name == used), None)
    if name == NONE:
        lines = ["Answers are now the lines of your notes, without a model."]
    elif row is None:
        lines = [f"{name} is selected, but cannot be reached now."]
    else:
        lines = [f"{used} now writes answers."]
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
    """Returns the sign before the prompt: the effort, unless it is the usual one."""
    return SIGN if effort == USUAL else f"{effort} {SIGN}"
