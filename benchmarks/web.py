"""How the page feels: `python -m benchmarks.web [--opened N] [--seconds S] [--json]`.

Opens the page of a real daemon in a real Chromium without a window, whose graphics are drawn by the processor: how long
until something is seen, and how many frames a second a graph of 2,000 vertices has while it is laid out, moved and
zoomed. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize

from benchmarks import command, metrics
from benchmarks.synthetic import SYLLABLES
from daemon.client.client import Client
from tests.running import run_daemon
from tests.web.chromium import find_chromium, open_chromium

NOTES, NAMES, NAMED = 667, 1330, 5  # notes, names in all of them, names in each: so many that 2,000 are drawn
VERTICES = 2000
SIZE: ViewportSize = {"width": 1280, "height": 800}
PATIENCE_S = 60.0
# Each frame that the browser makes has a time; `frames` counts those in which the graph was drawn.
COUNT = """
(milliseconds, act) => new Promise(done => {
  const view = document.querySelector("canvas").drawing;
  const [times, drawn] = [[], view.frames];
  const look = time => {
    times.push(time);
    act(view, times.length);
    if (time - times[0] < milliseconds) requestAnimationFrame(look);
    else done({times, drawn: view.frames - drawn});
  };
  requestAnimationFrame(look);
})
"""

# What a hand does at the mouse, at every frame: the graph is held and moved, or its wheel is turned.
MOVE = """
(view, step) => view.setTransform(view.d3.zoomIdentity.translate(400 + 200 * Math.sin(step / 20), 300).scale(0.5))
"""
ZOOM = """
(view, step) => view.canvas.dispatchEvent(new WheelEvent("wheel", {
  deltaY: step % 80 < 40 ? -30 : 30, clientX: 700, clientY: 400, bubbles: true, cancelable: true,
}))
"""


def write_notes(folder: Path) -> None:
    """Notes whose names are shared unevenly, as in real ones: each stands in one, and the first in many."""
    invent = random.Random(0)
    names = [f"{_word(invent)} {_word(invent)}" for _ in range(NAMES)]
    weights = [1 / (n + 5) for n in range(NAMES)]
    folder.mkdir()
    for n in range(NOTES):
        day = f"{2020 + n % 6}-{1 + n % 12:02}-{1 + n % 28:02}"
        first, *others = *invent.choices(names, weights, k=NAMED - 2), *names[2 * n : 2 * n + 2]
        said = "\n\n".join(f"{first} met {other} by the harbour and spoke of the boat." for other in others)
        (folder / f"{n:04}.md").write_text(f"---\ndate: {day}\n---\n# {day}, {first}\n\n{said}\n", "utf-8")


def _word(invent: random.Random) -> str:
    return "".join(invent.choices(SYLLABLES, k=3)).capitalize()


def measure_opening(client: Client, browser: Browser, times: int) -> dict[str, float]:
    """Until something is seen, and until Home says what is new: in new browsers, and loaded again. Milliseconds."""
    seen: dict[str, list[float]] = {"new": [], "again": [], "home": []}
    for _ in range(times):
        page = browser.new_context(viewport=SIZE).new_page()
        page.goto(client.open_page().url)
        page.wait_for_selector(".columns")
        seen["home"].append(page.evaluate("performance.now()"))
        seen["new"].append(_first_paint(page))
        page.reload()
        page.wait_for_selector(".columns")
        seen["again"].append(_first_paint(page))
        page.context.close()
    return {f"{name}_ms": round(median(all_), 1) for name, all_ in seen.items()} | {
        "new_worst_ms": round(max(seen["new"]), 1)
    }


def _first_paint(page: Page) -> float:
    return float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


def measure_graph(client: Client, browser: Browser, seconds: float) -> dict[str, Any]:
    """Frames a second of the graph while it is laid out, moved by the mouse, and zoomed by its wheel."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.goto(client.open_page().url)
    page.wait_for_selector("nav.rail")
    page.keyboard.press("4")
    page.wait_for_selector("figure.graph")
    page.get_by_role("button", name="2,000").click()
    begun = time.perf_counter()
    _wait(page, f"document.querySelector('canvas')?.drawing?.nodes.length >= {VERTICES}")
    shown_s = time.perf_counter() - begun
    _wait(page, "document.querySelector('canvas').drawing.steps > 1")
    found: dict[str, Any] = {
        "vertices": page.evaluate("document.querySelector('canvas').drawing.nodes.length"),
        "edges": page.evaluate("document.querySelector('canvas').drawing.edges.length"),
        "shown_s": round(shown_s, 2),
        "laying_out": _count_frames(page, seconds),
    }
    found["moving"] = _count_frames(page, seconds, MOVE)
    found["zooming"] = _count_frames(page, seconds, ZOOM)
    page.context.close()
    return found


def _count_frames(page: Page, seconds: float, act: str = "() => {}") -> dict[str, float]:
    """Frames drawn a second; of the time from one frame of the browser to the next the median and the longest but 5
    of 100. `cpu_ms`: what a frame takes of the processor, in all threads of the browser. `act` is done before each."""
    before = _browser_cpu_s()
    counted = page.evaluate(f"milliseconds => ({COUNT})(milliseconds, {act})", seconds * 1000)
    times: list[float] = counted["times"]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    spent_ms = 1000 * (_browser_cpu_s() - before)
    return {
        "drawn_per_s": round(counted["drawn"] / (times[-1] - times[0]) * 1000, 1),
        "cpu_ms": round(spent_ms / max(counted["drawn"], 1), 1),
        "gap_ms": round(median(gaps), 1),
        "gap_p95_ms": round(metrics.percentile(gaps, 95), 1),
    }


def _browser_cpu_s() -> float:
    """Seconds that the browser's processes have taken of the processor, all threads."""
    spent, wanted = 0.0, {os.getpid()}
    for entry in sorted(Path("/proc").glob("[0-9]*"), key=lambda one: int(one.name)):
        with suppress(OSError):
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
            fields = rest.split()
            if int(fields[1]) in wanted:  # a child, which has a higher number, as long as they do not begin anew
                wanted.add(int(entry.name))
                spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if "chrom" in name else 0.0
    return spent


def _wait(page: Page, expression: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not page.evaluate(expression):
        if time.monotonic() > deadline:
            raise command.DataError(f"It never came to {expression}.")
        page.wait_for_timeout(20)


def show(found: Mapping[str, Any]) -> None:
    """Print the tables."""
    columns = {"first paint ms": "new_ms", "worst ms": "new_worst_ms", "again ms": "again_ms", "Home ms": "home_ms"}
    command.show_table("The page, opened", [found["opening"]], columns)
    graph = found["graph"]
    rows = [{"while": name.replace("_", " ")} | graph[name] for name in ("laying_out", "moving", "zooming")]
    title = f"A graph of {graph['vertices']:,} vertices and {graph['edges']:,} edges, there after {graph['shown_s']} s"
    columns = {
        "while": "while",
        "frames/s": "drawn_per_s",
        "CPU ms a frame": "cpu_ms",
        "gap ms": "gap_ms",
        "gap p95 ms": "gap_p95_ms",
    }
    command.show_table(title, rows, columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.web", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--opened", type=command.positive, default=9, metavar="N", help="times it is opened (9)")
    parser.add_argument("--seconds", type=command.positive, default=5, metavar="S", help="to count frames, thrice (5)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    if find_chromium() is None:
        raise command.DataError("There is no Chromium. On Debian or Ubuntu: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder:
        write_notes(Path(folder) / "notes")
        with run_daemon(Path(folder) / "home") as daemon:
            command.note(f"read {NOTES:,} notes")
            list(daemon.client.add([Path(folder) / "notes"]))
            with open_chromium() as browser:
                command.note("open the page")
                found: dict[str, Any] = {"opening": measure_opening(daemon.client, browser, options.opened)}
                command.note(f"draw {VERTICES:,} vertices")
                found["graph"] = measure_graph(daemon.client, browser, options.seconds)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    sys.exit(main())
