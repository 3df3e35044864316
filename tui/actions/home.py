"""Actions in Home, which an empty session shows."""

from __future__ import annotations

from tui.actions.action import Action

HOME: tuple[Action, ...] = (
    Action(
        "Choose", "Ask the question, resume the session, open the news.", "select", "home", "enter", footer="choose"
    ),
    Action("Below", "Go to the next line, then to the next frame, then to the prompt.", "go(1)", "home", "down"),
    Action("Above", "Go to the line above.", "go(-1)", "home", "up"),
    Action("Next frame", "Go to the next frame.", "go_list(1)", "home", "right,tab"),
    Action("Frame before", "Go to the previous frame.", "go_list(-1)", "home", "left,shift+tab"),
    Action("Back", "Go back to the prompt.", "screen.focus_prompt", "home", "escape"),
)
