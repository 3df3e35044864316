"""Actions on the page of folders, reading, models and health."""

from __future__ import annotations

from tui.actions.action import Action

FOLDERS: tuple[Action, ...] = (
    Action("Next tab", "Go to the next tab.", "choose_tab(1)", "folders", "right", footer="next tab"),
    Action("Tab before", "Go to the previous tab.", "choose_tab(-1)", "folders", "left"),
    Action("Back", "Go back to the chat.", "go_back", "folders", "escape"),
    Action("Next", "Go to the next row.", "cursor_down", "rows", "down,j"),
    Action("Previous", "Go to the previous row.", "cursor_up", "rows", "up,k"),
    Action("First", "Go to the first row.", "first", "rows", "home"),
    Action("Last", "Go to the last row.", "last", "rows", "end"),
    Action("Page down", "Go down a page.", "page_down", "rows", "pagedown"),
    Action("Page up", "Go up a page.", "page_up", "rows", "pageup"),
    Action("Add", "Watch another folder.", "add", "watched", "a", footer="add"),
    Action("Policy", "Choose where its text may go.", "change_policy", "watched", "p", footer="policy", of_row=True),
    Action("Tags", "Set the tags of its notes.", "change_tags", "watched", "t", footer="tags", of_row=True),
    Action("Readers", "Choose the readers for its files.", "change_readers", "watched", "r"),
    Action("Depth", "Set how many folders deep to read.", "change_depth", "watched", "e"),
    Action("Remove", "Stop watching it.", "remove", "watched", "d,delete", footer="remove", of_row=True),
    Action("Forget", "Stop watching it, and forget what was read from it.", "remove(True)", "watched", "F"),
    Action("Keep gone", "Keep the content of deleted files.", "decide_gone(True)", "watched", "s"),
    Action("Drop gone", "Remove the content of deleted files.", "decide_gone(False)", "watched", "x"),
    Action("Pause", "Pause or resume reading by models.", "switch", "reading", "p", footer="pause or resume"),
    Action("Again", "Retry the row.", "retry", "reading", "r", footer="again", of_row=True),
    Action(
        "All again", "Retry everything that failed.", "retry(True)", "reading", "R", footer="all again", of_row=True
    ),
    Action("Find", "Filter the files by words.", "find", "reading", "slash", footer="find"),
    Action("Grade", "Grade a model with test tasks.", "probe", "models", "g", footer="grade", of_row=True),
    Action("Use", "Choose the roles of a model.", "use", "models", "u", footer="use", of_row=True),
    Action("Fix", "Fix this problem.", "fix", "health", "enter", footer="fix", of_row=True),
    Action("Fix all", "Fix everything possible.", "fix_all", "health", "F", footer="fix all", of_row=True),
    Action("Copy", "Copy the problem with its command.", "copy", "health", "y", footer="copy", of_row=True),
    Action("Look again", "Look again.", "load", "health", "r", footer="look again"),
)
