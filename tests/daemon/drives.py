"""Two drives that take turns at one place: run as `unshare --mount python -m tests.daemon.drives FOLDER`, with `--user
--map-root-user` too if nobody is root. Prints what became of the notes of the first.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from daemon import wire
from daemon.client import Client
from daemon.testing import run_daemon
from tests.daemon.conftest import QUICK

NOTES = 12


def mount(folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "drive", folder], check=True)


def unmount(folder: Path) -> None:
    while subprocess.run(["umount", folder], capture_output=True).returncode:
        time.sleep(0.1)


def wait(client: Client, wanted: Callable[[wire.Folder], bool]) -> wire.Folder:
    deadline = time.monotonic() + 15
    while not wanted(folder := client.folders()[0]):
        if time.monotonic() > deadline:
            raise SystemExit(f"it did not come: {folder}")
        time.sleep(0.05)
    return folder


def write_notes(folder: Path) -> None:
    for number in range(NOTES):
        (folder / f"{number}.md").write_text(f"Crate {number} is full of tiles.")


def main(place: Path) -> None:
    stick = place / "stick"
    stick.mkdir()
    mount(stick)
    write_notes(stick)
    with run_daemon(place / "home", QUICK) as running:
        client = running.client
        client.watch(stick)
        wait(client, lambda folder: folder.sources == NOTES and folder.state == "watching")
        unmount(stick)
        wait(client, lambda folder: folder.state == "missing")
        print("out:", client.folders()[0].sources)
        mount(stick)
        (stick / "holiday.md").write_text("Notes of another drive.")
        other = wait(client, lambda folder: "another" in folder.detail)
        time.sleep(2 * QUICK.watch.gone_wait_s)
        print("another one:", other.state, client.folders()[0].sources)
        unmount(stick)
        mount(stick)
        write_notes(stick)
        print("back:", wait(client, lambda folder: folder.state == "watching").sources)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
