"""The tab of the language models: what each can, and what it is used for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import work
from textual.content import Content

from daemon import wire
from daemon.client import Client
from daemon.connecting import use_models
from tui.actions import Where, bindings_of
from tui.screens.ask import AskScreen
from tui.screens.confirm import ConfirmScreen
from tui.screens.models import ask_policy
from tui.wording import size
from tui.work.rows import WorkList, paragraphs, two_lines

ROLES = {"extract": "reads notes", "answer": "writes answers", "agent": "searches by itself"}
GRADES = ("reads", "decides", "answers", "refuses", "tools")


class ModelList(WorkList):
    """The models that can be reached."""

    TITLE = "Models"
    EMPTY = "No language model can be reached. That is no fault: everything works without one.\n\nWith one, answers are\
 written out, and facts are found that no rule finds.\nOn this machine: install Ollama, and pull one."
    PLACE: ClassVar[Where] = "models"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, shared: Any) -> None:
        super().__init__(shared, "models")
        self._reply: wire.ModelsReply | None = None

    @property
    def model(self) -> wire.ModelRow | None:
        """The highlighted one."""
        return next((one for one in self._reply.models if one.name == self.key), None) if self._reply else None

    @property
    def summary(self) -> str:
        if self._reply is None:
            return "Looking for models…"
        roles = [f"{role.used or 'nobody'} {ROLES.get(role.role, role.role)}" for role in self._reply.roles]
        said = (*self._reply.warnings, *self._reply.problems, *(() if self._reply.models else self._reply.hints))
        return "\n".join([*([" · ".join(roles)] if self._reply.models else []), *said])

    async def fetch(self) -> None:
        if (reply := await self.call(lambda client: client.models())) is not None:
            self._reply = reply
            self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for one in self._reply.models if self._reply else ():
            roles = ", ".join(ROLES.get(role, role) for role in one.roles)
            graded = f"{one.grades.tokens_per_s:,.0f} tokens/s" if one.grades else "not graded: g grades it"
            where = "on this machine" if one.is_local else "elsewhere"
            yield one.name, two_lines(one.name, " · ".join(filter(None, (where, roles or "not used", graded))))

    def describe(self, key: str) -> Content:
        one = self.model
        if one is None:
            return Content("")
        facts = [f"{one.context:,} tokens of context" if one.context else "", size(one.bytes) if one.bytes else ""]
        facts.append(f"{one.tokens:,} tokens today" if one.tokens else "")
        grades = one.grades
        if grades is None:
            return paragraphs(
                one.name, " · ".join(filter(None, facts)), "It has not been graded. g asks it some tasks."
            )
        shares = (grades.reads, grades.decides, grades.answers, grades.refuses, grades.tools)
        marks = "\n".join(
            f"{name:<8} {'-' if share is None else f'{share:.0%}':>4}"
            for name, share in zip(GRADES, shares, strict=True)
        )
        speed = f"{grades.tokens_per_s:,.0f} tokens a second"
        if grades.question_s:
            speed += f", about {grades.question_s:.0f} s for a question"
        outdated = "These grades are of an earlier model of that name." if one.outdated else ""
        return paragraphs(
            one.name, " · ".join(filter(None, facts)), marks, speed, outdated, grades.problem,
            "\n".join(grades.by_role), grades.advice, "\n".join(grades.notes),
        )  # fmt: skip

    @work(exclusive=True, group="probe")
    async def action_probe(self) -> None:
        if (model := self.model) is None:
            return
        cost = "It takes some minutes." if model.is_local else "It takes about 40,000 tokens of your account."
        if not await self.app.push_screen_wait(ConfirmScreen(f"Grade {model.name}?", cost, "Yes, grade it")):
            return
        self.say(f"Grading {model.name}")
        graded = await self.call(lambda client: self._probe(client, model.name))
        if graded is not None:
            self.say(graded.problem or f"{model.name} is graded. {graded.advice}")
            self.load()

    def _probe(self, client: Client, name: str) -> wire.Graded | None:
        """In a thread of the link."""
        for event in client.probe_model(name):
            if isinstance(event, wire.Graded):
                return event
            if isinstance(event, wire.Progress):
                self.app.call_from_thread(self.say, f"Grading {name}: {event.done} of {event.total} {event.label}")
        return None

    @work
    async def action_use(self) -> None:
        if (model := self.model) is None:
            return
        title = f"What shall {model.name} do?"
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
            self.say(f"Done. To take it back: pal models use {typed} auto")
