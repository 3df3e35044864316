"""Looking after the memory."""

from __future__ import annotations

from textual import work

from daemon import wire
from daemon.terminal import size
from tui.commands.part import Part
from tui.wording import short_path


class UpkeepCommands(Part):
    """/backup, /check, /doctor, /tidy, /pause, /unpause"""

    @work
    async def action_back_up(self) -> None:
        with self.tell_failures():
            note = await self.conversation.say("The memory is being copied.")
            done = await self.link.call(lambda client: client.backup())
            path = short_path(done.path)
            note.say(f"Copied to {path}, {size(done.bytes)}. It comes back with: pal restore {path}")

    @work
    async def action_check(self) -> None:
        with self.tell_failures():
            note = await self.conversation.say("The memory file is read from end to end.")
            found = await self.link.call(lambda client: client.check())
            if found.problems:
                note.say("\n".join(["The memory file is damaged:", *found.problems, "What to do: /doctor"]), "error")
            else:
                note.say("The memory file is whole.")

    @work
    async def action_examine(self) -> None:
        with self.tell_failures():
            note = await self.conversation.say("Looking for what is wrong.")
            status = await self.link.call(lambda client: client.status())
            check = await self.link.call(lambda client: client.check())
            problems = find_problems(status, check)
            if problems:
                note.say("\n".join([*problems, "pal doctor says more, and mends with --fix."]), "warning")
            else:
                note.say("All is well: the file, the disk, the backups and the folders.")

    @work
    async def action_tidy(self) -> None:
        with self.tell_failures():
            note = await self.conversation.say("The memory is put in order, as it is every night.")
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


def find_problems(status: wire.Status, check: wire.Check) -> list[str]:
    """What is wrong, each in a sentence with what to do."""
    problems = [f"The file: {one}" for one in check.problems]
    problems += [
        f"The {what} cannot be read ({why}), so questions are answered without." for what, why in status.damage
    ]
    if status.safe_mode:
        problems.append(status.safe_mode)
    if status.disk and status.disk.text:
        problems.append(status.disk.text)
    if status.erasing and status.erasing.reason:
        problems.append(f"What was forgotten is not off the disk yet: {status.erasing.reason}.")
    problems += status.upkeep.warnings if status.upkeep else ()
    for folder in status.folders:
        if folder.state == "missing" or folder.gone:
            problems.append(f"{short_path(folder.path)}: {folder.detail or 'it is not there'}.")
    return problems
