"""What an empty session shows."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.widgets.plain import Plain
from tui.wording import count, short_path, when


class Welcome(Plain):
    """How to begin: with a folder while the memory is empty, else with a question or with the last session."""

    def __init__(self) -> None:
        super().__init__("Opening your memory…", id="welcome")

    def show(self, status: wire.Status, last: wire.Conversation | None, now: datetime) -> None:
        """Says how to begin, given how the memory stands."""
        self.update(Content("\n").join(_ready(status, last, now) if status.sources else _empty(status)))

    def show_down(self, reason: str) -> None:
        """Says that there is no daemon."""
        self.update(reason)


def _ready(status: wire.Status, last: wire.Conversation | None, now: datetime) -> list[Content]:
    folders = ", ".join(short_path(folder.path) for folder in status.folders)
    holds = f"{count(status.sources, 'note')} and {count(status.episodes, 'passage')}"
    lines = [
        Content.styled("Ask your memory.", "bold"),
        Content(""),
        Content.styled(f"It holds {holds}{', and watches ' + folders if folders else ''}.", "$foreground-muted"),
    ]
    if last is not None:
        title = display_safe(last.title or "Untitled", line=True)
        facts = f"{count(last.messages, 'message')}, {when(last.updated, now)}"
        lines += [
            Content(""),
            Content.assemble(("Last session: ", "$foreground-muted"), title, (f" · {facts}", "$foreground-muted")),
            Content.assemble(
                ("ctrl+l", "bold $accent"),
                (" goes on with it, ", "$foreground-muted"),
                ("ctrl+s", "bold $accent"),
                (" lists all.", "$foreground-muted"),
            ),
        ]
    return lines


def _empty(status: wire.Status) -> list[Content]:
    if status.folders or status.queue:
        return [
            Content.styled("Your memory is being read in.", "bold"),
            Content(""),
            Content("You can ask already; answers get better as it grows."),
        ]
    return [
        Content.styled("Your memory is empty.", "bold"),
        Content(""),
        Content.assemble(
            ("/watch ~/notes", "bold $accent"), ("   reads a folder and keeps up with its changes", "$foreground-muted")
        ),
        Content.assemble(("/add FILE", "bold $accent"), ("        reads a file or a folder once", "$foreground-muted")),
        Content(""),
        Content("Then ask, in your own words."),
    ]
