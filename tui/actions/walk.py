"""Actions in the drawing of a question's walk."""

from __future__ import annotations

from tui.actions.action import Action

WALK: tuple[Action, ...] = (
    Action("Forward", "Go one step forward.", "go_on(1)", "walk", "right,l", footer="step"),
    Action("Back", "Go one step back.", "go_on(-1)", "walk", "left,h"),
    Action("Beginning", "Go to the first step.", "go_to_end(-1)", "walk", "home"),
    Action("End", "Go to the last step.", "go_to_end(1)", "walk", "end"),
    Action("Play", "Play all steps, or stop; needs animation.", "play", "walk", "space", footer="play"),
    Action(
        "Fold", "Fold the drawing, and go back to the prompt.", "screen.fold_trace", "walk", "escape", footer="fold"
    ),
)
