"""What is known, kept and forgotten."""

from __future__ import annotations

import re
from pathlib import Path

from textual import work

from daemon.terminal import count, describe_told, title_of
from tui.commands.limiting import LimitingCommands
from tui.commands.telling import TellingCommands
from tui.commands.undoing import UndoCommands
from tui.fact_reports import facts_report, forgotten_report, history_report
from tui.inquiry import Limit
from tui.screens.confirm import ConfirmScreen
from tui.wording import short_path

FOR_GOOD = "This cannot be undone: its text, its facts and what questions found of it are erased."
FILE_STAYS = "The file stays on the disk, and is not read again."

_FORGET = re.compile(r"(?P<noun>fact|name) (?P<value>.+)")
_PAIR = re.compile(r'\s*(?:"([^"]+)"|([^,=]+?))\s*(?:[,=]|\s)\s*(?:"([^"]+)"|([^,=]+?))\s*')


class KnowingCommands(LimitingCommands, TellingCommands, UndoCommands):
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
                told = await self.link.call(lambda client: client.tell(text, session.id if session else None))
                self.note_told(told)
                await self.conversation.say(f"{describe_told(told)} /undo takes it back.")
            return
        uri = f"note:chat-{self.shared.now():%Y%m%d-%H%M%S-%f}"
        with self.tell_failures():
            try:
                kept = await self.link.call(lambda client: client.remember(text, source=uri))
            except Exception:
                self.attach(pasted)
                raise
            title = title_of(text)
            self.shared.note_done(lambda client: client.forget(source=uri), f"Not remembered any more: “{title}”")
            said = f"Remembered as a note, {count(kept.added + kept.kept, 'passage')}. /undo takes it back."
            if pasted:
                self.limit(Limit("note", uri, title))
                said += " Questions go to it alone until you remove it above the prompt."
            await self.conversation.say(said)

    @work
    async def action_forget(self, typed: str) -> None:
        found = _FORGET.fullmatch(typed)
        if found is None:
            note = None
            with self.tell_failures():
                note = await self.find_note(typed)
            if note is None:
                return
            where = short_path(note.uri, self.folders)
            named = f"“{note.title}” ({where})" if note.title and note.title != where else where
            question, comfort = f"Forget all that was read from {named}?", FOR_GOOD
            if Path(note.uri).is_absolute():
                comfort += f" {FILE_STAYS}"
            chosen: dict[str, str | int] = {"source": note.uri}
        elif found["noun"] == "name":
            question, comfort = f"Forget {found['value']}, with every fact that has the name?", FOR_GOOD
            chosen = {"object": found["value"]}
        elif found["value"].isdecimal():
            question, comfort = f"Forget fact {found['value']}?", FOR_GOOD
            chosen = {"fact": int(found["value"])}
        else:
            await self.conversation.say("A fact is named by its number, which /facts shows: /forget fact 12", "warning")
            return
        if await self.app.push_screen_wait(ConfirmScreen(question, comfort, "Yes, forget")):
            with self.tell_failures():
                gone = await self.link.call(lambda client: client.forget(**chosen))  # type: ignore[arg-type]
                await self.conversation.say(forgotten_report(gone))
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
        found = _PAIR.fullmatch(typed)
        if found is None:
            how = "/same Ana, Ana Lima" if same else "/apart Ana, Ana Lima"
            await self.conversation.say(f"Write both names, with a comma between them: {how}", "warning")
            return
        one, other = found[1] or found[2], found[3] or found[4]
        with self.tell_failures():
            reply = await self.link.call(lambda client: client.names(one, other, same))
            before = "two" if same else "one"
            self.shared.note_done(
                lambda client: client.names(one, other, not same), f"{one} and {other} are {before} again."
            )
            undone = f"; {count(reply.replaced, 'replacement')} undone" if reply.replaced else ""
            done = f"Merged {one} and {other}" if same else f"Separated {one} and {other}{undone}"
            await self.conversation.say(f"{done}. /undo takes it back.")
