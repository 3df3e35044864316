"""Reports on facts, and on remembering and forgetting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from daemon import wire
from daemon.terminal import count, statement
from tui.wording import day, short_path

MAX_FACTS = 24
AUTHORS = {"rule": "a rule", "model": "a model", "user": "you"}


def facts_report(reply: wire.FactsReply, folders: Sequence[str] = ()) -> str:
    """Facts about something, each with its time and source."""
    lines = (
        [f"Facts about {reply.about}:"]
        if reply.facts
        else [f"No facts about {reply.about} yet, only mentions. Ask about it in the chat."]
    )
    for fact in reply.facts[:MAX_FACTS]:
        lines += [f"  {statement(fact)}", f"      {_where(fact, folders)}"]
    if len(reply.facts) > MAX_FACTS:
        lines.append(f"and {len(reply.facts) - MAX_FACTS:,} more: pal facts {reply.about!r}")
    lines += [f"Two notes disagree: {describe_change(dispute)}. /review decides." for dispute in reply.disputes]
    return "\n".join(lines)


def history_report(reply: wire.HistoryReply, folders: Sequence[str] = ()) -> str:
    """How facts about something changed, and who replaced them."""
    lines = []
    for strand in reply.strands:
        lines.append(f"{strand.subject}, {strand.predicate}:" if strand.predicate else f"{strand.subject}:")
        for value in strand.values:
            fact = value.fact
            words = fact.objects[-1] if fact.predicate else f"“{' '.join(fact.text.split())}”"
            lines += [f"  {words}", f"      {_where(fact, folders)}"]
            if value.ended is not None:
                author = AUTHORS.get(value.ended.author, value.ended.author)
                lines.append(f"      replaced by {author}: {value.ended.reason}")
    return "\n".join(lines) or f"No fact of {reply.about} was ever replaced, or none was found in your notes."


def describe_change(revision: wire.Revision) -> str:
    """`“lives in Lyon” was replaced by “lives in Turin”`, or that two notes disagree."""
    joined = "and" if revision.relation == "contradicts" else "was replaced by"
    return f"“{statement(revision.old)}” {joined} “{statement(revision.new)}”"


def forgotten_report(reply: wire.Forgotten) -> str:
    """The forgotten data, and where else it still exists."""
    if not any((reply.sources, reply.episodes, reply.objects, reply.facts)):
        return "It is not in the memory."
    parts = ((reply.sources, "note"), (reply.episodes, "passage"), (reply.objects, "name"), (reply.facts, "fact"))
    lines = [f"Forgotten for good: {', '.join(count(number, noun) for number, noun in parts if number)}."]
    if reply.pending:
        lines.append(f"Not yet erased from the disk: {reply.pending}. The daemon keeps trying.")
    lines += [f"The same text is also in {short_path(uri)}." for uri in reply.also_in]
    lines += _list_copies(reply.copies)
    return "\n".join(lines)


def _list_copies(copies: Iterable[wire.Copy]) -> list[str]:
    lines = [f"  {short_path(copy.path)}, {day(copy.at.astimezone())}" for copy in copies]
    return ["Still in these copies of the memory, which you have to delete yourself:", *lines] if lines else []


def _where(fact: wire.Fact, folders: Sequence[str]) -> str:
    held = f"{fact.since or 'some time'} to {fact.until}" if fact.until else f"since {fact.since}" if fact.since else ""
    if fact.uri.startswith("note:"):
        place = "you said so" if fact.uri.startswith("note:me/") else fact.title or "a note of yours"
    else:
        place = short_path(fact.uri, folders)
        place = place if fact.line is None else wire.name_place(place, fact.line)
    return ", ".join(filter(None, (held, place, f"fact {fact.id}")))
