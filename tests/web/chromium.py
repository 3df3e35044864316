"""A real Chromium without a window, for the page: of the tests, the pictures and the benchmark."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find_chromium() -> str | None:
    """The program, where there is one; CHROMIUM names another one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def open_chromium(*flags: str) -> Iterator[Browser]:
    """A browser with a new and empty profile. RuntimeError where there is none."""
    program = find_chromium()
    if program is None:
        raise RuntimeError("There is no Chromium. On Debian or Ubuntu: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()
