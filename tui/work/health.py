"""The tab of what is wrong, each with what mends it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import work
from textual.content import Content

from daemon.client import Client
from daemon.examination import MENDS, Look, examine
from tui.actions import Where, bindings_of
from tui.wording import count
from tui.work.rows import WorkList, paragraphs, two_lines

NAMES = {
    "daemon": "The program in the background", "file": "The memory's file", "disk": "The disk", "backups": "Backups",
    "folders": "Folders", "embedder": "What compares meanings", "night": "What is done at night",
    "config.toml": "The settings", "readers": "What reads files", "plug-ins": "Plug-ins",
}  # fmt: skip


class HealthList(WorkList):
    """What `pal doctor` looks at: what is wrong first."""

    TITLE = "Health"
    EMPTY = "Looking…"
    PLACE: ClassVar[Where] = "health"
    BINDINGS = bindings_of(PLACE)

    def __init__(self, shared: Any) -> None:
        super().__init__(shared, "health")
        self._looks: list[Look] | None = None

    @property
    def problems(self) -> list[Look]:
        return [look for look in self._looks or () if look.problem]

    @property
    def summary(self) -> str:
        if self._looks is None:
            return "Looking…"
        mendable = sum(bool(look.mend) for look in self.problems)
        if not self.problems:
            return "All is well."
        can = f"; {mendable:,} can be mended from here: Enter, or F for all" if mendable else ""
        return f"{count(len(self.problems), 'problem')}{can}."

    async def fetch(self) -> None:
        looks = await self.call(lambda client: list(examine(client, client.paths.config)))
        if looks is not None:
            self._looks = sorted(looks, key=lambda look: not look.problem)
            self.show_rows()

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        for place, look in enumerate(self._looks or ()):
            name = NAMES.get(look.at, look.at)
            if look.problem:
                yield str(place), two_lines(f"! {name}", look.problem, "$text-warning")
            else:
                yield str(place), Content.assemble(("✓ ", "$success"), name)

    def describe(self, key: str) -> Content:
        look = (self._looks or [])[int(key)]
        name = NAMES.get(look.at, look.at)
        if not look.problem:
            return paragraphs(name, "All is well here.")
        how = f"Enter does it: {look.mend}" if look.mend else "This takes you: the command stands above. y copies all."
        return paragraphs(name, look.problem, how)

    @property
    def look(self) -> Look | None:
        """The highlighted one."""
        return self._looks[int(self.key)] if self._looks and self.key is not None else None

    def action_mend(self) -> None:
        if self.look is not None and self.look.mend:
            self._mend([self.look.mend])
        elif self.look is not None and self.look.problem:
            self.say("This cannot be done from here; the command is on the right.")

    def action_mend_all(self) -> None:
        mends = list(dict.fromkeys(look.mend for look in self.problems if look.mend))
        if mends:
            self._mend(mends)
        else:
            self.say("There is nothing that can be mended from here.")

    @work(exclusive=True, group="mend")
    async def _mend(self, mends: list[str]) -> None:
        def run(client: Client) -> str:
            for mend in mends:
                MENDS[mend](client)
            return ", ".join(mends)

        self.say(f"Doing it: {', '.join(mends)}")
        if (done := await self.call(run)) is not None:
            self.say(f"Done: {done}")
        self.load()

    def action_load(self) -> None:
        self.load()

    def action_copy(self) -> None:
        if self.look is not None:
            self.app.copy_to_clipboard(self.look.problem)
            self.notify("Copied.", markup=False)
