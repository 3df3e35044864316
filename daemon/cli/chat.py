"""pal chat, web: the chat, drawn or line by line, and the page in the browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.answers import Secrets, print_answer, print_message, print_stored
from daemon.cli.options import json_command
from daemon.cli.output import HOW_TO_READ, ONLY_CLOSE, NothingFound, Refused
from daemon.cli.session import Session, pass_session
from daemon.cli.show import describe_source, format_time
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.paths import write_opener
from daemon.terminal import ABOUT_STATEMENTS, count, describe_evidence, describe_statement, title_of

EFFORTS = ("quick", "normal", "deep")
SESSIONS_SHOWN = 20
HELP = """\
A line is a question. These lines are commands:
/more: read the whole last answer, with the lines that were folded
/why: read the evidence of the last answer
/undo: take back what was kept last of what you told
/new: begin a new session
/sessions: list the last sessions
/search WORDS: find the sessions in which that was said
/resume NUMBER: go on with a session, and read its last answer
/effort quick, /effort normal or /effort deep: how far a model may go
/help: read this
/quit: leave; Ctrl+D does it, too"""


@click.command()
@click.option("--plain", is_flag=True, help="Line by line without colours, for screen readers and pipes.")
@pass_session
def chat(session: Session, plain: bool) -> None:
    """Open the chat.

    With --plain, on a dumb terminal (TERM=dumb) and in a pipe each line is a question, and each answer is printed with
    its sources. In a pipe it exits with 0, with 4 if a question was not answered, or with the code of the last error.
    """
    if not plain and output.can_draw():
        if session.paths.at:
            _ = session.client  # ssh may ask for a passphrase, which it cannot while the chat has the terminal
        import gc

        gc.disable()  # until the first page is drawn, which takes a twentieth less of the processor then
        from tui.app import run

        click.get_current_context().exit(run(session.paths))

    os.environ["NO_COLOR"] = "1"
    click.get_current_context().exit(PlainChat(session, interactive=sys.stdin.isatty()).run())


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0: any free one. Default: daemon.page_port.")
@click.option("--print", "only_print", is_flag=True, help="Open no browser.")
@click.option("--stop", is_flag=True, help="Close the page and end its sessions.")
@json_command
def web(session: Session, port: int | None, only_print: bool, stop: bool) -> None:
    """Open the memory in the browser.

    Prints and opens a link that works once, within two minutes, in a browser on this machine. Only you can use the
    page, it loads nothing from the network, and it closes after an hour without use.
    """
    if stop:
        was_open = session.client.close_page()
        if not session.shows_json({"was_open": was_open}):
            output.say("The page is closed." if was_open else "The page was not open.")
        return
    link = session.client.open_page(port)
    if session.paths.at:
        from daemon.client.remote import forward_port

        forward_port(session.paths, link.port)
        link = replace(link, opener=write_opener(session.paths, link.url))
    session.show(link, link.url)
    if only_print:
        output.say("It works once, within two minutes, in a browser of this machine. To end the page: pal web --stop")
    elif open_browser(Path(link.opener)):
        output.say("The page opens in your browser. If it does not: the link works once. To end it: pal web --stop")
    else:
        output.say("There is no browser to open it with. The link works once, within two minutes, on this machine.")


def open_browser(file: Path) -> bool:
    """Opens a file in a browser with windows; whether one was found."""
    graphical = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & os.environ.keys()
    if sys.platform != "darwin" and not graphical:
        return False  # another app would draw into this terminal
    import webbrowser

    return webbrowser.open(file.as_uri())


class PlainChat:
    """One session at a time. `run` returns the exit code: 0, or for piped input 4 if a question had no answer, or that
    of an error."""

    def __init__(self, session: Session, interactive: bool) -> None:
        self._session = session
        self._interactive = interactive
        self._conversation: int | None = None
        self._answered: wire.Answered | None = None
        self._statement: wire.SavedStatement | None = None
        self._offered = False
        self._effort = "normal"
        self._code = 0
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: output.print_text(HELP),
            "/more": lambda _: self._more(),
            "/why": lambda _: self._why(),
            "/undo": lambda _: self._undo(),
            "/new": lambda _: self._begin(),
            "/sessions": lambda _: self._list(),
            "/search": self._search,
            "/resume": self._resume,
            "/effort": self._choose_effort,
        }

    def run(self) -> int:
        _ = self._session.client  # which is started, and says so, before the first question
        if self._interactive:
            notes = count(self.client.status().stats.sources, "note")
            output.print_text(f"Memory: {notes}. Ask a question, or type /help." if notes != "0 notes" else HOW_TO_READ)
        for line in _read_typed() if self._interactive else _read_piped():
            if line == "/quit":
                break
            self._do(line)
        return 0 if self._interactive else self._code

    @property
    def client(self) -> Client:
        """Returns a client of the daemon, started again if it went away."""
        from daemon.client.starting import connect

        return connect(self._session.paths, self._session.start)

    def _do(self, line: str) -> None:
        name, _, argument = line.partition(" ")
        try:
            if name in self._commands:
                self._commands[name](argument.strip())
            elif name.startswith("/") and name[1:].isalpha():
                output.print_text(f"There is no command {name}. /help lists them.")
            else:
                self._ask(line)
        except DaemonError as error:
            self._fail(str(error), Refused(error.failed, False).exit_code)
        except DaemonDownError as error:
            self._fail(str(error), 3)

    def _fail(self, message: str, code: int) -> None:
        output.say(f"Error: {message}")
        self._code = code

    # Asking ---------------------------------------------------------------------------------------

    def _ask(self, question: str) -> None:
        if not self._interactive:
            output.print_text(f"You: {question}")
        if self._conversation is None:
            self._conversation = self.client.new_conversation(title_of(question)).id
        self._answered = self._statement = None
        secrets = Secrets(self._session, shown=False)
        try:
            asked = self.client.ask(question, conversation=self._conversation, effort=self._effort, own_words=True)
            with asked as events:
                self._answered = print_answer(secrets.fill_events(self._note_statement(events)), more="/more")
        except KeyboardInterrupt:
            if not self._interactive:
                raise
            output.print_text("\nStopped.")
            return
        secrets.say("pal ask")
        if self._statement is not None and not self._statement.source:
            self._offer_to_keep(self._statement)
        if self._answered.kind != "answer" and not self._code:
            self._code = ONLY_CLOSE if self._answered.kind == "closest" else NothingFound.exit_code

    def _note_statement(self, events: Iterable[wire.Event]) -> Iterator[wire.Event]:
        for event in events:
            if isinstance(event, wire.SavedStatement):
                self._statement = event
            yield event

    def _offer_to_keep(self, statement: wire.SavedStatement) -> None:
        """Asks, once, whether a statement is to be kept; at a pipe it only says how."""
        words = " ".join(statement.text.split())
        if not self._interactive:
            if not (self._offered or (self._answered and self._answered.note)):
                output.say(f"Not saved: “{words}”. To save such statements: pal config set chat.remember yes")
                self._offered = True
            return
        output.print_text(f"You stated: “{words}”. {ABOUT_STATEMENTS}")
        wanted = input("Save it, and such statements from now on? y or n: ").strip().casefold()[:1] == "y"
        self.client.set_telling("yes" if wanted else "no")
        if wanted:
            kept = self.client.tell(statement.text, self._conversation)
            output.print_text(f"{describe_statement(kept)} /undo takes it back.")
        else:
            output.print_text("Not saved. To change that: pal config set chat.remember yes")

    def _undo(self) -> None:
        gone = self.client.undo_statement()
        output.print_text(f"No longer saved: “{' '.join(gone.text.split())}”.")

    def _more(self) -> None:
        if self._answered is None:
            output.print_text("Nothing was asked yet.")
        else:
            print_stored(self._answered, in_full=True)

    def _why(self) -> None:
        if self._answered is None or self._answered.trace_id is None:
            output.print_text("Nothing was asked yet.")
            return
        evidence = describe_evidence(self.client.why(self._answered.trace_id), describe_source)
        output.print_text("\n".join(evidence))

    # Sessions -------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._conversation = self._answered = None
        output.print_text("A new session begins.")

    def _list(self) -> None:
        kept = [conversation for conversation in self.client.conversations() if conversation.messages][:SESSIONS_SHOWN]
        for conversation in kept:
            output.print_text(
                f"{conversation.id}: {conversation.title or 'Untitled'}, {format_time(conversation.updated)}"
            )
        output.print_text("/resume NUMBER goes on with one." if kept else "There are no sessions yet.")

    def _search(self, words: str) -> None:
        matches = self.client.search_conversations(words, SESSIONS_SHOWN) if words else ()
        for match in matches:
            output.print_text(f"{match.conversation.id}: {match.conversation.title or 'Untitled'}")
            if match.quote:
                output.print_text(f"{'You' if match.role == 'user' else 'Memory'}: {match.quote}")
        if not matches:
            output.print_text("No session has these words." if words else "Say what to look for: /search WORDS")

    def _resume(self, number: str) -> None:
        if not number.isdecimal():
            output.print_text("Say which session: /resume NUMBER. /sessions lists them.")
            return
        kept = self.client.conversation(int(number))
        self._conversation, self._answered = kept.conversation.id, None
        output.print_text(f"Session {number}: {kept.conversation.title or 'Untitled'}")
        for message in kept.messages[-2:]:
            self._answered = print_message(message)

    def _choose_effort(self, name: str) -> None:
        if name in EFFORTS:
            self._effort = name
        output.print_text(f"Effort: {self._effort}. There are: {', '.join(EFFORTS)}.")


def _read_typed() -> Iterator[str]:
    """Yields typed lines, with the terminal's editing and history, until Ctrl+D."""
    with suppress(ImportError):
        import readline  # noqa: F401  `input` uses it
    while True:
        try:
            line = input("You: ").strip()
        except EOFError:
            click.echo()
            return
        if line:
            yield line


def _read_piped() -> Iterator[str]:
    for line in sys.stdin.buffer:
        if text := line.decode("utf-8", "replace").strip():
            yield text
