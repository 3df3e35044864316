"""A small memory whose questions were answered well: notes about people, and traces with the right citations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory import Memory
from memory.edge_memory.edges import load_edge_memory
from memory.edge_memory.reinforce import reinforce_edges
from memory.nouns import Answer, Citation, Document
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse
from memory.retrieval.pipeline import retrieve, training_signal
from memory.store import traces
from memory.trace import Plan

NAMES = "Ana Bela Carl Dora Emil Fritz Greta Hugo Ines Jonas Karla Lars".split()
TOWNS = "Oslo Rome Paris Lisbon Vienna Prague Dublin Madrid Athens Warsaw Berlin Geneva".split()
BEGAN = 1_767_225_600_000


def fill(path: Path, embedder: Embedder, questions: int) -> None:
    """Writes the notes, and asks: who moved where, which two notes tell."""
    with Memory.open(path, embedder=embedder) as memory:
        memory.ingest.remember_many(_notes())
        for number in range(questions):
            trace(memory, number)


def trace(memory: Memory, number: int, cites: Sequence[int] | None = None) -> int:
    """One question, whose answer cites the notes that tell it, or those given; its id."""
    name = NAMES[number % len(NAMES)]
    text = f"Where does the friend of {name} live, asked for the time {number}?"
    serving = memory.state.serving
    with memory.store.reading() as conn:
        found = retrieve(conn, serving.snapshot, serving.embedder, memory.state.settings.recall, analyse(text), 10)
        known = load_edge_memory(conn, serving.embedder_id, serving.embedder.dimension)
        wanted = [f"friends {name}.md", f"home {_friend(name)}.md"]
        rows = conn.execute(
            "SELECT e.node_id, e.text FROM episode e JOIN source s ON s.id = e.source_id WHERE s.uri IN (?, ?)", wanted
        ).fetchall()
    quotes = [(id, words) for id, words in rows if cites is None or id in cites]
    citations = tuple(Citation(n, id, "u", "t", words) for n, (id, words) in enumerate(quotes, 1))
    said = Answer(f"In {TOWNS[NAMES.index(_friend(name))]}.", citations, model="a model")
    credit, query = training_signal(found, said), serving.embedder.embed_query(text)
    with memory.store.writing() as conn:
        id = traces.store(conn, found.recall.trace, said, BEGAN + number, Plan())
        reinforce_edges(conn, known, serving.embedder_id, id, query, credit, BEGAN + number)
    return id


def _friend(name: str) -> str:
    return NAMES[(NAMES.index(name) + 5) % len(NAMES)]


def _notes() -> list[Document]:
    notes = []
    for number, name in enumerate(NAMES):
        other = NAMES[(number + 3) % len(NAMES)]
        texts = {
            "friends": f"{name} has a friend whose name is {_friend(name)}. They met in the school.",
            "home": f"{name} lives in {TOWNS[number]} beside the river.",
            "work": f"{name} and {other} work together in the museum. {other} is tired.",
            "food": f"{name} likes soup. {other} likes bread and {name} does not.",
        }
        notes += [Document(f"{kind} {name}.md", text, title=f"{kind} {number}") for kind, text in texts.items()]
    return notes
