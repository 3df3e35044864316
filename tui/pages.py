"""The pages of the chat's window, in the order of their tabs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tab:
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
    """The keys that go to a page."""
    place = [tab.name for tab in TABS].index(name) + 1
    return f"f{4 + place},alt+{place}"
