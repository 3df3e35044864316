"""What can be done in the list of sessions."""

from __future__ import annotations

from tui.actions.action import Action

SESSIONS: tuple[Action, ...] = (
    Action("Resume", "Go on with the session.", "resume", "sessions", "enter"),
    Action("Search", "Look for words in the questions and answers of all sessions.", "search", "sessions", "slash"),
    Action("New", "Start a new session.", "new", "sessions", "n"),
    Action("Rename", "Give the session another name.", "rename", "sessions", "r"),
    Action("Export", "Write the session to a file, as Markdown or JSON.", "export", "sessions", "e"),
    Action("Delete", "Delete the session, after asking.", "delete", "sessions", "d,delete"),
    Action("Close", "Leave the search, or close the list.", "close", "sessions", "escape"),
)
