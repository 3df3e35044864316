"""What the chat says about facts, and about what was kept and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from daemon import wire
from daemon.terminal import count, statement
from tui.wording import day, short_path

MAX_FACTS = 24
AUTHORS = {"rule": "a rule", "model": "a model", "user": "you"}


def facts_report(reply: wire.FactsReply, folders: Sequence[str] = ()) -> str:
    """What is known of something, each with since when and from where."""
    lines = (
        [f"Known of {reply.about}:"]
        if reply.facts
        else [f"Nothing is known of {reply.about} but its name. Ask for it."]
    )
    for fact in reply.facts[:MAX_FACTS]:
        lines += [f"  {statement(fact)}", f"      {_where(fact, folders)}"]
    if len(reply.facts) > MAX_FACTS:
        lines.append(f"and {len(reply.facts) - MAX_FACTS:,} more: pal facts {reply.about!r}")
    lines += [f"Two notes disagree: {describe_change(one)}. /review decides." for one in reply.disputes]
    return "\n".join(lines)


def history_report(reply: wire.HistoryReply, folders: Sequence[str] = ()) -> str:
    """How each thing that is known of something changed, and who replaced it."""
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
    return "\n".join(lines) or f"No fact of {reply.about} was ever replaced, or none was read out of your notes."


def describe_change(one: wire.Revision) -> str:
    """`“lives in Lyon” gave way to “lives in Turin”`, or that two notes disagree."""
    joined = "and" if one.relation == "contradicts" else "gave way to"
    return f"“{statement(one.old)}” {joined} “{statement(one.new)}”"


def forgotten_report(gone: wire.Forgotten) -> str:
    """What is gone for good, and where else it still stands."""
    if not any((gone.sources, gone.episodes, gone.objects, gone.facts)):
        return "It is not in the memory any more, or never was."
    parts = ((gone.sources, "note"), (gone.episodes, "passage"), (gone.objects, "name"), (gone.facts, "fact"))
    lines = [f"Forgotten for good: {', '.join(count(number, noun) for number, noun in parts if number)}."]
    if gone.pending:
        lines.append(f"Not yet off the disk: {gone.pending}. It is tried again until it is.")
    lines += [f"The same text is still known from {short_path(uri)}." for uri in gone.also_in]
    lines += _list_copies(gone.copies)
    return "\n".join(lines)


def _list_copies(copies: Iterable[wire.Copy]) -> list[str]:
    lines = [f"  {short_path(copy.path)}, {day(copy.at.astimezone())}" for copy in copies]
    return ["Still in these copies of the memory, which are yours to delete:", *lines] if lines else []


def _where(fact: wire.Fact, folders: Sequence[str]) -> str:
    held = f"{fact.since or 'some time'} to {fact.until}" if fact.until else f"since {fact.since}" if fact.since else ""
    if fact.uri.startswith("note:"):
        place = "you said so" if fact.uri.startswith("note:me/") else fact.title or "a note of yours"
    else:
        place = short_path(fact.uri, folders)
        place = place if fact.line is None else wire.name_place(place, fact.line)
    return ", ".join(filter(None, (held, place, f"fact {fact.id}")))
