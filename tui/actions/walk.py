"""What can be done in the drawing of what a question did."""

from __future__ import annotations

from tui.actions.action import Action

WALK: tuple[Action, ...] = (
    Action("Forward", "Go one step on in what the question did.", "go_on(1)", "walk", "right,l", footer="step"),
    Action("Back", "Go one step back.", "go_on(-1)", "walk", "left,h"),
    Action("Beginning", "Go to where the question began.", "go_to_end(-1)", "walk", "home"),
    Action("End", "Go to where it ended.", "go_to_end(1)", "walk", "end"),
    Action(
        "Play", "Play all steps, or stop; nothing plays where nothing moves.", "play", "walk", "space", footer="play"
    ),
    Action(
        "Fold", "Fold the drawing, and go back to the prompt.", "screen.fold_trace", "walk", "escape", footer="fold"
    ),
)
