"""Limits of questions, and attachments of the next one."""

from __future__ import annotations

from pathlib import PurePath

from daemon import wire
from tui.chat.topic import Topic
from tui.session import Inquiry, Limit, add_limit, parse_day, pasted_label
from tui.widgets.below import Chips
from tui.wording import is_file, short_path, typed_path

SHOWN = 3  # names of several that fit


class LimitTopic(Topic):
    """/asof, and the chips above the prompt"""

    _pasted: tuple[str, ...] = ()  # long texts that go with the next question

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Returns the limits of this session's next questions."""
        return self.page.conversation.session.limits

    def add(self, limit: Limit) -> None:
        """Adds a limit to the next questions."""
        self.page.conversation.session.limits = add_limit(self.limits, limit)
        self.show_chips()

    def take_inquiry(self, words: str) -> Inquiry | None:
        """Returns the question to ask, with its attachments; None if empty."""
        inquiry = Inquiry(words, self._pasted, self.limits)
        self._pasted = ()
        self.show_chips()
        return inquiry if words or inquiry.pasted else None

    def take_pasted(self) -> str:
        """Joins and detaches the pasted texts."""
        text = "\n\n".join(self._pasted)
        self._pasted = ()
        self.show_chips()
        return text

    def attach(self, text: str) -> None:
        """Attaches a text to the next question."""
        if text:
            self._pasted += (text,)
            self.show_chips()

    def show_chips(self) -> None:
        chips = [(limit.label, limit.kind) for limit in self.limits]
        self.page.query_one(Chips).show(chips + [(pasted_label(text), "pasted") for text in self._pasted])

    def remove(self, index: int) -> None:
        """Removes the limit or attachment at a place above the prompt."""
        limits = self.limits
        if index < len(limits):
            self.page.conversation.session.limits = limits[:index] + limits[index + 1 :]
        else:
            place = index - len(limits)
            self._pasted = self._pasted[:place] + self._pasted[place + 1 :]
        self.show_chips()

    def remove_last(self) -> None:
        if last := len(self.limits) + len(self._pasted):
            self.remove(last - 1)

    def attach_pasted(self, text: str) -> None:
        if not self._pasted:
            self.page.show_message("It is attached to your question; /remember saves it.")
        self.attach(text)

    def give_back(self, inquiry: Inquiry) -> None:
        """Returns a question to the prompt, with its limits and attachments."""
        self.page.prompt.give_back(inquiry.words)
        self._pasted = inquiry.pasted + self._pasted
        for limit in inquiry.limits:
            self.page.conversation.session.limits = add_limit(self.limits, limit)
        self.show_chips()

    async def find_note(self, typed: str) -> wire.ListedSource | None:
        """Returns the only note that matches a uri, a path, a title, or a part of them. Otherwise None, after a
        warning."""
        path = typed_path(typed)
        words = str(path) if is_file(path) else typed
        sources = (await self.link.call(lambda client: client.sources(words))).sources
        matches = [source for source in sources if words.casefold() in _names(source)] or sources
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(short_path(source.uri, self.page.folders) for source in matches[:SHOWN])
            await self.page.tell(f"Several notes match “{typed}”: {listed}. Write the path of one.", "warning")
        else:
            await self.page.tell(f"No note matches “{typed}”.", "warning")
        return None

    async def action_choose_day(self, day: str = "") -> None:
        if not day:
            self._drop_day()
            await self.page.tell("Answers are as of now.")
        elif parse_day(day) is None:
            await self.page.tell(f"“{day}” is not a date. Write a year, a month or a day: /asof 2026-03", "warning")
        else:
            self.add(Limit("day", day, day))

    def _drop_day(self) -> None:
        self.page.conversation.session.limits = tuple(limit for limit in self.limits if limit.kind != "day")
        self.show_chips()


def _names(note: wire.ListedSource) -> set[str]:
    """Returns the names under which a person may look for a note."""
    path = PurePath(note.uri)
    return {name.casefold() for name in (note.uri, note.title, path.name, path.stem)}
