"""Looking after the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textual import work

from daemon.client import DaemonDownError, DaemonError
from daemon.examination import examine
from daemon.terminal import display_safe, size
from tui.commands.part import Part
from tui.widgets.note import Note
from tui.wording import short_path


@contextmanager
def _telling(note: Note) -> Iterator[None]:
    """What the daemon could not do is said in place of what was begun, which would stand there as if it went on."""
    try:
        yield
    except (DaemonError, DaemonDownError) as error:
        note.say(display_safe(str(error)), "error")


class UpkeepCommands(Part):
    """/backup, /check, /doctor, /tidy, /pause, /unpause"""

    @work
    async def action_back_up(self) -> None:
        note = await self.conversation.say("The memory is being copied.")
        with _telling(note):
            done = await self.link.call(lambda client: client.backup())
            path = short_path(done.path)
            note.say(f"Copied to {path}, {size(done.bytes)}. It comes back with: pal restore {path}")

    @work
    async def action_check(self) -> None:
        note = await self.conversation.say("The memory file is read from end to end.")
        with _telling(note):
            found = await self.link.call(lambda client: client.check())
            if found.problems:
                note.say("\n".join(["The memory file is damaged:", *found.problems, "What to do: /doctor"]), "error")
            else:
                note.say("The memory file is whole.")

    @work
    async def action_examine(self) -> None:
        note = await self.conversation.say("Looking for what is wrong.")
        with _telling(note):
            looks = await self.link.call(lambda client: list(examine(client, client.paths.config)))
            problems = [look.problem for look in looks if look.problem]
            if not problems:
                looked = ", ".join(dict.fromkeys(look.at for look in looks))
                note.say(f"All is well. Looked at: {looked}.")
                return
            if any(look.mend for look in looks):
                problems.append("Some of it can be mended on the page Folders, in its tab Health.")
            note.say("\n".join(problems), "warning")

    @work
    async def action_tidy(self) -> None:
        note = await self.conversation.say("The memory is put in order, as it is every night.")
        with _telling(note):
            done = await self.link.call(lambda client: client.consolidate())
            joined = f"{done.joined:,} facts that were told twice are one now." if done.joined else "All was in order."
            names = f" {len(done.suspects):,} pairs of names may be one: /same joins them." if done.suspects else ""
            note.say(joined + names)

    @work
    async def action_let_models_read(self, enabled: bool) -> None:
        with self.tell_failures():
            state = await self.link.call(lambda client: client.enable_enrichment(enabled))
            said = state.detail or (
                "Models read in the background." if enabled else "No model reads in the background."
            )
            await self.conversation.say(f"{said} {'/pause stops it.' if enabled else '/unpause goes on.'}")
