"""What can be done in the list of sessions."""

from __future__ import annotations

from tui.actions.action import Action

SESSIONS: tuple[Action, ...] = (
    Action("Resume", "Go on with the session.", "resume", "sessions", "enter"),
    Action("New", "Start a new session.", "new", "sessions", "n"),
    Action("Rename", "Give the session another name.", "rename", "sessions", "r"),
    Action("Delete", "Delete the session, after asking.", "delete", "sessions", "d,delete"),
    Action("Close", "Close the list.", "close", "sessions", "escape"),
)
