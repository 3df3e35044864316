"""The models that could write answers, and what each choice means."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.connecting import asks_policy, keep_policy
from daemon.terminal import display_safe
from tui.link import Link
from tui.screens.confirm import ConfirmScreen
from tui.screens.dialog import Dialog
from tui.widgets.option_list import Options
from tui.widgets.plain import Plain
from tui.wording import size

NONE: Final = "none"
CONNECT: Final = "connect"
ASKED_ONCE = "It is a remote model. You are asked once for all folders; p on the page Folders changes one."
CONNECT_ROW = "Connect another: Ollama, a server, Anthropic"
WITHOUT = "the lines of your notes, at once and free; nothing is sent anywhere"


class ModelsScreen(Dialog[str | None]):
    """Choose the model that writes answers; returns its name, NONE for no model, or CONNECT to add others. None if
    closed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]
    AUTO_FOCUS = "OptionList"

    def __init__(self, models: wire.ModelsReply, offered: str = "") -> None:
        """The `offered` one is highlighted, else the one that is used."""
        super().__init__()
        self._known = models
        self._offered = offered
        self._used = next((role.used for role in models.roles if role.role == "answer"), "")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("Who writes answers", classes="dialog-title")
            yield Options(
                *(Option(self._entry(row)) for row in (None, *self._known.models)),
                Option(Content.assemble("  ", (CONNECT_ROW, "$accent"))),
                compact=True,
                markup=False,
            )
            for sentence in (*self._known.problems, *self._known.hints):
                yield Plain(sentence, classes="dialog-hint")
            yield Plain("Enter choose · Esc cancel", classes="dialog-hint")

    def on_mount(self) -> None:
        names = ["", *(row.name for row in self._known.models)]
        preferred = self._offered or self._used
        self.query_one(OptionList).highlighted = names.index(preferred) if preferred in names else 0

    def _entry(self, row: wire.ModelRow | None) -> Content:
        name = row.name if row else ""
        mark = "● " if name == self._used else "  "
        meaning = "".join(f"\n  {line}" for line in (describe_model(row) if row else (WITHOUT,)))
        label = display_safe(name, line=True) or "No model"
        return Content.assemble((mark, "$success"), (label, "bold"), (display_safe(meaning), "$foreground-muted"))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        names = [NONE, *(row.name for row in self._known.models), CONNECT]
        self.dismiss(names[event.option_index])


async def ask_policy(app: App[object], link: Link, reply: wire.ModelsReply, name: str) -> None:
    """Asks whether text may go to this model, if it is the first remote one; from a worker. ConnectError; DaemonError,
    DaemonDownError."""
    is_elsewhere = any(row.name == name and not row.is_local for row in reply.models)
    if is_elsewhere and await link.call(lambda client: asks_policy(client.paths.config)):
        question = f"May text of your folders be sent to {display_safe(name, line=True)}?"
        may = await app.push_screen_wait(ConfirmScreen(question, ASKED_ONCE, "Yes, it may"))
        policy = "any" if may else "local"
        await link.call(lambda client: keep_policy(client, client.paths.config, policy))


def describe_model(row: wire.ModelRow) -> tuple[str, ...]:
    """Where a model runs, its cost, speed and quality, if known."""
    grades = row.grades if not row.outdated else None
    place = "remote, paid by the token; gets no text of folders marked local"
    if row.is_local:
        place = "on this machine, free" + (f", {size(row.bytes)}" if row.bytes else "")
    parts = [f"about {grades.question_s:.0f} s a question"] if grades and grades.question_s else []
    if grades is None:
        parts.append(f"not graded yet: pal models probe {row.name}")
    elif grades.answers is not None:
        parts.append(f"answers {grades.answers:.0%} of the test correctly")
    if row.tokens:
        parts.append(f"{row.tokens:,} tokens today")
    return tuple(filter(None, (place, "; ".join(parts))))
