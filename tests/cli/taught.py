"""A memory that was taught by hand, for what is shown of facts: the daemon that a test starts finds it there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory import Memory
from memory.facts.extraction import ExtractedRelation, Extraction
from memory.nouns import Document
from memory.settings import MemorySettings
from plugins import manager
from tests.cli.vault import Shell

HOSTILE = "Porto\x1b[31m [bold]"


def teach(shell: Shell, *told: tuple[str, str, tuple[str, str, str], str]) -> list[int]:
    """Remembers and learns, in order: (file, text, (subject, predicate, object), modality); the day is the file's name.

    Returns the episodes' ids.
    """
    shell.home.mkdir(exist_ok=True)
    found = []
    by_hand = MemorySettings(rules=False)
    with Memory.open(shell.home / "memory.db", embedder=manager.load().embedder("static"), settings=by_hand) as memory:
        for name, text, (subject, predicate, object), modality in told:
            at = datetime.strptime(Path(name).stem[:10], "%Y-%m-%d").replace(tzinfo=UTC)
            document = Document(str(shell.folder / name), text, title=name, kind="file", at=at, sha256=text)
            [receipt] = memory.ingest.remember_many([document])
            [id] = receipt.episode_ids
            relation = ExtractedRelation(
                subject=subject, predicate=predicate, object=object, start=0, end=len(text),
                modality=modality, single=True,  # type: ignore[arg-type]
            )  # fmt: skip
            memory.knowledge.assert_facts({id: Extraction((relation,))})
            found.append(id)
    return found


def moved(shell: Shell) -> list[int]:
    """Marta moved, plans to move again, and pays a rent that two notes do not agree on."""
    return teach(
        shell,
        ("2024-05-01.md", "Marta lives in Lisbon.", ("Marta", "lives in", "Lisbon"), "asserted"),
        ("2026-03-09.md", "Marta lives in Porto now.", ("Marta", "lives in", "Porto"), "asserted"),
        ("2026-03-10.md", "Marta will live in Faro.", ("Marta", "lives in", "Faro"), "plan"),
        ("2026-03-11.md", "Marta's rent is 640 euros.", ("Marta", "rent", "640 euros"), "asserted"),
        ("2026-03-11b.md", "Marta's rent is 650 euros.", ("Marta", "rent", "650 euros"), "asserted"),
        ("2026-03-12.md", "Marta no longer owns a boat.", ("Marta", "owns", "a boat"), "negated"),
    )
