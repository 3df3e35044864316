"""What only a namespace of its own can show: run as `unshare ... python -m tests.daemon.namespaces WHAT FOLDER`.

drives: two that take turns at one place (`--mount`). limit: more folders than the system watches (`--user`).
Each prints what became of the notes.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client
from tests.daemon.conftest import QUICK
from tests.running import run_daemon

NOTES = 12


def run_in_namespace(what: str, flags: list[str], probe: list[str | Path], place: Path) -> list[str]:
    """What tests.daemon.namespaces prints; skips the test where `probe` cannot be done in such a namespace."""
    namespace = ["unshare", *flags]
    try:
        subprocess.run([*namespace, *probe], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the system allows no such namespace")
    run = [*namespace, sys.executable, "-m", "tests.daemon.namespaces", what, place]
    done = subprocess.run(run, capture_output=True, text=True, timeout=90)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def mount(folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "drive", folder], check=True)


def unmount(folder: Path) -> None:
    while subprocess.run(["umount", folder], capture_output=True).returncode:
        time.sleep(0.1)


def wait(client: Client, wanted: Callable[[wire.Folder], bool]) -> wire.Folder:
    deadline = time.monotonic() + 60
    while not wanted(folder := client.folders()[0]):
        if time.monotonic() > deadline:
            raise SystemExit(f"it did not come: {folder}")
        time.sleep(0.05)
    return folder


def write_notes(folder: Path) -> None:
    for number in range(NOTES):
        (folder / f"{number}.md").write_text(f"Crate {number} is full of tiles.")


def take_turns(place: Path) -> None:
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
        (place / "all" / "drive").mkdir(parents=True)
        (place / "all" / "own.md").write_text("The pier is of stone.")
        (place / "all" / "too.md").write_text("The ladder is of iron.")
        mount(place / "all" / "drive")
        write_notes(place / "all" / "drive")
        client.unwatch(stick)
        client.watch(place / "all")
        wait(client, lambda folder: folder.sources == NOTES + 2 and folder.state == "watching")
        unmount(place / "all" / "drive")
        running.stop()
        running.start()
        print("inner one out:", wait(client, lambda folder: folder.gone > 0).sources)
        mount(place / "all" / "drive")
        write_notes(place / "all" / "drive")
        running.stop()
        running.start()
        print("inner one back:", wait(client, lambda folder: folder.state == "watching" and not folder.gone).sources)


def reach_limit(place: Path) -> None:
    Path("/proc/sys/user/max_inotify_watches").write_text("10")
    for number in range(20):
        (place / "notes" / f"{number}").mkdir(parents=True)
    with run_daemon(place / "home", QUICK) as running:
        running.client.watch(place / "notes")
        degraded = wait(running.client, lambda folder: folder.state == "polling")
        print("limit:", degraded.detail.partition(";")[0])
        for number in range(20):
            (place / "notes" / f"{number}" / "late.md").write_text(f"Bollard {number} is loose.")
        print("seen:", wait(running.client, lambda folder: folder.sources == 20).sources)
        Path("/proc/sys/user/max_inotify_watches").write_text("1000")
        print("more:", wait(running.client, lambda folder: folder.state == "watching").detail)


if __name__ == "__main__":
    {"drives": take_turns, "limit": reach_limit}[sys.argv[1]](Path(sys.argv[2]))
