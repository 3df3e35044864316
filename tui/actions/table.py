"""The actions of the chat and its pages, with their keys."""

from __future__ import annotations

from typing import Literal, NamedTuple

# The pages in the rail: the name of the Textual mode, and the word on the tab.
TABS = {"chat": "Chat", "memory": "Memory", "review": "Review", "folders": "Folders"}


def page_keys(name: str) -> str:
    """Returns the keys that open a page."""
    place = list(TABS).index(name) + 1
    return f"f{4 + place},alt+{place}"


Where = Literal[
    "app",
    "chat",
    "prompt",
    "home",
    "list",
    "evidence",
    "queue",
    "sessions",
    "review",
    "changes",
    "memory",
    "finding",
    "items",
    "detail",
    "folders",
    "rows",
    "watched",
    "reading",
    "health",
]
Completes = Literal["", "path", "name", "note", "effort", "theme", "model", "service"]


class Action(NamedTuple):
    """One action.

    `key` is a Textual key, or several joined by commas; never a letter, which goes to the prompt. `slash` is the
    command without its slash, `argument` its
    argument, in brackets if optional, `completes` the kind of completion. `footer` is its word in the footer, if any;
    with `palette` it is among the actions of the page; with `of_row` only while a row is selected, in the chat an
    answer.
    """

    name: str
    sentence: str
    handler: str
    where: Where = "chat"
    key: str = ""
    slash: str = ""
    argument: str = ""
    completes: Completes = ""
    footer: str = ""
    palette: bool = False
    of_row: bool = False
    priority: bool = False  # before what the focused widget would do with the key

    @property
    def id(self) -> str:
        """Returns its name in the custom keys: `evidence.why-not`."""
        return f"{self.where}.{self.name.lower().replace(' ', '-')}"

    @property
    def usage(self) -> str:
        """Returns the slash command with its argument: `/add PATH`."""
        return f"/{self.slash} {self.argument}".rstrip() if self.slash else ""

    def call(self, node: str, argument: str = "") -> str:
        """Returns what Textual runs: its handler, of a `node` unless it names another one."""
        handler = f"{self.handler}({argument!r})" if argument and self.argument else self.handler
        return handler if "." in self.handler.partition("(")[0] else f"{node}.{handler}"

    @property
    def needs_argument(self) -> bool:
        return bool(self.argument) and not self.argument.startswith("[")


TABLE: tuple[Action, ...] = (
    Action("Next", "Go to the next row.", "cursor_down", "list", "down"),
    Action("Previous", "Go to the row above.", "cursor_up", "list", "up"),
    Action("First", "Go to the first row.", "first", "list", "home"),
    Action("Last", "Go to the last row.", "last", "list", "end"),
    Action("Page down", "Go down a page.", "page_down", "list", "pagedown"),
    Action("Page up", "Go up a page.", "page_up", "list", "pageup"),
    Action("Evidence", "Show or hide the evidence of the answer.", "toggle_evidence", key="f2", slash="evidence",
           footer="evidence", palette=True, of_row=True),
    Action("Why this", "Show or hide how the answer was found: the search, and what speaks for each line.",
           "toggle_why", key="ctrl+t", slash="why", palette=True, of_row=True),
    Action("What else", "Show or hide the other lines that were found.", "toggle_more", key="ctrl+g", slash="more",
           palette=True, of_row=True),
    Action("Copy answer", "Copy the selected answer with its sources, as Markdown.",
           "copy_answer", key="ctrl+o", slash="copy", palette=True, of_row=True),
    Action("Not right", "Mark the selected answer as wrong; explain why it lacks what you expected.", "dispute",
           key="ctrl+b", palette=True, of_row=True),
    Action("Good", "Mark the selected answer as right.", "judge('good')", slash="good", palette=True, of_row=True),
    Action("Bad", "Mark the selected answer as wrong.", "judge('bad')", slash="bad", palette=True, of_row=True),
    Action("Unsay", "Remove your verdict on the selected answer.", "judge('none')", slash="unsay", palette=True,
           of_row=True),
    Action("Sessions", "Choose an earlier session; search in all of them, or delete one.", "show_sessions",
           key="ctrl+s,ctrl+r", slash="sessions", argument="[WORDS]", footer="sessions", palette=True),
    Action("New session", "Begin a new session.", "new_session", key="ctrl+n", slash="new", footer="new",
           palette=True, of_row=True),
    Action("Rename", "Rename this session.", "rename_session", slash="rename", argument="[NAME]", palette=True,
           of_row=True),
    Action("Me", "Show or set who you are: /me phone 0161 496 07.", "show_me", slash="me", argument="[KEY VALUE]"),
    Action("Add", "Read a file or a folder once: /add ~/notes.", "add_path", slash="add", argument="PATH",
           completes="path"),
    Action("Watch", "Read a folder and watch it for changes: /watch ~/notes.", "watch_path", slash="watch",
           argument="PATH", completes="path"),
    Action("Status", "Show the folders, what is being read, and the health of the memory.",
           "app.open_page('folders')", slash="status"),
    Action("Last session", "Resume the previous session.", "resume_last", key="ctrl+l", slash="last", palette=True),
    Action("Secrets", "Show the secrets masked in the selected answer.", "show_secrets", slash="secrets",
           palette=True, of_row=True),
    Action("Effort", "How far a model may go: quick, normal or deep.", "choose_effort", slash="effort",
           argument="[NAME]", completes="effort", palette=True),
    Action("Answer above", "Select the answer above, and show its evidence.", "select_answer(-1)",
           key="alt+up,ctrl+up"),
    Action("Answer below", "Select the answer below.", "select_answer(1)", key="alt+down,ctrl+down"),
    Action("Newest", "Jump to the newest line.", "jump_to_end", key="ctrl+end"),
    Action("Queue", "Go to the waiting questions: edit or remove one.", "focus_waiting", key="alt+q", slash="queue"),
    Action("As of", "Answer as of a year, a month or a day: /asof 2026-03; without one, as of now.", "choose_day",
           slash="asof", argument="[DAY]"),
    Action("Send", "Send the question; it waits while another one is answered.", "send", "prompt", "enter"),
    Action("New line", "Start a new line.", "newline", "prompt", "shift+enter,ctrl+j,alt+enter"),
    Action("Take back", "Close the suggestions; stop the answer, or take back a waiting question.",
           "screen.take_back", "prompt", "escape", footer="stop"),
    Action("Complete", "Accept the suggestion; else go to the evidence.", "screen.complete", "prompt", "tab"),
    Action("Earlier question", "Select a suggestion; on the first line, an earlier question.", "earlier", "prompt",
           "up"),
    Action("Later question", "Select a suggestion; on the last line, a later question.", "later", "prompt", "down"),
    Action("Remove", "At the start: remove the last limit or attachment.", "delete_left", "prompt", "backspace"),
    Action("Scroll up", "Scroll the conversation up.", "screen.scroll_transcript(-1)", "prompt", "pageup"),
    Action("Scroll down", "Scroll the conversation down.", "screen.scroll_transcript(1)", "prompt", "pagedown"),
    Action("Edit", "Move the question back to the prompt.", "edit", "queue", "enter", footer="edit"),
    Action("Drop", "Remove the question.", "drop", "queue", "delete,backspace", footer="drop"),
    Action("Back", "Go back to the prompt.", "screen.focus_prompt", "queue", "escape", footer="back"),
    Action("Open", "Open the source in your editor, at the line.", "open_source", "evidence", "enter", footer="open"),
    Action("Next", "Show the next source.", "show(1)", "evidence", "right", footer="next source"),
    Action("Previous", "Show the source before.", "show(-1)", "evidence", "left"),
    Action("Copy", "Copy the citation.", "copy_citation", "evidence", "ctrl+o", footer="copy"),
    Action("Down", "Scroll the passage down.", "scroll_line(1)", "evidence", "down"),
    Action("Up", "Scroll the passage up.", "scroll_line(-1)", "evidence", "up"),
    Action("Page down", "Scroll the passage down a page.", "scroll_passage(1)", "evidence", "pagedown"),
    Action("Page up", "Scroll the passage up a page.", "scroll_passage(-1)", "evidence", "pageup"),
    Action("Back", "Go back to the prompt.", "screen.focus_prompt", "evidence", "escape", footer="back"),
    Action("Model", "Choose which model writes answers, or none; without a name, show all.", "choose_model",
           slash="model", argument="[NAME]", completes="model", palette=True),
    Action("Connect", "Connect Ollama, a server or Anthropic, with a test call: /connect ollama.", "connect",
           slash="connect", argument="[SERVICE]", completes="service", palette=True),
    Action("Theme", "Change the colours.", "choose_theme", slash="theme", argument="[NAME]", completes="theme",
           palette=True),
    Action("Choose", "Ask the question, resume the session, open the news.", "select", "home", "enter",
           footer="choose"),
    Action("Next frame", "Go to the next frame.", "go_list(1)", "home", "right,tab"),
    Action("Frame before", "Go to the previous frame.", "go_list(-1)", "home", "left,shift+tab"),
    Action("Back", "Go back to the prompt.", "screen.focus_prompt", "home", "escape", footer="back"),
    Action("Facts", "Show what is known about a person, a place or a thing: /facts Ada Berg.", "show_facts",
           slash="facts", argument="NAME", completes="name"),
    Action("Remember", "Save a text as a note, or what was pasted: /remember the spare key is under the pot.",
           "remember", slash="remember", argument="[TEXT]"),
    Action("Forget", "Delete a note for good, after confirmation: /forget recipes/soup.md.",
           "forget", slash="forget", argument="NOTE", completes="note"),
    Action("Back up", "Copy the memory into the backup folder.", "back_up", slash="backup", palette=True),
    Action("Doctor", "Check the memory; show problems and their fixes.", "examine", slash="doctor", palette=True),
    Action("Tidy", "Tidy the memory now, as every night.", "tidy", slash="tidy", palette=True),
    Action("Pause", "Stop models reading in the background.", "let_models_read(False)", slash="pause", palette=True),
    Action("Go on", "Resume models reading in the background.", "let_models_read(True)", slash="unpause",
           palette=True),
    Action("Resume", "Go on with the session.", "resume", "sessions", "enter"),
    Action("New", "Start a new session.", "new", "sessions", "ctrl+n"),
    Action("Delete", "Delete the session, after confirmation.", "delete", "sessions", "delete"),
    Action("Close", "Leave the search, or close the list.", "close", "sessions", "escape"),
    Action("Decide", "Choose which is right.", "app.show_actions", "changes", "enter", footer="decide", of_row=True),
    Action("Keep new", "The new one is right, the old one is history.", "decide('keep')", "review", palette=True,
           of_row=True),
    Action("Keep old", "The old one is right, the new one was never true.", "decide('old')", "review", palette=True,
           of_row=True),
    Action("Both are true", "Both are right, side by side.", "decide('both')", "review", palette=True, of_row=True),
    Action("Correct", "Neither is right: enter the value from now on.", "edit", "review", palette=True, of_row=True),
    Action("Open", "Open the chosen line in your editor.", "open_source", "review", palette=True, of_row=True),
    Action("Filter", "Show open changes, decided ones, or all.", "show_next_filter", "review", "tab",
           footer="filter", palette=True),
    Action("Back", "Go back to the chat.", "go_back", "review", "escape", footer="back"),
    Action("Old or new", "Choose the line to open or to correct.", "screen.choose_other_side", "changes", "left,right",
           footer="old or new", of_row=True),
    Action("Scroll down", "Scroll the chosen side down.", "screen.scroll_side(1)", "changes", "pagedown"),
    Action("Scroll up", "Scroll the chosen side up.", "screen.scroll_side(-1)", "changes", "pageup"),
    Action("Correct", "Correct the fact; the old value stays in the history.", "edit", "memory", palette=True),
    Action("Same", "Merge another name into this one.", "merge", "memory", palette=True),
    Action("Not the same", "Separate one of its names.", "split", "memory", palette=True),
    Action("Open", "Open the file in your editor, at the line.", "open_source", "memory", palette=True),
    Action("Forget", "Delete it from the memory for good, after confirmation.", "forget", "memory", "delete",
           footer="forget", palette=True),
    Action("Search", "Type words to search for.", "search", "memory", "ctrl+f,slash", palette=True),
    Action("Filter", "Show all, things, facts, notes, or your profile.", "show_next_filter", "memory", "tab",
           footer="filter", palette=True),
    Action("Back", "Go back to where you were.", "go_back", "memory", "escape,backspace", footer="back"),
    Action("List", "Go to the list.", "screen.focus_items", "finding", "down,enter", footer="list"),
    Action("Back", "Clear the search; if empty, go back to the chat.", "screen.clear", "finding", "escape",
           footer="back"),
    Action("Look", "Go to its page.", "choose", "items", "enter,right", footer="look", of_row=True),
    Action("Go there", "Go to the page of the thing, the note or the fact on the line.", "select", "detail",
           "enter,right", footer="go there", of_row=True),
    Action("Back", "Go back to where you were.", "screen.go_back", "detail", "left"),
    Action("Choose", "Choose what to do.", "app.show_actions", "rows", "enter", footer="choose"),
    Action("Next tab", "Go to the next tab.", "choose_tab(1)", "folders", "tab,right", footer="next tab"),
    Action("Tab before", "Go to the previous tab.", "choose_tab(-1)", "folders", "shift+tab,left"),
    Action("Back", "Go back to the chat.", "go_back", "folders", "escape", footer="back"),
    Action("Policy", "Choose where its text may go.", "change_policy", "watched", palette=True, of_row=True),
    Action("Tags", "Set the tags of its notes.", "change_tags", "watched", palette=True, of_row=True),
    Action("Stop", "Stop watching it; its notes stay.", "remove", "watched", "delete", palette=True, of_row=True),
    Action("Forget", "Stop watching it, and forget its notes.", "remove(True)", "watched", palette=True, of_row=True),
    Action("Keep deleted", "Keep the content of deleted files.", "decide_gone(True)", "watched", palette=True),
    Action("Drop deleted", "Remove the content of deleted files.", "decide_gone(False)", "watched", palette=True),
    Action("Watch another", "Watch another folder.", "add", "watched", palette=True),
    Action("Retry", "Read the file again.", "retry", "reading", palette=True, of_row=True),
    Action("Retry all", "Retry everything that failed.", "retry(True)", "reading", palette=True, of_row=True),
    Action("Fix", "Fix this problem.", "fix", "health", palette=True, of_row=True),
    Action("Fix all", "Fix everything possible.", "fix_all", "health", palette=True, of_row=True),
    Action("Copy", "Copy the problem with its command.", "copy", "health", palette=True, of_row=True),
    Action("Look again", "Check again.", "load", "health", palette=True),
)  # fmt: skip
