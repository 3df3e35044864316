"""A session in short, before it is opened."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.widgets.plain import Plain

MESSAGES = 20
CHARS = 1200  # of one message


class Preview(VerticalScroll, can_focus=False):
    """The first questions and answers of a session, or those around searched words."""

    def compose(self) -> ComposeResult:
        yield Plain()

    def clear(self) -> None:
        self.query_one(Plain).update("")

    def show(self, messages: Sequence[wire.ChatMessage], words: str = "", message_id: int | None = None) -> None:
        """Shows messages, from the question of `message_id` on if given, with the `words` highlighted."""
        place = next((n for n, message in enumerate(messages) if message.id == message_id), 0)
        begin = place - 1 if place and messages[place].role == "memory" else place
        parts = [_message(message, words) for message in messages[begin : begin + MESSAGES]]
        if begin:
            parts.insert(0, Content.styled(f"↑ {begin:,} before", "$foreground-muted"))
        if (after := len(messages) - begin - MESSAGES) > 0:
            parts.append(Content.styled(f"↓ {after:,} more", "$foreground-muted"))
        self.query_one(Plain).update(Content("\n\n").join(parts))
        self.scroll_home(animate=False)


def _message(message: wire.ChatMessage, words: str) -> Content:
    text = display_safe(message.text).strip()
    content = Content(text if len(text) <= CHARS else f"{text[:CHARS]}…")
    content = content.stylize("bold" if message.role == "user" else "$foreground-muted")
    folded = content.plain.casefold()
    if len(folded) == len(content.plain):  # else the places of the words are not known
        for word in words.casefold().split():
            position = folded.find(word)
            while position >= 0:
                content = content.stylize("bold $accent underline", position, position + len(word))
                position = folded.find(word, position + len(word))
    return content
