"""Actions in the list of sessions."""

from __future__ import annotations

from tui.actions.action import Action

SESSIONS: tuple[Action, ...] = (
    Action("Resume", "Go on with the session.", "resume", "sessions", "enter"),
    Action("Search", "Search the questions and answers of all sessions.", "search", "sessions", "slash"),
    Action("New", "Start a new session.", "new", "sessions", "n"),
    Action("Rename", "Rename the session.", "rename", "sessions", "r"),
    Action("Export", "Export the session, as Markdown or JSON.", "export", "sessions", "e"),
    Action("Delete", "Delete the session, after confirmation.", "delete", "sessions", "d,delete"),
    Action("Close", "Leave the search, or close the list.", "close", "sessions", "escape"),
)
