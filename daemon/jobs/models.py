"""The daemon's language models: availability, roles, grades and cost.

No server is contacted before a model is needed: a daemon without a model never looks for one. An unreachable model is a
normal state; `for_role` then returns None, and everything works as without a model."""

from __future__ import annotations

import difflib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain
from typing import Any

from daemon import wire
from daemon.config.settings import Settings, SettingsError
from daemon.jobs.activity import Channel
from daemon.jobs.workers import Writer, try_lock
from memory import Memory
from memory.errors import InvalidInputError, ModelError, ModelUnavailableError, NotFoundError, OverBudgetError
from memory.llm import PROBE_AGAIN, ROLES, Grades, LlmRequest, Role, Usage
from memory.services.activity import Use
from plugins.llms import ModelInfo, ModelList
from plugins.llms.guard import Guarded
from plugins.llms.probe import ask_for_a_word, probe
from plugins.llms.registry import Models as Registry
from plugins.manager import Plugins

log = logging.getLogger(__name__)

AUTO = "auto"
QUESTIONS = ("answer", "guide", "agent")  # the purposes of calls for which a person waits
TEST_CHARS = 200  # of what a model that is tried says
MAX_UNREAD = 3  # notes in a row that a model cannot read: then it is not asked to read any more
NOT_ASKED = "{} was not contacted: none of its models is set up. To list its models: pal models --elsewhere"
FRESH_SECONDS, GONE_SECONDS = 30.0, 4.0  # for which it is believed which models there are, and that one is missing

There = dict[str, ModelInfo]  # by the whole name of the model


@dataclass
class Models:
    """The models by role; as a `plugins.llms.guard.Meter` it accounts for every call. `load_settings` reads config.toml
    again: changed connection settings apply from the next listing on."""

    memory: Memory
    plugins: Plugins
    writer: Writer
    settings: Settings
    load_settings: Callable[[], Settings] | None = None

    def __post_init__(self) -> None:
        models = self.settings.models
        self._wanted: dict[Role, tuple[str, ...]] = {role: getattr(models, role) for role in ROLES}
        self._daily_tokens = models.daily_tokens
        self._families = self.plugins.families
        self._registry = Registry(self._families, self._list_sections(self.settings), self)
        self._looked: dict[str, tuple[float, ModelList]] = {}
        self._looking = threading.Lock()
        self._probing = threading.Lock()
        self._talking: Counter[str] = Counter()  # calls for a person's question that are being answered, by model
        self.changed: Callable[[], object] = lambda: None  # called when another model may do something
        self.unread: Counter[str] = Counter()  # notes in a row that a model could not read
        self._spent: tuple[str, int] | None = None  # the day, and the tokens that models elsewhere took on it
        self._counting = threading.Lock()

    def for_role(self, role: Role, *, local_only: bool) -> Guarded | None:
        """Returns the available model for a role, with `local_only` the first on this machine, or None. Remote families
        are not contacted unless a role names one of their models."""
        grades = self.memory.jobs.grades()
        if not self._can(role, grades):
            return None
        named = {name.partition(":")[0] for name in self._wanted[role]}
        there = self._find_models(
            prefix for prefix, family in self._families.items() if prefix in named or (AUTO in named and family.local)
        )
        for name in self._list_candidates(role, there, grades):
            if there[name].is_local or not local_only:
                return self._registry.open(name)
        return None

    def open(self, name: str) -> Guarded:
        """Returns the model of that name without contacting its server. NotFoundError."""
        return self._registry.open(name)

    def choose(self, local_only: bool) -> Guarded | None:
        """Returns the model that writes answers now (a `memory.protocols.ChooseLLM`)."""
        model = self.for_role("answer", local_only=local_only)
        named = next((name for name in self._wanted["answer"] if name != AUTO), None)
        if model is None and named and (not local_only or self.for_role("answer", local_only=False) is None):
            _, look = self._looked.get(named.partition(":")[0], (0.0, ModelList()))
            raise ModelUnavailableError(look.problem or f"{named} cannot be reached.")
        return model

    def drive(self, local_only: bool) -> Guarded | None:
        """Returns the model that may use tools now (a `memory.protocols.ChooseLLM`)."""
        return self.for_role("agent", local_only=local_only)

    def answers(self) -> str | None:
        """Returns the name of the model that would write answers, as far as known without contacting a server."""
        looks = {prefix: look for prefix, (_, look) in dict(self._looked).items()}
        there = {f"{prefix}:{info.model}": info for prefix, look in looks.items() for info in look.models}
        known = next(self._list_candidates("answer", there, self.memory.jobs.grades()), None)
        first = next(iter(self._wanted["answer"]), AUTO)
        return known or (first if first != AUTO and first.partition(":")[0] not in looks else None)

    def grades_of(self, name: str) -> Grades | None:
        """Returns the grades of a model; None if it is not graded."""
        return self.memory.jobs.grades().get(name)

    def could(self, role: Role) -> bool:
        """Whether to look for a model for this role: one is named, or a local one has passed."""
        return self._can(role, self.memory.jobs.grades())

    def is_loading(self, name: str) -> bool:
        """Whether a local model must first be loaded; asks its server."""
        prefix = [name.partition(":")[0]]
        if prefix[0] not in self._families:
            return False
        info = self._find_models(prefix).get(name)
        if info is None or info.loaded or not info.is_local:
            return False
        info = self._find_models(prefix, refresh=True).get(name)
        return info is not None and not info.loaded

    @property
    def unable(self) -> str:
        """Names the model that failed to read several notes in a row, with a remedy; "" without one."""
        name = next((name for name, notes in self.unread.items() if notes >= MAX_UNREAD), None)
        how = "Use another: pal models use extract NAME"
        return f"{name} could not read {MAX_UNREAD} notes in a row and is not asked any more. {how}" if name else ""

    def is_answering(self, name: str) -> bool:
        """Whether that model is busy with a person's question."""
        with self._counting:
            return self._talking[name] > 0

    @property
    def day_is_spent(self) -> str:
        """Returns why remote models may not be asked today; "" if they may."""
        with self._counting:
            spent = self._count_spent_today()
        if not self._daily_tokens or spent < self._daily_tokens:
            return ""
        return f"{spent:,} tokens went to models elsewhere today, of {self._daily_tokens:,}"

    def reply(self, elsewhere: bool = False) -> wire.ModelsReply:
        """Lists all models within some seconds. A remote provider without a model in any role is contacted only with
        `elsewhere`, on a person's request, because its key would leave this machine."""
        self._configure()
        asked = [*self._families] if elsewhere else self._list_near_or_named()
        looks = self._look(asked, refresh=True)
        there, grades, tokens = self._find_models(asked), self.memory.jobs.grades(), self._count_tokens()
        used = {role: next(self._list_candidates(role, there, grades), "") for role in ROLES}
        rows = (
            wire.ModelRow(
                name, info.is_local, info.context_tokens, info.size, tokens.get(name, 0),
                tuple(role for role in ROLES if used[role] == name),
                outdated=name in grades and bool(grades[name].why_outdated(info.version)), grades=grades.get(name),
            )
            for name, info in there.items()
        )  # fmt: skip
        aged = (grades[name].warn_of_age(info.version) for name, info in there.items() if name in grades)
        problems = [look.problem for look in looks.values() if look.problem and not look.absent]
        return wire.ModelsReply(
            models=tuple(rows),
            roles=tuple(wire.ModelRole(role, self._wanted[role], used[role]) for role in ROLES),
            problems=(*problems, *(f"{name} is wanted and cannot be reached." for name in self._list_missing(there))),
            hints=(
                *(look.problem for look in looks.values() if look.absent),
                *(NOT_ASKED.format(prefix) for prefix in self._families if prefix not in asked),
            ),
            warnings=tuple(filter(None, (self.unable, *aged))),
        )

    def use(self, role_name: str, names: tuple[str, ...]) -> wire.ModelsReply:
        """Sets the models of a role. InvalidInputError, NotFoundError. Bad grades only lead to `warnings`."""
        role = next((role for role in ROLES if role == role_name), None)
        if role is None:
            raise InvalidInputError(f"Models are not used for {role_name!r}. Say one of: {', '.join(ROLES)}.")
        self._configure()
        for name in names:
            if name != AUTO:
                self._open_known(name)
        self._wanted[role] = names
        log.info("models for %s: %s", role, ", ".join(names) or "none")
        self.changed()
        reply, there, grades = self.reply(), self._find_models(self._list_near_or_named()), self.memory.jobs.grades()
        chosen = dict.fromkeys(whole for name in names if (whole := _resolve(name, there)))
        never = [
            f"{name} was never graded, so its quality is unknown: {PROBE_AGAIN} {name}"
            for name in chosen
            if name not in grades
        ]
        warnings = (grades[name].warn_of_choice(role, there[name].version) for name in chosen if name in grades)
        return replace(reply, warnings=(*never, *chain.from_iterable(warnings)))

    def try_model(self, name: str) -> wire.ModelTest:
        """Asks a model for one word; measures whether and when it responds. Of a family (`ollama`) it tries a loaded
        model, else the smallest. NotFoundError."""
        self._configure()
        names: tuple[str, ...] = ()
        if name in self._families:
            look = self._look([name], refresh=True)[name]
            if not look.models:
                return wire.ModelTest(name, problem=look.problem or f"There is no model of {name}.")
            names = tuple(f"{name}:{info.model}" for info in look.models)
            name = f"{name}:{min(look.models, key=lambda info: (not info.loaded, info.size)).model}"
        model = self._open_known(name)
        began = time.monotonic()
        try:
            reply = model.complete(ask_for_a_word())
        except ModelError as error:
            return wire.ModelTest(model.name, problem=str(error), is_local=model.is_local, models=names)
        ms = round(1000 * (time.monotonic() - began), 1)
        return wire.ModelTest(model.name, reply.text.strip()[:TEST_CHARS], ms, "", model.is_local, names)

    def probe(self, name: str, channel: Channel) -> Grades:
        """Grades a model; the channel receives the steps. If it is no longer read, the grades so far are stored.
        NotFoundError, ConflictError, ModelError."""
        self._configure()
        model = self._open_known(name)
        with try_lock(self._probing, "Another model is being graded. Wait until that is done."):
            for item in probe(model, lambda: channel.abandoned):
                if isinstance(item, Grades):
                    grades = item.add_earlier(self.grades_of(model.name))
                    self.writer.write(partial(self.memory.jobs.keep_grades, grades))
                    self.changed()
                    return grades
                channel.put(wire.Progress(*item))
        raise AssertionError  # a probe ends with grades, or with an error

    def close(self) -> None:
        """Interrupts running calls."""
        self._registry.close()

    # How good they are, and what they cost ----------------------------------------------------------------

    def check_budget(self, name: str, is_local: bool, request: LlmRequest) -> None:
        """Raises OverBudgetError if remote models have used the tokens of the day."""
        if not is_local and (spent := self.day_is_spent):
            raise OverBudgetError(f"{name} is not asked: {spent}. Raise models.daily_tokens, or wait until tomorrow.")
        if request.purpose in QUESTIONS:
            with self._counting:
                self._talking[name] += 1

    def record(
        self, name: str, is_local: bool, request: LlmRequest, usage: Usage, ms: float, error: ModelError | None
    ) -> None:
        """Counts a call."""
        with self._counting:
            if request.purpose in QUESTIONS:
                self._talking[name] -= 1
            day, spent = _format_today(), self._count_spent_today()
            self._spent = (day, spent + (0 if is_local else usage.total))
        use = Use(day, name, request.purpose, is_local, 1, int(error is not None), usage, ms)
        self.writer.submit(partial(self.memory.jobs.count_use, use))
        outcome = type(error).__name__ if error else "done"
        log.info("%s: %s, %d tokens, %.0f ms, %s", name, request.purpose, usage.total, ms, outcome)

    def _count_tokens(self) -> dict[str, int]:
        """Returns the tokens used today per model."""
        tokens: dict[str, int] = {}
        for use in self._list_uses():
            tokens[use.model] = tokens.get(use.model, 0) + use.usage.total
        return tokens

    def _count_spent_today(self) -> int:
        if self._spent is None or self._spent[0] != _format_today():
            self._spent = (_format_today(), sum(use.usage.total for use in self._list_uses() if not use.is_local))
        return self._spent[1]

    def _list_uses(self) -> list[Use]:
        return self.memory.jobs.uses(_format_today())

    # How they are reached ---------------------------------------------------------------------------------

    def _list_sections(self, settings: Settings) -> dict[str, Any]:
        return {prefix: getattr(settings, prefix, None) for prefix in self._families}

    def _configure(self) -> None:
        """Applies the current connection settings of config.toml, if it can be read."""
        if self.load_settings is None:
            return
        try:
            sections = self._list_sections(self.load_settings())
        except SettingsError as error:
            log.warning("config.toml cannot be read, what it said before counts: %s", type(error).__name__)
            return
        if changed := self._registry.configure(sections):
            log.info("models are reached otherwise: %s", ", ".join(sorted(changed)))
            with self._looking:
                self._looked = {prefix: look for prefix, look in self._looked.items() if prefix not in changed}
            self.changed()

    # Wanted and available models --------------------------------------------------------------------------

    def _can(self, role: Role, grades: dict[str, Grades]) -> bool:
        return any(name != AUTO or any(grade.fits(role) for grade in grades.values()) for name in self._wanted[role])

    def _list_candidates(self, role: Role, there: There, grades: dict[str, Grades]) -> Iterator[str]:
        """Yields the names of the available models for a role, the preferred one first."""
        for choice in self._wanted[role]:
            if choice != AUTO:
                if name := _resolve(choice, there):
                    yield name
                continue
            able = [
                grade
                for name, grade in grades.items()
                if name in there
                and there[name].is_local
                and not grade.why_outdated(there[name].version)
                and grade.fits(role)
            ]
            yield from (row.name for row in sorted(able, key=lambda row: (-row.score, -row.tokens_per_s, row.name)))

    def _list_near_or_named(self) -> list[str]:
        """Lists the local families, and those with a model in a role."""
        named = {name.partition(":")[0] for names in self._wanted.values() for name in names}
        return [prefix for prefix, family in self._families.items() if family.local or prefix in named]

    def _open_known(self, name: str) -> Guarded:
        """Returns the model of that name. NotFoundError, also if its family is reachable and does not have it."""
        model = self._registry.open(name)
        if not (there := self._find_models([name.partition(":")[0]])):
            return model  # its server does not answer, or does not say
        if whole := _resolve(name, there):
            return self._registry.open(whole)
        close = difflib.get_close_matches(name, there, 1)
        hint = f"Did you mean {close[0]}?" if close else "See what there is: pal models"
        raise NotFoundError(f"There is no model {name!r}. {hint}")

    def _find_models(self, prefixes: Iterable[str], *, refresh: bool = False) -> There:
        """Lists the reachable models of these families."""
        looks = self._look(prefixes, refresh=refresh)
        return {f"{prefix}:{info.model}": info for prefix, look in looks.items() for info in look.models}

    def _look(self, prefixes: Iterable[str], *, refresh: bool = False) -> dict[str, ModelList]:
        with self._looking:
            families, now = list(prefixes), time.monotonic()
            old = [family for family in families if refresh or self._looked.get(family, (0.0, None))[0] < now]
            for prefix, look in self._registry.list_models(old).items():
                missing = self._list_missing({f"{prefix}:{info.model}": info for info in look.models})
                is_complete = look.models and not any(name.startswith(f"{prefix}:") for name in missing)
                self._looked[prefix] = (time.monotonic() + (FRESH_SECONDS if is_complete else GONE_SECONDS), look)
            return {family: self._looked[family][1] for family in families}

    def _list_missing(self, there: There) -> list[str]:
        """Lists the models that a role names and that are not available."""
        choices = dict.fromkeys(name for names in self._wanted.values() for name in names)
        return [name for name in choices if name != AUTO and _resolve(name, there) is None]


def _resolve(name: str, there: There) -> str | None:
    """Returns the full name of an available model; Ollama's tag `latest` is optional."""
    return next((candidate for candidate in (name, f"{name}:latest") if candidate in there), None)


def _format_today() -> str:
    return date.today().isoformat()
