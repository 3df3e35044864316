"""All that may happen to a memory, at once: asking, writing, forgetting, verdicts, and other embedders taking over."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memory import Memory
from memory.edge_memory.edges import load_edge_memory
from memory.errors import NotFoundError
from memory.llm import LlmRequest, Reply, Usage, length
from memory.nouns import Answer, Document
from memory.protocols import Embedder
from tests.memory.test_forgetting import residue

ROUNDS = 12
FIRST = re.compile(r"^\[(\d+)\] [^:]*:\n +([^.\n]+\.)", re.MULTILINE)
QUESTIONS = ("Where does the boat Marlin lie?", "Who paints the boat Marlin?", "What does Berit Lund own?")


class Reader:
    """A model that answers with the first sentence of the best passage."""

    name, context_tokens, is_local = "reader", 8_000, True

    def complete(self, request: LlmRequest) -> Reply:
        shown = FIRST.search(request.messages[0].text)
        said = "NO ANSWER: it" if shown is None else f"{shown[2].rstrip('.')} [{shown[1]}]."
        return Reply("DONE" if request.purpose == "guide" else said, Usage(length(request), 20))

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        reply = self.complete(request)
        yield from re.findall(r"\S+\s*", reply.text)
        yield reply


class Renamed:
    """An embedder under another name."""

    batch, query_prefix, document_prefix = 8, "", ""

    def __init__(self, embedder: Embedder, name: str) -> None:
        self.name, self.dimension = name, embedder.dimension
        self.embed_documents, self.embed_query = embedder.embed_documents, embedder.embed_query


def learnt(memory: Memory) -> dict[tuple[int, int], bytes]:
    """What every edge remembers, slot by slot, to the bit."""
    with memory.store.reading() as conn:
        return {(edge, slot): data for edge, slot, data in conn.execute("SELECT edge_id, slot, data FROM edge_memory")}


def test_whatever_happens_at_once_nothing_is_mixed_lost_or_kept(tmp_path: Path, static: Embedder) -> None:
    model, failures, answers = Reader(), [], []
    written = [threading.Event() for _ in range(ROUNDS)]
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:

        def note(name: str, text: str) -> None:
            memory.ingest.remember_many([Document(f"/{name}.md", text, title=name)])

        def ask(n: int) -> None:
            *_, answer = memory.questions.ask(QUESTIONS[n % 3], llm=lambda _: model if n % 4 else None)
            assert isinstance(answer, Answer) and (answer.trace_id or answer.no_answer)
            answers.append(answer)

        def write(n: int) -> None:
            note(f"log {n % 5}", f"Berit Lund paints the boat Marlin in year {n}.")
            note(f"secret {n}", f"The boat Marlin lies in Qqq{n}zwickl. Berit Lund owns Qqq{n}zwickl.")
            written[n].set()

        def forget(n: int) -> None:
            assert written[n].wait(60)
            memory.forgetting.forget(source=f"/secret {n}.md")

        def judge(n: int) -> None:
            for asked in memory.questions.traces(3):
                try:
                    memory.questions.feedback(asked.id, ("good", "bad", "none")[n % 3])
                except NotFoundError:  # it went with what was forgotten
                    continue

        def switch(n: int) -> None:
            list(memory.maintenance.switch_embedder(Renamed(static, f"static {n}")))

        def rounds(work: Callable[[int], Any]) -> None:
            try:
                for n in range(ROUNDS):
                    work(n)
            except BaseException as error:
                failures.append(error)

        note("Marlin", "The boat Marlin lies in Skagen. Berit Lund owns the boat Marlin.")
        threads = [threading.Thread(target=rounds, args=[work]) for work in (write, forget, judge, switch, ask, ask)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for failure in failures:
            raise failure
        assert len(answers) == 2 * ROUNDS
        assert memory.maintenance.check().problems == ()
        assert residue(memory, "zwickl") == [], "a trace, a vector's text or an answer kept it"

        list(memory.questions.ask(QUESTIONS[0], llm=lambda _: model))
        before, served = learnt(memory), memory.state.edge_memory[1]
        with memory.store.reading() as conn:
            stored = load_edge_memory(conn, memory.state.serving.embedder_id, static.dimension)
        assert sorted(served.edges[served.alive].tolist()) == stored.edges.tolist() != []
        assert served.traces.tolist() == stored.traces.tolist() != []
        assert memory.maintenance.rebuild_edge_memory() == len(stored.edges)
        assert learnt(memory) == before, "the traces make the same of it"
