"""What limits the questions, and what goes with the next one."""

from __future__ import annotations

from pathlib import PurePath

from textual import events, on

from daemon import wire
from tui.commands.part import Part
from tui.inquiry import Inquiry, Limit, add_limit, parse_day, pasted_label
from tui.shared import Shared
from tui.widgets.chips import Chips
from tui.widgets.conversation import Conversation
from tui.widgets.prompt import Prompt
from tui.wording import is_file, short_path, typed_path

SHOWN = 3  # names of several that fit


class LimitingCommands(Part):
    """/within, /asof, and the chips above the prompt"""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._pasted: list[str] = []  # long texts that go with the next question

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Those of the questions to come in this session."""
        return self.conversation.session.limits

    def limit(self, limit: Limit) -> None:
        """Limits the questions to come."""
        self.conversation.session.limits = add_limit(self.limits, limit)
        self.show_chips()

    def take_inquiry(self, words: str) -> Inquiry | None:
        """What is to be asked now, with all that goes with it; None if that is nothing."""
        inquiry = Inquiry(words, tuple(self._pasted), self.limits)
        self._pasted.clear()
        self.show_chips()
        return inquiry if words or inquiry.pasted else None

    def take_pasted(self) -> str:
        """What was pasted, as one text, which is attached no more."""
        text = "\n\n".join(self._pasted)
        self._pasted.clear()
        self.show_chips()
        return text

    def attach(self, text: str) -> None:
        """Lets a text go with the next question."""
        if text:
            self._pasted.append(text)
            self.show_chips()

    def show_chips(self) -> None:
        chips = [(limit.label, limit.kind) for limit in self.limits]
        self.query_one(Chips).show(chips + [(pasted_label(text), "pasted") for text in self._pasted])

    def _remove(self, index: int) -> None:
        limits = self.limits
        if index < len(limits):
            self.conversation.session.limits = limits[:index] + limits[index + 1 :]
        elif index - len(limits) < len(self._pasted):
            del self._pasted[index - len(limits)]
        self.show_chips()

    @on(Chips.Removed)
    def _chip_removed(self, message: Chips.Removed) -> None:
        self._remove(message.index)
        self.prompt.focus()

    @on(Prompt.BackedOut)
    def _backed_out(self) -> None:
        if last := len(self.limits) + len(self._pasted):
            self._remove(last - 1)

    @on(Prompt.Attached)
    def _attached(self, message: Prompt.Attached) -> None:
        if not self._pasted:
            self.notify("It goes with your question; /remember keeps it.", markup=False)
        self.attach(message.text)

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted while another part of the page has the keys is meant for the prompt, too."""
        if not self.prompt.has_focus:
            self.prompt.focus()
            self.prompt.post_message(events.Paste(event.text))

    @on(Prompt.Taken)
    def _suggestion_taken(self, message: Prompt.Taken) -> None:
        if message.suggestion.limit is not None:
            self.limit(message.suggestion.limit)

    @on(Conversation.GivenBack)
    def _given_back(self, message: Conversation.GivenBack) -> None:
        self.prompt.give_back(message.inquiry.words)
        self._pasted = [*message.inquiry.pasted, *self._pasted]
        for limit in message.inquiry.limits:
            self.conversation.session.limits = add_limit(self.limits, limit)
        self.show_chips()

    async def find_note(self, typed: str) -> wire.ListedSource | None:
        """The one note of a uri, a path, a title, or a part of them. Where there is none, or several, it says so."""
        path = typed_path(typed)
        words = str(path) if is_file(path) else typed
        found = (await self.link.call(lambda client: client.sources(words))).sources
        named = [one for one in found if words.casefold() in _names(one)] or found
        if len(named) == 1:
            return named[0]
        if named:
            some = ", ".join(short_path(one.uri, self.folders) for one in named[:SHOWN])
            await self.conversation.say(f"Several are called “{typed}”: {some}. Write the path of one.", "warning")
        else:
            await self.conversation.say(f"Nothing that was read is called “{typed}”.", "warning")
        return None

    async def action_choose_day(self, day: str = "") -> None:
        if not day:
            self._drop("day")
            await self.conversation.say("Answers are as of now again.")
        elif parse_day(day) is None:
            await self.conversation.say(f"“{day}” is no date. Write a year, a month or a day: /asof 2026-03", "warning")
        else:
            self.limit(Limit("day", day, day))

    async def action_choose_note(self, uri: str = "") -> None:
        if uri:
            with self.tell_failures():
                if (note := await self.find_note(uri)) is not None:
                    self.limit(Limit("note", note.uri, short_path(note.uri, self.folders)))
        else:
            self._drop("note", "folder", "tag")
            await self.conversation.say("Questions go to the whole memory again.")

    def _drop(self, *kinds: str) -> None:
        self.conversation.session.limits = tuple(one for one in self.limits if one.kind not in kinds)
        self.show_chips()


def _names(note: wire.ListedSource) -> set[str]:
    """What a person may call a note."""
    path = PurePath(note.uri)
    return {name.casefold() for name in (note.uri, note.title, path.name, path.stem)}
