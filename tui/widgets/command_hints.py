"""The slash commands that fit what is typed."""

from __future__ import annotations

from textual.content import Content

from tui.actions import find_commands
from tui.widgets.plain import Plain

SHOWN = 8


class CommandHints(Plain):
    """Above the prompt while a command is typed; Tab completes to the first."""

    def __init__(self) -> None:
        super().__init__(id="command-hints")
        self.hide()

    def show_for(self, typed: str) -> None:
        """Shows what fits; nothing for a text that is no command."""
        head, space, _ = typed.partition(" ")
        found = find_commands(head) if head.startswith("/") and "\n" not in typed else ()
        if space:
            found = tuple(action for action in found if head == f"/{action.slash}" and action.argument)
        width = max((len(action.usage) for action in found), default=0)
        lines = [
            Content.assemble(
                (f"{action.usage:<{width}}", "bold $accent"), ("   " + action.sentence, "$foreground-muted")
            )
            for action in found[:SHOWN]
        ]
        self.display = bool(lines)
        self.update(Content("\n").join(lines))
