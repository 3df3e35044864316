"""The client of the daemon: blocking, standard library only, cheap to import.

`daemon.starting.connect(Paths.from_environment())` returns a `Client`, starting the daemon in the background if none
answers. Each request has its own connection (`daemon.connection`), so a client may be used from several threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from daemon import wire
from daemon.connection import DaemonDownError as DaemonDownError
from daemon.connection import DaemonError as DaemonError
from daemon.connection import Lines as Lines
from daemon.connection import Stream as Stream
from daemon.connection import send
from daemon.paths import Paths

if TYPE_CHECKING:
    from datetime import datetime

QUICK = 30.0  # seconds without a byte after which a daemon that answers from memory is given up
SLOW = 600.0  # the same, for what works through the whole memory

T = TypeVar("T")


class Client:
    """The daemon's calls, as `daemon.wire` types. Every method may raise DaemonError and DaemonDownError."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths

    def hello(self) -> wire.Hello:
        return self._call("GET", "/hello", wire.Hello)

    def status(self) -> wire.Status:
        return self._call("GET", "/status", wire.Status)

    def home(self, since: datetime | None = None, day: str | None = None) -> wire.Home:
        """What is new since then, what waits for review, what is planned; or as it was or will be on a `day`, which is
        like "2026-03-09"."""
        return self._call("GET", _with("/home", since=since, day=day), wire.Home)

    def diff(self, since: datetime, until: datetime | None = None, limit: int = 50) -> wire.DiffReply:
        """What changed in the memory from one time to another, by default now."""
        return self._call("GET", _with("/diff", since=since, until=until, limit=limit), wire.DiffReply)

    def suggestions(self) -> wire.SuggestionsReply:
        """What could be asked and looked at; finding it takes a moment."""
        return self._call("GET", "/suggestions", wire.SuggestionsReply)

    def ask(
        self,
        question: str,
        *,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        conversation: int | None = None,
        effort: str = "normal",
        replay: bool = True,
        strategy: str = "",
        own_words: bool = False,
        agent: str = "",
    ) -> Stream:
        """The events of a question; the last one is an Answered. Closing the stream stops the work.

        `conversation` is the id of a chat session the turn is saved in; `effort`, how far the question may go: quick |
        normal | deep. Without `replay` nothing of earlier questions is used, and nothing is learnt from this one.
        `strategy`: what walks the graph, by default that of the settings. `own_words`: a person typed it, and what they
        tell in it may be kept (`chat.remember`); then a Told comes first. `agent`: who asks, if it is no person.
        """
        return self._stream(
            "POST", "/ask", wire.Answered, question=question, as_of=as_of, within=within, conversation=conversation,
            effort=effort, replay=replay, strategy=strategy, own_words=own_words, agent=agent,
        )  # fmt: skip

    def tell(self, text: str, conversation: int | None = None) -> wire.Told:
        """Keeps what a person told, in their own words, said now in that chat session."""
        return self._call("POST", "/told", wire.Told, SLOW, text=text, conversation=conversation)

    def take_back_told(self, source: str = "") -> wire.Told:
        """Forgets what was kept last of what a person told, if it is this `source`, or whatever it is."""
        return self._call("POST", "/told/undo", wire.Told, SLOW, source=source)

    def set_telling(self, remember: str) -> None:
        """From now on: whether what a person tells in the chat is kept: yes | no | ask."""
        self._call("PUT", "/told", dict, remember=remember)

    def recall(
        self,
        question: str,
        k: int = 10,
        *,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        strategy: str = "",
    ) -> wire.RecallReply:
        return self._call(
            "POST", "/recall", wire.RecallReply, SLOW, question=question, k=k, as_of=as_of, within=within,
            strategy=strategy,
        )  # fmt: skip

    def context(
        self, task: str, tokens: int = 1000, *, as_of: datetime | None = None, within: wire.Scope | None = None
    ) -> wire.TaskContext:
        """What the memory holds for a task, in so many tokens, about, at most."""
        return self._call(
            "POST", "/context", wire.TaskContext, SLOW, task=task, tokens=tokens, as_of=as_of, within=within
        )

    def traces(self, limit: int = 50, offset: int = 0) -> wire.TracesReply:
        """The questions that were asked, the newest first."""
        return self._call("GET", _with("/traces", limit=limit, offset=offset), wire.TracesReply)

    def trace(self, id: int) -> wire.Trace:
        return self._call("GET", f"/traces/{id}", wire.Trace)

    def ask_again(self, id: int, *, conversation: int | None = None, replay: bool = True) -> Stream:
        """The events of the question of a trace, asked once more; the last one is an Answered. `conversation` and
        `replay` are as for `ask`: with `replay` what was cited before comes first again."""
        return self._stream("POST", f"/traces/{id}/again", wire.Answered, conversation=conversation, replay=replay)

    def why(self, id: int) -> wire.Why:
        """What the answer of a trace rests on."""
        return self._call("GET", f"/traces/{id}/why", wire.Why)

    def whynot(self, id: int, words: str) -> wire.WhyNotReply:
        """Why the answer of a trace does not hold these words."""
        return self._call("GET", _with(f"/traces/{id}/whynot", words=words), wire.WhyNotReply)

    def judge(self, id: int, verdict: str) -> wire.Judged:
        """What the person says of the answer of a trace: good | bad | none."""
        return self._call("POST", f"/traces/{id}/feedback", wire.Judged, SLOW, verdict=verdict)

    def rebuild(self, what: tuple[str, ...]) -> Stream:
        """The events of making views anew; the last one is a Rebuilt. It goes on if the stream is closed. `what`:
        "memory", what edges remember of questions, from the traces; "text", the full text, from the passages."""
        return self._stream("POST", "/rebuild", wire.Rebuilt, what=what)

    def train(self, dry_run: bool = False) -> Stream:
        """The events of learning from earlier questions; the last one is a Trained. It goes on if the stream is
        closed. With `dry_run` nothing is written."""
        return self._stream("POST", "/train", wire.Trained, dry_run=dry_run)

    def undo_training(self) -> wire.TrainingUndone:
        """Takes back what was learnt last."""
        return self._call("POST", "/train/undo", wire.TrainingUndone, SLOW)

    def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        source: str | None = None,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
    ) -> wire.Receipt:
        """Keeps a note, from `at`, by default from now."""
        return self._call(
            "POST", "/remember", wire.Receipt, SLOW, text=text, title=title, source=source, at=at, speaker=speaker,
            ref=ref,
        )  # fmt: skip

    def remember_for(self, agent: str, text: str, title: str = "") -> wire.KeptNote:
        """Keeps a note that an agent writes, as its own word, within the limits of the settings."""
        return self._call("POST", "/agents/remember", wire.KeptNote, SLOW, agent=agent, text=text, title=title)

    def capture(self, client: str, session: str, turns: Sequence[wire.Turn], title: str | None = None) -> wire.Captured:
        """Keeps what is new of a session with an agent."""
        return self._call(
            "POST", "/capture", wire.Captured, SLOW, client=client, session=session, turns=list(turns), title=title
        )

    def agents(self) -> tuple[wire.Agent, ...]:
        """The agents that wrote or judged anything."""
        return self._call("GET", "/agents", wire.AgentsReply, SLOW).agents

    def undo_agent(self, agent: str, since: datetime | None = None) -> wire.AgentUndone:
        """Forgets an agent's notes, all of them or those since a time, and takes back what it said of answers."""
        return self._call("POST", "/agents/undo", wire.AgentUndone, SLOW, agent=agent, since=since)

    def add(self, paths: list[Path] | tuple[Path, ...], policy: str | None = None, again: bool = False) -> Stream:
        """The events of reading files or folders once; the last one is an Added. It goes on if the stream is closed.

        `policy`: local (their text stays on this machine) | any (models elsewhere may be given it), for what was read
        there before, too; None leaves that as it is, and what is new gets its watched folder's or the default.
        `again`: what was forgotten is read, too.
        """
        return self._stream("POST", "/add", wire.Added, paths=_absolute(*paths), policy=policy, again=again)

    def folders(self) -> tuple[wire.Folder, ...]:
        return self._call("GET", "/folders", wire.FoldersReply).folders

    def watch(
        self,
        path: Path,
        policy: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        readers: Sequence[str] | None = None,
        depth: int | None = None,
    ) -> wire.Folder:
        """Watches a folder from now on and reads it in the background. `policy` is as for `add`; with it, `tags`,
        `readers` or `depth` a folder that is watched already changes its own."""
        where = _absolute(path)[0]
        return self._call(
            "POST", "/folders", wire.Folder, path=where, policy=policy, tags=tags, readers=readers, depth=depth
        )

    def list_gone(self, path: Path) -> wire.GoneReply:
        """The files of a watched folder that are gone and of which you decide."""
        return self._call("GET", _with("/folders/gone", path=_absolute(path)[0]), wire.GoneReply)

    def decide_gone(self, path: Path, *, keep: bool) -> wire.Folder:
        """Keeps what the files of a watched folder that are gone said, or drops it."""
        return self._call("POST", "/folders/gone", wire.Folder, path=_absolute(path)[0], keep=keep)

    def unwatch(self, path: Path, forget: bool = False) -> wire.Forgotten:
        """Stops watching a folder; with `forget` what was read from it is forgotten too."""
        return self._call("POST", "/folders/remove", wire.Forgotten, SLOW, path=_absolute(path)[0], forget=forget)

    def sources(self, query: str = "", limit: int = 100) -> wire.SourcesReply:
        return self._call("GET", _with("/sources", query=query, limit=limit), wire.SourcesReply)

    def list_skipped(self, match: str = "", limit: int = 1000) -> wire.SkippedReply:
        """Files that could not be read, and why: those of which name or reason have these words."""
        return self._call("GET", _with("/skipped", match=match, limit=limit), wire.SkippedReply)

    def forget(
        self,
        *,
        source: str | None = None,
        object: str | None = None,
        episode: int | None = None,
        fact: int | None = None,
        retired: bool | None = None,
    ) -> wire.Forgotten:
        """Forgets the one thing that is named; `source` is a uri or a path. `retired`: what no question finds any more,
        all of it or that of a `source` or folder."""
        return self._call(
            "POST", "/forget", wire.Forgotten, SLOW, source=source, object=object, episode=episode, fact=fact,
            retired=retired,
        )  # fmt: skip

    def list_retired(self, limit: int = 100) -> wire.RetiredReply:
        """Of which sources text is kept that no question finds any more."""
        return self._call("GET", _with("/retired", limit=limit), wire.RetiredReply)

    def facts(
        self, about: str, as_of: datetime | None = None, history: bool = False, known_on: datetime | None = None
    ) -> wire.FactsReply:
        url = _with("/facts", about=about, as_of=as_of, known_on=known_on, history="true" if history else None)
        return self._call("GET", url, wire.FactsReply)

    def history(self, about: str) -> wire.HistoryReply:
        """How each thing that is known of an object changed."""
        return self._call("GET", _with("/history", about=about), wire.HistoryReply)

    def search_objects(self, words: str = "", limit: int = 100, offset: int = 0) -> wire.FoundObjects:
        """People, places and things with all the words in one of their names."""
        return self._call("GET", _with("/search/objects", words=words, limit=limit, offset=offset), wire.FoundObjects)

    def search_facts(self, words: str = "", limit: int = 100, offset: int = 0) -> wire.FoundFacts:
        """What was read as facts and has all the words, the newest first."""
        return self._call("GET", _with("/search/facts", words=words, limit=limit, offset=offset), wire.FoundFacts)

    def search_notes(self, words: str = "", limit: int = 100, offset: int = 0) -> wire.FoundNotes:
        """Notes with all the words in their title or in one passage."""
        return self._call("GET", _with("/search/notes", words=words, limit=limit, offset=offset), wire.FoundNotes)

    def object(self, name: str) -> wire.ObjectReply:
        """What is known of a person, place or thing, by any of its names."""
        return self._call("GET", _with("/object", name=name), wire.ObjectReply)

    def neighbourhood(
        self, about: str, depth: int = 1, limit: int = 40, as_of: datetime | None = None
    ) -> wire.Neighbourhood:
        """What stands around an object, so many steps out, now or at a time."""
        url = _with("/neighbourhood", about=about, depth=depth, limit=limit, as_of=as_of)
        return self._call("GET", url, wire.Neighbourhood)

    def note(self, uri: str) -> wire.NoteReply:
        """What was read of one source, which is named by its uri."""
        return self._call("GET", _with("/note", uri=uri), wire.NoteReply)

    def graph(self, about: str = "", limit: int = 200) -> wire.GraphReply:
        """What is best joined in the graph, or what stands around a thing, by a name, or a note, by its uri."""
        return self._call("GET", _with("/graph", about=about, limit=limit), wire.GraphReply)

    def plans(self, days: int = 60) -> wire.PlansReply:
        """What is planned in the next days, and the tasks of notes."""
        return self._call("GET", _with("/plans", days=days), wire.PlansReply)

    def correct(self, fact: int, value: str) -> wire.Corrected:
        """Says by hand what the value of a fact is from now on; the one before is history."""
        return self._call("POST", "/correct", wire.Corrected, SLOW, fact=fact, value=value)

    def take_back_correction(self, fact: int) -> wire.Corrected:
        """The fact is as it was before it was corrected."""
        return self._call("POST", "/correct/remove", wire.Corrected, SLOW, fact=fact)

    def profile(self) -> wire.ProfileReply:
        """What is known of the person whose memory it is."""
        return self._call("GET", "/profile", wire.ProfileReply)

    def set_profile(self, key: str, value: str) -> wire.ProfileReply:
        """Says something of the owner by hand; what it takes the place of is among the revisions."""
        return self._call("POST", "/profile", wire.ProfileReply, SLOW, key=key, value=value)

    def remove_from_profile(self, key: str) -> wire.ProfileReply:
        """Takes back what was said by hand."""
        return self._call("POST", "/profile/remove", wire.ProfileReply, SLOW, key=key)

    def revisions(self, state: str = "open", about: str | None = None, limit: int = 50) -> wire.RevisionsReply:
        return self._call("GET", _with("/revisions", state=state, about=about, limit=limit), wire.RevisionsReply)

    def revision(self, id: int) -> wire.Revision:
        return self._call("GET", f"/revisions/{id}", wire.Revision)

    def settle(self, id: int, verdict: str) -> wire.Revision:
        """`verdict`: keep (the new fact stands) | both (both hold) | old (the old one stands, the new one was never
        true) | open (nothing was said, and it waits) | undo (everything is as before the revision)."""
        return self._call("POST", f"/revisions/{id}", wire.Revision, SLOW, verdict=verdict)

    def names(self, one: str, other: str, same: bool) -> wire.Names:
        """Two names mean the same, or two things."""
        return self._call("POST", "/names", wire.Names, SLOW, one=one, other=other, same=same)

    def names_beginning(self, begin: str, limit: int = 20) -> tuple[str, ...]:
        """Names of people, places and things that begin so, the shortest first."""
        return self._call("GET", _with("/names", begin=begin, limit=limit), wire.NamesReply).names

    def strategies(self) -> Mapping[str, str]:
        """The ways to walk the graph, each with a sentence that says what it does."""
        return self._call("GET", "/strategies", wire.StrategiesReply).strategies

    def tags(self) -> tuple[wire.Tag, ...]:
        """The tags of what was read, the most used first."""
        return self._call("GET", "/tags", wire.TagsReply).tags

    def backup(self, to: Path | None = None) -> wire.BackedUp:
        """A copy at a path that does not exist yet; None means the backup folder."""
        return self._call("POST", "/backup", wire.BackedUp, SLOW, to=_absolute(to)[0] if to else None)

    def export(self, kinds: Sequence[str] = (), secrets: bool = False) -> Lines:
        """All that is true in the memory, or all of these kinds, as lines of JSON; with `secrets`, which is not over
        TCP, what is masked, too."""
        path = "/secrets/export" if secrets else "/export"
        return Lines(send(self.paths, "GET", _with(path, kinds=",".join(kinds)), {}, None))

    def check(self) -> wire.Check:
        return self._call("GET", "/check", wire.Check, SLOW)

    def secrets(self, placeholders: tuple[str, ...]) -> Mapping[str, str]:
        """What stands behind placeholders; of one that is kept no more there is none. Not over TCP."""
        reply: wire.SecretsReply = self._call("POST", "/secrets", wire.SecretsReply, placeholders=placeholders)
        return reply.secrets

    def secret_places(self) -> wire.SecretPlacesReply:
        """Where secrets lie, in what was masked and in what was read before. Not over TCP."""
        return self._call("GET", "/secrets/places", wire.SecretPlacesReply, SLOW)

    def diagnosis(self, limit: int | None = None) -> wire.Diagnosis:
        """How well the graph served the newest questions (default: 200)."""
        return self._call("GET", _with("/diagnosis", limit=limit), wire.Diagnosis, SLOW)

    def plugins(self) -> wire.PluginsReply:
        """What is installed beside the program itself, and what of it was left out."""
        return self._call("GET", "/plugins", wire.PluginsReply)

    def embedder(self) -> wire.EmbedderReply:
        return self._call("GET", "/embedder", wire.EmbedderReply)

    def set_embedder(self, name: str) -> wire.EmbedderReply:
        """Changes the embedder; the episodes get their new vectors in the background."""
        return self._call("POST", "/embedder", wire.EmbedderReply, SLOW, name=name)

    def models(self, elsewhere: bool = False) -> wire.ModelsReply:
        """The language models there are; looking for them takes some seconds at most. Services elsewhere of which none
        is named are asked with `elsewhere` alone."""
        return self._call("GET", _with("/models", elsewhere="true" if elsewhere else None), wire.ModelsReply)

    def probe_model(self, name: str) -> Stream:
        """The events of grading a model; the last one is a Graded. Closing the stream ends it."""
        return self._stream("POST", "/models/probe", wire.Graded, name=name)

    def try_model(self, name: str) -> wire.Tried:
        """Asks a model for one word, or one of a family (`ollama`); one on this machine may have to be loaded first.
        How they are reached config.toml says, as it is now."""
        return self._call("POST", "/models/try", wire.Tried, SLOW, name=name)

    def use_models(self, role: str, names: tuple[str, ...]) -> wire.ModelsReply:
        """Changes which models do what, until the daemon ends; config.toml says it for the next one. `names` in the
        order of preference; without any, no model does that."""
        return self._call("POST", "/models/use", wire.ModelsReply, role=role, names=names)

    def consolidate(self) -> wire.ConsolidationReport:
        """Puts the memory in order now."""
        return self._call("POST", "/consolidate", wire.ConsolidationReport, SLOW)

    def enable_enrichment(self, enabled: bool) -> wire.Enrichment:
        """Lets models read in the background, or no longer, until the daemon ends; config.toml says it for the next."""
        return self._call("POST", "/enrichment", wire.Enrichment, enabled=enabled)

    def retry(self, id: int | None = None) -> int:
        """Does what models failed at again, all of it or one job; returns how many jobs."""
        return self._call("POST", "/enrichment/retry", wire.Retried, id=id).jobs

    def estimate(self, paths: list[Path] | tuple[Path, ...], policy: str | None = None) -> wire.Estimate:
        """What is in files or folders, and what a model would take to read it; nothing is kept."""
        return self._call("POST", "/estimate", wire.Estimate, SLOW, paths=_absolute(*paths), policy=policy)

    def count(self, *paths: Path) -> wire.Counted:
        """How much would be read of files or folders; nothing is opened."""
        return self._call("POST", "/count", wire.Counted, SLOW, paths=_absolute(*paths))

    def conversations(self) -> tuple[wire.Conversation, ...]:
        return self._call("GET", "/conversations", wire.ConversationsReply).conversations

    def conversation(self, id: int) -> wire.MessagesReply:
        return self._call("GET", f"/conversations/{id}", wire.MessagesReply)

    def new_conversation(self, title: str = "") -> wire.Conversation:
        return self._call("POST", "/conversations", wire.Conversation, title=title)

    def rename_conversation(self, id: int, title: str) -> wire.Conversation:
        return self._call("PUT", f"/conversations/{id}", wire.Conversation, title=title)

    def delete_conversation(self, id: int) -> None:
        self._call("DELETE", f"/conversations/{id}", dict)

    def fork_conversation(self, id: int, messages: int, title: str = "") -> wire.Conversation:
        """A new chat session with the first `messages` of this one; without a `title` it has the name of this one."""
        return self._call("POST", f"/conversations/{id}/fork", wire.Conversation, messages=messages, title=title)

    def search_conversations(self, words: str, limit: int = 50) -> tuple[wire.ConversationMatch, ...]:
        """The chat sessions that hold all the words in one message or in their title, last used first."""
        return self._call("GET", _with("/messages", words=words, limit=limit), wire.MatchesReply).matches

    def episode(self, id: int) -> wire.Passage:
        return self._call("GET", f"/episodes/{id}", wire.Passage)

    def surroundings(self, id: int) -> wire.Surroundings:
        """What stands before and after a passage, and what its source says of itself."""
        return self._call("GET", f"/episodes/{id}/around", wire.Surroundings)

    def activity(self) -> Stream:
        """What the daemon does, as it does it, until the stream is closed."""
        return self._stream("GET", "/activity")

    def open_page(self, port: int | None = None) -> wire.PageLink:
        """A link that opens the page in a browser, once; the port is opened if it is not."""
        return self._call("POST", "/page", wire.PageLink, port=port)

    def close_page(self) -> wire.PageClosed:
        """Ends the page's sessions and closes its port."""
        return self._call("POST", "/page/close", wire.PageClosed)

    def stop(self, wait: float = 20.0) -> None:
        """Ends the daemon and returns when it has ended. Raises DaemonDownError if it has not after `wait` seconds."""
        self._call("POST", "/stop", dict)
        from daemon.lock import is_held

        if not _until(lambda: not is_held(self.paths.lock), wait):
            raise DaemonDownError(f"The daemon is still busy after {wait:.0f} s. Look into {self.paths.log}.")

    def _call(self, method: str, url: str, reply: type[T], timeout: float = QUICK, **body: Any) -> T:
        import json

        with send(self.paths, method, url, body, timeout) as response:
            try:
                return wire.decode(reply, json.loads(response.read()))
            except (OSError, ValueError) as error:
                raise DaemonDownError(f"The daemon went away while it answered ({error}). Try again.") from error

    def _stream(self, method: str, url: str, ends: type[wire.Event] | None = None, **body: Any) -> Stream:
        return Stream(send(self.paths, method, url, body, None), ends)


def _absolute(*paths: Path) -> tuple[str, ...]:
    """As the daemon, which stands in another folder, must get them."""
    return tuple(str(path.expanduser().absolute()) for path in paths)


def _with(path: str, /, **query: object) -> str:
    from urllib.parse import urlencode

    given = {key: wire.encode(value) for key, value in query.items() if value is not None}
    return f"{path}?{urlencode(given, errors='replace')}"  # what a shell hands over need not be text


def _until(done: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not (ended := done()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return ended
