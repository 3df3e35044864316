"""Actions on every page."""

from __future__ import annotations

from tui.actions.action import Action
from tui.pages import TABS, page_keys

EVERYWHERE: tuple[Action, ...] = (
    Action("Help", "Show the keys and the commands.", "show_help", "app", "f1", "help", footer="help", palette=True),
    Action(
        "Commands", "Find a command by its name.", "command_palette", "app", "ctrl+p", footer="commands", priority=True
    ),
    Action(
        "Quit",
        "Leave the chat; sessions are saved.",
        "quit",
        "app",
        "ctrl+q",
        slash="quit",
        palette=True,
        priority=True,
    ),
    Action("Copy or quit", "Copy the selection; without one, leave the chat.", "quit", "app", "ctrl+c"),
    Action("Jump", "Go to any part of the page with one key.", "jump", "app", "f3", footer="jump", priority=True),
    Action("Motion", "Turn animation on or off.", "toggle_motion", "app", slash="motion", palette=True),
    *(
        Action(
            tab.title,
            f"Go to {tab.title} (or press {place} when not typing).",
            f"open_page('{tab.name}')",
            "app",
            page_keys(tab.name),
            slash=tab.name,
            palette=True,
            priority=True,
        )
        for place, tab in enumerate(TABS, 1)
    ),
)
