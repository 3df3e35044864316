"""Maintenance of the memory."""

from __future__ import annotations

from daemon.terminal import size
from tui.chat.topic import Topic, background
from tui.wording import short_path


class UpkeepTopic(Topic):
    """/backup, /doctor, /tidy, /pause, /unpause"""

    @background()
    async def action_back_up(self) -> None:
        note = await self.say("Copying the memory…")
        with self.tell_failures():
            backup = await self.link.call(lambda client: client.backup())
            path = short_path(backup.path)
            note.say(f"Copied to {path}, {size(backup.bytes)}. To restore it: pal restore {path}")

    async def action_examine(self) -> None:
        self.shared.wants_tab = "health"
        await self.page.run_action("app.open_page('folders')")

    @background()
    async def action_tidy(self) -> None:
        note = await self.say("Tidying the memory, as every night…")
        with self.tell_failures():
            report = await self.link.call(lambda client: client.tidy())
            note.say(f"{report.joined:,} duplicate facts were merged." if report.joined else "Nothing to tidy.")

    @background()
    async def action_let_models_read(self, enabled: bool) -> None:
        with self.tell_failures():
            state = await self.link.call(lambda client: client.enable_enrichment(enabled))
            text = state.detail or (
                "Models read in the background." if enabled else "No model reads in the background."
            )
            await self.say(f"{text} {'/pause stops it.' if enabled else '/unpause goes on.'}")
