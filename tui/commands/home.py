"""Home, which an empty session shows: fills it and handles its choices."""

from __future__ import annotations

from contextlib import suppress

from textual import on, work

from daemon import wire
from daemon.client import DaemonDownError, DaemonError
from daemon.paths import find_examples
from daemon.terminal import display_safe
from tui.browse import Target
from tui.commands.models import ModelCommands
from tui.commands.reading import ReadingCommands
from tui.commands.sessions import SessionCommands
from tui.edit_history import Statement
from tui.editor import CannotOpenError, open_in_editor
from tui.inquiry import Inquiry
from tui.shared import Shared
from tui.widgets.home import Home, HomeList, Known
from tui.widgets.prompt import Prompt
from tui.wording import short_path


class HomeCommands(SessionCommands, ReadingCommands, ModelCommands):
    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._known = Known()
        self._offered = False  # how to begin, with the keys in it
        self._shown: tuple[int, ...] = ()  # the counts of the memory when Home was filled

    def show_home(self) -> None:
        """Shows the known content, and asks for the rest."""
        status = self.shared.status
        if status is None or not self.query(Home):
            return
        self._known.status = status
        self._draw_home()
        stands = status.sources, status.episodes, status.review
        if stands != self._shown:
            self._shown = stands
            self._fill_home()

    def refill_home(self) -> None:
        """Reloads everything: the daemon is back, or a session has ended."""
        self._shown = ()
        self.show_home()

    @on(Home.Opened)
    def _home_opened(self) -> None:
        self.refill_home()

    @work(exclusive=True, group="home")
    async def _fill_home(self) -> None:
        since = self.shared.preferences.seen_at
        with self.tell_failures():
            self._known.sessions = await self.link.sessions()
            self.offer_last(self._known.sessions)
            self._draw_home()
        if not (self._known.status and self._known.status.sources):
            return
        with suppress(DaemonError, DaemonDownError):  # Home without them is whole, too
            self._known.home = await self.link.call(lambda client: client.home(since))
            self._draw_home()
            self._known.suggested = await self.link.call(lambda client: client.suggestions())
            self._draw_home()

    def _draw_home(self) -> None:
        for home in self.query(Home):
            home.show(self._known, self.folders, self.shared.now())
            if home.begins and not self._offered and self.prompt.has_focus and not self.prompt.text:
                self._offered = True
                home.focus_list(last=False)  # typed text goes to the prompt anyway

    def enter_home(self, last: bool = True) -> bool:
        """Moves the focus from the prompt into Home's lists; whether there are any."""
        return any(home.focus_list(last) for home in self.query(Home))

    @on(Prompt.MovedUp)
    def _above_prompt(self) -> None:
        self.enter_home()

    @on(HomeList.Exited)
    def _left_home(self) -> None:
        self.prompt.focus()

    @on(HomeList.Typed)
    def _typed_in_home(self, message: HomeList.Typed) -> None:
        self.prompt.focus()
        self.prompt.insert(message.text)

    @on(HomeList.Selected)
    async def _chosen(self, message: HomeList.Selected) -> None:
        match message.row.deed, message.row.value:
            case "ask", str(question):
                self.prompt.focus()
                await self.conversation.ask(Inquiry(question))
            case "resume", int(id):
                self.resume_session(id)
            case "review", revision:
                self.shared.review_at = revision if isinstance(revision, wire.Revision) else None
                await self.run_action("app.open_page('review')")
            case "look", Target() as target:
                self.shared.look_at = target
                await self.run_action("app.open_page('memory')")
            case "open", wire.PlannedEntry() as planned:
                self._open_planned(planned)
            case "read", tuple() as read:
                await self.conversation.say(_read_report(read))
                self.prompt.focus()
            case "folder" | "import" as what, _:
                self._choose_path(files=what == "import")
            case "owner", _:
                self._introduce()
            case "examples", _:
                self._read_examples()
            case "model", _:
                self.action_connect()

    @work
    async def _choose_path(self, files: bool) -> None:
        from tui.screens.path import PathScreen  # a tree of files, which few need

        path = await self.app.push_screen_wait(PathScreen(self.link, files=files))
        self.prompt.focus()
        if path is not None:
            await self.take_in(path, at_home=True)

    @work
    async def _introduce(self) -> None:
        from tui.screens.introduction import IntroductionScreen

        statements = await self.app.push_screen_wait(IntroductionScreen())
        self.prompt.focus()
        with self.tell_failures():
            for key, value in (statements or {}).items():
                await self.link.call(Statement(key, value).say)
                self._known.statements += 1
        if statements:
            self.notify(f"Saved: {', '.join(statements)}. To see it: /me", markup=False)
            self.link.refresh_status()

    @work
    async def _read_examples(self) -> None:
        folder = find_examples()
        if folder is None:
            await self.conversation.say("The examples are not installed with this copy of Palimpsest.", "warning")
            return
        await self.read_once(folder, at_home=True)
        self.prompt.focus()

    def _open_planned(self, planned: wire.PlannedEntry) -> None:
        try:
            open_in_editor(self.app, planned.uri, planned.line)
        except CannotOpenError as error:
            self.notify(display_safe(str(error)), severity="warning", markup=False)


def _read_report(read: tuple[wire.ListedSource, ...]) -> str:
    lines = [f"  {source.title} · {short_path(source.uri)}" for source in read]
    return "\n".join(["Read last:", *lines])
