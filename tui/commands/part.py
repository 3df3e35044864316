"""The base of the parts of the chat's screen."""

from __future__ import annotations

from tui.screens.page import Page
from tui.widgets.conversation import Conversation
from tui.widgets.evidence import Evidence
from tui.widgets.prompt import Prompt


class Part(Page):
    """A part of the chat's screen, with access to the others' widgets."""

    @property
    def conversation(self) -> Conversation:
        return self.query_one(Conversation)

    @property
    def evidence(self) -> Evidence:
        return self.query_one(Evidence)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)
