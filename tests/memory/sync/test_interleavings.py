"""Computers that change their memories in any order, crash anywhere, and get each other's files late, twice, torn or
not at all: in the end all memories are the same, and nothing that was acknowledged is lost."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import NotFoundError
from memory.store import synced
from memory.sync.folder import SharedFolder
from memory.sync.kinds import Messages, Notes
from tests.examples import examples
from tests.memory.sync.computers import Computer, agree, carry, carry_all, make_computers

NAMES = ("anna", "berta", "clara")
CRASHES: dict[str, tuple[object, str, bool]] = {  # where a computer dies: a function, before it or behind it
    "before it is noted": (synced, "put", False),
    "after it was noted": (synced, "put", True),
    "before notes are taken over": (Notes, "adopt", False),
    "after notes were taken over": (Notes, "adopt", True),
    "after messages were taken over": (Messages, "adopt", True),
    "before a file is written": (SharedFolder, "write", False),
    "after a file was written": (SharedFolder, "write", True),
}

number = st.integers(0, 2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), number, st.sampled_from("xy")),
        st.tuples(st.just("forget"), number, st.sampled_from("xy")),
        st.tuples(st.just("profile"), number, st.just("phone")),
        st.tuples(st.just("decide"), number, st.sampled_from(("keep", "both", "old"))),
        st.tuples(st.just("chat"), number, st.just("")),
        st.tuples(st.just("sync"), number, st.just("")),
        st.tuples(st.just("sync"), number, st.just("")),
        st.tuples(st.just("crash"), number, st.sampled_from(sorted(CRASHES))),
        st.tuples(st.just("carry"), number, number.map(str)),
        st.tuples(st.just("carry"), number, number.map(str)),
        st.tuples(st.just("torn"), number, number.map(str)),
        st.tuples(st.just("late"), number, number.map(str)),
        st.tuples(st.just("lost"), number, st.just("")),
    ),
    min_size=5,
    max_size=40,
)


class Crash(Exception):
    """As kill -9."""


@contextmanager
def dying(point: str) -> Iterator[None]:
    """Within it a round ends at that point, unless it does not come there."""
    owner, name, is_after = CRASHES[point]
    original: Callable[..., object] = getattr(owner, name)

    def die(*arguments: object, **named: object) -> object:
        if is_after:
            original(*arguments, **named)
        raise Crash

    setattr(owner, name, die)
    try:
        yield
    finally:
        setattr(owner, name, original)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that has read the files."""
    home = tmp_path_factory.mktemp("template")
    with make_computers(home, "first") as [first]:
        first.read_files()
    return home / "first" / "memory.db"


class History:
    """What was stated and acknowledged, by its key."""

    def __init__(self) -> None:
        self.stated: dict[str, list[tuple[str, str]]] = defaultdict(list)  # uri -> (computer, text)
        self.forgotten: set[str] = set()
        self.messages: list[str] = []
        self.count = 0

    def play(self, computers: list[Computer], step: tuple[str, int, str]) -> None:
        what, who, argument = step
        computer = computers[who % len(computers)]
        self.count += 1
        text = f"Statement {self.count} of {computer.name}."
        match what:
            case "say":
                computer.say(argument, text)
                self.stated[f"note:{argument}"].append((computer.name, text))
            case "forget":
                with suppress(NotFoundError):
                    computer.forget(argument)
                    self.forgotten.add(f"note:{argument}")
            case "profile":
                computer.set_profile(argument, str(self.count))
                self.stated[f"note:me/{argument}"].append((computer.name, f"{argument}: {self.count}"))
            case "decide":
                computer.decide(argument)
            case "chat":
                computer.chat(text)
                self.messages.append(text)
            case "sync":
                computer.sync.run()
            case "crash":
                with suppress(Crash), dying(argument):
                    computer.sync.run()
                computer.start()
            case "lost":
                for file in sorted(computer.folder.glob(f"{computer.name}/*.update"))[:1]:
                    file.unlink()
            case _:
                self._carry(computers, computer, computers[int(argument) % len(computers)], what)

    def _carry(self, computers: list[Computer], source: Computer, to: Computer, how: str) -> None:
        files = sorted((source.folder / source.name).glob("*.update"))
        if source is to or not files:
            return
        theirs = to.folder / source.name
        theirs.mkdir(exist_ok=True)
        if how == "carry":
            carry(source, to)
        elif how == "late":  # the newest file alone, twice
            shutil.copy(files[-1], theirs)
            shutil.copy(files[-1], theirs / f"{files[-1].stem}.sync-conflict-20260101.update")
        else:
            content = files[-1].read_bytes()
            (theirs / files[-1].name).write_bytes(content[: random.Random(self.count).randrange(len(content))])


@given(steps)
@examples(0.5)
def test_all_memories_are_the_same_in_the_end(template: Path, played: list[tuple[str, int, str]]) -> None:
    folder = TemporaryDirectory(prefix="sync-", dir=template.parent)
    with folder as home, make_computers(Path(home), *NAMES, template=template) as computers:
        history = History()
        for step in played:
            history.play(computers, step)
        carry_all(computers)
        agree(computers)
        first, *others = [computer.everything() for computer in computers]
        assert [other for other in others if other != first] == []
        notes, messages = computers[0].notes(), computers[0].messages()
        assert messages == sorted(history.messages)
        for uri, stated in history.stated.items():
            texts = [text for _, text in stated]
            if uri in notes:
                assert notes[uri] in texts
                assert len({name for name, _ in stated}) > 1 or notes[uri] == texts[-1]
            else:
                assert uri in history.forgotten
