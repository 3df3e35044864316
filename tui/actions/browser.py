"""Actions on the page of the memory: in its search, in its list, and on the page of one thing."""

from __future__ import annotations

from tui.actions.action import Action

BROWSER: tuple[Action, ...] = (
    Action("Search", "Type words to search for.", "search", "memory", "slash,ctrl+f", footer="search"),
    Action("Filter", "Show all, things, facts, notes, or your profile.", "show_next_filter", "memory", "f"),
    Action("Correct", "Correct the fact; the old value stays in the history.", "edit", "memory", "e",
           footer="correct"),
    Action("Same", "Merge another name into this one.", "merge", "memory", "s", footer="same as"),
    Action("Not the same", "Separate one of its names.", "split", "memory", "a"),
    Action("Pin", "Pin it to the top of the list, or unpin it.", "pin", "memory", "p", footer="pin"),
    Action("Forget", "Delete it from the memory for good, after confirmation.", "forget", "memory", "d,delete",
           footer="forget"),
    Action("Take back", "Undo your last edit.", "undo", "memory", "u"),
    Action("Do again", "Redo it.", "redo", "memory", "r"),
    Action("Open", "Open the file in your editor, at the line.", "open_source", "memory", "o", footer="open"),
    Action("Pictures", "Show the pictures of the note.", "show_pictures", "memory", "i"),
    Action("Earlier", "Show the drawing before the previous change.", "step_time(-1)", "memory",
           "left_square_bracket"),
    Action("Later", "Show the drawing after the next change, up to now.", "step_time(1)",
           "memory", "right_square_bracket"),
    Action("Back", "Go back to where you were.", "go_back", "memory", "escape,backspace", footer="back"),
    Action("List", "Go to the list.", "screen.focus_items", "finding", "down,enter,tab", footer="list"),
    Action("Back", "Clear the search; if empty, go back to the chat.", "screen.clear", "finding", "escape"),
    Action("Next", "Go to the next row.", "move(1)", "items", "down,j"),
    Action("Previous", "Go to the previous row.", "move(-1)", "items", "up,k"),
    Action("Page down", "Go down a page.", "move_page(1)", "items", "pagedown,space"),
    Action("Page up", "Go up a page.", "move_page(-1)", "items", "pageup"),
    Action("First", "Go to the first row.", "move_end(False)", "items", "home"),
    Action("Last", "Go to the last row.", "move_end(True)", "items", "end"),
    Action("Look", "Go to its page.", "choose", "items", "enter,right,l", footer="look"),
    Action("Go there", "Go to the page of the thing, the note or the fact on the line.", "select", "detail",
           "enter,right,l", footer="go there"),
    Action("Next line", "Go to the next line.", "cursor_down", "detail", "down,j"),
    Action("Line before", "Go to the previous line.", "cursor_up", "detail", "up,k"),
    Action("Page down", "Go down a page.", "page_down", "detail", "pagedown,space"),
    Action("Page up", "Go up a page.", "page_up", "detail", "pageup"),
    Action("First line", "Go to the first line.", "first", "detail", "home"),
    Action("Last line", "Go to the last line.", "last", "detail", "end"),
    Action("Back", "Go back to where you were.", "screen.go_back", "detail", "left,h"),
)  # fmt: skip
