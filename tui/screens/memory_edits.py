"""What a person does to the memory on its page: correct, join, part, forget, pin; and take it back."""

from __future__ import annotations

from textual import work

from daemon import wire
from daemon.terminal import display_safe
from tui.browse import Target
from tui.edit_history import Edit, EditHistory, Statement, Step
from tui.screens.ask import AskScreen
from tui.screens.confirm import ConfirmScreen
from tui.screens.page import Page
from tui.shared import Done, Shared
from tui.widgets.detail import Detail
from tui.wording import count

NOT_UNDONE = "This cannot be taken back."


class MemoryEdits(Page):
    """Each edit is of the line one is on, else of the page it is on."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.target: Target | None = None  # whose page is shown
        self.page: wire.ObjectReply | None = None  # what is known of it, if it is an object
        self._edits = EditHistory()
        self._noted: list[Done] = []  # those of `done`, for /undo in the chat

    def reload(self) -> None:
        """Shows what has become of it."""
        raise NotImplementedError

    @property
    def _fact(self) -> wire.Fact | None:
        """The fact that is meant: on the line one is on, or whose page it is."""
        detail = self.query_one(Detail)
        if detail.has_focus and detail.line is not None:
            return detail.line.fact
        return self.target.fact if self.target is not None else None

    @work
    async def action_edit(self) -> None:
        if self.target is not None and self.target.kind == "me":
            await self._edit_mine(self.target.name)
            return
        fact = self._fact
        if fact is None or fact.predicate is None:
            self._warn("Go to a line under “Facts now”; then e corrects it. What a note says is corrected in the note.")
            return
        what = f"{fact.objects[0]}, {fact.predicate}"
        more = "From now on. What it was stays as history, and so does the note."
        value = await self.app.push_screen_wait(AskScreen(what, more, fact.objects[-1]))
        if value and value != fact.objects[-1]:
            words = f"{what}: {fact.objects[-1]} is now {value}"
            await self._do(
                words,
                lambda client: client.correct(fact.id, value),
                lambda client: client.take_back_correction(fact.id),
            )

    async def _edit_mine(self, key: str) -> None:
        entry = self.target.entry if self.target else None
        before = entry.facts[0].objects[-1] if entry and entry.facts else ""
        value = await self.app.push_screen_wait(AskScreen(f"Your {key}", "The latest word counts.", before))
        if value and value != before:
            statement = Statement(key, value)
            await self._do(f"Your {key} is now {value}", statement.say, statement.take_back)

    @work
    async def action_merge(self) -> None:
        if self.page is None:
            self._warn("Go to the page of a person or a thing; then s says that another name means the same.")
            return
        name = self.page.name
        more = f"Which other name means {name}? Each will find both; nothing is moved, so it can be taken back."
        other = await self.app.push_screen_wait(AskScreen(f"Same as {name}", more))
        if other and other.casefold() != name.casefold():
            await self._do(
                f"{name} and {other} are one",
                lambda client: client.names(name, other, True),
                lambda client: client.names(name, other, False),
            )

    @work
    async def action_split(self) -> None:
        others = [name for name in self.page.names if name != self.page.name] if self.page else []
        if self.page is None or not others:
            self._warn("Go to the page of a thing that has more than one name; then a says that one is not the same.")
            return
        name, more = self.page.name, f"Which name is not {self.page.name}? It is called {', '.join(others)} as well."
        other = await self.app.push_screen_wait(AskScreen(f"Not {name}", more, others[0] if len(others) == 1 else ""))
        if other:
            await self._do(
                f"{name} and {other} are two",
                lambda client: client.names(name, other, False),
                lambda client: client.names(name, other, True),
            )

    def action_pin(self) -> None:
        preferences = self.shared.preferences
        if self.target is None or self.target.kind != "object":
            self._warn("Go to a person or a thing; then p keeps it on top of the list.")
            return
        name = self.target.name
        if name in preferences.pinned:
            preferences.pinned.remove(name)
            self._say(f"{name} is not pinned any more.")
        else:
            preferences.pinned.append(name)
            self._say(f"{name} stands on top of the list from now on.")
        preferences.save()
        self.reload()

    @work
    async def action_forget(self) -> None:
        target, fact = self.target, self._fact
        if target is None:
            return
        if fact is not None:
            question = f"Forget that {fact.text}?"
            more = "The fact goes for good. The note it was read out of stays as it is."
            step: Step = lambda client: client.forget(fact=fact.id)  # noqa: E731
        elif target.kind == "note":
            question = f"Forget the note {target.title}?"
            more = (
                "All that was read of it goes for good, with its facts. The file itself stays, and is not read again."
            )
            step = lambda client: client.forget(source=target.name)  # noqa: E731
        elif target.kind == "object" and self.page is not None:
            known = count(len(self.page.facts), "fact")
            question = f"Forget {target.name}?"
            more = f"It goes for good, with its {known}. The {count(self.page.notes_total, 'note')} that name it stay."
            step = lambda client: client.forget(object=target.name)  # noqa: E731
        else:
            self._warn("Go to a person, a thing, a fact or a note; then d forgets it.")
            return
        if await self.app.push_screen_wait(ConfirmScreen(question, f"{more} {NOT_UNDONE}", "Yes, forget")):
            with self.tell_failures():
                await self.link.call(step)
                self._say("Forgotten.")
                if fact is None or target.fact is not None:
                    self.leave()
                self.reload()
                self.link.refresh_status()

    def leave(self) -> None:
        """What was shown is there no more."""
        raise NotImplementedError

    @work
    async def action_undo(self) -> None:
        if not self._edits.done:
            self._say("There is nothing to take back.")
            return
        edit = self._edits.done[-1]
        with self.tell_failures():
            await self.link.call(edit.undo)
            self._edits.take_back()
            self.shared.drop_done(self._noted.pop())
            self._end(f"Taken back: {edit.words}. r does it again.")

    @work
    async def action_redo(self) -> None:
        if not self._edits.undone:
            self._say("There is nothing to do again.")
            return
        edit = self._edits.undone[-1]
        with self.tell_failures():
            await self.link.call(edit.do)
            self._edits.repeat()
            self._note(edit)
            self._end(f"{edit.words}. u takes it back.")

    async def _do(self, words: str, do: Step, undo: Step) -> None:
        with self.tell_failures():
            await self.link.call(do)
            edit = Edit(words, do, undo)
            self._edits.add(edit)
            self._note(edit)
            self._end(f"{words}. u takes it back.")

    def _note(self, edit: Edit) -> None:
        """It can be taken back by /undo in the chat, too: the last one first, as here."""

        def show() -> None:
            self._noted.pop()
            self._edits.take_back()
            self.reload()

        self._noted.append(self.shared.note_done(edit.undo, f"Taken back: {edit.words}.", show))

    def _end(self, words: str) -> None:
        self._say(words)
        self.reload()
        self.link.refresh_status()

    def _say(self, text: str) -> None:
        self.notify(display_safe(text), markup=False)

    def _warn(self, text: str) -> None:
        self.notify(text, severity="warning", markup=False)
