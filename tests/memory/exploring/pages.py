"""Memories to explore: a chain of pages that lead one to the other, among others that do not."""

from __future__ import annotations

from memory import Memory
from memory.nouns import Document, Policy
from memory.retrieval.state import RetrievalResult

QUESTION = "In which country was the director of Free Guy born?"
PAGES = {
    "Free Guy": "Free Guy is a film about a bank clerk. It was directed by Shawn Levy over two summers.",
    "Shawn Levy": "Shawn Levy likes long takes. He grew up in Montreal before he left for Yale.",
    "Montreal": "Montreal lies on an island of Quebec. Its winters are long.",
    "Quebec": "Quebec is a province. It belongs to Canada.",
    "Yale": "Yale keeps a library of maps.",
}
FILLERS = {f"Garden {n}": f"Bed number {n} holds carrots, and Uncle Toby waters them every day {n}." for n in range(20)}


def document(title: str, text: str, policy: Policy = "any") -> Document:
    return Document(f"/{title}.md", text, title=title, kind="file", policy=policy)


def fill(memory: Memory, policies: dict[str, Policy] | None = None) -> None:
    policies = policies or {}
    for title, text in (PAGES | FILLERS).items():
        memory.ingest.remember_many([document(title, text, policies.get(title, "any"))])


def asked(memory: Memory, question: str = QUESTION, k: int = 1) -> RetrievalResult:
    return memory.questions.retrieve(question, k, None, None, None)


def titles(memory: Memory) -> dict[int, str]:
    """Episode id -> title."""
    with memory.store.reading() as conn:
        return dict(conn.execute("SELECT id, label FROM node WHERE kind = 'E'").fetchall())
