"""How questions are answered: the model and the effort."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from daemon import wire
from daemon.setup import (
    SERVICES,
    ConnectError,
    asks_policy,
    connect,
    describe_model_test,
    keep_policy,
    read_address,
    use_models,
)
from daemon.terminal import display_safe
from tui.chat.topic import Topic, background
from tui.completion import describe_model
from tui.dialogs.dialog import AskScreen, ConfirmScreen, Dialog
from tui.link import EFFORTS
from tui.widgets.plain import Plain

T = TypeVar("T")
ROLE, NONE = "answer", "none"
MAX_ADDRESS, MAX_KEY = 300, 500  # characters
ADDRESS = "For example http://127.0.0.1:8080 (llama.cpp), port 1234 (LM Studio) or 8000 (vLLM)."
NO_ADDRESS = "Nothing was saved: without its address the server cannot be found."
TRY = "Enter goes on · Esc cancels"
KEY = "Stored where only you can read it; empty if set already or not needed."
ASKED_ONCE = "It is a remote model. You are asked once for all folders; the page Folders changes one."
SIGN = "›"  # before the prompt
USUAL = "normal"
ROLES = {"extract": "reads notes", "answer": "writes answers", "agent": "directs searches"}
NONE_CONNECTED = "No language model is connected (optional). /connect connects Ollama, a server or Anthropic."
LATER = "/model shows all models; /model none gives answers without one."


class ModelTopic(Topic):
    """/model, /connect, /effort"""

    @background()
    async def action_choose_model(self, name: str = "") -> None:
        with self.page.tell_failures():
            if name:
                await self._use(name)
            else:
                await self.page.tell("\n".join(_list_models(await self.link.call(lambda client: client.models()))))

    @background()
    async def action_connect(self, service: str = "") -> None:
        """Connects a service and tests one of its models; without a name, lets the prompt suggest one."""
        if service not in SERVICES:
            self.page.prompt.fill("/connect ")
            self.page.prompt.focus()
            return
        with self.page.tell_failures():
            try:
                tried = await self._try(service)
            except ConnectError as error:
                await self.page.tell(str(error), "warning")
                return
            if tried is None or tried.problem:
                problem = f"{tried.problem}\n" if tried else ""
                await self.page.tell(f"{problem}Nothing was saved.", "warning")
                return
            await self.page.tell(describe_model_test(tried))
            if await self._ask(ConfirmScreen(f"Shall {tried.name} write answers?", LATER, "Yes, it shall")):
                await self._use(tried.name)

    async def _try(self, service: str) -> wire.ModelTest | None:
        """Asks for the address and the key, and tests one of the models. None if cancelled."""
        known = SERVICES[service]
        address: str | None = await self.link.call(lambda client: read_address(client.paths.config, service))
        if not (known.takes_key and known.usual):
            more = "" if known.usual else ADDRESS
            address = await self._ask(
                AskScreen(f"Address of {known.title}", more, address or known.usual, TRY, MAX_ADDRESS)
            )
            if address == "" == known.usual:
                raise ConnectError(NO_ADDRESS)
        key: str | None = ""
        if address is not None and known.takes_key:
            key = await self._ask(
                AskScreen(f"API key of {known.title}", KEY, hint=TRY, max_length=MAX_KEY, hidden=True)
            )
        if address is None or key is None:
            return None
        await self.page.tell("Testing one of its models; loading it may take a while…")
        return await self.link.call(lambda client: connect(client, client.paths.config, service, address, key))

    async def _ask(self, dialog: Dialog[T]) -> T:
        return await self.page.app.push_screen_wait(dialog)

    async def _ask_policy(self, reply: wire.ModelsReply, name: str) -> None:
        """Asks whether text may go to this model, if it is the first remote one."""
        is_elsewhere = any(row.name == name and not row.is_local for row in reply.models)
        if is_elsewhere and await self.link.call(lambda client: asks_policy(client.paths.config)):
            question = f"May text of your folders be sent to {display_safe(name, line=True)}?"
            policy = "any" if await self._ask(ConfirmScreen(question, ASKED_ONCE, "Yes, it may")) else "local"
            await self.link.call(lambda client: keep_policy(client, client.paths.config, policy))

    async def _use(self, name: str) -> None:
        names = () if name == NONE else (name,)
        try:
            reply = await self.link.call(lambda client: use_models(client, client.paths.config, ROLE, names))
            await self._ask_policy(reply, name)
        except ConnectError as error:
            await self.page.tell(str(error), "error")
            return
        await self.page.tell("\n".join(_report(reply, name)))

    async def action_choose_effort(self, name: str = "") -> None:
        if name and name not in EFFORTS:
            await self.page.tell(f"There is no effort {name}. There are:\n{_meanings()}", "warning")
            return
        if name:
            self.link.effort = self.shared.preferences.effort = name
            self.shared.preferences.save()
            self.page.query_one("#sign", Plain).update(prompt_sign(name))
            await self.page.tell(f"Effort: {name}, {EFFORTS[name]}.")
        else:
            await self.page.tell(f"Effort: {self.link.effort}. /effort NAME changes it:\n{_meanings()}")


def _list_models(reply: wire.ModelsReply) -> Iterator[str]:
    """Yields what each role does, and each model with its roles."""
    if not reply.models:
        yield NONE_CONNECTED
        return
    yield " · ".join(f"{role.used or 'nobody'} {ROLES.get(role.role, role.role)}" for role in reply.roles)
    for row in reply.models:
        yield f"    {row.name}  {describe_model(row)}"
    yield "/model NAME lets one write answers, /model none lets none. Grades and other roles: pal models"
    yield from (*reply.warnings, *reply.problems)


def _report(reply: wire.ModelsReply, name: str) -> list[str]:
    """Lists the consequences of the choice."""
    used = next((role.used for role in reply.roles if role.role == ROLE), "")
    row = next((row for row in reply.models if row.name == used), None)
    if name == NONE:
        lines = ["Answers are now the lines of your notes, without a model."]
    elif row is None:
        lines = [f"{name} is selected, but cannot be reached now."]
    else:
        lines = [f"{used} now writes answers."]
    return [*lines, *reply.warnings]


def _meanings() -> str:
    return "\n".join(f"    {name:<8}{meaning}" for name, meaning in EFFORTS.items())


def prompt_sign(effort: str) -> str:
    """Returns the sign before the prompt: the effort, unless it is the usual one."""
    return SIGN if effort == USUAL else f"{effort} {SIGN}"
