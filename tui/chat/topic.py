"""The base of the chat's topics."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.notifications import SeverityLevel
from textual.worker import Worker

from tui.page import Page
from tui.widgets.conversation import Conversation
from tui.widgets.evidence import Evidence
from tui.widgets.prompt import Prompt
from tui.widgets.transcript import Level, Note

P = ParamSpec("P")
T = TypeVar("T", bound="Topic")


class Topic:
    """A group of commands, as methods `action_...`, which the page of the chat offers as its own."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.shared = page.shared
        self.link = page.link

    @property
    def conversation(self) -> Conversation:
        return self.page.query_one(Conversation)

    @property
    def evidence(self) -> Evidence:
        return self.page.query_one(Evidence)

    @property
    def prompt(self) -> Prompt:
        return self.page.query_one(Prompt)

    @property
    def folders(self) -> tuple[str, ...]:
        """Returns the watched folders, for shortening paths."""
        return self.shared.folders

    async def say(self, text: str, level: Level = "info") -> Note:
        """Appends a note to the conversation, which is not stored in the session."""
        return await self.conversation.say(text, level)

    def show_message(self, text: str, severity: SeverityLevel = "information") -> None:
        """Shows a message for some seconds."""
        self.page.show_message(text, severity)

    def tell_failures(self) -> AbstractContextManager[None]:
        """Shows the daemon's errors to the person."""
        return self.page.tell_failures()


def background(
    group: str = "",
) -> Callable[[Callable[Concatenate[T, P], Coroutine[Any, Any, None]]], Callable[Concatenate[T, P], Worker[None]]]:
    """Runs a method of a topic in a worker of the page; of a named group only the last one continues."""

    def decorate(
        method: Callable[Concatenate[T, P], Coroutine[Any, Any, None]],
    ) -> Callable[Concatenate[T, P], Worker[None]]:
        @wraps(method)
        def start(self: T, /, *args: P.args, **kwargs: P.kwargs) -> Worker[None]:
            call = partial(method, self, *args, **kwargs)
            return self.page.run_worker(call, group=group or "default", exclusive=bool(group))

        return start

    return decorate
