"""The tools that an agent gets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, TypeVar

from daemon import wire
from daemon.client import DaemonError
from daemon.mcp.access import MAX_PASSAGES, RefusedError
from daemon.mcp.agent import Agent
from daemon.mcp.results import citation_result, cut_to_size, fact_result, passage_result

T = TypeVar("T")


class Tools:
    """Each method is a tool; its docstring is what an agent reads of it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._traces: set[int] = set()  # of its own questions

    # Reading ------------------------------------------------------------------------------------

    def search(
        self, query: str, k: int = 10, since: datetime | None = None, until: datetime | None = None
    ) -> dict[str, Any]:
        """Find the passages of the person's notes, mails and chats that fit a query best, by words, meaning and links.

        k: how many, at most 50. since, until: only what is from that time (ISO 8601). A score ranks a passage
        among the others; it is no probability. unknown: the words of the query, where no passage has any of them.
        """
        access = self._agent.access
        within = access.limit(since=_localize(since), until=_localize(until))
        reply = self._agent.client.recall(query, max(1, min(k, MAX_PASSAGES)), within=within)
        passages, more = cut_to_size(
            passage_result(hit.passage, hit.score) for hit in reply.hits if access.may_see(hit.passage.uri)
        )
        return {"passages": passages, "cut": more, "unknown": list(reply.unknown)}

    def context(self, task: str, tokens: int = 1000) -> dict[str, Any]:
        """What the memory holds for a task, in few words: the facts that hold, then the sentences of notes that fit
        best, each with the number of its source. Read it before you begin.

        tokens: how long it may be, 100 to 20000.
        """
        reply = self._agent.client.context(task, max(100, min(tokens, 20_000)), within=self._agent.access.limit())
        return context_result(reply)

    def ask(self, question: str, as_of: datetime | None = None, strategy: str = "") -> dict[str, Any]:
        """Ask the memory in words. The answer cites its lines; if nothing is known, it says so and does not guess. Its
        kind is answer, closest (nothing says it plainly, but these lines come close) or none.

        as_of: answer as of that time (ISO 8601). strategy: what walks the graph, such as beam, by default the person's
        choice; after an @ what it may enter: E(pisodes), T(heses) and O(bjects), as in "beam@EO" or "@O".
        """
        access = self._agent.access
        stream = self._agent.client.ask(
            question, as_of=_localize(as_of), within=access.limit(), strategy=strategy, agent=self._agent.name
        )
        answered = next(event for event in stream if isinstance(event, wire.Answered))
        if answered.trace_id is not None:
            self._traces.add(answered.trace_id)
        return {
            "answer": answered.text,
            "kind": answered.kind,
            "known": not answered.no_answer,
            "citations": [citation_result(cited) for cited in answered.citations if access.may_see(cited.uri)],
            "trace": answered.trace_id,
            "untrusted": True,
        }

    def facts(self, about: str, as_of: datetime | None = None) -> dict[str, Any]:
        """What is known of a person, thing or place that holds now, or held at a time (ISO 8601)."""
        reply = self._look_up(
            lambda: self._agent.client.facts(about, as_of=_localize(as_of)), wire.FactsReply(about, ())
        )
        facts, more = cut_to_size(fact_result(fact) for fact in self._agent.select_shared(reply.facts))
        return {"about": reply.about, "facts": facts, "cut": more}

    def history(self, about: str) -> dict[str, Any]:
        """How what is known of a person, thing or place changed over time, old values included."""
        reply = self._look_up(lambda: self._agent.client.history(about), wire.HistoryReply(about, ()))
        values = (value.fact for strand in reply.strands for value in strand.values)
        facts, more = cut_to_size(fact_result(fact) for fact in self._agent.select_shared(values))
        return {"about": reply.about, "facts": facts, "cut": more}

    def recent(self, days: int = 7) -> dict[str, Any]:
        """What changed in the memory lately: facts that took the place of others, and those that contradict others."""
        return self.changes_since(datetime.now(UTC) - timedelta(days=max(1, min(days, 3650))))

    def changes_since(self, since: datetime) -> dict[str, Any]:
        """The same, since a time."""
        access = self._agent.access
        newest = self._agent.client.revisions("all", limit=MAX_PASSAGES).revisions
        changed = (change for change in newest if change.at >= since)
        seen = (change for change in changed if access.may_see(change.old.uri) and access.may_see(change.new.uri))
        results, more = cut_to_size(
            {
                "at": change.at.isoformat(),
                "relation": change.relation,
                "state": change.state,
                "old": fact_result(change.old),
                "new": fact_result(change.new),
                "text": f"{change.old.text} -> {change.new.text}",
            }
            for change in seen
        )
        return {"changes": results, "cut": more}

    def find_related(self, name: str) -> dict[str, Any]:
        """Which people, things and places share facts with one, most often first."""
        reply = self._look_up(lambda: self._agent.client.facts(name), wire.FactsReply(name, ()))
        shared = list(self._agent.select_shared(reply.facts))
        names = chain.from_iterable(fact.objects for fact in shared)
        counts: dict[str, int] = {}
        for other in names:
            if other.casefold() != name.casefold():
                counts[other] = counts.get(other, 0) + 1
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_PASSAGES]
        return {"name": name, "related": [{"name": other, "facts": n} for other, n in ordered]}

    def _look_up(self, look_up: Callable[[], T], nothing: T) -> T:
        """What is known of a name; `nothing` where nothing is, for an agent that may not see all: the error would
        tell it which names are like it, and that this one is not known but unshared."""
        try:
            return look_up()
        except DaemonError as error:
            if error.failed.code != "not_found" or self._agent.access.everything:
                raise
            return nothing

    # Writing ------------------------------------------------------------------------------------

    def remember(self, text: str, title: str = "") -> dict[str, Any]:
        """Keep a note in the memory: what is worth knowing later, in whole sentences with names and dates. It is marked
        as your word, not the person's, and what it would replace of theirs waits for their review. The same note
        again is kept once. There are limits for each note, a minute and a day."""
        note = self._agent.client.remember_for(self._agent.name, text, title)
        return {"source": note.source, "known": note.known}

    def feedback(self, trace: int, verdict: str) -> dict[str, Any]:
        """Judge an answer of `ask`: good or bad; none takes the judgement back."""
        if verdict not in ("good", "bad", "none"):
            raise RefusedError("verdict is good, bad or none.")
        if trace not in self._traces:
            raise RefusedError("You can judge answers to your own questions only, by the trace that `ask` gives.")
        self._agent.client.judge(trace, verdict)
        return {"trace": trace, "verdict": verdict}

    def forget(self, source: str) -> dict[str, Any]:
        """Forget a note that you wrote with `remember`, by its source."""
        if not source.startswith(f"{self._agent.own_notes}/"):
            raise RefusedError("You can forget your own notes only. The person forgets others with `pal forget`.")
        forgotten = self._agent.client.forget(source=source)
        return {"source": source, "passages": forgotten.episodes}


def context_result(context: wire.TaskContext) -> dict[str, Any]:
    """A task's context as an agent sees it."""
    sources = [
        {"n": source.n, "id": source.episode_id, "source": source.uri, "line": source.line, "title": source.title}
        for source in context.sources
    ]
    return {"text": context.text, "tokens": context.tokens, "sources": sources, "untrusted": True}


def _localize(at: datetime | None) -> datetime | None:
    return at.astimezone() if at is not None and at.tzinfo is None else at
