"""The pictures in README and docs: `python -m tests.docs.pictures [chat|web]`.

Drives the real chat, and the page in a real browser, against a real daemon that watches the example notes, and draws
what is on the screen. The recording of the chat is one SVG whose frames follow each other.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from rich.console import Console
from rich.text import Text
from textual.pilot import Pilot

from daemon.client.client import Client
from daemon.client.starting import connect
from tests.cli.vault import ROOT
from tests.running import RunningDaemon, run_daemon
from tui.app import PalimpsestApp
from tui.theme import DARK

IMAGES = ROOT / "docs" / "images"
NOTES = ROOT / "examples" / "notes"
SIZE = (116, 34)
PATIENCE = 1000  # pauses of 20 ms
STEPS = 250  # of the graph's layout, after which it hardly moves


class Recorder:
    """Frames of the recording, each with the seconds it stays, and pictures by their names."""

    def __init__(self, app: PalimpsestApp) -> None:
        self._app = app
        self.frames: list[tuple[str, float]] = []
        self.pictures: dict[str, str] = {}

    def show(self, seconds: float, name: str = "") -> None:
        """What is on the screen is the next frame; with a `name` it is a picture, too."""
        svg = lighten(self._app.export_screenshot(title="pal"))
        self.frames.append((svg, seconds))
        if name:
            self.pictures[name] = svg


def lighten(svg: str) -> str:
    """A screenshot without what a picture can do without: the fonts from elsewhere, and a clip path for every line."""
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<clipPath id="[^"]*-line-\d+">.*?</clipPath>\s*', "", svg, flags=re.DOTALL)
    svg = re.sub(r' clip-path="url\([^"]*-line-\d+\)"', "", svg)
    return re.sub(r">\s*\n\s*<", ">\n<", svg).replace(
        "Fira Code", "ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono"
    )


def animate(frames: list[tuple[str, float]]) -> str:
    """One SVG that shows the frames one after the other, for ever."""
    whole = sum(seconds for _, seconds in frames)
    box = re.search(r'viewBox="[^"]*"', frames[0][0])
    assert box is not None
    styles, groups, at = [], [], 0.0
    for n, (svg, seconds) in enumerate(frames):
        begin, end = 100 * at / whole, 100 * (at + seconds) / whole
        at += seconds
        hidden = f"0%{{visibility:{'visible' if n == 0 else 'hidden'}}}"
        styles.append(
            f"@keyframes frame{n}{{{hidden}{begin:.3f}%{{visibility:visible}}{end:.3f}%{{visibility:hidden}}"
            f"100%{{visibility:hidden}}}}"
            f".frame{n}{{visibility:hidden;animation:frame{n} {whole:.1f}s step-end infinite}}"
        )
        groups.append(f'<g class="frame{n}">{svg}</g>')
    # Where nothing may move, the last frame stands.
    last = f".frame{len(frames) - 1}{{visibility:visible}}"
    still = f"@media(prefers-reduced-motion:reduce){{g[class^=frame]{{animation:none}}{last}}}"
    style = "".join(styles) + still
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box[0]}><style>{style}</style>{"".join(groups)}</svg>\n'


def record_setup(home: Path) -> list[tuple[str, float]]:
    """The first frames: `make chat` in a new copy, with the words of the Makefile and of the real command."""
    installing = re.search(r'@echo "(Installing .*)"', (ROOT / "Makefile").read_text("utf-8"))
    assert installing is not None
    environment = os.environ | {"PALIMPSEST_HOME": str(home), "PYTHONPATH": str(ROOT)}

    def run_pal(*args: str) -> str:
        command = [sys.executable, "-m", "tests.cli.pal", *args]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    lines = ["$ make chat", installing[1].replace("$(VENV)", ".venv"), run_pal("add", "--yes", str(NOTES))]
    run_pal("daemon", "stop")
    return [(draw_terminal(lines[:shown]), seconds) for shown, seconds in ((1, 0.8), (2, 1.2), (3, 1.0))]


def draw_terminal(lines: list[str]) -> str:
    """Lines as a terminal shows them, in the colours and the size of the chat."""
    console = Console(width=SIZE[0], height=SIZE[1], file=io.StringIO(), force_terminal=True, record=True)
    for row in range(SIZE[1]):
        text = lines[row] if row < len(lines) else ""
        console.print(Text(text.ljust(SIZE[0]), f"{DARK.foreground} on {DARK.background}"), end="\n")
    return lighten(console.export_svg(title="pal"))


class Visitor:
    """Somebody at the chat: types, waits until words are on the screen, and has it drawn."""

    def __init__(self, pilot: Pilot[None], recorder: Recorder) -> None:
        self._pilot = pilot
        self._recorder = recorder
        self.show = recorder.show

    async def press(self, *keys: str) -> None:
        """Presses keys."""
        await self._pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Types a text, and is drawn while doing so."""
        for n, letter in enumerate(text, 1):
            await self._pilot.press({" ": "space", "?": "question_mark", "/": "slash"}.get(letter, letter))
            if n % 6 == 0 or n == len(text):
                self.show(0.25)

    async def until(self, *words: str) -> None:
        """Waits until all the words are on the screen."""
        for _ in range(PATIENCE):
            shown = " ".join(self.text().split())
            if all(word in shown for word in words):
                await self._pilot.pause()
                return
            await self._pilot.pause(0.02)
        raise AssertionError(f"{words} never came; the screen says:\n{self.text()}")

    def text(self) -> str:
        """The whole screen, line by line."""
        return "\n".join(strip.text.rstrip() for strip in self._pilot.app.screen._compositor.render_strips())


async def visit(visitor: Visitor) -> None:
    """What the pictures show: home, an answer and what it rests on, the memory, and a change that came meanwhile."""
    await visitor.until("Worth asking", "Mentioned most", "20 notes")
    visitor.show(2.5, "home")
    await visitor.type("When was the fog signal last sounded?")
    await visitor.press("enter")
    await visitor.until("4 October 1987", "[1]", "not right?")
    visitor.show(3.5, "answer")
    await visitor.press("f6")
    await visitor.until("Things", "Facts now")
    visitor.show(3.5, "memory")
    bosun = Path.home() / "notes" / "Bosun.md"
    bosun.write_text(bosun.read_text("utf-8").replace("born: 2019-04-01", "born: 2018-04-01"), "utf-8")
    await visitor.press("f5")
    await visitor.until("Changed: ")
    visitor.show(3.0)
    await visitor.press("f7")
    await visitor.until("2018-04-01", "2019-04-01")
    visitor.show(3.5, "review")


def photograph(daemon: RunningDaemon) -> None:
    """The pictures of the page: an answer with what it rests on, and the graph."""
    from tests.web.chromium import open_chromium

    with open_chromium() as browser:
        context = browser.new_context(viewport={"width": 1160, "height": 720}, color_scheme="dark")
        page = context.new_page()
        page.goto(daemon.client.open_page().url)
        page.wait_for_selector("nav.rail")
        page.keyboard.press("2")
        page.keyboard.type("Where is the harbour office?")
        page.keyboard.press("Enter")
        page.wait_for_selector(".evidence mark")
        page.screenshot(path=IMAGES / "web.png")
        page.emulate_media(color_scheme="light")
        page.keyboard.press("Escape")
        page.keyboard.press("4")
        while page.evaluate("document.querySelector('canvas')?.drawing?.steps ?? 0") < STEPS:
            page.wait_for_timeout(100)
        page.screenshot(path=IMAGES / "graph.png")
    daemon.client.close_page()


async def record(daemon: RunningDaemon) -> Recorder:
    """The frames and the pictures of one visit."""

    def connect_daemon(start: bool) -> Client:
        return connect(daemon.paths, start=start)

    app = PalimpsestApp(connect_daemon)
    app.animation_level = "none"
    recorder = Recorder(app)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await visit(Visitor(pilot, recorder))
    return recorder


def main(wanted: Collection[str]) -> None:
    """Draws the pictures anew: of the chat, of the page, or of both."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder  # so that a picture says `~/notes`, wherever it was made
        notes = Path(folder) / "notes"
        shutil.copytree(NOTES, notes)
        with run_daemon(Path(folder) / "memory") as daemon:
            daemon.client.watch(notes)
            for _ in daemon.client.add([notes]):
                pass
            IMAGES.mkdir(exist_ok=True)
            if "web" in wanted:
                photograph(daemon)
            if "chat" in wanted:
                setup = record_setup(Path(folder) / "copy")
                recorder = asyncio.run(record(daemon))
                for name, svg in recorder.pictures.items():
                    (IMAGES / f"{name}.svg").write_text(svg, "utf-8")
                (IMAGES / "chat.svg").write_text(animate([*setup, *recorder.frames]), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or ("chat", "web"))
