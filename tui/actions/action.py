"""An action of a person, and the pages on which it is available."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Tab(NamedTuple):
    """A page as the rail shows it: the name of its Textual mode, and the word on its tab."""

    name: str
    title: str


TABS: tuple[Tab, ...] = (
    Tab("chat", "Chat"),
    Tab("memory", "Memory"),
    Tab("review", "Review"),
    Tab("folders", "Folders"),
)


def page_keys(name: str) -> str:
    """Returns the keys that open a page."""
    place = [tab.name for tab in TABS].index(name) + 1
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
