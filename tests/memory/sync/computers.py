"""Several computers of one person: each has a memory and its own copy of the shared folder; a carrier copies files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from memory import Memory
from memory.errors import NotFoundError
from memory.nouns import TOLD, Document
from memory.sync.folder import SharedFolder
from memory.sync.sync import Sync
from tests.memory.store.building import HashEmbedder

WORDS = "lend rebel useful cause door already poet dinner goddess cattle area milk"
DAY = datetime(2025, 1, 1, tzinfo=UTC)
FILES = (  # the same on every computer, as another program carries them
    Document(
        "flat 1.md", "Rent: 700 euros\n", title="Flat", kind="file", sha256="a" * 64, at=DAY, location="flat 1.md"
    ),
    Document("flat 2.md", "Rent: 750 euros\n", title="Flat", kind="file", sha256="b" * 64, at=DAY.replace(month=3)),
)


class Computer:
    """One computer; `folder` is its copy of the shared one."""

    def __init__(self, home: Path, name: str, template: Path | None = None) -> None:
        self.name = name
        self.home = home / name
        self.folder = self.home / "shared"
        self.home.mkdir()
        if template is not None:
            shutil.copy(template, self.home / "memory.db")
        SharedFolder(self.folder, name, WORDS).open()
        self.open()

    def open(self) -> None:
        self.memory = Memory.open(self.home / "memory.db", embedder=HashEmbedder(dimension=64))  # type: ignore[arg-type]
        self.start()

    def start(self) -> None:
        """As after a crash: all that was not on the disk is forgotten."""
        self.sync = Sync(self.memory, self.folder, self.name, WORDS)

    def read_files(self) -> None:
        self.memory.ingest.remember_many(FILES)

    def say(self, uri: str, text: str) -> None:
        self.memory.ingest.remember(text, title="Note", source=f"note:{uri}", at=DAY)

    def set_profile(self, key: str, value: str, at: datetime = DAY) -> None:
        words = f"{key}: {value}"
        note = Document(f"note:me/{key}", words, title="About me", reader=TOLD, at=at, properties={key: value})
        self.memory.ingest.remember_many([note])

    def correct_code(self, value: str, new: str) -> None:
        """As `pal correct` does it."""
        facts = self.memory.knowledge.facts("Door")
        fact = next(fact for fact in facts if fact.predicate == "code" and fact.objects[-1] == value)
        note = Document(f"note:corrected/{fact.id}", f"Door, code: {new}", title="Said by hand", at=DAY)
        [receipt] = self.memory.ingest.remember_many([note])
        self.memory.knowledge.correct(fact.id, new, receipt.episode_ids[0])

    def codes(self) -> list[str]:
        return sorted({fact.objects[-1] for fact in self.memory.knowledge.facts("Door") if fact.predicate == "code"})

    def forget(self, uri: str) -> None:
        self.memory.forgetting.forget(source=f"note:{uri}")

    def decide(self, verdict: str) -> None:
        """Decides what the later rent does to the earlier one."""
        for row in self.memory.knowledge.revisions("all"):
            if row.old.objects[-1] == "700 euros" and row.new.objects[-1] == "750 euros":
                self.memory.knowledge.settle(row.id, verdict)  # type: ignore[arg-type]

    def chat(self, text: str) -> None:
        """Says something in this computer's newest chat."""
        conversations = self.memory.conversations
        latest = conversations.latest(1)
        conversations.add_question(latest[0].id if latest else conversations.create("Chat"), text)

    def notes(self) -> dict[str, str]:
        """{uri: text} of the notes in no file."""
        texts = {}
        for source in self.memory.sources.list_under("note:"):
            if not source.uri.startswith("note:disputed/"):
                passages = self.memory.browsing.read_source(source.uri).passages
                texts[source.uri] = "\n".join(passage.text for passage in self.memory.sources.episodes(passages))
        return texts

    def rent(self) -> list[tuple[str, str]]:
        """What holds of the rent and how it was decided."""
        try:
            facts = [
                ("fact", fact.objects[-1]) for fact in self.memory.knowledge.facts("Flat") if fact.predicate == "rent"
            ]
        except NotFoundError:
            return []
        return sorted(
            facts + [(row.relation, row.state) for row in self.memory.knowledge.revisions("all", about="Flat")]
        )

    def profile(self) -> dict[str, list[str]]:
        entries = self.memory.knowledge.profile().entries
        return {entry.key: sorted({fact.objects[-1] for fact in entry.facts}) for entry in entries if entry.facts}

    def messages(self) -> list[str]:
        return sorted(
            message.text
            for chat in self.memory.conversations.latest(100)
            for message in self.memory.conversations.get(chat.id)[1]
        )

    def everything(self) -> tuple[object, ...]:
        """What must be the same on every computer."""
        return self.notes(), self.rent(), self.profile(), self.messages()

    def close(self) -> None:
        self.memory.close()


@contextmanager
def make_computers(home: Path, *names: str, template: Path | None = None) -> Iterator[list[Computer]]:
    """Computers of these names; `template` is the memory that each begins with."""
    computers = [Computer(home, name, template) for name in names]
    try:
        yield computers
    finally:
        for computer in computers:
            computer.close()


def carry(source: Computer, to: Computer) -> None:
    """Makes the files of one computer the same in the other's copy of the folder."""
    ours, theirs = source.folder / source.name, to.folder / source.name
    shutil.rmtree(theirs, ignore_errors=True)
    if ours.is_dir():
        shutil.copytree(ours, theirs)


def carry_all(computers: list[Computer]) -> None:
    for source in computers:
        for to in computers:
            if to is not source:
                carry(source, to)


def agree(computers: list[Computer], rounds: int = 8) -> None:
    """Carries everything and synchronises, until nobody has anything to say."""
    for _ in range(rounds):
        for computer in computers:
            computer.sync.run()
        carry_all(computers)
        if not any(computer.sync.is_due for computer in computers):
            return
    raise AssertionError("the computers go on and on")
