"""One daemon with some notes, and one browser, for all tests of the page."""

from __future__ import annotations

import http.server
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from daemon.client.client import Client
from tests.daemon.conftest import QUICK
from tests.running import RunningDaemon, run_daemon
from tests.web.chromium import find_chromium, open_chromium

WAIT_MS = 20_000
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
# Names that lead to this machine, as the author of a page elsewhere can make them.
RULES = "--host-resolver-rules=MAP evil.example 127.0.0.1"

HOSTILE = "<img src=x onerror=window.pwned=1>"
NOTES = {
    "2025-01-10 Mara.md": (
        "---\ndate: 2025-01-10\nphone: 0161 496 07\n---\n# Mara Quill\n\nMara Quill keeps the ferry.\n"
    ),
    "2025-03-02 ferry.md": (
        "---\ndate: 2025-03-02\n---\n# The ferry\n\nThe ferry leaves from the North Pier at 8:00.\n\n"
        "Mara Quill steers it, and Tobias Renn sells the tickets in Old Harbour.\n"
    ),
    "2026-02-01 ferry.md": (
        "---\ndate: 2026-02-01\n---\n# The ferry moves\n\nThe ferry leaves from the South Pier at 9:30 from today.\n\n"
        "Tobias Renn painted the sign; [[Mara Quill]] does not like it.\n"
    ),
    "hostile.md": (
        f"# {HOSTILE} wharf\n\nThe wharf code is {HOSTILE} 7731 <script>window.pwned=1</script> in **bold**.\n\n"
        "[click](javascript:window.pwned=1) [web](https://example.org/?q=<b>) ${window.pwned=1} {{7*7}}"
        " \u202eevil\u202c"
        ' "><svg onload=window.pwned=1> `</textarea>` <iframe srcdoc="<script>parent.pwned=1</script>">\n'
    ),
}  # fmt: skip


@dataclass
class Visitor:
    """Somebody with a browser, and what went wrong in it."""

    daemon: RunningDaemon
    browser: Browser
    notes: Path
    wrong: list[str] = field(default_factory=list)
    _page: Page | None = None

    @property
    def client(self) -> Client:
        return self.daemon.client

    def open(self, **options: object) -> Page:
        """The page in a browser of its own, behind a new link, at Home."""
        page = self.watch(self.browser.new_context(viewport={"width": 1280, "height": 800}, **options).new_page())  # type: ignore[arg-type]
        page.goto(self.client.open_page().url)
        page.wait_for_selector("nav.rail")
        return page

    def watch(self, page: Page) -> Page:
        """A page of which every error, violation and request elsewhere is noted."""
        page.set_default_timeout(WAIT_MS)
        page.add_init_script(VIOLATIONS)
        wrong = self.wrong

        def note_message(message: ConsoleMessage) -> None:
            # what is not there is asked for in tests; the browser's own word of that is no fault
            if message.type in ("error", "warning") and "the server responded with a status of 404" not in message.text:
                wrong.append(f"{message.type}: {message.text}")

        def note_request(request: Request) -> None:
            if not request.url.startswith(("http://127.0.0.1:", "file:///")):
                wrong.append(f"request: {request.url}")

        page.on("console", note_message)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", note_request)
        return page


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    if find_chromium() is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    folder = tmp_path_factory.mktemp("web")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text, "utf-8")
    with run_daemon(folder / "home", QUICK) as daemon, open_chromium(RULES) as browser:
        list(daemon.client.add([notes]))
        yield Visitor(daemon, browser, notes)


@pytest.fixture
def page(visitor: Visitor) -> Iterator[Page]:
    """A page at Home; after the test nothing has gone wrong in it."""
    visitor.wrong = []  # a page that was closed before may still be heard of, in the list that it has
    page = visitor.open()
    yield page
    assert page.evaluate("window.violations") == [] and page.evaluate("window.pwned") is None
    page.context.close()
    assert visitor.wrong == []


def change_note(visitor: Visitor, name: str, old: str, new: str) -> None:
    """Edits a note, and has it read again."""
    note = visitor.notes / name
    note.write_text(note.read_text("utf-8").replace(old, new), "utf-8")
    os.utime(note)
    list(visitor.client.add([note]))


def go(page: Page, where: str) -> None:
    page.evaluate("where => { location.hash = `#/${where}` }", where)


def until(page: Page, expression: str, *given: object) -> None:
    """Waits for what the page holds, without a code from a string, which its policy forbids."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(expression, *given):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(20)


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Ask your memory").fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn.done").last.wait_for()


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A page of another port, with whatever its author likes to do."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
