"""Actions on the memory from the prompt: look up, remember, forget, undo, maintain."""

from __future__ import annotations

from tui.actions.action import Action

MEMORY: tuple[Action, ...] = (
    Action(
        "Facts",
        "Show the facts about a person, a place or a thing, with sources.",
        "show_facts",
        slash="facts",
        argument="NAME",
        completes="name",
    ),
    Action(
        "History",
        "Show how the facts about a name changed.",
        "show_history",
        slash="history",
        argument="NAME",
        completes="name",
    ),
    Action(
        "Remember",
        "Save a text as a note; without one, the pasted text.",
        "remember",
        slash="remember",
        argument="[TEXT]",
    ),
    Action(
        "Forget",
        "Delete a note for good, after confirmation; or /forget name NAME, /forget fact NUMBER.",
        "forget",
        slash="forget",
        argument="NOTE",
        completes="note",
    ),
    Action("Undo", "Undo the last action.", "undo", slash="undo", palette=True),
    Action("Same", "Merge two names: /same Ana, Ana Lima.", "join_names", slash="same", argument="NAME, NAME"),
    Action("Apart", "Separate two names: /apart Ana, Anna.", "part_names", slash="apart", argument="NAME, NAME"),
    Action("Search questions", "Find an earlier question.", "search_asked", key="ctrl+r", slash="asked", palette=True),
    Action("Back up", "Copy the memory into the backup folder.", "back_up", slash="backup", palette=True),
    Action("Check", "Check the whole memory file.", "check", slash="check", palette=True),
    Action("Doctor", "Show problems and their fixes.", "examine", slash="doctor", palette=True),
    Action("Tidy", "Tidy the memory now, as every night.", "tidy", slash="tidy", palette=True),
    Action("Pause", "Stop models reading in the background.", "let_models_read(False)", slash="pause", palette=True),
    Action("Go on", "Resume models reading in the background.", "let_models_read(True)", slash="unpause", palette=True),
)
