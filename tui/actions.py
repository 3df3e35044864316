"""Everything a person can do in the chat, declared once.

Key bindings, footer, command palette, slash commands, completion hints and the help screen are all made from `ACTIONS`.
`handler` is a Textual action of the widget or screen that `where` stands for: `handler="add_path"` is its method
`action_add_path`. A slash command hands what stands after it to that method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Where = Literal["app", "chat", "prompt", "transcript", "evidence", "sessions"]

PLACES: dict[Where, str] = {
    "chat": "In the chat",
    "app": "Everywhere",
    "prompt": "While typing",
    "transcript": "In the conversation",
    "evidence": "In the evidence",
    "sessions": "In the list of sessions",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done.

    `key` is a Textual key, or several joined by commas. `slash` is the command without its slash, `argument` what it
    takes, in brackets if it may be left out. `footer` is its word in the footer, if it stands there.
    """

    name: str
    sentence: str
    handler: str
    where: Where = "chat"
    key: str = ""
    slash: str = ""
    argument: str = ""
    footer: str = ""
    palette: bool = False
    priority: bool = False  # before what the focused widget would do with the key

    @property
    def usage(self) -> str:
        """The slash command as it is typed: `/add PATH`."""
        return f"/{self.slash} {self.argument}".rstrip() if self.slash else ""

    @property
    def needs_argument(self) -> bool:
        return bool(self.argument) and not self.argument.startswith("[")


ACTIONS: tuple[Action, ...] = (
    Action("Help", "Show the keys and the commands.", "show_help", key="f1", slash="help", footer="help", palette=True),
    Action(
        "Evidence",
        "Show or hide the lines that the answer rests on.",
        "toggle_evidence",
        key="f2",
        slash="evidence",
        footer="evidence",
        palette=True,
    ),
    Action(
        "Sessions",
        "Choose an earlier session; rename or delete it.",
        "show_sessions",
        key="ctrl+s",
        slash="sessions",
        footer="sessions",
        palette=True,
    ),
    Action("New session", "Start afresh.", "new_session", key="ctrl+n", slash="new", footer="new", palette=True),
    Action("Me", "Show who you are; or say it: /me phone 0161 496 07.", "show_me", slash="me", argument="[KEY VALUE]"),
    Action("Add", "Read a file or a folder once.", "add_path", slash="add", argument="PATH"),
    Action("Watch", "Read a folder and keep up with its changes.", "watch_path", slash="watch", argument="PATH"),
    Action("Status", "Say what the memory holds and what it is doing.", "show_status", slash="status", palette=True),
    Action(
        "Last session",
        "Go on with the session before this one.",
        "resume_last",
        key="ctrl+l",
        slash="last",
        palette=True,
    ),
    Action(
        "Copy answer",
        "Copy the selected answer with its sources.",
        "copy_answer",
        key="ctrl+o",
        slash="copy",
        palette=True,
    ),
    Action("Theme", "Change the colours.", "choose_theme", slash="theme", argument="[NAME]", palette=True),
    Action("Trace", "Unfold or fold what the question did.", "toggle_trace", key="ctrl+t", slash="trace", palette=True),
    Action(
        "More",
        "Unfold or fold the lines behind a clear answer.",
        "toggle_more",
        key="ctrl+g",
        slash="more",
        palette=True,
    ),
    Action("Why", "Say what the selected answer rests on.", "show_why", slash="why", palette=True),
    Action("Why not", "Say why words are not in the selected answer.", "show_whynot", slash="whynot", argument="WORDS"),
    Action("Secrets", "Show what is masked in the selected answer.", "show_secrets", slash="secrets", palette=True),
    Action("Good", "Say that the selected answer is right.", "judge('good')", slash="good", palette=True),
    Action("Bad", "Say that the selected answer is wrong.", "judge('bad')", slash="bad", palette=True),
    Action("Unsay", "Take back what was said of the selected answer.", "judge('none')", slash="unsay", palette=True),
    Action(
        "Effort",
        "How far a model may go: quick, normal or deep.",
        "choose_effort",
        slash="effort",
        argument="[NAME]",
        palette=True,
    ),
    Action(
        "Strategy",
        "How the graph is walked: a name that `pal strategies` lists.",
        "choose_strategy",
        slash="strategy",
        argument="[NAME]",
        palette=True,
    ),
    Action(
        "Answer above",
        "Select the answer above, and show its evidence.",
        "select_answer(-1)",
        key="alt+up,ctrl+up",
    ),
    Action("Answer below", "Select the answer below.", "select_answer(1)", key="alt+down,ctrl+down"),
    Action("Newest", "Jump to the newest line.", "jump_to_end", key="ctrl+end"),
    Action(
        "Commands", "Find a command by its name.", "command_palette", "app", "ctrl+p", footer="commands", priority=True
    ),
    Action(
        "Quit",
        "Leave the chat; sessions are kept.",
        "quit",
        "app",
        "ctrl+q",
        slash="quit",
        palette=True,
        priority=True,
    ),
    Action("Copy or quit", "Copy what is selected; if nothing is, leave the chat.", "quit", "app", "ctrl+c"),
    Action("Send", "Ask; while an answer is running, the question waits its turn.", "send", "prompt", "enter"),
    Action("New line", "Start a new line.", "newline", "prompt", "shift+enter,ctrl+j,alt+enter"),
    Action(
        "Take back", "Stop the running answer, or take back a waiting question.", "screen.take_back", "prompt", "escape"
    ),
    Action("Complete", "Complete a command or a path; else go to the evidence.", "screen.complete", "prompt", "tab"),
    Action("Earlier question", "On the first line: bring back an earlier question.", "earlier", "prompt", "up"),
    Action("Later question", "On the last line: go on to a later question.", "later", "prompt", "down"),
    Action("Scroll up", "Scroll the conversation up.", "screen.scroll_transcript(-1)", "prompt", "pageup"),
    Action("Scroll down", "Scroll the conversation down.", "screen.scroll_transcript(1)", "prompt", "pagedown"),
    Action("Above", "Select the answer above.", "screen.select_answer(-1)", "transcript", "up,k"),
    Action("Below", "Select the answer below.", "screen.select_answer(1)", "transcript", "down,j"),
    Action("Trace", "Unfold or fold what the question did.", "screen.toggle_trace", "transcript", "space,t"),
    Action("More", "Unfold or fold the lines behind a clear answer.", "screen.toggle_more", "transcript", "m"),
    Action(
        "Look at evidence", "Go to the evidence of the selected answer.", "screen.focus_evidence", "transcript", "enter"
    ),
    Action("Back", "Go back to the prompt.", "screen.focus_prompt", "transcript", "escape"),
    Action("Open", "Open the source in your editor, at the line.", "open_source", "evidence", "enter", footer="open"),
    Action("Copy", "Copy the citation.", "copy_citation", "evidence", "y", footer="copy"),
    Action("Next", "Go to the next citation.", "cursor_down", "evidence", "down,j"),
    Action("Previous", "Go to the previous citation.", "cursor_up", "evidence", "up,k"),
    Action("Passage down", "Scroll the passage down.", "scroll_passage(1)", "evidence", "space,pagedown"),
    Action("Passage up", "Scroll the passage up.", "scroll_passage(-1)", "evidence", "pageup"),
    Action("Back", "Go back to the prompt.", "screen.focus_prompt", "evidence", "escape"),
    Action("Resume", "Go on with the session.", "resume", "sessions", "enter"),
    Action("New", "Start a new session.", "new", "sessions", "n"),
    Action("Rename", "Give the session another name.", "rename", "sessions", "r"),
    Action("Delete", "Delete the session, after asking.", "delete", "sessions", "d,delete"),
    Action("Close", "Close the list.", "close", "sessions", "escape"),
)


def actions_of(where: Where) -> tuple[Action, ...]:
    """The actions of one place, in the order they are shown."""
    return tuple(action for action in ACTIONS if action.where == where)


def bindings_of(where: Where) -> list[BindingType]:
    """The key bindings of one place; those with a footer word are shown in the footer."""
    return [
        Binding(
            action.key, action.handler, action.footer or action.name, show=bool(action.footer), priority=action.priority
        )
        for action in actions_of(where)
        if action.key
    ]


def commands() -> tuple[Action, ...]:
    """The actions that have a slash command."""
    return tuple(action for action in ACTIONS if action.slash)


def find_commands(typed: str) -> tuple[Action, ...]:
    """The slash commands that begin with what is typed, `/` included."""
    return tuple(action for action in commands() if f"/{action.slash}".startswith(typed))


def parse_command(text: str) -> tuple[str, str] | None:
    """A sent text as the name of a command and what stands after it; None if it is no command.

    A question may begin with a path, so only one line of the form `/word` or `/word argument` is a command.
    """
    head, _, argument = text.partition(" ")
    return (head[1:], argument.strip()) if head.startswith("/") and head[1:].isalpha() and "\n" not in text else None


def find_command(name: str) -> Action | None:
    """The action of a slash command, which may be shortened as far as it stays clear."""
    found = find_commands(f"/{name}")
    exact = [action for action in found if action.slash == name]
    return exact[0] if exact else found[0] if len(found) == 1 else None
