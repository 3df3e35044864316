"""What can be done with the memory from the prompt: looked up, kept, forgotten, taken back, looked after."""

from __future__ import annotations

from tui.actions.action import Action

MEMORY: tuple[Action, ...] = (
    Action(
        "Facts",
        "Say what is known of a person, a place or a thing, and from where.",
        "show_facts",
        slash="facts",
        argument="NAME",
        completes="name",
    ),
    Action(
        "History",
        "Say how what is known of a name changed.",
        "show_history",
        slash="history",
        argument="NAME",
        completes="name",
    ),
    Action(
        "Remember",
        "Keep a text as a note; without one, what was pasted.",
        "remember",
        slash="remember",
        argument="[TEXT]",
    ),
    Action(
        "Forget",
        "Remove a note for good, after asking; or /forget name NAME, /forget fact NUMBER.",
        "forget",
        slash="forget",
        argument="NOTE",
        completes="note",
    ),
    Action("Undo", "Take back what was done last.", "undo", slash="undo", palette=True),
    Action(
        "Same", "Say that two names mean one: /same Ana, Ana Lima.", "join_names", slash="same", argument="NAME, NAME"
    ),
    Action(
        "Apart", "Say that two names mean two: /apart Ana, Anna.", "part_names", slash="apart", argument="NAME, NAME"
    ),
    Action(
        "Search questions",
        "Find a question among all you ever asked.",
        "search_asked",
        key="ctrl+r",
        slash="asked",
        palette=True,
    ),
    Action("Back up", "Copy the memory into the backup folder.", "back_up", slash="backup", palette=True),
    Action("Check", "Read the memory file from end to end.", "check", slash="check", palette=True),
    Action("Doctor", "Say what is wrong, and what to do.", "examine", slash="doctor", palette=True),
    Action("Tidy", "Put the memory in order now, as every night.", "tidy", slash="tidy", palette=True),
    Action("Pause", "Let no model read in the background.", "let_models_read(False)", slash="pause", palette=True),
    Action("Go on", "Let models read in the background again.", "let_models_read(True)", slash="unpause", palette=True),
)
