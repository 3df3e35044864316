"""The tab of problems, each with its fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import work
from textual.content import Content

from daemon.client.client import Client
from daemon.health import FIXES, HealthCheck, examine
from daemon.terminal import count
from tui.actions import Action, Where, bindings_of
from tui.folders.rows import TabList, paragraphs, two_lines
from tui.shared import Shared

NAMES = {
    "daemon": "Daemon", "file": "The memory's file", "disk": "The disk", "backups": "Backups",
    "folders": "Folders", "embedder": "Embedder", "night": "Nightly jobs",
    "config.toml": "The settings", "readers": "Readers", "plug-ins": "Plug-ins",
    "models": "Models", "sync": "Other computers",
}  # fmt: skip


class HealthList(TabList):
    """The checks of `pal doctor`, problems first."""

    TITLE = "Health"
    EMPTY = "Looking…"
    PLACES: ClassVar[tuple[Where, ...]] = ("health", "rows")
    BINDINGS = bindings_of("health")

    def __init__(self, shared: Shared, changed: Callable[[TabList], None]) -> None:
        super().__init__(shared, changed, "health")
        self._looks: list[HealthCheck] | None = None

    def can_do(self, action: Action) -> bool:
        look = self.look
        can = {
            "fix": bool(look and look.fix),
            "copy": bool(look and look.problem),
            "fix_all": sum(bool(look.fix) for look in self.problems) > 1,
        }
        return can.get(action.handler, True)

    @property
    def problems(self) -> list[HealthCheck]:
        return [look for look in self._looks or () if look.problem]

    @property
    def summary(self) -> str:
        if self._looks is None:
            return ""
        fixable = sum(bool(look.fix) for look in self.problems)
        if not self.problems:
            return "No problems."
        can = f"; {fixable:,} can be fixed here: Enter" if fixable else ""
        return f"{count(len(self.problems), 'problem')}{can}."

    async def fetch(self) -> None:
        looks = await self.call(lambda client: list(examine(client, client.paths)))
        if looks is not None:
            self._looks = sorted(looks, key=lambda look: not look.problem)
            self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for place, look in enumerate(self._looks or ()):
            name = NAMES.get(look.place, look.place)
            if look.problem:
                yield str(place), two_lines(f"! {name}", look.problem, "$text-warning")
            else:
                yield str(place), Content.assemble(("✓ ", "$success"), name)

    def describe(self, key: str) -> Content:
        look = (self._looks or [])[int(key)]
        name = NAMES.get(look.place, look.place)
        if not look.problem:
            return paragraphs(name, "No problem here.")
        how = (
            f"Enter fixes it: {look.fix}"
            if look.fix
            else "You have to run this yourself: the command is above. Enter copies it."
        )
        return paragraphs(name, look.problem, how)

    @property
    def look(self) -> HealthCheck | None:
        return self._looks[int(self.key)] if self._looks and self.key is not None else None

    def action_fix(self) -> None:
        if self.look is not None and self.look.fix:
            self._fix([self.look.fix])

    def action_fix_all(self) -> None:
        self._fix(list(dict.fromkeys(look.fix for look in self.problems if look.fix)))

    @work(exclusive=True, group="fix")
    async def _fix(self, fixes: list[str]) -> None:
        def run(client: Client) -> str:
            for fix in fixes:
                FIXES[fix](client)
            return ", ".join(fixes)

        self.say(f"Fixing: {', '.join(fixes)}")
        if (done := await self.call(run)) is not None:
            self.say(f"Done: {done}")
        self.load()

    def action_load(self) -> None:
        self.load()

    def action_copy(self) -> None:
        if self.look is not None:
            self.app.copy_to_clipboard(self.look.problem)
            self.notify("Copied.", markup=False)
