"""What can be done with an answer, beside looking into it."""

from __future__ import annotations

from tui.actions.action import Action

ANSWERS: tuple[Action, ...] = (
    Action(
        "Copy answer",
        "Copy the selected answer with its sources, as Markdown; /copy plain without its marks.",
        "copy_answer",
        key="ctrl+o",
        slash="copy",
        argument="[plain]",
        palette=True,
    ),
    Action(
        "Ask again",
        "Ask the question of the selected answer once more, first of what it cites; /again fresh searches anew.",
        "ask_again",
        slash="again",
        argument="[fresh]",
        palette=True,
    ),
    Action(
        "Edit question",
        "Take the question of the selected answer back to be changed; asked, it begins a session of its own.",
        "edit_question",
        slash="edit",
        palette=True,
    ),
    Action(
        "Fork",
        "Go on from the selected answer in a session of its own; this one stays.",
        "fork",
        slash="fork",
        palette=True,
    ),
    Action(
        "Model",
        "Choose which model writes answers, or none; it says what each choice means.",
        "choose_model",
        slash="model",
        argument="[NAME]",
        palette=True,
    ),
    Action(
        "Connect",
        "Connect Ollama, a server or Anthropic, with a test call.",
        "connect",
        slash="connect",
        palette=True,
    ),
    Action("Copy", "Copy the answer with its sources, as Markdown.", "screen.copy_answer", "transcript", "y"),
    Action(
        "Copy plain",
        "Copy the answer with its sources, as plain text.",
        "screen.copy_answer('plain')",
        "transcript",
        "Y",
    ),
    Action("Ask again", "Ask the question once more.", "screen.ask_again", "transcript", "r"),
    Action("Edit", "Change the question; it begins a session of its own.", "screen.edit_question", "transcript", "e"),
    Action("Fork", "Go on from here in a session of its own.", "screen.fork", "transcript", "f"),
)
