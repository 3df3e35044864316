"""What can be done on the page of folders, reading, models and health."""

from __future__ import annotations

from tui.actions.action import Action

WORK: tuple[Action, ...] = (
    Action("Next tab", "Go to the next tab.", "choose_tab(1)", "folders", "right", footer="next tab"),
    Action("Tab before", "Go to the tab before.", "choose_tab(-1)", "folders", "left"),
    Action("Back", "Go back to the chat.", "go_back", "folders", "escape"),
    Action("Next", "Go to the next row.", "cursor_down", "rows", "down,j"),
    Action("Previous", "Go to the previous row.", "cursor_up", "rows", "up,k"),
    Action("First", "Go to the first row.", "first", "rows", "home"),
    Action("Last", "Go to the last row.", "last", "rows", "end"),
    Action("Page down", "Go down a page.", "page_down", "rows", "pagedown"),
    Action("Page up", "Go up a page.", "page_up", "rows", "pageup"),
    Action("Add", "Watch another folder.", "add", "watched", "a", footer="add"),
    Action("Policy", "Say where its text may go.", "change_policy", "watched", "p", footer="policy", of_row=True),
    Action(
        "Tags", "Say which tags what is read there gets.", "change_tags", "watched", "t", footer="tags", of_row=True
    ),
    Action("Readers", "Say what of it is read.", "change_readers", "watched", "r"),
    Action("Depth", "Say how many folders deep it is read.", "change_depth", "watched", "e"),
    Action("Remove", "Stop watching it.", "remove", "watched", "d,delete", footer="remove", of_row=True),
    Action("Forget", "Stop watching it, and forget what was read from it.", "remove(True)", "watched", "F"),
    Action("Keep gone", "Keep what the files that are gone said.", "decide_gone(True)", "watched", "s"),
    Action("Drop gone", "Drop what the files that are gone said.", "decide_gone(False)", "watched", "x"),
    Action("Pause", "Let models read no longer, or again.", "switch", "reading", "p", footer="pause or go on"),
    Action("Again", "Try the row again.", "retry", "reading", "r", footer="again", of_row=True),
    Action(
        "All again", "Try all again that was given up.", "retry(True)", "reading", "R", footer="all again", of_row=True
    ),
    Action("Find", "Show only the files with some words.", "find", "reading", "slash", footer="find"),
    Action("Grade", "Ask a model some tasks, and grade it.", "probe", "models", "g", footer="grade", of_row=True),
    Action("Use", "Say what a model shall do.", "use", "models", "u", footer="use", of_row=True),
    Action("Mend", "Do what mends it.", "mend", "health", "enter", footer="mend", of_row=True),
    Action(
        "Mend all", "Mend all that can be mended from here.", "mend_all", "health", "F", footer="mend all", of_row=True
    ),
    Action("Copy", "Copy what is wrong, with its command.", "copy", "health", "y", footer="copy", of_row=True),
    Action("Look again", "Look again.", "load", "health", "r", footer="look again"),
)
