"""The line that says which fact has just changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.changes import news
from tui.keymap import Keymap
from tui.keys import short_key
from tui.widgets.plain import Plain


class News(Plain):
    """The newest unread change; a click shows it."""

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(id="news")
        self._key = short_key(keymap.keys_of("open_page('review')"))
        self.display = False

    def show(self, changed: Collection[wire.Revision], folders: Iterable[str]) -> None:
        """Shows the last change, its former value, and the number of others; hidden without any."""
        self.display = bool(changed)
        if changed:
            newest = max(changed, key=lambda revision: revision.id)
            more = f", and {len(changed) - 1:,} more" if len(changed) > 1 else ""
            self.update(
                Content.assemble(
                    ("± ", "bold $accent"),
                    display_safe(f"{news(newest, folders)}{more}", line=True),
                    "  ",
                    (self._key, "bold $accent"),
                    (" shows it", "$foreground-muted"),
                )
            )

    async def on_click(self) -> None:
        await self.run_action("app.open_page('review')")
