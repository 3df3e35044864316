"""A client that says what a test wants, so that every word, time and id on the screen is known."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.paths import Paths

NOW = datetime(2026, 4, 24, 15, 30, tzinfo=UTC)
HOME = "/home/tilda/notes"


class Script:
    """A stream whose events a test gives one after the other; `close` from any thread ends it."""

    def __init__(self, *events: wire.Event | Exception, ends: bool = True) -> None:
        self._events: queue.SimpleQueue[wire.Event | Exception | None] = queue.SimpleQueue()
        self.closed = False
        for event in events:
            self.give(event)
        if ends:
            self.end()

    def give(self, event: wire.Event | Exception) -> None:
        self._events.put(event)

    def end(self) -> None:
        self._events.put(None)

    def __iter__(self) -> Iterator[wire.Event]:
        while not self.closed and (event := self._events.get()) is not None:
            if isinstance(event, Exception):
                raise event
            if not self.closed:
                yield event

    def close(self) -> None:
        self.closed = True
        self.end()


@dataclass
class ScriptedClient:
    """Answers from its fields. `answers` are used up in order; `down` makes every call fail."""

    state: wire.Status
    answers: list[Script] = field(default_factory=list)
    additions: list[Script] = field(default_factory=list)
    kept: dict[int, wire.MessagesReply] = field(default_factory=dict)
    kept_traces: dict[int, wire.Trace] = field(default_factory=dict)
    whys: dict[int, wire.Why] = field(default_factory=dict)
    whynots: dict[int, wire.WhyNot] = field(default_factory=dict)
    secrets_kept: dict[str, str] = field(default_factory=dict)
    verdicts: dict[int, str | None] = field(default_factory=dict)
    mine: wire.Profile = field(default_factory=lambda: wire.Profile((), (), ()))
    changed: dict[int, wire.Revision] = field(default_factory=dict)
    episodes: dict[int, str] = field(default_factory=dict)
    settled: list[tuple[int, str]] = field(default_factory=list)
    reachable: wire.ModelsReply = field(default_factory=lambda: wire.ModelsReply((), ()))
    left_out: tuple[wire.Skipped, ...] = ()
    probes: list[Script] = field(default_factory=list)
    tries: list[wire.ModelTest] = field(default_factory=list)
    done: list[tuple[object, ...]] = field(default_factory=list)  # what else was told to be done
    suspects: tuple[wire.AliasSuspect, ...] = ()
    paths: Paths = field(default_factory=lambda: Paths.in_folder(Path("/dev/null/palimpsest")))
    passages: int = 1
    known: dict[str, tuple[wire.Fact, ...]] = field(default_factory=dict)
    remembered: dict[str, str] = field(default_factory=dict)
    forgotten: list[dict[str, object]] = field(default_factory=list)
    decided: list[tuple[str, str, bool]] = field(default_factory=list)
    questions: tuple[wire.AskedQuestion, ...] = ()
    problems: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    tagged: dict[str, int] = field(default_factory=dict)
    listed: tuple[wire.ListedSource, ...] = ()
    found: wire.Home = field(default_factory=wire.Home)
    suggested: tuple[str, ...] = ()
    added: list[Path] = field(default_factory=list)  # what was read once
    counted: wire.Counted = field(default_factory=lambda: wire.Counted(86, 1_204_000, complete=True))
    since: datetime | None = None  # what Home was asked for
    things: tuple[wire.FoundObject, ...] = ()
    told: tuple[wire.Fact, ...] = ()
    notes: tuple[wire.ListedSource, ...] = ()
    object_pages: dict[str, wire.ObjectReply] = field(default_factory=dict)
    note_pages: dict[str, wire.NoteReply] = field(default_factory=dict)
    did: list[tuple[object, ...]] = field(default_factory=list)  # what was changed by hand: the call and its words
    down: str = ""
    asked: list[tuple[str, dict[str, object]]] = field(default_factory=list)  # questions, and how each was asked
    live: Script = field(default_factory=lambda: Script(ends=False))
    ids: itertools.count[int] = field(default_factory=lambda: itertools.count(100))

    def connect(self, start: bool) -> ScriptedClient:
        if self.down:
            raise DaemonDownError(self.down)
        return self

    def status(self) -> wire.Status:
        return self.state

    def stop(self) -> None:
        self.did.append(("stop",))

    def hello(self) -> None:
        self.did.append(("hello",))

    def home(self, since: datetime | None = None) -> wire.Home:
        self.since = since
        return replace(self.found, since=since)

    def suggestions(self) -> wire.SuggestionsReply:
        return wire.SuggestionsReply(self.suggested, self.notes[:5], tuple(one.name for one in self.things[:5]))

    def ask(self, question: str, **how: object) -> Script:
        self.asked.append((question, how))
        return self.answers.pop(0)

    def add(self, paths: list[Path]) -> Script:
        self.added += paths
        return self.additions.pop(0)

    def count(self, paths: list[Path]) -> wire.Counted:
        return self.counted

    def models(self, elsewhere: bool = False) -> wire.ModelsReply:
        return self.reachable

    def watch(self, path: Path, **rules: object) -> wire.Folder:
        known = {folder.path: folder for folder in self.state.files.folders}
        folder = replace(known.get(str(path), wire.Folder(str(path), "scanning")), **rules)  # type: ignore[arg-type]
        self.state = replace(
            self.state, files=replace(self.state.files, folders=tuple((known | {folder.path: folder}).values()))
        )
        return folder

    def conversations(self) -> tuple[wire.Conversation, ...]:
        return tuple(reply.conversation for reply in self.kept.values())

    def conversation(self, id: int) -> wire.MessagesReply:
        if id not in self.kept:
            raise DaemonError(wire.Failed("not_found", f"There is no session {id}.", "Choose another one."))
        return self.kept[id]

    def new_conversation(self, title: str = "") -> wire.Conversation:
        new = wire.Conversation(next(self.ids), title, NOW, NOW)
        self.kept[new.id] = wire.MessagesReply(new, ())
        return new

    def rename_conversation(self, id: int, title: str) -> wire.Conversation:
        kept = self.conversation(id)
        self.kept[id] = replace(kept, conversation=replace(kept.conversation, title=title))
        return self.kept[id].conversation

    def use_models(self, role: str, names: tuple[str, ...]) -> wire.ModelsReply:
        used = next((name for name in names if name in [row.name for row in self.reachable.models]), "")
        self.reachable = replace(self.reachable, roles=(wire.ModelRole(role, names, used),))
        return self.reachable

    def try_model(self, name: str) -> wire.ModelTest:
        return self.tries.pop(0)

    def search_conversations(self, words: str, limit: int = 50) -> tuple[wire.ConversationMatch, ...]:
        found = []
        for kept in self.kept.values():
            holding = [one for one in kept.messages if words.casefold() in one.text.casefold()]
            if holding:
                last = holding[-1]
                found.append(
                    wire.ConversationMatch(kept.conversation, len(holding), last.id, last.role, last.text, last.at)
                )
        return tuple(found)

    def delete_conversation(self, id: int) -> None:
        del self.kept[id]

    def activity(self) -> Script:
        return self.live

    def why(self, id: int) -> wire.Why:
        if id not in self.whys:
            raise DaemonError(wire.Failed("not_found", f"There is no trace {id}.", "It may have been forgotten."))
        return self.whys[id]

    def trace(self, id: int) -> wire.Trace:
        if id not in self.kept_traces:
            raise DaemonError(wire.Failed("not_found", f"There is no trace {id}.", "It may have been forgotten."))
        return self.kept_traces[id]

    def whynot(self, id: int, words: str) -> wire.WhyNot:
        return replace(self.whynots[id], words=words)

    def secrets(self, placeholders: tuple[str, ...]) -> dict[str, str]:
        return {one: self.secrets_kept[one] for one in placeholders if one in self.secrets_kept}

    def judge(self, id: int, verdict: str) -> wire.VerdictReply:
        before, after = self.verdicts.get(id), None if verdict == "none" else verdict
        self.verdicts[id] = after
        asked = wire.AskedQuestion(id, NOW, "Who?", False, verdict=after)
        return wire.VerdictReply(asked, before, self.passages)

    def profile(self) -> wire.ProfileReply:
        return wire.ProfileReply(self.mine)

    def set_profile(self, key: str, value: str) -> wire.ProfileReply:
        fact = wire.Fact(
            7, "relation", f"{key}: {value}", ("you", value), NOW, None, NOW, None, None, 3, f"note:me/{key}", 1,
            predicate=key, since=f"{NOW.date()}",
        )  # fmt: skip
        others = tuple(entry for entry in self.mine.entries if entry.key != key)
        self.mine = replace(self.mine, entries=(*others, wire.ProfileEntry(key, (fact,))))
        return wire.ProfileReply(self.mine)

    def revisions(self, state: str = "open", about: str | None = None, limit: int = 50) -> wire.RevisionsReply:
        found = sorted(self.changed.values(), key=lambda one: -one.id)
        waiting = [one for one in found if one.state == "open"]
        listed = tuple(waiting if state == "open" else found)[:limit]
        return wire.RevisionsReply(listed, len(waiting), self.suspects)

    def settle(self, id: int, verdict: str) -> wire.Revision:
        self.settled.append((id, verdict))
        states = {"both": "settled", "open": "open", "undo": "undone"}
        one = self.changed[id]
        new = replace(one.new, retired=NOW if verdict == "old" else None)
        self.changed[id] = replace(
            one, new=new, state=states.get(verdict, "kept"), settled=None if verdict == "open" else NOW
        )
        self.state = replace(self.state, review=sum(one.state == "open" for one in self.changed.values()))
        self.live.give(wire.FactChanged(self.changed[id]))
        return self.changed[id]

    def episode(self, id: int) -> wire.Passage:
        if id not in self.episodes:
            raise DaemonError(wire.Failed("not_found", f"There is no passage {id}."))
        return wire.Passage(id, f"{HOME}/a.md", "file", "A", self.episodes[id])

    def names_beginning(self, begin: str, limit: int = 20) -> tuple[str, ...]:
        return tuple(name for name in self.objects if name.casefold().startswith(begin.casefold()))[:limit]

    def tags(self) -> tuple[wire.Tag, ...]:
        return tuple(wire.Tag(name, sources) for name, sources in self.tagged.items())

    def strategies(self) -> dict[str, str]:
        return {"spread": "Personalised PageRank: the default.", "beam": "Beam search from all starts at once."}

    def sources(self, query: str = "", limit: int = 100) -> wire.SourcesReply:
        found = [one for one in self.listed if query.casefold() in f"{one.uri} {one.title}".casefold()]
        return wire.SourcesReply(tuple(found[:limit]), len(found))

    def unwatch(self, path: Path, forget: bool = False) -> wire.Forgotten:
        self.done.append(("unwatch", str(path), forget))
        rest = tuple(folder for folder in self.state.files.folders if folder.path != str(path))
        self.state = replace(self.state, files=replace(self.state.files, folders=rest))
        return wire.Forgotten(sources=86 if forget else 0)

    def decide_gone(self, path: Path, *, keep: bool) -> wire.Folder:
        self.done.append(("gone", str(path), keep))
        return self.watch(path, gone=0)

    def folders(self) -> tuple[wire.Folder, ...]:
        return self.state.files.folders

    def list_skipped(self, match: str = "", limit: int = 1000) -> wire.SkippedReply:
        found = tuple(one for one in self.left_out if match in one.uri + one.reason)
        return wire.SkippedReply(found[:limit], len(found))

    def enable_enrichment(self, enabled: bool) -> wire.Enrichment:
        known = replace(self.state.enrichment or wire.Enrichment("idle"), state="idle" if enabled else "off")
        self.state = replace(self.state, enrichment=known)
        return known

    def retry(self, id: int | None = None) -> int:
        self.done.append(("retry", id))
        return 1 if id else 2

    def probe_model(self, name: str) -> Script:
        return self.probes.pop(0)

    def check(self) -> wire.Check:
        return wire.Check(self.problems, ("pages",))

    def plugins(self) -> wire.PluginsReply:
        return wire.PluginsReply(wire.Plugin("built in", "palimpsest 1"))

    def embedder(self) -> wire.EmbedderReply:
        return wire.EmbedderReply("static", "static")

    def backup(self) -> wire.BackedUp:
        self.done.append(("backup",))
        self.problems = ()
        return wire.BackedUp("/backup/memory-1.db", 18_400_000)

    def facts(self, about: str) -> wire.FactsReply:
        return wire.FactsReply(about, self.known.get(about, ()))

    def remember(self, text: str, *, source: str = "") -> wire.Receipt:
        if len(text) > 100_000:
            raise DaemonError(wire.Failed("invalid", "That is too much.", "Add it as a file."))
        self.remembered[source] = text
        return wire.Receipt(1, (1,), added=1)

    def tell(self, text: str, conversation: int | None = None) -> wire.SavedStatement:
        source = f"told:{len(self.remembered)}"
        self.remembered[source] = text
        return wire.SavedStatement(text, source, 1, changes=tuple(self.changed.values()))

    def set_telling(self, remember: str) -> None:
        self.done.append(("set_telling", remember))

    def forget(self, **chosen: object) -> wire.Forgotten:
        self.forgotten.append(chosen)
        self.remembered.pop(str(chosen.get("source")), None)
        return wire.Forgotten(sources=1, episodes=4, facts=2, copies=(wire.Copy("/backup/memory.db", NOW),))

    def names(self, one: str, other: str, same: bool) -> wire.Names:
        self.decided.append((one, other, same))
        return wire.Names(one, other, same, 1)

    def remove_from_profile(self, key: str) -> wire.ProfileReply:
        self.mine = replace(self.mine, entries=tuple(one for one in self.mine.entries if one.key != key))
        return wire.ProfileReply(self.mine)

    def traces(self, limit: int = 50, offset: int = 0) -> wire.TracesReply:
        return wire.TracesReply(self.questions[offset : offset + limit], len(self.questions))

    def tidy(self) -> wire.ConsolidationReport:
        return wire.ConsolidationReport(joined=3)

    def search(self, what: str, words: str = "", limit: int = 100, offset: int = 0) -> wire.SearchReply:
        lists: dict[str, list[tuple[str, Any]]] = {
            "objects": [(one.name, one) for one in self.things],
            "facts": [(one.text, one) for one in self.told],
            "notes": [(one.title, one) for one in self.notes],
        }
        found = [one for text, one in lists[what] if words.casefold() in text.casefold()]
        return wire.SearchReply(len(found), **{what: tuple(found[offset : offset + limit])})

    def object(self, name: str) -> wire.ObjectReply:
        if name not in self.object_pages:
            return wire.ObjectReply(name, (name,), (), (), (), 0, ())
        return self.object_pages[name]

    def note(self, uri: str) -> wire.NoteReply:
        if uri not in self.note_pages:
            raise DaemonError(wire.Failed("not_found", f"{uri} is not in memory.", "It may have been deleted."))
        return self.note_pages[uri]

    def correct(self, fact: int, value: str) -> wire.Corrected:
        self.did.append(("correct", fact, value))
        return wire.Corrected(self.told[0])

    def take_back_correction(self, fact: int) -> wire.Corrected:
        self.did.append(("take back", fact))
        return wire.Corrected(self.told[0])

    def go_down(self, reason: str) -> None:
        """The daemon goes away."""
        self.down = reason
        live, self.live = self.live, Script(ends=False)
        live.end()

    def come_back(self) -> None:
        self.down = ""
