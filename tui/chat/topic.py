"""The base of the chat's topics."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.worker import Worker

from tui.page import Page
from tui.widgets.conversation import Conversation
from tui.widgets.evidence import Evidence
from tui.widgets.prompt import Prompt

P = ParamSpec("P")
T = TypeVar("T", bound="Topic")


class ChatPage(Page):
    """The page of the chat, as its topics know it."""

    @property
    def conversation(self) -> Conversation:
        return self.query_one(Conversation)

    @property
    def evidence(self) -> Evidence:
        return self.query_one(Evidence)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)


class Topic:
    """A group of commands, as methods `action_...`, which the page of the chat offers as its own."""

    def __init__(self, page: ChatPage) -> None:
        self.page = page
        self.shared = page.shared
        self.link = page.link


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
