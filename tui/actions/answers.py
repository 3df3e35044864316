"""Actions on an answer."""

from __future__ import annotations

from tui.actions.action import Action

ANSWERS: tuple[Action, ...] = (
    Action(
        "Copy answer",
        "Copy the selected answer with its sources, as Markdown; /copy plain as plain text.",
        "copy_answer",
        key="ctrl+o",
        slash="copy",
        argument="[plain]",
        palette=True,
    ),
    Action(
        "Ask again",
        "Ask the question of the selected answer again, starting from its sources; /again fresh starts from scratch.",
        "ask_again",
        slash="again",
        argument="[fresh]",
        palette=True,
    ),
    Action(
        "Edit question",
        "Edit the question of the selected answer; sending it starts a new session.",
        "edit_question",
        slash="edit",
        palette=True,
    ),
    Action("Fork", "Fork a new session from the selected answer; this one stays.", "fork", slash="fork", palette=True),
    Action(
        "Model",
        "Choose which model writes answers, or none.",
        "choose_model",
        slash="model",
        argument="[NAME]",
        palette=True,
    ),
    Action(
        "Connect", "Connect Ollama, a server or Anthropic, with a test call.", "connect", slash="connect", palette=True
    ),
    Action("Copy", "Copy the answer with its sources, as Markdown.", "screen.copy_answer", "transcript", "y"),
    Action(
        "Copy plain",
        "Copy the answer with its sources, as plain text.",
        "screen.copy_answer('plain')",
        "transcript",
        "Y",
    ),
    Action("Ask again", "Ask the question again.", "screen.ask_again", "transcript", "r"),
    Action("Edit", "Edit the question; sending it starts a new session.", "screen.edit_question", "transcript", "e"),
    Action("Fork", "Fork a new session from here.", "screen.fork", "transcript", "f"),
)
