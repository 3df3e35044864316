"""All actions of the chat, declared once.

Key bindings, footer, command palette, slash commands, completion hints and the help screen are all generated from
`ACTIONS`. `handler` is a Textual action of the widget or screen named by `where`: `handler="add_path"` is its method
`action_add_path`. A slash command passes its argument to that method.
"""

from __future__ import annotations

from textual.binding import Binding, BindingType

from tui.actions.table import TABLE, TABS, page_keys
from tui.actions.table import Action as Action
from tui.actions.table import Completes as Completes
from tui.actions.table import Where as Where
from tui.fuzzy import rank

PLACES: dict[Where, str] = {
    "chat": "In the chat",
    "app": "Everywhere",
    "prompt": "While typing",
    "list": "In every list",
    "home": "In the lists of Home",
    "evidence": "In the evidence",
    "queue": "In the waiting questions",
    "sessions": "In the list of sessions",
    "review": "In the review",
    "changes": "In the list of changes",
    "memory": "On the page of the memory",
    "finding": "While searching",
    "items": "In the list",
    "detail": "On the page of one thing",
    "folders": "On the page of folders",
    "rows": "In its tabs",
    "watched": "In the folders",
    "reading": "In reading",
    "health": "In the health",
}

EVERYWHERE: tuple[Action, ...] = (
    Action("Help", "Show the keys and the commands.", "show_help", "app", "f1", "help", footer="help", palette=True),
    Action("Actions", "Show what can be done here, and all commands.", "command_palette", "app", "ctrl+p",
           footer="actions", priority=True),
    Action("Undo", "Take back the last action.", "screen.undo", "app", "ctrl+z", "undo", footer="undo", palette=True),
    Action("Copy or quit", "Copy the selection; without one, clear the prompt, stop the answer, or leave the chat.",
           "leave", "app", "ctrl+c"),
    *(
        Action(title, f"Go to {title}.", f"open_page('{name}')", "app", page_keys(name), name, palette=True,
               priority=True)
        for name, title in TABS.items()
    ),
)  # fmt: skip

QUIT = Action(
    "Quit", "Leave the chat; sessions are saved.", "quit", "app", "ctrl+q", "quit", palette=True, priority=True
)

ACTIONS: tuple[Action, ...] = (*EVERYWHERE, *TABLE, QUIT)


def actions_of(where: Where) -> tuple[Action, ...]:
    """Returns the actions of one place, in display order."""
    return tuple(action for action in ACTIONS if action.where == where)


def bindings_of(where: Where) -> list[BindingType]:
    """Returns the key bindings of one place; those with a footer word are shown in the footer."""
    return [
        Binding(
            action.key,
            action.handler,
            action.footer or action.name,
            show=bool(action.footer),
            priority=action.priority,
            id=action.id,
        )
        for action in actions_of(where)
        if action.key
    ]


def commands() -> tuple[Action, ...]:
    """Returns the actions that have a slash command."""
    return tuple(action for action in ACTIONS if action.slash)


def find_commands(typed: str) -> list[Action]:
    """Returns the slash commands that match the text after the slash, also with a typo; best first."""
    return rank(typed, commands(), lambda action: (action.slash,), slips=True)


def parse_command(text: str) -> tuple[str, str] | None:
    """A sent text as the name of a command and its argument; None if it is no command.

    A question may begin with a path, so only a single line of the form `/word` or `/word argument` is a command.
    """
    head, _, argument = text.partition(" ")
    return (head[1:], argument.strip()) if head.startswith("/") and head[1:].isalpha() and "\n" not in text else None


def find_command(name: str) -> Action | None:
    """Returns the action of a slash command, which may be shortened or mistyped: the one that fits best."""
    return next(iter(find_commands(name)), None)
