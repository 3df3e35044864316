"""Commands on facts and notes: remember, look up, forget."""

from __future__ import annotations

import re
from pathlib import Path

from textual import work

from daemon.terminal import count, describe_told, title_of
from tui.commands.limits import LimitCommands
from tui.commands.statements import StatementCommands
from tui.commands.undo import UndoCommands
from tui.fact_reports import facts_report, forgotten_report, history_report
from tui.inquiry import Limit
from tui.screens.confirm import ConfirmScreen
from tui.wording import short_path

FOR_GOOD = "This cannot be undone: its text, its facts and its traces in questions are erased."
FILE_STAYS = "The file stays on the disk, and is not read again."

_FORGET = re.compile(r"(?P<noun>fact|name) (?P<value>.+)")
_PAIR = re.compile(r'\s*(?:"([^"]+)"|([^,=]+?))\s*(?:[,=]|\s)\s*(?:"([^"]+)"|([^,=]+?))\s*')


class FactCommands(LimitCommands, StatementCommands, UndoCommands):
    """/facts, /history, /remember, /forget, /same, /apart"""

    @work
    async def action_show_facts(self, name: str) -> None:
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.facts(name))
            await self.conversation.say(facts_report(reply, self.folders))

    @work
    async def action_show_history(self, name: str) -> None:
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.history(name))
            await self.conversation.say(history_report(reply, self.folders))

    @work
    async def action_remember(self, words: str = "") -> None:
        pasted = self.take_pasted()
        text = "\n\n".join(filter(None, (words, pasted)))
        if not text:
            await self.conversation.say("There is nothing to remember. Write it: /remember TEXT", "warning")
            return
        if not pasted and "\n" not in text:
            session = self.conversation.session.conversation
            with self.tell_failures():
                statement = await self.link.call(lambda client: client.tell(text, session.id if session else None))
                self.note_told(statement)
                await self.conversation.say(f"{describe_told(statement)} /undo takes it back.")
            return
        uri = f"note:chat-{self.shared.now():%Y%m%d-%H%M%S-%f}"
        with self.tell_failures():
            try:
                note = await self.link.call(lambda client: client.remember(text, source=uri))
            except Exception:
                self.attach(pasted)
                raise
            title = title_of(text)
            self.shared.note_done(lambda client: client.forget(source=uri), f"Forgotten: “{title}”")
            report = f"Remembered as a note, {count(note.added + note.kept, 'passage')}. /undo takes it back."
            if pasted:
                self.limit(Limit("note", uri, title))
                report += " Questions are limited to it until you remove the limit above the prompt."
            await self.conversation.say(report)

    @work
    async def action_forget(self, typed: str) -> None:
        match = _FORGET.fullmatch(typed)
        if match is None:
            note = None
            with self.tell_failures():
                note = await self.find_note(typed)
            if note is None:
                return
            place = short_path(note.uri, self.folders)
            label = f"“{note.title}” ({place})" if note.title and note.title != place else place
            question, comfort = f"Forget everything read from {label}?", FOR_GOOD
            if Path(note.uri).is_absolute():
                comfort += f" {FILE_STAYS}"
            selection: dict[str, str | int] = {"source": note.uri}
        elif match["noun"] == "name":
            question, comfort = f"Forget {match['value']}, with every fact about it?", FOR_GOOD
            selection = {"object": match["value"]}
        elif match["value"].isdecimal():
            question, comfort = f"Forget fact {match['value']}?", FOR_GOOD
            selection = {"fact": int(match["value"])}
        else:
            await self.conversation.say("A fact is named by its number, which /facts shows: /forget fact 12", "warning")
            return
        if await self.app.push_screen_wait(ConfirmScreen(question, comfort, "Yes, forget")):
            with self.tell_failures():
                forgotten = await self.link.call(lambda client: client.forget(**selection))  # type: ignore[arg-type]
                await self.conversation.say(forgotten_report(forgotten))
                self.link.refresh_status()
        else:
            await self.conversation.say("Nothing was forgotten.")

    @work
    async def action_join_names(self, typed: str) -> None:
        await self._decide_names(typed, same=True)

    @work
    async def action_part_names(self, typed: str) -> None:
        await self._decide_names(typed, same=False)

    async def _decide_names(self, typed: str, same: bool) -> None:
        match = _PAIR.fullmatch(typed)
        if match is None:
            how = "/same Ana, Ana Lima" if same else "/apart Ana, Ana Lima"
            await self.conversation.say(f"Write both names, with a comma between them: {how}", "warning")
            return
        name, other_name = match[1] or match[2], match[3] or match[4]
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.names(name, other_name, same))
            before = "two" if same else "one"
            self.shared.note_done(
                lambda client: client.names(name, other_name, not same), f"{name} and {other_name} are {before} again."
            )
            undone = f"; {count(reply.replaced, 'replacement')} undone" if reply.replaced else ""
            report = f"Merged {name} and {other_name}" if same else f"Separated {name} and {other_name}{undone}"
            await self.conversation.say(f"{report}. /undo takes it back.")
