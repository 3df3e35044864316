"""Connecting a model."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.setup import SERVICES, ConnectError, asks_policy, connect, keep_policy, read_address
from daemon.terminal import display_safe
from tui.dialogs.dialog import ConfirmScreen, Dialog
from tui.link import Link
from tui.widgets.plain import Options, Plain

NONE: Final = "none"
ASKED_ONCE = "It is a remote model. You are asked once for all folders; the page Folders changes one."


async def ask_policy(app: App[object], link: Link, reply: wire.ModelsReply, name: str) -> None:
    """Asks whether text may go to this model, if it is the first remote one; from a worker. ConnectError; DaemonError,
    DaemonDownError."""
    is_elsewhere = any(row.name == name and not row.is_local for row in reply.models)
    if is_elsewhere and await link.call(lambda client: asks_policy(client.paths.config)):
        question = f"May text of your folders be sent to {display_safe(name, line=True)}?"
        may = await app.push_screen_wait(ConfirmScreen(question, ASKED_ONCE, "Yes, it may"))
        policy = "any" if may else "local"
        await link.call(lambda client: keep_policy(client, client.paths.config, policy))


MEANINGS = {
    "ollama": "On this machine: private and free. Get it at ollama.com.",
    "openai": "llama.cpp, LM Studio, vLLM and others, here or elsewhere.",
    "anthropic": "Elsewhere, paid by the token, with a key of your account.",
}
MAX_ADDRESS, MAX_KEY = 300, 500  # characters
NONE_NEEDED = "Optional: without one, answers are the lines of your notes."
CHOOSE = "Enter chooses · Esc closes"
TRY = "Enter tests one of its models · Esc goes back"


class ConnectScreen(Dialog[wire.ModelTest | None]):
    """Asks for a service and its address, and tests it. Returns the reply of a working service, None if cancelled. A
    failing service is not saved."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "go_back", "Back")]
    AUTO_FOCUS = "OptionList"

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link
        self._service = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("Connect a model", classes="dialog-title")
            yield Options(*(Option(_entry(name)) for name in SERVICES), compact=True, markup=False)
            yield Plain(NONE_NEEDED, id="connect-none", classes="dialog-hint")
            with Vertical(id="service"):
                yield Plain("Address", classes="heading")
                yield Input(id="address", compact=True, max_length=MAX_ADDRESS)
                yield Plain("API key", id="key-heading", classes="heading")
                yield Input(id="key", compact=True, password=True, max_length=MAX_KEY)
            yield Plain(id="tried").hide()
            yield Plain(CHOOSE, id="connect-hint", classes="dialog-hint")

    def on_mount(self) -> None:
        self.query_one("#service").display = False
        self.query_one(OptionList).highlighted = 0

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self._service = list(SERVICES)[event.option_index]
        service = SERVICES[self._service]
        address, key = self.query_one("#address", Input), self.query_one("#key", Input)
        address.placeholder = service.usual or "like http://127.0.0.1:8080"
        key.placeholder = "stored where only you can read it; empty if set already or not needed"
        self.query_one(OptionList).display = self.query_one("#connect-none").display = False
        self.query_one("#service").display = True
        key.display = self.query_one("#key-heading").display = service.takes_key
        self.query_one(".dialog-title", Plain).update(f"Connect {service.title}")
        self.query_one("#connect-hint", Plain).update(TRY)
        (key if service.takes_key and service.usual else address).focus()
        self._show_address()

    @work
    async def _show_address(self) -> None:
        service = self._service
        try:
            address = await self._link.call(lambda client: read_address(client.paths.config, service))
        except (ConnectError, DaemonError, DaemonDownError) as error:
            self._say(str(error), "warning")
        else:
            self.query_one("#address", Input).value = display_safe(address, line=True)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._try(self.query_one("#address", Input).value.strip(), self.query_one("#key", Input).value.strip())

    @work(exclusive=True)
    async def _try(self, address: str, key: str) -> None:
        service = self._service
        self._say("Testing one of its models; loading it may take a while…")

        def ask(client: Client) -> wire.ModelTest:
            return connect(client, client.paths.config, service, address, key)

        try:
            tried = await self._link.call(ask)
        except (ConnectError, DaemonError, DaemonDownError) as error:
            self._say(str(error), "warning")
            return
        if tried.problem:
            self._say(f"{tried.problem}\nNothing was saved.", "warning")
        else:
            self.dismiss(tried)

    def _say(self, text: str, level: str = "") -> None:
        tried = self.query_one("#tried", Plain)
        tried.set_classes(f"-{level}" if level else "")
        tried.update(text)
        tried.display = True

    def action_go_back(self) -> None:
        if not self._service:
            self.dismiss(None)
            return
        self.workers.cancel_node(self)
        self._service = ""
        self.query_one("#key", Input).clear()
        self.query_one("#service").display = self.query_one("#tried").display = False
        self.query_one(".dialog-title", Plain).update("Connect a model")
        self.query_one("#connect-hint", Plain).update(CHOOSE)
        options = self.query_one(OptionList)
        options.display = self.query_one("#connect-none").display = True
        options.focus()


def _entry(name: str) -> Content:
    return Content.assemble((SERVICES[name].title, "bold"), (f"\n  {MEANINGS[name]}", "$foreground-muted"))
