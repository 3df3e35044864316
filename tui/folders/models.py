"""The tab of the language models: their grades and roles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import work
from textual.content import Content

from daemon import wire
from daemon.client.client import Client
from daemon.setup import READING_GAIN, use_models
from daemon.terminal import size
from tui.actions import Where, bindings_of
from tui.dialogs.dialog import AskScreen, ConfirmScreen
from tui.dialogs.models import ask_policy
from tui.folders.rows import TabList, paragraphs, two_lines

ROLES = {"extract": "reads notes", "answer": "writes answers", "agent": "directs searches"}
GRADES = ("reads", "decides", "answers", "refuses", "tools")


class ModelList(TabList):
    """The available models."""

    TITLE = "Models"
    EMPTY = "No language model is connected (optional).\n\nA model writes out answers and finds more facts.\n\
/connect in the chat connects Ollama, a server or Anthropic."
    PLACES: ClassVar[tuple[Where, ...]] = ("models", "rows")
    BINDINGS = bindings_of("models")

    def __init__(self, shared: Any) -> None:
        super().__init__(shared, "models")
        self._reply: wire.ModelsReply | None = None

    @property
    def model(self) -> wire.ModelRow | None:
        return next((row for row in self._reply.models if row.name == self.key), None) if self._reply else None

    @property
    def summary(self) -> str:
        if self._reply is None:
            return "Looking for models…"
        roles = [f"{role.used or 'nobody'} {ROLES.get(role.role, role.role)}" for role in self._reply.roles]
        used = [" · ".join(roles)] if self._reply.models else []
        return "\n".join([*used, *self._reply.warnings, *self._reply.problems])

    async def fetch(self) -> None:
        if (reply := await self.call(lambda client: client.models())) is not None:
            self._reply = reply
            self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for row in self._reply.models if self._reply else ():
            roles = ", ".join(ROLES.get(role, role) for role in row.roles)
            graded = f"{row.grades.tokens_per_s:,.0f} tokens/s" if row.grades else "not graded"
            where = "on this machine" if row.is_local else "elsewhere"
            yield row.name, two_lines(row.name, " · ".join(filter(None, (where, roles or "not used", graded))))

    def describe(self, key: str) -> Content:
        row = self.model
        if row is None:
            return Content("")
        facts = [f"{row.context:,} tokens of context" if row.context else "", size(row.bytes) if row.bytes else ""]
        facts.append(f"{row.tokens:,} tokens today" if row.tokens else "")
        grades = row.grades
        if grades is None:
            return paragraphs(
                row.name,
                " · ".join(filter(None, facts)),
                "It has no grades.",
            )
        shares = (grades.reads, grades.decides, grades.answers, grades.refuses, grades.tools)
        marks = "\n".join(
            f"{name:<8} {'-' if share is None else f'{share:.0%}':>4}"
            for name, share in zip(GRADES, shares, strict=True)
        )
        speed = f"{grades.tokens_per_s:,.0f} tokens a second"
        if grades.question_s:
            speed += f", about {grades.question_s:.0f} s for a question"
        outdated = "These grades are for an earlier version of this model." if row.outdated else ""
        return paragraphs(
            row.name, " · ".join(filter(None, facts)), marks, speed, outdated, grades.problem,
            "\n".join(grades.by_role), grades.advice, "\n".join(grades.notes),
        )  # fmt: skip

    @work(exclusive=True, group="probe")
    async def action_probe(self) -> None:
        if (model := self.model) is None:
            return
        cost = "It takes some minutes." if model.is_local else "It uses about 35,000 tokens of your account."
        if not await self.app.push_screen_wait(ConfirmScreen(f"Grade {model.name}?", cost, "Yes, grade it")):
            return
        self.say(f"Grading {model.name}")
        graded = await self.call(lambda client: self._probe(client, model.name))
        if graded is not None:
            self.say(graded.problem or f"{model.name} is graded. {graded.advice}")
            self.load()

    def _probe(self, client: Client, name: str) -> wire.Grades | None:
        """Probes a model; runs in a thread of the link."""
        for event in client.probe_model(name):
            if isinstance(event, wire.Grades):
                return event
            if isinstance(event, wire.Progress):
                self.app.call_from_thread(self.say, f"Grading {name}: {event.done} of {event.total} {event.label}")
        return None

    @work
    async def action_use(self) -> None:
        if (model := self.model) is None:
            return
        title = f"Roles of {model.name}"
        typed = await self.app.push_screen_wait(AskScreen(title, "extract, answer or agent", "answer"))
        if not typed:
            return
        name = model.name
        reply = await self.call(lambda client: use_models(client, client.paths.config, typed, (name,)))
        if reply is not None:
            self._reply = reply
            self.show_rows()
            with self.tell_failures():
                await ask_policy(self.app, self.shared.link, reply, name)
            gain = f" {READING_GAIN}" if typed == "extract" else ""
            self.say(f"Done. To undo it: pal models use {typed} auto.{gain}")
