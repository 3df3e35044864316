"""Fills Home, which an empty session shows, and handles its choices."""

from __future__ import annotations

from contextlib import suppress

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.paths import find_examples
from daemon.setup import list_offers
from tui.chat.models import ModelTopic
from tui.chat.reading import ReadingTopic
from tui.chat.sessions import SessionTopic
from tui.chat.topic import ChatPage, Topic, background
from tui.memory.rows import Target
from tui.session import Inquiry
from tui.shared import Statement
from tui.widgets.home import Home, Known, Row
from tui.wording import short_path


class HomeTopic(Topic):
    """The content of Home, and the actions of its rows."""

    _offered = False  # how to begin, with the keys in it
    _shown: tuple[int, ...] = ()  # the counts of the memory when Home was filled

    def __init__(self, page: ChatPage, sessions: SessionTopic, reading: ReadingTopic, models: ModelTopic) -> None:
        super().__init__(page)
        self._sessions, self._reading, self._models = sessions, reading, models
        self._known = Known()

    def show(self) -> None:
        """Shows the known content, and requests the rest."""
        status = self.shared.status
        if status is None or not self.page.query(Home):
            return
        self._known.status = status
        self._draw_home()
        stands = status.stats.sources, status.stats.episodes, status.review
        if stands != self._shown:
            self._shown = stands
            self._fill_home()

    def refill(self) -> None:
        """Reloads everything, because the daemon is back or a session has ended."""
        self._shown = ()
        self.show()

    @background("home")
    async def _fill_home(self) -> None:
        since = self.shared.preferences.seen_at
        with self.page.tell_failures():
            self._known.sessions = await self.link.sessions()
            self._sessions.offer_last(self._known.sessions)
            self._draw_home()
        if not (self._known.status and self._known.status.stats.sources):
            self._known.offers = await self.link.call(lambda client: list_offers(client.paths))
            self._draw_home()
            return
        with suppress(DaemonError, DaemonDownError):  # Home without them is whole, too
            self._known.home = await self.link.call(lambda client: client.home(since))
            self._draw_home()
            self._known.suggested = await self.link.call(lambda client: client.suggestions())
            self._draw_home()

    def _draw_home(self) -> None:
        for home in self.page.query(Home):
            home.show(self._known, self.page.folders, self.shared.now())
            if home.begins and not self._offered and self.page.prompt.has_focus and not self.page.prompt.text:
                self._offered = True
                home.focus_list(last=False)  # typed text goes to the prompt anyway

    def enter(self, last: bool = True) -> bool:
        """Moves the focus from the prompt into Home's lists; returns whether there are any."""
        return any(home.focus_list(last) for home in self.page.query(Home))

    async def choose(self, row: Row) -> None:
        """Runs the action of a chosen row."""
        match row.deed, row.value:
            case "ask", str(question):
                self.page.prompt.focus()
                await self.page.conversation.ask(Inquiry(question))
            case "resume", int(id):
                self._sessions.resume_session(id)
            case "review", revision:
                self.shared.review_at = revision if isinstance(revision, wire.Revision) else None
                await self.page.run_action("app.open_page('review')")
            case "look", Target() as target:
                self.shared.look_at = target
                await self.page.run_action("app.open_page('memory')")
            case "open", wire.PlannedEntry() as planned:
                self.page.open_source(planned.uri, planned.line)
            case "read", tuple() as read:
                await self.page.tell(_read_report(read))
                self.page.prompt.focus()
            case "folder", _:
                self.page.prompt.fill("/add ~/")
                self.page.prompt.focus()
            case "owner", _:
                self._introduce()
            case "examples", _:
                self._read_examples()
            case "extra", str(extra):
                self._install(extra)
            case "model", _:
                self._models.action_connect()

    @background()
    async def _introduce(self) -> None:
        from tui.dialogs.dialog import IntroductionScreen

        statements = await self.page.app.push_screen_wait(IntroductionScreen())
        if statements:
            self.page.prompt.focus()
        with self.page.tell_failures():
            for key, value in (statements or {}).items():
                await self.link.call(Statement(key, value).say)
                self._known.statements += 1
        if statements:
            self.page.show_message(f"Saved: {', '.join(statements)}. To see it: /me")
            self.link.refresh_status()

    @background()
    async def _install(self, extra: str) -> None:
        with self.page.tell_failures():
            await self._reading.offer(extra)
        self.page.prompt.focus()
        self.refill()

    @background()
    async def _read_examples(self) -> None:
        folder = find_examples()
        if folder is None:
            await self.page.tell("The examples are not installed with this copy of Palimpsest.", "warning")
            return
        await self._reading.read_once(folder)
        self.page.prompt.focus()


def _read_report(read: tuple[wire.ListedSource, ...]) -> str:
    lines = [f"  {source.title} · {short_path(source.uri)}" for source in read]
    return "\n".join(["Read last:", *lines])
