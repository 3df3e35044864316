"""Actions on the page of changed facts."""

from __future__ import annotations

from tui.actions.action import Action

REVIEW: tuple[Action, ...] = (
    Action("Open", "Open the chosen line in your editor.", "open_source", "review", "enter", footer="open"),
    Action(
        "Keep new", "The new one is right, the old one is history.", "decide('keep')", "review", "a", footer="keep new"
    ),
    Action(
        "Keep old",
        "The old one is right, the new one was never true.",
        "decide('old')",
        "review",
        "o",
        footer="keep old",
    ),
    Action("Both are true", "Both are right, side by side.", "decide('both')", "review", "b", footer="both true"),
    Action("Edit", "Neither is right: enter the value from now on.", "edit", "review", "e", footer="edit"),
    Action("Open refused", "Open the note that still contains the rejected fact.", "open_refused", "review", "O"),
    Action("Take back", "Undo your last decision.", "take_back", "review", "u", footer="undo"),
    Action("Filter", "Show open changes, decided ones, or all.", "show_next_filter", "review", "f", footer="filter"),
    Action("Mark", "Mark or unmark it, to decide several with one key.", "mark", "review", "space"),
    Action("Mark all", "Mark all or none.", "mark_all", "review", "m"),
    Action("Back", "Unmark all; else go back to the chat.", "go_back", "review", "escape"),
    Action("Next", "Go to the next change.", "cursor_down", "changes", "down,j,n"),
    Action("Previous", "Go to the previous change.", "cursor_up", "changes", "up,k"),
    Action("First", "Go to the first change.", "first", "changes", "home"),
    Action("Last", "Go to the last change.", "last", "changes", "end"),
    Action("Page down", "Go down a page.", "page_down", "changes", "pagedown"),
    Action("Page up", "Go up a page.", "page_up", "changes", "pageup"),
    Action("Old side", "Choose the old line.", "screen.choose_side('old')", "changes", "left"),
    Action("New side", "Choose the new line.", "screen.choose_side('new')", "changes", "right"),
)
