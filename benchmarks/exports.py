"""An export of ChatGPT of any size, invented from a seed, and what reading it takes: first, again, and a newer one with
some conversations more.

    python -m benchmarks.exports --conversations 10000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.running import RunningDaemon, run_daemon

WORDS = 4000  # that the conversations are made of
TURNS = (4, 14)
LENGTHS = {"user": (5, 60), "assistant": (60, 330)}  # words of a message
BEGIN = 1_700_000_000.0


def invent(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """So many conversations, the same each time; the first of more are those of fewer."""
    for number in range(count):
        yield _conversation(number, random.Random(f"{seed}/{number}"))


def write(path: Path, count: int) -> int:
    """Writes a zip of them; returns the bytes of what is in it."""
    size = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        for number, conversation in enumerate(invent(count)):
            size += file.write((", " if number else "[").encode() + json.dumps(conversation).encode())
        size += file.write(b"]")
    return size


def _conversation(number: int, chance: random.Random) -> dict[str, Any]:
    begin = BEGIN + 7200 * number
    tree: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last = "root"
    for place in range(chance.randint(*TURNS)):
        role = "assistant" if place % 2 else "user"
        id = f"{number:08x}-{place:04x}-4000-8000-{chance.getrandbits(48):012x}"
        tree[last]["children"].append(id)
        said = {
            "id": id,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": begin + 40 * place,
            "update_time": None,
            "content": {"content_type": "text", "parts": [_said(chance, *LENGTHS[role])]},
            "status": "finished_successfully",
            "end_turn": role == "assistant",
            "weight": 1.0,
            "metadata": _metadata(chance, id),
            "recipient": "all",
            "channel": None,
        }
        tree[id] = {"id": id, "message": said, "parent": last, "children": []}
        last = id
    return {
        "title": _said(chance, 2, 5).strip("."),
        "create_time": begin,
        "update_time": begin + 3600,
        "mapping": tree,
        "current_node": last,
        "conversation_id": f"{number:08x}-conversation",
    }


def _said(chance: random.Random, least: int, most: int) -> str:
    sentences, left = [], chance.randint(least, most)
    while left > 0:
        length = min(left, chance.randint(6, 18))
        sentences.append(" ".join(_word(chance) for _ in range(length)).capitalize() + ".")
        left -= length
    return " ".join(sentences)


def _word(chance: random.Random) -> str:
    number = min(chance.randrange(WORDS), chance.randrange(WORDS))
    return "".join(("ka", "lo", "mi", "ren", "su", "ta", "vel", "or")[number >> shift & 7] for shift in (0, 3, 6, 9))


def _metadata(chance: random.Random, id: str) -> dict[str, Any]:
    """What stands beside each message of a real export, about as long as there."""
    return {
        "request_id": f"{chance.getrandbits(128):032x}",
        "message_source": None,
        "timestamp_": "absolute",
        "message_type": None,
        "model_slug": "gpt-4o",
        "default_model_slug": "auto",
        "parent_id": id,
        "finish_details": {"type": "stop", "stop_tokens": [200002]},
        "is_complete": True,
        "citations": [],
        "content_references": [],
        "serialization_metadata": {"custom_symbol_offsets": []},
    }


def _peak(status: Path) -> int:
    """The most memory in MiB that a process has held; 0 of one that has gone."""
    try:
        lines = status.read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _reading(pid: int) -> int:
    """The same of the reading processes of a daemon."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    ids = [id for child in children for id in child.read_text("ascii").split()]
    return max((_peak(Path(f"/proc/{id}/status")) for id in ids), default=0)


def _cpu(pid: int) -> tuple[float, float]:
    """Seconds of the processor that a daemon has taken, and its reading processes that have ended or still run."""
    tick = os.sysconf("SC_CLK_TCK")
    own = _times(pid)
    children = Path(f"/proc/{pid}/task").glob("*/children")
    ids = [id for child in children for id in child.read_text("ascii").split()]
    running = sum(sum(_times(int(id))[:2]) for id in ids)
    return sum(own[:2]) / tick, (sum(own[2:]) + running) / tick


def _times(pid: int) -> tuple[int, int, int, int]:
    """utime, stime, cutime and cstime of a process, in ticks."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0, 0, 0, 0
    return int(fields[11]), int(fields[12]), int(fields[13]), int(fields[14])


def measure(daemon: RunningDaemon, path: Path, label: str, size: int) -> None:
    """Adds the export and prints what that took."""
    assert daemon.process is not None
    ended, reading = threading.Event(), [0]

    def look() -> None:
        while not ended.wait(0.2):
            reading.append(_reading(daemon.process.pid if daemon.process else 0))

    looking = threading.Thread(target=look)
    looking.start()
    pid = daemon.process.pid
    before = _cpu(pid)
    began = time.monotonic()
    *_, added = daemon.client.add([path])
    seconds = time.monotonic() - began
    own, readers = (after - first for after, first in zip(_cpu(pid), before, strict=True))
    ended.set()
    looking.join()
    whole = _peak(Path(f"/proc/{daemon.process.pid}/status"))
    print(
        f"{label}: {size / 1e6:,.0f} MB unpacked in {seconds:.1f} s, at most {max(reading)} MiB in the reading process"
        f" and {whole} MiB in the daemon; of the processor {own:.1f} s in the daemon and {readers:.1f} s in the"
        f" reading process; {added}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=10_000)
    count = parser.parse_args().conversations
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.zip"
        size = write(path, count)
        with run_daemon(Path(folder) / "home") as daemon:
            measure(daemon, path, "first", size)
            measure(daemon, path, "again", size)
            size = write(path, count + count // 100)
            measure(daemon, path, "a newer one", size)


if __name__ == "__main__":
    main()
