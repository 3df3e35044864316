"""Edits of the memory: correct, join, separate, forget, undo."""

from __future__ import annotations

from textual import work

from daemon import wire
from daemon.terminal import count
from tui.actions import Action
from tui.dialogs.dialog import AskScreen, ConfirmScreen
from tui.memory.lists import Detail
from tui.memory.rows import Target
from tui.page import Page
from tui.shared import Shared, Statement, Step

NOT_UNDONE = "This cannot be undone."


class MemoryEdits(Page):
    """Edits the current line's object or fact, or by default the page's."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.target: Target | None = None  # whose page is shown
        self.page: wire.ObjectReply | None = None  # what is known of it, if it is an object

    def reload(self) -> None:
        raise NotImplementedError

    def can_do(self, action: Action) -> bool:
        fact, kind = self._fact, self.target.kind if self.target is not None else ""
        can = {
            "edit": kind == "me" or (fact is not None and fact.predicate is not None),
            "merge": self.page is not None,
            "split": bool(self._aliases),
            "forget": fact is not None or kind in ("note", "object"),
        }
        return can.get(action.handler, super().can_do(action))

    @property
    def _aliases(self) -> list[str]:
        return [name for name in self.page.names if name != self.page.name] if self.page else []

    @property
    def _fact(self) -> wire.Fact | None:
        """Returns the fact to edit: that of the current line, or of the page."""
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
            return
        slot = f"{fact.objects[0]}, {fact.predicate}"
        more = "From now on. The old value stays in the history, and the note unchanged."
        value = await self.app.push_screen_wait(AskScreen(slot, more, fact.objects[-1]))
        if value and value != fact.objects[-1]:
            words = f"{slot}: {fact.objects[-1]} is now {value}"
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
            return
        name = self.page.name
        more = f"Which other name means {name}? Each will find both; this can be undone."
        other_name = await self.app.push_screen_wait(AskScreen(f"Same as {name}", more))
        if other_name and other_name.casefold() != name.casefold():
            await self._do(
                f"{name} and {other_name} are the same",
                lambda client: client.names(name, other_name, True),
                lambda client: client.names(name, other_name, False),
            )

    @work
    async def action_split(self) -> None:
        aliases = self._aliases
        if self.page is None or not aliases:
            return
        name, more = self.page.name, f"Which name is not {self.page.name}? Its other names: {', '.join(aliases)}."
        other_name = await self.app.push_screen_wait(
            AskScreen(f"Not {name}", more, aliases[0] if len(aliases) == 1 else "")
        )
        if other_name:
            await self._do(
                f"{name} and {other_name} are separate",
                lambda client: client.names(name, other_name, False),
                lambda client: client.names(name, other_name, True),
            )

    @work
    async def action_forget(self) -> None:
        target, fact = self.target, self._fact
        if target is None:
            return
        if fact is not None:
            question = f"Forget that {fact.text}?"
            more = "The fact is deleted for good. Its note stays unchanged."
            step: Step = lambda client: client.forget(fact=fact.id)  # noqa: E731
        elif target.kind == "note":
            question = f"Forget the note {target.title}?"
            more = "Its text and facts are deleted for good. The file stays, and is not read again."
            step = lambda client: client.forget(source=target.name)  # noqa: E731
        elif target.kind == "object" and self.page is not None:
            n_facts, n_notes = len(self.page.facts), self.page.notes_total
            question = f"Forget {target.name}?"
            facts = f"It and its {count(n_facts, 'fact')} are" if n_facts else "It is"
            notes = " The note that names it stays." if n_notes == 1 else f" The {n_notes} notes that name it stay."
            more = f"{facts} deleted for good.{notes if n_notes else ''}"
            step = lambda client: client.forget(object=target.name)  # noqa: E731
        else:
            return
        if await self.app.push_screen_wait(ConfirmScreen(question, f"{more} {NOT_UNDONE}", "Yes, forget")):
            with self.tell_failures():
                await self.link.call(step)
                self.show_message("Forgotten.")
                if fact is None or target.fact is not None:
                    self.leave()
                self.memory_changed()

    def leave(self) -> None:
        raise NotImplementedError

    async def _do(self, words: str, do: Step, undo: Step) -> None:
        with self.tell_failures():
            await self.link.call(do)
            self.shared.note_done(undo, f"Taken back: {words}.")
            self.show_message(f"{words}. Ctrl+Z takes it back.")
            self.memory_changed()

    def memory_changed(self) -> None:
        self.reload()
        super().memory_changed()
