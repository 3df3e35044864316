"""Limits of questions, and attachments of the next one."""

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


class LimitCommands(Part):
    """/within, /asof, and the chips above the prompt"""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._pasted: list[str] = []  # long texts that go with the next question

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits of this session's next questions."""
        return self.conversation.session.limits

    def limit(self, limit: Limit) -> None:
        """Adds a limit to the next questions."""
        self.conversation.session.limits = add_limit(self.limits, limit)
        self.show_chips()

    def take_inquiry(self, words: str) -> Inquiry | None:
        """The question to ask, with its attachments; None if empty."""
        inquiry = Inquiry(words, tuple(self._pasted), self.limits)
        self._pasted.clear()
        self.show_chips()
        return inquiry if words or inquiry.pasted else None

    def take_pasted(self) -> str:
        """The pasted texts as one, which are then detached."""
        text = "\n\n".join(self._pasted)
        self._pasted.clear()
        self.show_chips()
        return text

    def attach(self, text: str) -> None:
        """Attaches a text to the next question."""
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
            self.notify("It is attached to your question; /remember saves it.", markup=False)
        self.attach(message.text)

    def on_paste(self, event: events.Paste) -> None:
        """Pasting outside the prompt goes to the prompt, too."""
        if not self.prompt.has_focus:
            self.prompt.focus()
            self.prompt.post_message(events.Paste(event.text))

    @on(Prompt.Accepted)
    def _suggestion_taken(self, message: Prompt.Accepted) -> None:
        if message.suggestion.limit is not None:
            self.limit(message.suggestion.limit)

    @on(Conversation.Returned)
    def _given_back(self, message: Conversation.Returned) -> None:
        self.prompt.give_back(message.inquiry.words)
        self._pasted = [*message.inquiry.pasted, *self._pasted]
        for limit in message.inquiry.limits:
            self.conversation.session.limits = add_limit(self.limits, limit)
        self.show_chips()

    async def find_note(self, typed: str) -> wire.ListedSource | None:
        """The only note that matches a uri, a path, a title, or a part of them. Otherwise None, after a warning."""
        path = typed_path(typed)
        words = str(path) if is_file(path) else typed
        sources = (await self.link.call(lambda client: client.sources(words))).sources
        matches = [source for source in sources if words.casefold() in _names(source)] or sources
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(short_path(source.uri, self.folders) for source in matches[:SHOWN])
            await self.conversation.say(f"Several notes match “{typed}”: {listed}. Write the path of one.", "warning")
        else:
            await self.conversation.say(f"No note matches “{typed}”.", "warning")
        return None

    async def action_choose_day(self, day: str = "") -> None:
        if not day:
            self._drop("day")
            await self.conversation.say("Answers are as of now.")
        elif parse_day(day) is None:
            await self.conversation.say(
                f"“{day}” is not a date. Write a year, a month or a day: /asof 2026-03", "warning"
            )
        else:
            self.limit(Limit("day", day, day))

    async def action_choose_note(self, uri: str = "") -> None:
        if uri:
            with self.tell_failures():
                if (note := await self.find_note(uri)) is not None:
                    self.limit(Limit("note", note.uri, short_path(note.uri, self.folders)))
        else:
            self._drop("note", "folder", "tag")
            await self.conversation.say("Questions search the whole memory again.")

    def _drop(self, *kinds: str) -> None:
        self.conversation.session.limits = tuple(limit for limit in self.limits if limit.kind not in kinds)
        self.show_chips()


def _names(note: wire.ListedSource) -> set[str]:
    """The names under which a person may look for a note."""
    path = PurePath(note.uri)
    return {name.casefold() for name in (note.uri, note.title, path.name, path.stem)}
